"""Every other pair, and rare jumps: laws of atoms that dominate, and are dominated, and their Fourier transforms."""
