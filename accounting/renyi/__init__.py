"""Renyi differential privacy of every mechanism, at real orders."""
