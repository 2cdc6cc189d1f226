"""Reproduction: which conventions, about what ran and about its accounting, print a given epsilon."""
