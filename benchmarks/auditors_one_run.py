"""One run with many canaries, and bands of curves: dpcert's bounds beside jax-privacy's, at equal canaries.

`python benchmarks/auditors_one_run.py [--seeds N]`, part of `make bench-auditors`. Figures are medians over seeds,
times CPU time. jax-privacy's own splits and Bonferroni corrections are left as they are.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from auditor_peers import jax_privacy_auditing
from rich.console import Console
from rich.table import Table

from dpcert.proofs_checks.auditing import alike_canaries, confident_first, one_run
from dpcert.proofs_checks.auditing.guesses import guess
from dpcert.proofs_checks.auditing.parts import epsilon_if_gaussian

ERROR, DELTA = 0.05, 1e-5
Bound = Callable[[np.ndarray, np.ndarray], float]
"""(scores, coins) -> 95% lower bound on epsilon at DELTA."""

GAUSSIAN = "Gaussian", "mu", "fdp", "linear programme"
"""Words of bounds that are right for Gaussian curves only."""
NOISES = {
    "Gaussian, mu = 1: epsilon 4.377": lambda rng, m: rng.normal(0, 1, m),
    "Laplace: epsilon 4": lambda rng, m: rng.laplace(0, 0.25, m),
}


def without_programme(scores: np.ndarray, included: np.ndarray) -> float:
    """The largest of the bounds on mu by the recursion alone."""
    made = {max(1, round(share * len(scores))): part * ERROR for share, part in one_run.SHARES.items()}
    return max(one_run.mu_lower(guess(scores, included, number), error) for number, error in made.items())


BOUNDS: dict[str, Bound] = {
    "guess by guess (any number of guesses, any stop)": lambda s, c: confident_first.epsilon_lower(s, c, DELTA, ERROR)[
        0
    ],
    "a tenth guessed (Theorem 5.2)": lambda s, c: one_run.epsilon_lower(guess(s, c, len(c) // 10), DELTA, ERROR),
    "curve of mu-GDP, three numbers of guesses": lambda s, c: epsilon_if_gaussian(
        one_run.best_mu_lower(s, c, ERROR)[0], DELTA
    ),
    "the same without the linear programme": lambda s, c: epsilon_if_gaussian(without_programme(s, c), DELTA),
    "if independent and alike, epsilon": lambda s, c: alike_canaries.epsilon_lower(s, c, DELTA, ERROR),
    "if independent and alike, mu, as if Gaussian": lambda s, c: epsilon_if_gaussian(
        alike_canaries.mu_lower(s, c, ERROR), DELTA
    ),
}


def theirs() -> dict[str, Bound]:
    auditing = jax_privacy_auditing()
    if auditing is None:
        return {}

    def bound(method: str) -> Bound:
        return lambda s, c: float(getattr(auditing.CanaryScoreAuditor(s[c], s[~c]), method)(ERROR, DELTA))

    return {f"jax-privacy {method}": bound(method) for method in ("epsilon_one_run", "epsilon_one_run_fdp")}


def canaries(console: Console, seeds: int) -> None:
    title = f"one run: 95% lower bound on epsilon({DELTA:g})"
    table = Table("scores", "bound", "m = 300", "1000", "5000", "CPU s at 5000", title=title)
    for name, noise in NOISES.items():
        for auditor, bound in {**BOUNDS, **theirs()}.items():
            if noise is NOISES["Laplace: epsilon 4"] and any(word in auditor for word in GAUSSIAN):
                continue
            cells, spent = [], 0.0
            for m in (300, 1000, 5000):
                found = []
                for seed in range(seeds):
                    rng = np.random.default_rng((seed, m))
                    coins = rng.random(m) < 0.5
                    scores = coins + noise(rng, m)
                    began = time.process_time()
                    found.append(bound(scores, coins))
                    spent = time.process_time() - began
                cells.append(f"{statistics.median(found):.2f}")
            table.add_row(name, auditor, *cells, f"{spent:.2f}")
            name = ""
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=15)
    options = parser.parse_args()
    console = Console(width=150)
    canaries(console, options.seeds)


if __name__ == "__main__":
    main()
