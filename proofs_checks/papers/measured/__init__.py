"""The papers' convergence rates, measured on noisy runs of the trainers: docs/papers/rates.md is made by `page`."""
