"""Runs whose convergence is measured for docs/papers/rates.md, beside what is stated of them."""
