"""The language of mechanisms: a subset of Python, read from the source of a function and evaluated on symbols.

Nothing of the user's code runs: `globals.py` looks up names by identity, `interpreter.py` evaluates syntax, and what
functions of numpy, math and Python mean is written in the tables of `library.py`, `numpy_library.py`, `methods.py` and
`generator.py`. Whatever is in none of them is refused, in one sentence with its line.
"""
