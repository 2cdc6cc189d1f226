"""Algorithm 1 (Section 4.1) and its description as mechanisms (7): what its lines reveal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...convergence.pmtl_moments import Federation, check_against_trainer
from ..row import WORDS, Finding, Statement, on_instances


def first_broadcast(statement: Statement) -> Finding:
    """w~^0 = mean of the initial models is broadcast without noise: the total variation between neighbours' w~^0."""
    data, replaced = np.array([0.3, 0.7]), np.array([0.9, 0.7])
    first, second = (
        (own.mean() if statement.domain["initial models"] == "from the data" else 0.0) for own in (data, replaced)
    )
    apart = float(first != second)
    text = f"w~^0 = {first:g} and {second:g} on neighbours: total variation {apart:g}"
    return Finding(
        apart == 0.0, text, {"total variation": apart}, None if apart == 0 else {"w~^0": [first, second]}, basis=WORDS
    )


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
    return Finding(
        covered,
        f"true delta(1) = {worst[0]:.5f}, accounted {worst[1]:.5f}",
        numbers,
        basis=on_instances(2, "quadrature"),
    )


def _one_round(left: int, right: int, cohorts: str) -> float:
    if cohorts == "fixed size":
        law, other = ((_bell(first) + _bell(-1)) / 2 for first in (left, right))
    else:
        law, other = ((_bell(first) + _bell(0)) / 2 for first in (left, right))
    return float(np.maximum(law - math.e * other, 0).sum()) * 0.02


def own_membership(statement: Statement) -> Finding:
    """Two runs with the same broadcasts and data, other cohort coins: do the outputs h'_k(D_k, w~^{1:T}) agree?"""
    from ....trainers.federated import LocalSteps, PmtlAsPrinted, ReplayableTrainer, Settings
    from ...convergence.quadratic import mean_estimation

    problem = mean_estimation(population=6, dimension=2, seed=1)
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
    return Finding(not changed, text, {"clients changed": changed}, basis=on_instances(1, "a replay of the trainer"))
