"""Every other pair: laws of atoms that dominate, and are dominated, and their Fourier transforms."""
