"""Algorithm 1 (Section 4.1) and its description as mechanisms (7): what its lines reveal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import z3

from ..row import EXACT, WORDS, Finding, Statement, on_instances
from ..smt import Recheck, Values, decide
from .moments import Federation, check_against_trainer


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
    from ....trainers.data.known import mean_estimation
    from ....trainers.federated import LocalSteps, PmtlAsPrinted, ReplayableTrainer, Settings

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


def clipped_sum(statement: Statement) -> Finding:
    """Whether one of two clients moves the sum by at most 2 gamma when clipping happens where stated.

    A server under secure aggregation sees the sum alone, and can clip that to 2 gamma at best.
    """
    gamma, a, b, c = z3.Reals("gamma a b c")

    def clip(x: Any, bound: Any) -> Any:
        return z3.If(x > bound, bound, z3.If(x < -bound, -bound, x))

    if statement.domain["clipping at"] == "the clients":
        before, after = clip(a, gamma) + clip(b, gamma), clip(c, gamma) + clip(b, gamma)
    else:
        before, after = clip(a + b, 2 * gamma), clip(c + b, 2 * gamma)

    def recheck(values: Values) -> Recheck:
        bound = 2 * values["gamma"]
        moved = abs(
            np.clip(values["a"] + values["b"], -bound, bound) - np.clip(values["c"] + values["b"], -bound, bound)
        )
        return Recheck(bool(moved > bound), {"moved by": float(moved), "2 gamma": bound})

    return decide(
        z3.And(before - after <= 2 * gamma, after - before <= 2 * gamma),
        [gamma > 0],
        recheck,
        proof="replacing one client's update moves the sum by at most 2 gamma",
        refutation="replacing one client's update moves the clipped sum by more than 2 gamma",
    )


def participants(statement: Statement) -> Finding:
    """The law of the sum when all send +1, m = 4, rate 1/2: that of a Sampled Gaussian Mechanism before the noise."""
    sampled = [math.comb(4, k) / 16 for k in range(5)]
    stated = sampled if statement.domain["cohorts"] == "independent coins" else [0.0, 0.0, 1.0, 0.0, 0.0]
    apart = sum(abs(x - y) for x, y in zip(stated, sampled, strict=True)) / 2
    text = f"total variation {apart:g} between the laws of the number that take part"
    return Finding(apart == 0, text, {"number that take part, SGM": sampled, "Algorithm 1": stated}, basis=EXACT)


def unclipped_mean(statement: Statement) -> Finding:
    """Whether (7)'s mean over q = 2 clients moves by at most 2 gamma/q when client 1's data are replaced."""
    gamma, u, v, other = z3.Reals("gamma u v other")
    given = [gamma > 0, -gamma <= other, other <= gamma]
    if statement.domain["terms of the mean"] == "clipped":
        given += [-gamma <= u, u <= gamma, -gamma <= v, v <= gamma]

    def recheck(values: Values) -> Recheck:
        moved = abs(values["u"] - values["v"]) / 2
        return Recheck(moved > values["gamma"], {"moved by": moved, "2 gamma/q": values["gamma"]})

    move = (u + other) / 2 - (v + other) / 2
    return decide(
        z3.And(move <= gamma, -move <= gamma),
        given,
        recheck,
        proof="the mean of clipped terms moves by at most 2 gamma/q",
        refutation="h_k(D_k, w~) ranges over W, which is closed but not bounded: the mean moves by any amount",
    )


def cohort_size(statement: Statement) -> Finding:
    """One client less in a cohort with s others of mean o: how far line 8's average moves, against gamma/q."""
    gamma, update, others, size, q = z3.Reals("gamma g o s q")
    given = [gamma > 0, q >= 1, size >= 1, update <= gamma, -update <= gamma, others <= gamma, -others <= gamma]
    if statement.domain["divided by"] == "|S_t|":
        move = (size * others + update) / (size + 1) - others
    else:
        move = (size * others + update) / q - size * others / q

    def recheck(values: Values) -> Recheck:
        moved = abs(values["g"] - values["o"]) / (values["s"] + 1)
        return Recheck(
            moved > values["gamma"] / values["q"], {"moved by": moved, "gamma/q": values["gamma"] / values["q"]}
        )

    return decide(
        z3.And(move * q <= gamma, -move * q <= gamma),
        given,
        recheck,
        proof="one clipped update moves the sum by gamma, and the constant q divides it",
        refutation="in a small cohort one client moves the average by up to 2 gamma/|S_t|",
    )
