"""Attacks on the privacy statements: lower bounds on epsilon from samples, beside the certified numbers.

Each attack is seeded, and what it says of a refuted statement is false with probability ALPHA at most. Neighbours are
as far apart as they come: one client sends +gamma u or -gamma u (or nothing), the others' updates are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....accounting import epsilon as epsilon_of
from ....mechanisms import Gaussian, Poisson, Repeat
from ...auditing import audit, rdp
from ..audited import judged
from ..balls import largest_shift
from ..row import Finding, Statement, on_instances

ALPHA = 1e-3
Scores = Callable[[float, np.random.Generator, int], Any]


def _finding(scores: Scores, epsilon: float, delta: float, certified: tuple[float, float], trials: int) -> Finding:
    """Whether the attack leaves (epsilon, delta) standing. certified: the interval of the true epsilon."""
    tested = audit(scores, (1.0, -1.0), delta=delta, trials=trials, alpha=ALPHA, seed=7)
    low = tested.epsilon_lower(delta)
    numbers = {"audited epsilon at least": low, "certified": list(certified), "stated": epsilon}
    verdict = "refutes" if low > epsilon else "is compatible with"
    text = (
        f"audited epsilon at least {low:.3f} {verdict} {epsilon:g}; certified [{certified[0]:.4g}, {certified[1]:.4g}]"
    )
    return Finding(low <= epsilon, text, numbers, error_probability=ALPHA, basis=on_instances(trials, "audit"))


def all_clients(statement: Statement) -> Finding:
    """q = m: T rounds are one Gaussian pair of shift mu = 2 sqrt(T) gamma move/(m sigma), so one release is attacked.

    Theorem 1's sigma makes mu = move epsilon/(2 sqrt(log(1/delta))), C-T1's makes it mu* move. move: how far one client
    moves the aggregate, in units of 2 gamma/m.
    """
    epsilon, delta, move = statement.claim["epsilon"], statement.domain["delta"], statement.domain["move"]
    printed = epsilon / (2 * math.sqrt(-math.log(delta)))
    mu = move * (printed if statement.claim["noise"] == "Theorem 1" else largest_shift(epsilon, delta))

    def scores(update: float, rng: np.random.Generator, size: int) -> Any:
        return update * mu / 2 + rng.standard_normal(size)

    found = epsilon_of(Gaussian(1 / mu), delta, "add-remove")
    return _finding(scores, epsilon, delta, (found.lower, found.upper), 400_000)


def renyi_claim(statement: Statement) -> Finding:
    """The curve of divergences 2 alpha D^2/(d^power sigma^2) in d = 100 dimensions, D = sigma, against samples."""
    orders = (1.5, 2.0, 4.0, 8.0, 16.0)
    claim = rdp(orders, [2 * order / 100 ** statement.claim["power of d"] for order in orders])
    tested = audit(
        lambda update, rng, size: update / 2 + rng.standard_normal(size),
        (1.0, -1.0),
        claim=claim,
        trials=100_000,
        alpha=ALPHA,
        seed=7,
    )
    return judged(tested, "the stated Renyi curve", {}, ALPHA)


def hidden_cohorts(statement: Statement) -> Finding:
    """m = 40, q = 4, T = 100, z = 4.75, delta = 1e-3: a reader of the releases, the others' updates being -gamma u.

    A round is N(0, z^2), or N(2, z^2) where client i took part and sent +gamma u; the score is the likelihood ratio.
    """
    rate, rounds, z, delta = 0.1, 100, 4.75, 1e-3

    def scores(update: float, rng: np.random.Generator, size: int) -> Any:
        moved = (1 + update) * (rng.random((size, rounds)) < rate)
        return _likelihood(moved + z * rng.standard_normal((size, rounds)), 2.0, z, rate)

    accounted = epsilon_of(Repeat(Poisson(Gaussian(z / statement.claim["multiplier divided by"]), rate), rounds), delta)
    true = epsilon_of(Repeat(Poisson(Gaussian(z / 2), rate), rounds), delta)
    return _finding(scores, accounted.upper, delta, (true.lower, true.upper), 60_000)


def _likelihood(releases: Any, shift: float, z: float, rate: float) -> Any:
    """Sum over rounds of log(1 - p + p e^{shift (y - shift/2)/z^2})."""
    return np.log1p(rate * np.expm1(shift * (releases - shift / 2) / z**2)).sum(axis=1)
