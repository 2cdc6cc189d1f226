"""Random allocation: in a block of rounds each unit takes part in one, drawn uniformly and kept secret.

mean.py: the law of a block's likelihood ratio, a mean of independent ones, from above and from below. block.py: the
discrete privacy losses that it gives. Theory and proofs: docs/theory/allocation.md.
"""
