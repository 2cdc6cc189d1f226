"""Every result of the API says itself: in words, as plain data that JSON can write, and in a notebook."""

from __future__ import annotations

import dataclasses
import json
import re
from xml.dom.minidom import parseString

import numpy as np
import pytest

import dpcert
from dpcert import Gaussian, Poisson, Repeat
from dpcert.accounting.calibration.plan import plan
from dpcert.accounting.calibration.plan_schemes import plan_schemes
from dpcert.mechanisms.digits import jsonable
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.lint import lint
from dpcert.proofs_checks.schedules.audit import audit_schedule

RUN = Repeat(Poisson(Gaussian(1.1), 0.01), 100)
CLAIM = {
    "claim": {"title": "<ten> rounds", "neighbouring": "add-remove", "epsilon": 1.0, "delta": 1e-5},
    "mechanism": {"kind": "gaussian", "noise_multiplier": 2.0},
    "composition": {"rounds": 10},
}


def noisy_sum(dataset, rng, size):
    return np.sum(dataset) + rng.laplace(0.0, 0.5, size)


def trained():
    from dpcert.trainers.federated import DpFedAvg, Settings, Trainer, load_federation
    from dpcert.trainers.training import train

    federation = load_federation("synthetic:related,population=8,samples=10", seed=0)
    settings = Settings(rounds=2, cohort=4, noise_multiplier=2.0, clip_norm=1.0, seed=0)
    return train(Trainer(federation, DpFedAvg(), settings=settings))


def solved():
    from dpcert.trainers.mocha.omegas import Omega
    from dpcert.trainers.mocha.source import load_problem
    from dpcert.trainers.mocha.trainer import MochaTrainer
    from dpcert.trainers.mocha.work import NodeWork

    problem = load_problem("synthetic:mean,tasks=3,samples=8,dimension=2")
    about = {"omega": "fixed-identity", "lambda": 1.0, "loss": "hinge"}
    omega, work = Omega(lambda tasks, made_by: np.eye(tasks)), NodeWork.of("passes=1", None, 3)
    return MochaTrainer("mocha", problem, "hinge", omega, 1.0, work, seed=0, told=about).solve(5, tolerance=1e-9)


RESULTS = {
    "bracket": lambda: dpcert.epsilon(RUN, delta=1e-5),
    "verdict": lambda: dpcert.verify(parse_claim(CLAIM)),
    "explanation": lambda: dpcert.explain(parse_claim(CLAIM)),
    "risk": lambda: dpcert.risk(RUN, false_positive_rates=[1e-2]),
    "gaussian fit": lambda: dpcert.gaussian_fit(Gaussian(2.0)),
    "conversion": lambda: dpcert.convert("rho", 0.5, "epsilon", delta=1e-5),
    "calibration": lambda: dpcert.calibrate(Gaussian, solve_for="noise_multiplier", epsilon=1.0, delta=1e-5),
    "calibration to mu": lambda: dpcert.calibrate_to(Gaussian, dpcert.mu, solve_for="noise_multiplier", target=0.5),
    "calibration to a risk": lambda: dpcert.calibrate_risk(Gaussian, solve_for="noise_multiplier", tpr=0.1, fpr=0.01),
    "plan": lambda: plan(population=1000, rounds=10, cohorts=[10, 100], target_epsilons=[1.0], delta=1e-5),
    "plan of schemes": lambda: plan_schemes(
        population=100, batch_size=10, epochs=1, delta=1e-5, target_epsilons=[1.0], schemes=["poisson"]
    ),
    "audit": lambda: dpcert.audit(noisy_sum, ([0.0], [1.0]), epsilon=1.0),
    "schedule": lambda: audit_schedule(Repeat(Poisson(Gaussian(1.0), 0.5), 4), [[0], [1], [0, 1], []], 2),
    "proof": lambda: dpcert.prove(noisy_count, epsilon=1.0, entries=2),
    "lint": lambda: lint([__file__]),
    "training": trained,
    "mocha": solved,
}


def noisy_count(dataset, rng):
    return dataset.sum() + rng.laplace(0.0, 1.0)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_says_itself(name):
    found = RESULTS[name]()
    assert dataclasses.is_dataclass(found)
    text = str(found)
    assert text != repr(found)
    assert "object at" not in text
    assert json.loads(json.dumps(jsonable(found.to_json()), allow_nan=False))
    html = getattr(found, "_repr_html_", None)
    if html is not None:
        shown = html()
        assert "<ten>" not in shown  # a title is text, whatever stands in it
        assert shown.count("<pre>") == shown.count("</pre>")


def test_a_verdict_in_a_notebook_has_its_curve_and_the_claimed_line():
    shown = dpcert.verify(parse_claim(CLAIM))._repr_html_()
    (picture,) = re.findall(r"<svg.*?</svg>", shown, re.DOTALL)
    drawn = parseString(picture)
    assert drawn.getElementsByTagName("polygon")
    assert drawn.getElementsByTagName("polyline")
    assert "refuted" in shown
    assert "&lt;ten&gt; rounds" in shown
