"""Claims as papers write them: a smaller last batch, an epsilon a day, a list of Renyi orders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcert.accounting import delta, epsilon
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat, Shuffled
from dpcert.proofs_checks.claims.assumptions import assumptions
from dpcert.proofs_checks.claims.claim import Claim, parse_claim
from dpcert.proofs_checks.reproduction.claimed import commonly_explained, readings
from dpcert.proofs_checks.reproduction.explanation import grouped
from dpcert.proofs_checks.reproduction.printed import Convention
from dpcert.proofs_checks.verification.verdicts import compare
from dpcert.proofs_checks.verification.verify import verify

BATCHES = {"scheme": "shuffle", "dataset_size": 60_000, "batch_size": 256}


def claim(mechanism: dict[str, Any], sampling: dict[str, Any], composition: dict[str, Any], **stated: Any) -> Claim:
    statement = {"title": "t", "neighbouring": "replace-one", "epsilon": 3.0, "delta": 1e-5} | stated
    return parse_claim({"claim": statement, "mechanism": mechanism, "sampling": sampling, "composition": composition})


GAUSSIAN = {"kind": "gaussian", "noise_multiplier": 1.1}


def test_an_epoch_whose_last_batch_is_smaller() -> None:
    read = claim(GAUSSIAN, BATCHES, {"epochs": 60})
    assert read.run == Repeat(Shuffled(Gaussian(1.1), 235), 60)
    assert read.attained_run == read.run
    assert read.phases[0].steps == 60 * 235
    assert any("except for a smaller last one" in sentence for sentence in assumptions(read))
    assert claim(GAUSSIAN, BATCHES, {"rounds": 235}).run == Repeat(Shuffled(Gaussian(1.1), 235), 1)
    with pytest.raises(InputError, match=r"composition\.rounds = 234: .* = 235"):
        claim(GAUSSIAN, BATCHES, {"rounds": 234})
    assert claim(GAUSSIAN, BATCHES | {"scheme": "cyclic"}, {"epochs": 2}).run.rounds == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "mechanism",
    [
        {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0},
        {"kind": "per-client-gaussian", "noise_std": 0.1, "clip_norm": 1.0},
        {"kind": "skellam", "variance": 9.0, "clip": 1.0, "dimension": 3},
        {"kind": "distributed-discrete-gaussian", "sigma": 2.0, "clients": 100, "clip": 1.0, "dimension": 3},
    ],
)
def test_noise_that_the_last_batch_would_have_less_of_is_refused(mechanism: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"sampling\.cohort = 256: .*last batch"):
        claim(mechanism, BATCHES, {"epochs": 1})
    claim(mechanism, BATCHES | {"batch_size": 250}, {"epochs": 1})


def true_delta(epsilons: list[float], noise: float, shares: list[float]) -> NDArray[np.float64]:
    """One epoch of two batches, all others at -u, the unit at u against -u, in whichever direction is worse: by sums
    over a fine grid of both batches' outputs, which are smooth and vanish at its ends."""
    points = np.linspace(-10 * noise, 2 + 10 * noise, 1201)
    step = points[1] - points[0]

    def normal(mean: float) -> NDArray[np.float64]:
        return np.exp(-((points - mean) ** 2) / (2 * noise**2)) / (noise * math.sqrt(2 * math.pi))

    with_unit = shares[0] * np.outer(normal(2), normal(0)) + shares[1] * np.outer(normal(0), normal(2))
    without = np.outer(normal(0), normal(0))
    orders = (with_unit, without), (without, with_unit)
    return np.array([max(np.maximum(p - math.exp(e) * q, 0).sum() * step**2 for p, q in orders) for e in epsilons])


