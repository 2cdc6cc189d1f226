"""PMTL's evidence: exact moments against trainer and enumeration, the corrected bounds, spoilt statements."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import few, many
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcert.proofs_checks.convergence import UnlikeTheTrainer
from dpcert.proofs_checks.convergence.pmtl_moments import Federation, check_against_trainer
from dpcert.proofs_checks.convergence.pmtl_runs import Form, mean_estimation, ridge_regression, run
from dpcert.proofs_checks.papers import EvidenceError, Row, Statement, register
from dpcert.proofs_checks.papers.pmtl.corrected import distance_bound

from .perturbation import LARGEST, perturbation

ROWS = (*register("pmtl"), *register("pmtl-jdp"))
FORMS: list[tuple[Form, int | None]] = [
    ("as-printed", None),
    ("as-printed", 2),
    ("reset", None),
    ("reset", 2),
    ("reset", 1),
    ("increments", 3),
]


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row.id) for row in ROWS if row.spoilt is not None and not row.function.endswith(":wording")],
)
def test_spoilt_statements_move_one_constant_by_a_few_percent_or_flip_an_inequality(row: Row) -> None:
    found = perturbation(row)
    assert found.flipped or 0 < found.size <= LARGEST * (1 + 1e-9)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"rate factor": 1.0, "noise factor": 0.7}, "by more than 10%"),
        ({"rate factor": 0.95, "noise factor": 0.95}, "not one thing"),
        ({"rate factor": 1.0, "noise factor": "none"}, "which has no size"),
        ({"rate factor": 1.0}, "which has no size"),
    ],
)
def test_cruder_perturbations_are_noticed(claim: dict[str, Any], reason: str) -> None:
    (row,) = register(only="PMTL-C-T7")
    crude = replace(row, spoilt=Statement("Spoilt.", claim, row.readings[0].domain))
    with pytest.raises(EvidenceError, match=reason):
        perturbation(crude)


def test_few_rows_wait_for_the_night() -> None:
    assert sum(row.cost == "full" for row in ROWS) <= 8


def _ridge(form: Form, cohort: int | None, **more: Any) -> Federation:
    problem = ridge_regression(4, 3)
    told = {"strength": 2.0, "learning_rate": 0.3, "steps": 3, "start": np.full(3, 2.0)} | more
    return Federation(problem, form, cohort=cohort, **told)


@pytest.mark.parametrize(("form", "cohort"), FORMS)
def test_recursion_is_the_trainers_step_by_step(form: Form, cohort: int | None) -> None:
    assert check_against_trainer(_ridge(form, cohort)) < 1e-9


@pytest.mark.parametrize("bug", ["steps", "weight", "pull"])
def test_a_recursion_of_another_algorithm_is_noticed(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = _ridge("reset", 2)
    idle, moving = replace(
        own, **{"steps": {"steps": 4}, "weight": {"scale": 1.01}, "pull": {"strength": 2.02}}[bug]
    ).parts
    monkeypatch.setattr(Federation, "parts", (idle, moving))
    with pytest.raises(UnlikeTheTrainer, match="away from the trainer"):
        check_against_trainer(own)


@pytest.mark.parametrize(("form", "cohort"), FORMS)
def test_moments_are_the_average_over_all_cohorts(form: Form, cohort: int | None) -> None:
    own = _ridge(form, cohort, sigma=0.3)
    idle, moving = own.parts
    drawn = list(combinations(range(4), own.taking_part))
    spread = own.sigma * (own.rate if form == "increments" else 1.0)
    noise = np.diag([spread**2] * 3 + [0.0] * (len(idle) - 3))
    expected = np.outer(own.initial, own.initial)
    found = own.moments(5).seconds
    for t in range(5):
        maps = [idle + moving[list(cohort)].sum(axis=0) for cohort in drawn]
        expected = np.mean([step @ expected @ step.T for step in maps], axis=0) + noise
        assert found[t + 1] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("form", "cohort"), FORMS)
def test_expectations_are_those_of_noisy_runs(form: Form, cohort: int | None) -> None:
    """150 independent coordinates, twelve comparisons in all, each by a t-interval at 1e-4."""
    single = mean_estimation(4, 1)
    many = mean_estimation(4, 25)
    told: dict[str, Any] = {"strength": 1.0, "learning_rate": 0.3}
    gaps, errors = [], []
    for seed in range(6):
        path = run(many, form, rounds=8, local_steps=2, cohort=cohort, noise_std=0.5, seed=seed, **told)
        off = path.models[-1] - many.optimum(1.0)
        apart = off - off.mean(axis=0)
        gaps.append((off**2 + apart**2).sum(axis=0) / 8)
        errors.append((path.shared[-1] - path.models[-1].mean(axis=0)) ** 2)
    exact = []
    for k in range(25):
        problem = replace(single, centres=many.centres[:, k : k + 1])
        own = Federation(problem, form, steps=2, cohort=cohort, sigma=0.5, **told)
        moments = own.moments(8)
        exact.append((moments.gaps()[-1], moments.errors()[-1]))
    for measured, true in zip((gaps, errors), np.array(exact).T, strict=True):
        by_run = np.array([values.mean() for values in measured])
        reach = stats.t.isf(0.5e-4, 5) * by_run.std(ddof=1) / math.sqrt(6)
        assert abs(by_run.mean() - true.mean()) <= reach


@settings(deadline=None, max_examples=many(20), derandomize=True)
@given(
    form=st.sampled_from(["reset", "increments"]),
    cohort=st.sampled_from([1, 2, 3, None]),
    steps=st.integers(1, 12),
    strength=st.floats(0.05, 20.0),
    step=st.floats(0.02, 1.0),
    sigma=st.sampled_from([0.0, 0.1, 1.0]),
    start=st.floats(-5.0, 5.0),
)
def test_corrected_theorems_hold_wherever_their_premises_do(
    form: Form, cohort: int | None, steps: int, strength: float, step: float, sigma: float, start: float
) -> None:
    """C-T6-E with the run's own ||e_t||^2, and C-T7-E and C-T7-q, at every round."""
    own = _ridge(
        form,
        cohort,
        steps=steps,
        strength=strength,
        learning_rate=step / (1.0 + strength),
        sigma=sigma,
        start=np.full(3, start),
    )
    moments = own.moments(40)
    assert (moments.distances() <= distance_bound(moments) * (1 + 1e-9) + 1e-12).all()
    rounds = np.arange(1, 41)
    unit = 1 / (own.share * own.rate * own.learning_rate)
    left = np.cumsum(moments.local_gradients()[:-1])
    right = unit * (moments.gaps()[0] + own.strength / 2 * np.cumsum(moments.errors()[:-1]))
    assert (left / rounds <= right / rounds * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("name", ["convergence.md", "pmtl_privacy.md"])
def test_rows_named_in_a_theory_page_exist(name: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / "theory" / name).read_text()
    named = {each.rstrip(".-") for each in re.findall(r"PMTL-[A-Za-z0-9][\w.-]*", text)}
    assert len(named) > 10
    assert named - {row.id for row in ROWS} <= {"PMTL-T6", "PMTL-T7", "PMTL-ALG-a"}  # PMTL-T6-* and the like


WRONG: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("PMTL-T1a", {"factor": 3.8}, {}),
    ("PMTL-T1-general", {"factor": 4}, {"move": 1.06}),
    ("PMTL-RG2", {"factor": 4}, {"move": 1.06}),
    ("PMTL-C-BP", {"factor": 3.8}, {}),
    ("PMTL-C-T1", {"sigma": "times*2*gamma*root_T/(m*mu_star)", "times": 1.01}, {}),
    ("PMTL-C-T1", {"sigma": "times*2*gamma*root_T**2/(m*mu_star)", "times": 1.0}, {}),
    ("PMTL-C-T1", {"sigma": "times*gamma*root_T/mu_star", "times": 1.0}, {}),
    ("PMTL-L3", {"factor": 0.95}, {}),
    ("PMTL-L1", {"(c1, c2)": (0.05, 0.5), "sampling": "Poisson, zero-out"}, {}),
]


@pytest.mark.parametrize(
    ("name", "claim", "domain"), few(WRONG, 4), ids=[f"{name} {claim}" for name, claim, _ in WRONG]
)
def test_a_wrong_constant_fails_somewhere_in_the_box(name: str, claim: dict[str, Any], domain: dict[str, Any]) -> None:
    (row,) = register(only=name)
    right = row.repaired or row.readings[0]  # test_register sees it pass
    assert not row.evidence(replace(right, claim=dict(right.claim) | claim, domain=dict(right.domain) | domain)).holds
