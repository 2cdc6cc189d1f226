"""Algorithm 1 (Section 4.1): whether its lines solve the objective that they are meant to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Finding, Kind, Row, Statement
from .moments import Federation, check_against_trainer
from .runs import Form, run


def _mean_estimation(curvature: float, population: int = 20, dimension: int = 3) -> Any:
    from ....trainers.data.known import mean_estimation

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
                return Finding(False, text, numbers)
    return Finding(True, "E F - F* below 1e-9 after 400 rounds in every run", numbers)


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
    return Finding(worst < 1e-6, f"w~ is off the mean model by {worst:.3g} times the models' distance", numbers)


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
        if growth > 1 + 1e-9 and measured > 1.05:
            text = f"cohort {cohort} of 20: the distance grows {measured:.3f}-fold a round (predicted {growth:.3f})"
            return Finding(False, text, numbers)
    return Finding(True, "spectral radius at most 1 and no growth in any run", numbers)


ROWS = (
    Row(
        id="PMTL-ALG-a",
        paper="pmtl",
        place="Section 4.3, after (10); Algorithm 1",
        kind=Kind.TRAINER,
        evidence=solves_objective,
        printed=Statement(
            "When sigma = 0, Algorithm 1 is a solver of the mean-regularised objective (2).",
            {"weight of an increment": "1/|S_t|", "times": 1.0},
            {"cohorts of 20": (20, 10, 5)},
        ),
        repaired=Statement(
            "It is with q = m and no update clipped (with E = 1 it is gradient descent on m F).",
            {"weight of an increment": "1/|S_t|", "times": 1.0},
            {"cohorts of 20": (20,)},
        ),
    ),
    Row(
        id="PMTL-ALG-a-increments",
        paper="pmtl",
        place="Our correction of line 8, for sigma = 0",
        kind=Kind.TRAINER,
        evidence=solves_objective,
        printed=Statement(
            "With 1/m for 1/|S_t| in line 8 (sigma = 0, no clipping) it solves (2) for every cohort size.",
            {"weight of an increment": "1/m", "times": 1.0},
            {"cohorts of 20": (20, 10, 5)},
        ),
        spoilt=Statement(
            "With 1.05/m it does.",
            {"weight of an increment": "1/m", "times": 1.05},
            {"cohorts of 20": (20, 10, 5)},
        ),
    ),
    Row(
        id="PMTL-ALG-a-mean",
        paper="pmtl",
        place="Section 4.3, after (8); Algorithm 1, line 8",
        kind=Kind.TRAINER,
        evidence=tracks_mean,
        printed=Statement("w~ is an estimate of the mean model (q < m).", {"weight of an increment": "1/|S_t|"}),
        repaired=Statement(
            "With 1/m for 1/|S_t| in line 8, w~ is the mean model (without clipping and noise).",
            {"weight of an increment": "1/m"},
        ),
    ),
    Row(
        id="PMTL-ALG-a-stable",
        paper="pmtl",
        place="Algorithm 1, line 8, with q < m",
        kind=Kind.TRAINER,
        evidence=stays_bounded,
        printed=Statement("Algorithm 1 stays bounded, whatever q.", {"line 8": "as-printed"}),
        repaired=Statement(
            "It does when clients send w_k^{t+1} - w~^t (as the published code has it); as printed it diverges where "
            "lambda/(a + lambda) > q/m in a direction of curvature a.",
            {"line 8": "reset"},
        ),
    ),
)
"""The rows of Algorithm 1 as a solver."""
