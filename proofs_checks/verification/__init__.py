"""Verification: the verdict on a claim, its witness, and the attack on the implementation that it names."""
