"""Subsampled Gaussian rounds: densities that are analytic, at a cost that does not grow with the rounds."""
