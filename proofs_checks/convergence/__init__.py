"""Convergence: what the trainers do on problems whose constants are known.

Recursions that are equal to the trainers (`pmtl_moments`, `dpfedmtl_recursion`; a round in `mocha_problem`), each
compared with runs before anything rests on it. The papers' register builds on this room and is not known to it. Rates
measured on noisy runs, of which docs/papers/rates.md is made, stand beside the script that makes it
(tests/guides/measured).
"""


class UnlikeTheTrainer(Exception):
    """A recursion, or a round written out, is not the trainer's: nothing may rest on it."""
