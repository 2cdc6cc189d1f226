"""Several releases about one sample, as claims state them: `releases`, and several [[phase.mechanism]] tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpcert.mechanisms import FixedSize, Gaussian, InputError, Laplace, Poisson, Repeat, Sequence
from dpcert.proofs_checks import verify
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import Claim, parse_claim

CLAIM = {"title": "ten local steps", "neighbouring": "add-remove", "epsilon": 10.0, "delta": 1e-5}
GAUSSIAN = {"kind": "gaussian", "noise_multiplier": 1.0}
POISSON = {"scheme": "poisson", "sampling_rate": 0.1}


def claim(mechanism: Any, sampling: Any = POISSON, rounds: int = 20, **stated: Any) -> Claim:
    tables = {"mechanism": mechanism, "sampling": sampling, "composition": {"rounds": rounds}}
    return parse_claim({"claim": CLAIM | stated, **tables})


def test_releases_share_one_coin() -> None:
    """9.971 if each of the 200 steps drew a sample of its own, which is what was stated otherwise."""
    found = verify(claim(GAUSSIAN | {"releases": 10}))
    assert found.verdict == "refuted"
    assert found.certified.lower == pytest.approx(42.284429, abs=1e-5)
    assert verify(claim(GAUSSIAN, rounds=200)).verdict == "holds"
    assert found.judged.phases[0].noise_in_words == "gaussian: noise_multiplier 1.0, releases 10"
    assert any("same sample" in sentence for sentence in found.assumptions)


def test_several_tables_in_one_phase_are_released_together() -> None:
    laplace = {"kind": "laplace", "noise_multiplier": 4.0, "releases": 2}
    several = {"mechanism": [GAUSSIAN, laplace], "sampling": POISSON, "composition": {"rounds": 3}}
    read = parse_claim({"claim": CLAIM, "phase": [several]})
    together = Sequence(Gaussian(1.0), Repeat(Laplace(4.0), 2))
    assert read.run == Repeat(Poisson(together, 0.1), 3) == claim([GAUSSIAN, laplace], rounds=3).run
    assert read.attained_run == read.run
    assert claim([GAUSSIAN]) == claim(GAUSSIAN)


def test_what_is_only_bounded_is_left_out_of_the_lower_end() -> None:
    bounded = {"kind": "skellam", "variance": 1e4, "clip": 10.0, "dimension": 10}
    read = claim([GAUSSIAN, bounded], {"scheme": "none"}, 1, neighbouring="zero-out")
    assert read.attained_run == Repeat(Gaussian(1.0), 1)


@pytest.mark.parametrize("place", [0, 1])
def test_findings_are_about_each_of_the_tables(place: int) -> None:
    """A mean over everybody among other releases still moves by up to 2 clip where its divisor falls."""
    mean = {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0}
    tables = [mean, {"kind": "gaussian", "noise_multiplier": 50.0}]
    everybody = {"scheme": "none", "population": 100}
    alone, beside = (
        verify(claim(one, everybody, 1)) for one in (mean, tables if place == 0 else list(reversed(tables)))
    )
    assert beside.certified.upper >= alone.certified.upper > 1.5 * alone.certified.lower


@pytest.mark.parametrize(
    ("mechanism", "place"),
    [
        (GAUSSIAN | {"releases": 0}, "mechanism.releases"),
        ([GAUSSIAN, {"kind": "gaussian"}], "mechanism.1.noise_multiplier"),
        ([GAUSSIAN, {"kind": "tree-aggregation", "noise_multiplier": 1.0}], "mechanism.1.kind"),
        ([], "mechanism"),
        ([GAUSSIAN, 3], "mechanism.1"),
        ({"kind": "together"}, "mechanism.kind"),
    ],
)
def test_bad_tables_are_named(mechanism: Any, place: str) -> None:
    with pytest.raises(InputError) as problem:
        claim(mechanism)
    assert problem.value.field == place


def test_correlated_noise_is_one_release() -> None:
    tree = {"kind": "tree-aggregation", "noise_multiplier": 1.0, "releases": 3}
    with pytest.raises(InputError, match="releases"):
        claim(tree, {"scheme": "none"}, 4, neighbouring="replace-one")


@pytest.mark.parametrize(
    ("mechanism", "sampling", "relation"),
    [
        (GAUSSIAN | {"releases": 10}, POISSON, "add-remove"),
        ([GAUSSIAN, {"kind": "gaussian", "noise_multiplier": 3.0, "releases": 2}], POISSON, "replace-one"),
        (GAUSSIAN | {"releases": 2}, {"scheme": "fixed-size", "population": 100, "cohort": 50}, "replace-one"),
        ([GAUSSIAN, {"kind": "laplace", "noise_multiplier": 9.0}], {"scheme": "none"}, "replace-one"),
    ],
)
def test_certificates_state_them(mechanism: Any, sampling: Any, relation: str, tmp_path: Path) -> None:
    read = claim(mechanism, sampling, 5, neighbouring=relation, epsilon=500.0)
    found = verify(read, certificates=tmp_path)
    assert found.verdict == "holds"
    assert found.certificate is not None
    assert check(found.certificate).ok


def test_a_certificate_counts_every_release(tmp_path: Path) -> None:
    """The plant: the checker rejects the claim's certificate once a release is dropped from what it states."""
    read = claim(GAUSSIAN | {"releases": 4}, {"scheme": "none"}, 5, epsilon=1.0)
    found = verify(read, certificates=tmp_path)
    once = verify(claim(GAUSSIAN, {"scheme": "none"}, 20, epsilon=1.0), certificates=tmp_path / "once")
    assert found.certified == once.certified
    assert found.verdict == "refuted"
    assert check(found.certificate or "").reason == check(once.certificate or "").reason


def test_a_sampled_run_of_a_fixed_size_holds_them_too() -> None:
    run = claim(GAUSSIAN | {"releases": 3}, {"scheme": "fixed-size", "population": 100, "cohort": 10}).run
    assert run == Repeat(FixedSize(Repeat(Gaussian(1.0), 3), 100, 10), 20)
