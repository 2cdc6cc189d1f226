"""Formulas that papers and tools used before there were closer ones: printed numbers are recognised by them."""
