"""Convergence: what the trainers do on problems whose constants are known, and the rates of that.

Recursions that are equal to the trainers (`pmtl_moments`, `dpfedmtl_recursion`; `mocha_round`), each compared with runs
before anything rests on it; and rates measured on noisy runs, of which tests/guides/rates_page.py makes
docs/papers/rates.md. The papers' register builds on this room and is not known to it.
"""
