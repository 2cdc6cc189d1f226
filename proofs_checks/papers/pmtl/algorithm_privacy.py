"""Algorithm 1 (Section 4.1) and its description as mechanisms (7): what its lines reveal, and attacks on claims.

Attacks are lower bounds on epsilon from samples, beside the certified numbers. Each is seeded, and what it says of a
refuted statement is false with probability ALPHA at most. Neighbours are as far apart as they come: one client sends
+gamma u or -gamma u (or nothing), the others' updates are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....accounting import epsilon as epsilon_of
from ....mechanisms import Gaussian, Poisson, Relation, Repeat
from ...auditing import audit, rdp
from ...convergence.pmtl_moments import Federation, check_against_trainer
from ...convergence.pmtl_runs import mean_estimation
from ..balls import largest_shift
from ..measured import by_audit
from ..row import WORDS, Finding, Statement, on_instances, resting_on


@resting_on(WORDS)
def first_broadcast(statement: Statement) -> Finding:
    """w~^0 = mean of the initial models is broadcast without noise: the total variation between neighbours' w~^0."""
    data, replaced = np.array([0.3, 0.7]), np.array([0.9, 0.7])
    first, second = (
        (own.mean() if statement.domain["initial models"] == "from the data" else 0.0) for own in (data, replaced)
    )
    apart = float(first != second)
    text = f"w~^0 = {first:g} and {second:g} on neighbours: total variation {apart:g}"
    return Finding(apart == 0.0, text, {"total variation": apart}, None if apart == 0 else {"w~^0": [first, second]})


GRID = np.arange(-7.0, 7.0, 0.02)


def _bell(mean: float) -> Any:
    return np.exp(-((GRID - mean) ** 2) / (2 * 0.49)) / (0.7 * math.sqrt(2 * math.pi))


def _two_rounds(first: float, cohorts: str, stateful: bool) -> Any:
    """The density of both releases. m = 2, sigma = .7, rate 1/2; client 1 sends `first` in round 1, -1 in round 2.

    Client 2 sends -1, but +1 in round 2 if it was picked in round 1 and keeps state.
    """
    total = np.zeros((len(GRID), len(GRID)))
    draws = [(1, 0), (0, 1)] if cohorts == "fixed size" else [(0, 0), (1, 0), (0, 1), (1, 1)]
    for one, two in draws:
        told = 1 if stateful and two else -1
        later = np.mean([_bell(-one_2 + two_2 * told) for one_2, two_2 in draws], axis=0)
        total += np.outer(_bell(one * first - two), later) / len(draws)
    return total


@resting_on(on_instances(2, "quadrature"))
def rounds_compose(statement: Statement) -> Finding:
    """delta(1) of two rounds by quadrature (error below 1e-6), against per-round accounting of hidden participation.

    Round 2 does not depend on client 1's data, so that per-round accounting charges round 1 alone, at its worst.
    """
    cohorts, stateful = statement.domain["cohorts"], statement.domain["clients keep w_k"]
    times = statement.claim["times the accounted delta"]
    numbers, covered = {}, True
    for order, (left, right) in (("+1 to -1", (1, -1)), ("-1 to +1", (-1, 1))):
        law, other = (_two_rounds(first, cohorts, stateful) for first in (left, right))
        true = float(np.maximum(law - math.e * other, 0).sum()) * 0.02**2
        stated = times * _one_round(left, right, cohorts)
        numbers[f"{order}: true, accounted delta(1)"] = [true, stated]
        covered = covered and true <= stated + 1e-6
    worst = max(numbers.values(), key=lambda pair: pair[0] - pair[1])
    return Finding(covered, f"true delta(1) = {worst[0]:.5f}, accounted {worst[1]:.5f}", numbers)


def _one_round(left: int, right: int, cohorts: str) -> float:
    if cohorts == "fixed size":
        law, other = ((_bell(first) + _bell(-1)) / 2 for first in (left, right))
    else:
        law, other = ((_bell(first) + _bell(0)) / 2 for first in (left, right))
    return float(np.maximum(law - math.e * other, 0).sum()) * 0.02


@resting_on(on_instances(1, "a replay of the trainer"))
def own_membership(statement: Statement) -> Finding:
    """Two runs with the same broadcasts and data, other cohort coins: do the outputs h'_k(D_k, w~^{1:T}) agree?"""
    from ....trainers.federated import LocalSteps, PmtlAsPrinted, ReplayableTrainer, Settings

    problem = mean_estimation(6, 2)
    check_against_trainer(Federation(problem, "as-printed", 0.5, 0.1, 2, cohort=3, sigma=0.1))
    told = Settings(
        rounds=4,
        cohort=3,
        sampling="fixed-size" if statement.domain["cohort"] == "half" else "full",
        noise_multiplier=1.0,
        clip_norm=1.0,
        dtype="float64",
        seed=0,
        device="cpu",
        local=LocalSteps(steps=2, batch_size=None),
    )
    trainer = ReplayableTrainer(problem.federation, lambda: PmtlAsPrinted(0.5, curvature=1.0), told)
    recorded = trainer.run(problem.federation.clients, 1)
    again = trainer.run(problem.federation.clients, 2, recorded.billboard)
    changed = [k for k in range(6) if not np.array_equal(recorded.outputs[k], again.outputs[k])]
    text = f"with the same broadcasts and data, {len(changed)} of 6 clients' outputs depend on the cohorts' coins"
    return Finding(not changed, text, {"clients changed": changed})


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

    found = epsilon_of(Gaussian(1 / mu), delta, Relation.ADD_REMOVE)
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
    return by_audit(tested, "the stated Renyi curve", {}, ALPHA)


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
