"""The checker of proofs: re-runs the function by its own symbolic run and re-proves every step in exact rationals.

It shares no code with the search. z3 only points at inequalities that contradict each other; that they do is shown
by Farkas multipliers, in fractions. What cannot be shown is rejected.
"""