def test_the_interval_of_uneven_batches_holds_what_an_attacker_attains() -> None:
    """Three units in batches of two and one. The lower end is for batches of one size, which reveal no more."""
    epsilons = [0.0, 0.5, 1.0, 2.0]
    truth = true_delta(epsilons, 1.5, [2 / 3, 1 / 3])
    run = claim(
        {"kind": "gaussian", "noise_multiplier": 1.5}, BATCHES | {"dataset_size": 3, "batch_size": 2}, {"epochs": 1}
    ).run
    assert run == Repeat(Shuffled(Gaussian(1.5), 2), 1)
    for at, known in zip(epsilons, truth, strict=True):
        found = delta(run, at, "replace-one")
        assert found.lower <= known * (1 + 1e-6)
        assert known <= found.upper * (1 + 1e-6)
        assert found.lower >= 0.7 * known  # worth having
    # with as many batches as fill whole, which forgets the last one, the lower end would be above the truth
    assert delta(Shuffled(Gaussian(1.5), 1), 1.0, "replace-one").lower > truth[2] * 1.1


def test_the_usual_misreading_of_uneven_batches_is_tried() -> None:
    printed = epsilon(Repeat(Poisson(Gaussian(1.1), 256 / 60_000), 14_063), 1e-5, "add-remove").upper
    described = claim(GAUSSIAN, BATCHES, {"epochs": 60}, epsilon=round(printed, 4))
    assert any(c.reproduces and "Poisson" in c.name for c in commonly_explained(described, None))
    assert readings(claim(GAUSSIAN, BATCHES | {"batch_size": 250}, {"epochs": 60})) == ()


def test_an_epsilon_a_day_for_some_days() -> None:
    stated = {"composition": {"rounds": 2, "days": 14}, "mechanism": {"kind": "pure-dp", "epsilon": 0.5}}
    statement = {"title": "t", "neighbouring": "add-remove", "epsilon": 1.0, "delta": 0, "per": "day"}
    result = verify(parse_claim(stated | {"claim": statement}))
    assert result.verdict == "holds"
    assert result.certified.upper == 1.0
    (told,) = [finding.text for finding in result.findings if finding.id == "all-days"]
    assert "On all 14 days together pure epsilon is from 0 to 14" in told
    assert result.judged.days == 14
    total = compare([result]).total
    assert total is not None
    assert total.upper == 14.0
    whole = parse_claim(stated | {"claim": statement | {"per": None, "epsilon": 14.0}})
    assert verify(whole).certified.upper == 14.0
    assert verify(parse_claim(stated | {"claim": statement | {"epsilon": 0.9}})).verdict != "holds"


def test_phases_of_a_day_run_on_the_same_days() -> None:
    phases = [
        {"mechanism": GAUSSIAN, "composition": {"rounds": 2, "days": 7}},
        {"mechanism": GAUSSIAN, "composition": {"days": 7}},
    ]
    statement = {"title": "t", "neighbouring": "add-remove", "epsilon": 9.0, "delta": 1e-5, "per": "day"}
    read = parse_claim({"claim": statement, "phase": phases})
    assert [phase.steps for phase in read.phases] == [2, 1]
    assert [phase.steps for phase in read.phases_of_all_days] == [14, 7]
    phases[1]["composition"] = {"days": 8}
    with pytest.raises(InputError, match=r"phase\.composition\.days"):
        parse_claim({"claim": statement, "phase": phases})


TREE = {"kind": "tree-aggregation", "noise_multiplier": 4.0}
BEGUN = [
    (TREE, {}, 8),
    ({"kind": "matrix-factorisation", "noise_multiplier": 4.0, "coefficients": [1.0, 0.5]}, {}, 8),
    (GAUSSIAN, {"scheme": "cyclic", "population": 100, "cohort": 50}, 1),
    (GAUSSIAN, {"scheme": "shuffle", "population": 100, "cohort": 50}, 1),
    (GAUSSIAN, {"scheme": "random-allocation", "block": 2}, 1),
]


