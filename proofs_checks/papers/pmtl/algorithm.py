"""Algorithm 1 (Section 4.1): whether its lines solve the objective that they are meant to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...convergence.pmtl_moments import Federation, check_against_trainer
from ...convergence.pmtl_runs import Form, run
from ..row import Finding, Statement, Undecided, on_instances

APART = 0.05
"""Between predicted and measured growth a round: cohorts are drawn, and what does not grow stays at their floor."""


def _mean_estimation(curvature: float, population: int = 20, dimension: int = 3) -> Any:
    from ...convergence.quadratic import mean_estimation

    return mean_estimation(population=population, dimension=dimension, curvature=curvature, seed=1)


def _federation(form: Form, curvature: float, strength: float, cohort: int, scale: float) -> Federation:
    problem = _mean_estimation(curvature, dimension=1)
    chosen = None if cohort == 20 else cohort
    own = Federation(problem, form, strength, 0.3, 5, chosen, start=np.zeros(1), scale=scale)
    check_against_trainer(own)
    return own


def solves_objective(statement: Statement) -> Finding:
    """E F(W^T) - F*, exactly, after 400 rounds of 5 exact-gradient steps without noise, by cohort size and curvature.

    An increment's weight in w~ is 1/|S_t| as printed, or `weight` times 1/m.
    """
    form, scale, numbers = _line_8(statement), statement.claim["times"], {}
    for curvature, strength in ((1.0, 0.2), (0.2, 1.0)):
        for cohort in statement.domain["cohorts of 20"]:
            gap = float(_federation(form, curvature, strength, cohort, scale).moments(400).gaps()[-1])
            numbers[f"curvature {curvature:g}, lambda {strength:g}, cohort {cohort}: E F - F*"] = gap
            if not abs(gap) <= 1e-9:
                text = f"curvature {curvature:g}, lambda {strength:g}, cohort {cohort}: E F - F* = {gap:.3g} at the end"
                return Finding(
                    False, text, numbers, basis=on_instances(len(numbers), "recursions equal to the trainer")
                )
    return Finding(
        True,
        "E F - F* below 1e-9 after 400 rounds in every run",
        numbers,
        basis=on_instances(len(numbers), "recursions equal to the trainer"),
    )


def _line_8(statement: Statement) -> Form:
    forms: dict[str, Form] = {"1/|S_t|": "as-printed", "1/m": "increments"}
    return forms[statement.claim["weight of an increment"]]


def tracks_mean(statement: Statement) -> Finding:
    """The root of E||w~^t - w_bar^t||^2, exactly, at its largest over a run, against that of the models' distance."""
    numbers = {}
    for cohort in (10, 5):
        moments = _federation(_line_8(statement), 1.0, 0.2, cohort, 1.0).moments(100)
        ratio = float(np.sqrt(np.abs(moments.errors()).max() / moments.distances().max()))
        numbers[f"cohort {cohort}: distance of w~ / distance of the models"] = ratio
    worst = max(numbers.values())
    return Finding(
        worst < 1e-6,
        f"w~ is off the mean model by {worst:.3g} times the models' distance",
        numbers,
        basis=on_instances(2, "recursions equal to the trainer"),
    )


def stays_bounded(statement: Statement) -> Finding:
    """Spectral radius of a round's mean map (trainers.algorithms.stability) and a run: rho m/q > 1 diverges."""
    from ....trainers.algorithms.stability import growth_factor

    form, numbers = statement.claim["line 8"], {}
    problem, rounds = _mean_estimation(0.2), 60
    for cohort in (10, 4, 2):
        growth = growth_factor(
            "reference" if form == "reset" else form,
            curvature=0.2,
            strength=1.0,
            learning_rate=0.3,
            steps=5,
            sampling_rate=cohort / 20,
        )
        path = run(problem, form, strength=1.0, learning_rate=0.3, rounds=rounds, local_steps=5, cohort=cohort, seed=3)
        off = np.linalg.norm(path.shared - problem.centres.mean(axis=0), axis=1)
        measured = float((off[-1] / off[rounds // 3]) ** (1 / (rounds - rounds // 3)))
        numbers[f"cohort {cohort}: predicted, measured growth a round"] = [growth, measured]
        if abs(measured - max(growth, 1.0)) > APART:
            raise Undecided(f"the trainer's models grow {measured:.3f}-fold a round, predicted {growth:.3f}")
        if growth > 1 + 1e-9:
            text = f"cohort {cohort} of 20: the distance grows {measured:.3f}-fold a round (predicted {growth:.3f})"
            return Finding(False, text, numbers, basis=on_instances(len(numbers), "trainer runs"))
    return Finding(
        True,
        "spectral radius at most 1 and no growth in any run",
        numbers,
        basis=on_instances(len(numbers), "trainer runs"),
    )
