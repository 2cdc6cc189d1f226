"""Verdicts: against exact oracles that share no code with the accountants, and the reasons that come with them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mpmath
import pytest
from cases import few

from dpcert.accounting import Bracket
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verdict import judge
from dpcert.proofs_checks.verification.verify import verify

CLAIMS = Path(__file__).parents[3] / "claims"


def gaussian_delta(epsilon: float | mpmath.mpf, mu: mpmath.mpf) -> mpmath.mpf:
    """Balle, Wang 2018, Theorem 8, at 60 digits."""
    if mu == 0:
        return mpmath.mpf(0)
    e = mpmath.mpf(epsilon)
    return mpmath.ncdf(-e / mu + mu / 2) - mpmath.exp(e) * mpmath.ncdf(-e / mu - mu / 2)


def coalition_delta(epsilon: float, shift: mpmath.mpf, rounds: int, rate: mpmath.mpf) -> mpmath.mpf:
    """E over K ~ Bin(rounds, rate) of the Gaussian profile, every term, at 60 digits."""
    total, weight = mpmath.mpf(0), (1 - rate) ** rounds
    for k in range(rounds + 1):
        total += weight * gaussian_delta(epsilon, shift * mpmath.sqrt(k))
        weight *= mpmath.mpf(rounds - k) / (k + 1) * rate / (1 - rate)
    return total


def claim(epsilon: float, mechanism: dict[str, Any], **more: Any) -> Any:
    statement = {"title": "t", "neighbouring": "add-remove", "epsilon": epsilon, "delta": 1e-5}
    tables = {"claim": statement | more.pop("claim", {}), "mechanism": mechanism} | more
    return parse_claim(tables)


def test_judge_needs_the_whole_interval_on_one_side() -> None:
    assert judge(Bracket(1.0, 2.0, True, "m"), 2.0) == "holds"
    assert judge(Bracket(1.0, 2.0, True, "m"), math.nextafter(2.0, 0.0)) == "undecided"
    assert judge(Bracket(1.0, 2.0, True, "m"), 1.0) == "undecided"
    assert judge(Bracket(1.0, 2.0, True, "m"), math.nextafter(1.0, 0.0)) == "refuted"
    assert judge(Bracket(0.0, math.inf, True, "m"), 1e308) == "undecided"


def test_an_estimate_decides_nothing() -> None:
    assert judge(Bracket(1.0, 1.0, False, "gdp-clt"), 5.0) == "undecided"
    assert judge(Bracket(9.0, 9.0, False, "gdp-clt"), 5.0) == "undecided"


@pytest.mark.parametrize("z", [0.5, 1.0, 8.0])
def test_verdicts_flip_at_the_true_epsilon(z: float) -> None:
    low, high = mpmath.mpf(0), mpmath.mpf(50)
    with mpmath.workdps(60):
        for _ in range(150):
            middle = (low + high) / 2
            over = gaussian_delta(middle, 1 / mpmath.mpf(z)) > mpmath.mpf(1e-5)
            low, high = (middle, high) if over else (low, middle)
    truth = float(low)
    noise = {"kind": "gaussian", "noise_multiplier": z}
    assert verify(claim(truth * (1 + 1e-8), noise)).verdict == "holds"
    assert verify(claim(truth * (1 - 1e-8), noise)).verdict == "refuted"


@pytest.mark.parametrize(
    ("name", "shift", "rounds", "cohort", "population"),
    few(
        [
            ("stackoverflow", "1", 600, 100, 400),  # 2 gamma / (q sigma) = 2 * .5 / (100 * .01)
            ("femnist", "0.4", 1000, 100, 205),
            ("celeba", "1", 1000, 100, 515),
        ],
        6,
    ),
)
def test_figure_2_of_pmtl_is_refuted_against_the_coalition(
    name: str, shift: str, rounds: int, cohort: int, population: int
) -> None:
    result = verify(CLAIMS / "seeds" / f"pmtl-figure2-{name}.toml")
    assert result.verdict == "refuted"
    assert {"no-amplification-against-coalition", "replace-one-sensitivity", "delta-not-small"} <= {
        finding.id for finding in result.findings
    }
    assert result.witness is not None
    delta = result.claim.statement.delta
    with mpmath.workdps(60):
        rate, move = mpmath.mpf(cohort) / population, mpmath.mpf(shift)
        at_claim = coalition_delta(result.claim.statement.epsilon, move, rounds, rate)
        assert at_claim > delta
        assert result.witness.delta_at_claimed_epsilon == pytest.approx(float(at_claim), rel=1e-6)
        slack = 1e-6  # the published z rounds in double precision; the interval is for the rounded one
        assert coalition_delta(result.certified.lower * (1 - slack), move, rounds, rate) > delta
        assert coalition_delta(result.certified.upper * (1 + slack), move, rounds, rate) < delta


def test_the_coalition_is_the_default_and_is_said() -> None:
    tables: dict[str, Any] = {
        "claim": {"title": "t", "notion": "billboard", "neighbouring": "zero-out", "epsilon": 2.0, "delta": 1e-3},
        "mechanism": {"kind": "gaussian", "noise_multiplier": 4.0},
        "sampling": {"scheme": "fixed-size", "population": 50, "cohort": 5},
        "composition": {"rounds": 10},
    }
    silent = verify(parse_claim(tables))
    assert any("the claim does not say" in sentence for sentence in silent.assumptions)
    tables["claim"]["coalition_sees_participation"] = True
    assert verify(parse_claim(tables)).certified == silent.certified


def test_theorem_1_of_pmtl_holds_inside_its_hidden_condition_only() -> None:
    assert verify(CLAIMS / "seeds" / "pmtl-theorem1-epsilon2.toml").verdict == "holds"
    outside = verify(CLAIMS / "seeds" / "pmtl-theorem1-epsilon40.toml")
    assert outside.verdict == "refuted"
    assert outside.witness is not None
    with mpmath.workdps(60):
        truth = gaussian_delta(40.0, 40 / (2 * mpmath.sqrt(mpmath.log(mpmath.mpf(10) ** 5))))
    assert outside.witness.delta_at_claimed_epsilon == pytest.approx(float(truth), rel=1e-9)
    assert truth == pytest.approx(3.6195951e-5, rel=1e-7)  # the register's ball arithmetic value, recomputed here


def test_sensitivity_of_dpfedmtl_is_too_small_by_m_over_k_squared() -> None:
    result = verify(CLAIMS / "seeds" / "dpfedmtl-femnist-sigma9.69-as-written.toml")
    texts = {finding.id: finding.text for finding in result.findings}
    assert f"{174 / 9:.4g} times" in texts["sensitivity-too-small"]
    assert "noise-before-averaging" in texts


def test_shuffled_batches_refute_a_poisson_claim() -> None:
    result = verify(CLAIMS / "papers" / "chua24-shuffle-as-poisson.toml")
    assert result.verdict == "refuted"
    assert result.certified.lower > 10.99
    assert result.certified.upper < 10.998
    assert result.witness is not None


def test_the_printed_interval_decides_when_it_is_given() -> None:
    noise = {"kind": "gaussian", "noise_multiplier": 1.0}
    true_epsilon = verify(claim(1.0, noise)).certified.upper
    printed = round(true_epsilon - 0.005, 2)
    assert verify(claim(printed, noise)).verdict == "refuted"
    wide = {"epsilon_interval": [printed - 0.01, printed + 0.01]}
    assert verify(claim(printed, noise, claim=wide)).verdict == "holds"


def test_a_bounded_mechanism_is_never_refuted() -> None:
    result = verify(claim(1e-3, {"kind": "pure-dp", "epsilon": 1.0}))
    assert result.verdict == "undecided"
    assert result.witness is None


def test_weights_widen_the_interval_to_both_cohorts() -> None:
    mean = {"kind": "gaussian-mean", "noise_std": 0.5, "clip_norm": 1.0}
    sampling = {"scheme": "fixed-size", "population": 6, "cohort": 3}
    statement = {"neighbouring": "replace-one", "notion": "billboard"}

    def at(weights: object) -> Bracket:
        return verify(claim(1.0, mean | {"weights": weights}, sampling=sampling, claim=statement)).certified

    skewed, uniform = at([9, 1, 1, 1, 2, 2]), at("uniform")
    assert skewed.lower > uniform.upper
    assert skewed.upper > skewed.lower * 1.05


def test_json_has_the_contract_s_fields() -> None:
    document = verify(CLAIMS / "seeds" / "pmtl-figure2-femnist.toml").to_json()
    fields = {"file", "title", "verdict", "claimed", "certified", "reproduced_by", "assumptions", "not_checked"}
    assert fields | {"findings", "witness", "certificate"} <= set(document)
    assert document["claimed"] == {"epsilon": 13.6, "delta": 0.004878}
    assert set(document["certified"]) == {"epsilon_lower", "epsilon_upper"}  # type: ignore[call-overload]
    assert all(set(finding) == {"id", "severity", "text"} for finding in document["findings"])  # type: ignore[attr-defined]


def test_a_large_delta_is_warned_of() -> None:
    noise, sampling = {"kind": "gaussian", "noise_multiplier": 1.0}, {"population": 1000}
    quiet = verify(claim(9.0, noise, sampling=sampling))
    loud = verify(claim(9.0, noise, sampling=sampling, claim={"delta": 0.002}))
    assert not any("WARNING" in sentence for sentence in quiet.assumptions)
    assert any("WARNING: delta" in sentence for sentence in loud.assumptions)
    assert "delta-not-small" in {finding.id for finding in loud.findings}


@pytest.mark.parametrize(
    ("relation", "rounds", "others"),
    few([("zero-out", 300, "zero"), ("zero-out", 3, "-clip u"), ("replace-one", 300, "-clip u")], 6),
)
def test_the_witness_says_what_the_others_contribute(relation: str, rounds: int, others: str) -> None:
    """Of a fixed-size cohort: nothing, or the opposite, whichever of the attained pairs it is that refutes."""
    sampling = {"scheme": "fixed-size", "population": 100, "cohort": 20}
    gaussian = {"kind": "gaussian", "noise_multiplier": 1.5}
    bracket = verify(
        claim(0.1, gaussian, claim={"neighbouring": relation}, sampling=sampling, composition={"rounds": rounds})
    ).certified
    epsilon = 0.1 if others == "zero" else 0.98 * bracket.lower
    found = verify(
        claim(epsilon, gaussian, claim={"neighbouring": relation}, sampling=sampling, composition={"rounds": rounds})
    )
    assert found.verdict == "refuted"
    assert found.witness is not None
    assert f"All others contribute {others} (" in found.witness.neighbours


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0, 3.0], 0.6])
def test_unequal_weights_in_hidden_cohorts_are_accounted_as_a_replacement(weights: Any) -> None:
    """The substitute changes everybody's weight, which zero-out's own pair does not cover."""
    mean = {"kind": "gaussian-mean", "noise_std": 2.5, "clip_norm": 1.0, "weights": weights}
    cohort = {"sampling": {"scheme": "fixed-size", "population": 4, "cohort": 2}, "composition": {"rounds": 100}}

    def interval(relation: str, **more: Any) -> Bracket:
        return verify(claim(1.0, mean, claim={"neighbouring": relation, **more}, **cohort)).certified

    zeroed, replaced = interval("zero-out"), interval("replace-one")
    assert zeroed.upper == replaced.upper
    assert zeroed.lower <= interval("zero-out", notion="billboard").lower
    even = verify(claim(1.0, {**mean, "weights": "uniform"}, claim={"neighbouring": "zero-out"}, **cohort)).certified
    assert even.upper < 0.6 * zeroed.upper


def test_a_phase_that_is_only_bounded_does_not_hide_what_the_others_refute() -> None:
    """Gaussian rounds alone need 2.1245; beside a zcdp phase the claim of 1 was undecided, with a lower end of 0."""
    rounds = {
        "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
        "sampling": {"scheme": "poisson", "sampling_rate": 0.01},
        "composition": {"rounds": 1000},
    }
    bounded = {"mechanism": {"kind": "zcdp", "rho": 0.01}, "composition": {"rounds": 2}}
    statement = {"title": "t", "neighbouring": "add-remove", "epsilon": 1.0, "delta": 1e-6}
    found = verify(parse_claim({"claim": statement, "phase": [rounds, bounded]}))
    assert found.verdict == "refuted"
    assert 2.12 < found.certified.lower < 2.13 < found.certified.upper
    assert found.witness is not None
    assert "the other 2 rounds" in found.witness.pair  # type: ignore[union-attr]
    alone = verify(parse_claim({"claim": statement} | rounds))
    assert "ignored" not in alone.witness.pair  # type: ignore[union-attr]