@pytest.mark.parametrize(("mechanism", "sampling", "rounds"), BEGUN)
def test_days_that_do_not_say_whether_they_start_anew(mechanism, sampling, rounds) -> None:
    """Ten trees cost up to ten times the squared noise of one tree over all days; so do batches that are the first."""
    with pytest.raises(
        InputError, match=r"composition\.days = 10: expected no days: .* write one \[\[phase\]\] per day"
    ):
        claim(mechanism, sampling, {"rounds": rounds, "days": 10})
    if mechanism is TREE or sampling.get("scheme") == "cyclic":
        of_a_day = verify(claim(mechanism, sampling, {"rounds": rounds, "days": 10}, per="day"))
        assert of_a_day.certified.upper == verify(claim(mechanism, sampling, {"rounds": rounds})).certified.upper
        (said,) = (finding.text for finding in of_a_day.findings if finding.id == "all-days")
        assert said.startswith("dpcert states no epsilon for all 10 days together: ")
    if sampling:
        whole = claim(GAUSSIAN, sampling, {"rounds": 2, "days": 10})
        assert whole.run == claim(GAUSSIAN, sampling, {"rounds": 20}).run


def test_how_often_a_unit_takes_part_is_said() -> None:
    default, stated = (verify(claim(TREE | limits, {}, {"rounds": 8})) for limits in ({}, {"max_participations": 1}))
    assert default.certified == stated.certified
    assert any(
        "in at most 1 of these 8 rounds (the default: the claim does not say)" in sentence
        for sentence in default.assumptions
    )
    assert [
        any(finding.id == "participations-not-stated" for finding in each.findings) for each in (default, stated)
    ] == [
        True,
        False,
    ]


def test_what_is_taken_for_granted_of_scores_and_searches() -> None:
    """An epsilon of monotone scores is half of what they cost where a replaced unit moves them both ways."""
    chosen = {"kind": "exponential-mechanism", "epsilon": 1.0}
    for mechanism in (chosen, {"kind": "best-of-several", "gamma": 0.5, "run": {"mechanism": chosen}}):
        told = " ".join(assumptions(claim(mechanism, {}, {"rounds": 1})))
        assert "the stated sensitivity is between replace-one neighbours" in told
        assert "if the formula for monotone scores was used" in told
    assert "the number of runs stays secret" in told


def opacus(**more: Any) -> Claim:
    """Opacus's command line example (scripts/compute_dp_sgd_privacy.py, 1.0): 2.39, best order 5."""
    sampling = {"scheme": "poisson", "sampling_rate": 0.01}
    noise = {"kind": "gaussian", "noise_multiplier": 1.0}
    return claim(noise, sampling, {"epochs": 3}, neighbouring="add-remove", epsilon=2.39, **more)


def test_the_orders_that_a_source_names_are_tried() -> None:
    found = commonly_explained(opacus(rdp_orders=[2, 5, 10, 20, 100]), None)
    assert found[0].reproduces
    assert found[0].name == "RDP, improved conversion, the source's orders"
    assert found[0].detail == "order 5"
    assert not any(c.reproduces and "orders" in c.name for c in commonly_explained(opacus(), None))
    with pytest.raises(InputError, match=r"rdp_orders = 1: expected an order above 1"):
        opacus(rdp_orders=[1, 5])
    with pytest.raises(InputError, match="rdp_orders"):
        claim(GAUSSIAN, {}, {}, epsilon=None, delta=None, mu=1.0, rdp_orders=[2])


def test_grids_of_equal_value_are_one_row() -> None:
    def convention(name: str, value: float) -> Convention:
        return Convention(name, value, True, "order 9", (0.0, 1.0))

    rows = grouped(
        [
            convention("RDP, classic conversion, TF-Privacy's orders; one round less (9)", 3.0),
            convention("RDP, classic conversion, JAX-Privacy's orders", 3.0),
            convention("zCDP", 3.0),
            convention("RDP, classic conversion, Opacus's orders", 3.0),
            convention("RDP, classic conversion, dp-accounting's orders", 3.1),
        ]
    )
    assert [name for name, _ in rows] == [
        "RDP, classic conversion, TF-Privacy's orders; one round less (9)",
        "RDP, classic conversion, JAX-Privacy's and Opacus's orders",
        "zCDP",
        "RDP, classic conversion, dp-accounting's orders",
    ]
