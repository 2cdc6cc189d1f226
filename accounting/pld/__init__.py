"""Two-sided privacy loss distributions: for the mechanisms whose characteristic function does not decay."""
