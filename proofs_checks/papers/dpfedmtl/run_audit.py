"""Theorem 4.1 attacked: whole runs on FEMNIST at sigma = 9.69, simulated, for both observers of section 3.3.

The attacked client's gradient is +C or -C, everybody else's 0. What an audit gets of a run is the log likelihood ratio
of all that the observer saw, the best test there is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....mechanisms.arrays import Floats
from ...auditing import approximate_dp, audit
from ..audited import judged
from ..row import Finding, Statement
from .composition import actual_epsilon, claimed_epsilon, multiplier
from .settings import DELTA, FEMNIST

SIGMA, TRIALS, ALPHA = 9.69, 4000, 1e-4


def averages(sensitivity: str) -> Callable[..., Floats]:
    """T averages with the sample in secret: mechanism(sign of the gradient, rng, size) -> log likelihood ratios."""
    shift, rate = 1 / multiplier(FEMNIST, SIGMA, sensitivity, "averages"), FEMNIST.rate

    def mechanism(sign: float, rng: np.random.Generator, size: int) -> Floats:
        total = np.zeros(size)
        for _ in range(FEMNIST.rounds):
            x = rng.standard_normal(size) + sign * shift * (rng.random(size) < rate)
            up, down = (np.log1p(rate * np.expm1(side * shift * x - shift**2 / 2)) for side in (1, -1))
            total += up - down
        return total

    return mechanism


def uploads(sensitivity: str) -> Callable[..., Floats]:
    """T rounds of which the server sees the client's own uploads: the same, of their sum."""
    shift, rate = 1 / multiplier(FEMNIST, SIGMA, sensitivity, "uploads"), FEMNIST.rate

    def mechanism(sign: float, rng: np.random.Generator, size: int) -> Floats:
        taken = rng.binomial(FEMNIST.rounds, rate, size)
        return 2 * shift * (sign * shift * taken + np.sqrt(taken) * rng.standard_normal(size))

    return mechanism


def audited_run(statement: Statement) -> Finding:
    """An audit of whole runs against the guarantee's epsilon at 1e-5: refuted, or not in TRIALS runs a side."""
    sensitivity, sees = statement.claim["S"], statement.claim["observer sees"]
    if statement.claim["guarantee"] == "C_p(G_(1/sigma)), T times":
        said = claimed_epsilon(FEMNIST, SIGMA).upper
    else:
        said = actual_epsilon(FEMNIST, SIGMA, sensitivity, sees, "upper")
    mechanism = (averages if sees == "averages" else uploads)(sensitivity)
    result = audit(mechanism, (1.0, -1.0), claim=approximate_dp(said, DELTA), trials=TRIALS, seed=0, alpha=ALPHA)
    numbers = {"stated epsilon": said, "audited epsilon": result.epsilon_lower(DELTA)}
    return judged(result, f"epsilon = {said:.4g}", numbers, ALPHA)
