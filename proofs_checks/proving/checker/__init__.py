"""The checker of proofs: re-runs the function by its own symbolic run and re-proves every step in exact rationals.

It imports nothing of the search, nor the search of it. z3 only points at inequalities that contradict each other; that
they do is shown by Farkas multipliers, in fractions. What cannot be shown is rejected.
"""
