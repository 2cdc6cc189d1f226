"""The algorithms, a short class each."""
