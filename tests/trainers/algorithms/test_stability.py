"""The predicted growth of Algorithm 1 as printed is the measured one."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from cases import many
from known_problems import Quadratic

from dpcert.mechanisms import InputError
from dpcert.trainers.data.synthetic import mean_estimation
from dpcert.trainers.engine.algorithm import StabilityWarning
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.federated import (
    LocalSteps,
    Pmtl,
    PmtlAsPrinted,
    PmtlIncrements,
    Settings,
    Trainer,
    growth_factor,
    growth_matrix,
)
from dpcert.trainers.models import Linear

torch.set_num_threads(1)
FORMS = {"as-printed": PmtlAsPrinted, "reference": Pmtl, "increments": PmtlIncrements}


def distances(form, *, population, cohort, curvature, strength, steps, rounds, learning_rate=0.3, dimension=40):
    """||w~ - w_bar*|| after every round of a real run."""
    problem = Quadratic.of(mean_estimation(population=population, dimension=dimension, curvature=curvature, seed=1))
    told = Settings(
        rounds=rounds,
        cohort=cohort,
        sampling="fixed-size",
        dtype="float64",
        seed=2,
        local=LocalSteps(learning_rate=learning_rate, steps=steps, batch_size=None),
    )
    board = RecordingBillboard()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)
        algorithm = FORMS[form](strength)
        trainer = Trainer(problem.federation, algorithm, Linear(dimension, 1, bias=False), told, billboard=board)
    trainer.run()
    shared = board.billboard[0].ravel()
    result = []
    for release in board.billboard[1:]:
        factor = 1 / population if form == "increments" else 1 / cohort
        shared = shared + factor * release.ravel()
        result.append(np.linalg.norm(shared - problem.centres.mean(axis=0)))
    return np.array(result)


@pytest.mark.parametrize(("strength", "cohort"), [(1.0, 15), (0.5, 15), (2.0, 60)])
def test_growth_as_printed(strength, cohort):
    """150 clients, so that a round is close to its mean; growth fitted over the later rounds."""
    told = {"curvature": 1.0, "strength": strength, "learning_rate": 0.3, "steps": 5}
    predicted = growth_factor("as-printed", sampling_rate=cohort / 150, **told)
    measured = distances(
        "as-printed", population=150, cohort=cohort, curvature=1.0, strength=strength, steps=5, rounds=30
    )
    growth = (measured[-1] / measured[9]) ** (1 / 20)
    assert predicted > 1.1
    assert growth == pytest.approx(predicted, rel=0.02)


def test_threshold_is_rho_over_p():
    """Register PMTL-ALG-a: unstable iff rho m / q > 1."""
    for curvature, strength in ((1.0, 0.2), (0.2, 1.0), (1.0, 1.0)):
        rho = strength / (curvature + strength)
        for sampling_rate in (0.05, 0.3, 0.6, 1.0):
            growth = growth_factor(
                "as-printed",
                curvature=curvature,
                strength=strength,
                learning_rate=0.3,
                steps=5,
                sampling_rate=sampling_rate,
            )
            assert (growth > 1 + 1e-9) == (rho > sampling_rate + 1e-9)
            moved = 1 - (1 - 0.3 * (curvature + strength)) ** 5
            assert growth == pytest.approx(max(1.0, abs(1 + moved * (rho - sampling_rate))), rel=1e-9)


def test_the_other_forms_do_not_grow():
    rng = np.random.default_rng(0)
    for _ in range(many(200)):
        told = {
            "curvature": float(rng.uniform(0, 2)),
            "strength": float(rng.uniform(0, 2)),
            "learning_rate": 0.2,
            "steps": int(rng.integers(1, 9)),
            "sampling_rate": float(rng.uniform(0.01, 1)),
        }
        assert growth_factor("reference", **told) <= 1 + 1e-9
        assert growth_factor("increments", **told) <= 1 + 1e-9
    for form in ("reference", "increments"):
        run = distances(form, population=60, cohort=6, curvature=0.2, strength=1.0, steps=5, rounds=150)
        # Sampling keeps the reference form moving; the printed form would have grown by a factor above 1e20.
        assert run[-50:].max() < 5 * run[0]


def test_matrix_is_the_mean_round():
    """One round from a state far from the optimum, averaged over many cohorts, is the matrix applied to the state."""
    matrix = growth_matrix("as-printed", curvature=0.5, strength=1.0, learning_rate=0.3, steps=4, sampling_rate=0.25)
    moved, rho = 1 - (1 - 0.3 * 1.5) ** 4, 1 / 1.5
    w, v = np.random.default_rng(1).standard_normal((2, 8))
    own = np.random.default_rng(2).standard_normal((40, 8))
    own += v - own.mean(axis=0)
    change = moved * (rho * w - own)
    rng = np.random.default_rng(3)
    means = np.array([change[rng.choice(40, 10, replace=False)].mean(axis=0) for _ in range(20000)])
    expected = matrix @ np.stack([w, v])
    deviation = means.std(axis=0) / math.sqrt(20000)
    assert (np.abs(w + means.mean(axis=0) - expected[0]) < 6 * deviation).all()
    np.testing.assert_allclose(v + 0.25 * change.mean(axis=0), expected[1], atol=1e-12)


def test_warning_before_training():
    federation = mean_estimation(population=10)
    told = Settings(cohort=2, rounds=1, local=LocalSteps(steps=3))
    with pytest.warns(StabilityWarning, match=r"by a factor 1\.\d+ a round"):
        Trainer(federation, PmtlAsPrinted(1.0), settings=told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Trainer(federation, Pmtl(1.0), settings=told)
        Trainer(federation, PmtlIncrements(1.0), settings=told)
        Trainer(federation, PmtlAsPrinted(0.1, curvature=1.0), settings=told)
        Trainer(federation, PmtlAsPrinted(1.0), settings=Settings(sampling="full", rounds=1))


def test_bad_input():
    with pytest.raises(InputError, match="form"):
        growth_factor("other", curvature=1, strength=1, learning_rate=1, steps=1, sampling_rate=1)
    with pytest.raises(InputError, match="sampling_rate"):
        growth_factor("reference", curvature=1, strength=1, learning_rate=1, steps=1, sampling_rate=0)
