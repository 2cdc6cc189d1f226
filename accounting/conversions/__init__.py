"""From Renyi differential privacy and zCDP to (epsilon, delta), every published conversion as its own function."""
