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
from ....mechanisms import Gaussian, Mechanism, Poisson, Repeat
from ...auditing import audit, rdp
from ..row import Finding, Kind, Row, Statement
from .theorem1 import largest_shift

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
    return Finding(low <= epsilon, text, numbers, error_probability=ALPHA)


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
    text = f"the attack {'refutes' if tested.refuted else 'is compatible with'} the stated Renyi curve"
    return Finding(not tested.refuted, text, {"p-value": tested.p_value}, error_probability=ALPHA)


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


def moments_constants(statement: Statement) -> Finding:
    """Lemma 1 with given c1, c2 and the least T that epsilon < c1 p^2 T allows; the client is there or not."""
    (c1, c2), delta = statement.claim["(c1, c2)"], 0.01
    rate, epsilon = statement.domain["p"], statement.domain["epsilon"]
    rounds = math.ceil(epsilon / (c1 * rate**2)) + 1
    z = c2 * rate * math.sqrt(rounds * -math.log(delta)) / epsilon

    def scores(update: float, rng: np.random.Generator, size: int) -> Any:
        total, part = np.zeros(size), 200
        for first in range(0, rounds, part):
            shape = (size, min(part, rounds - first))
            moved = (1 + update) / 2 * (rng.random(shape) < rate)
            total += _likelihood(moved + z * rng.standard_normal(shape), 1.0, z, rate)
        return total

    run: Mechanism = Repeat(Poisson(Gaussian(z), rate), rounds)
    found = epsilon_of(run, delta)
    return _finding(scores, epsilon, delta, (found.lower, found.upper), 5000)


def _row(name: str, place: str, evidence: Any, printed: Statement, repaired: Statement) -> Row:
    return Row(f"PMTL-{name}-audit", "pmtl", place, Kind.AUDIT, evidence, printed, repaired=repaired)


_NOISE = "With sigma = 4 gamma sqrt(T log(1/delta))/(epsilon m)"
_ONE = {"delta": 0.5, "move": 1.0}

ROWS = (
    _row(
        "T1a",
        "Section 4.2, Theorem 1, second part (q = m), attacked at epsilon = 8, delta = 1/2",
        all_clients,
        Statement(f"{_NOISE} the run is (8, 1/2)-DP.", {"epsilon": 8.0, "noise": "Theorem 1"}, _ONE),
        Statement(
            "With sigma = 2 gamma sqrt(T)/(m mu*(epsilon, delta)) it is.", {"epsilon": 8.0, "noise": "C-T1"}, _ONE
        ),
    ),
    _row(
        "T1-general",
        "Section 4.2, after Theorem 1: other aggregation methods, weights n_k/sum n with n = 1, ..., 100",
        all_clients,
        Statement(
            f"{_NOISE} the client with the largest weight, 1.98/m, is protected at (4, 0.01).",
            {"epsilon": 4.0, "noise": "Theorem 1"},
            {"delta": 0.01, "move": 200 / 101},
        ),
        Statement("A client of weight 1/m is.", {"epsilon": 4.0, "noise": "Theorem 1"}, {"delta": 0.01, "move": 1.0}),
    ),
    _row(
        "RG2",
        "Section 4.2, remark on the generality of Corollary 2: a cluster of 20 out of 100 clients",
        all_clients,
        Statement(
            f"{_NOISE}, m = 100, the cluster's run is (2, 0.01)-DP.",
            {"epsilon": 2.0, "noise": "Theorem 1"},
            {"delta": 0.01, "move": 5.0},
        ),
        Statement("It is with m = 20.", {"epsilon": 2.0, "noise": "Theorem 1"}, {"delta": 0.01, "move": 1.0}),
    ),
    _row(
        "L2",
        "Appendix A.1, Lemma 2 as it is used before (21), in d = 100 dimensions",
        renyi_claim,
        Statement("A round is (alpha, 2 alpha Delta^2/(d sigma^2))-RDP.", {"power of d": 1}),
        Statement("A round is (alpha, 2 alpha Delta^2/sigma^2)-RDP, Lemma 2's own statement.", {"power of d": 0}),
    ),
    _row(
        "T1b",
        "Section 4.2, Theorem 1, first part (q < m), attacked at m = 40, q = 4, T = 100 by an outside reader",
        hidden_cohorts,
        Statement("The Poisson accounting with z = q sigma/gamma is an upper bound.", {"multiplier divided by": 1.0}),
        Statement("The accounting with z/2 is one.", {"multiplier divided by": 2.0}),
    ),
    _row(
        "L1",
        "Appendix A.1, Lemma 1, attacked at p = 1/20, epsilon = 1/2, delta = 1/100",
        moments_constants,
        Statement("c1 = 1/20 and c2 = 0.4 will do.", {"(c1, c2)": (0.05, 0.4)}, {"p": 0.05, "epsilon": 0.5}),
        Statement("c1 = 1/20 and c2 = 4 do.", {"(c1, c2)": (0.05, 4.0)}, {"p": 0.05, "epsilon": 0.5}),
    ),
)
"""The rows of the attacks; that on Corollary 2 is PMTL-C2-audit."""
