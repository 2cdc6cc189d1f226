"""The function itself on real numbers, which ties what is proved to Python."""
