"""Property tests that any privacy accountant must pass."""
