"""Certificates of Poisson cohorts that are cut: what they prove, tampering, and faults planted in the checker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest
from cases import at_night
from forger import seal
from weakened_checker import weakened

from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, Repeat, TruncatedPoisson
from dpcert.proofs_checks.certificates.certificate import proved
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

RARE = {"population": 60000, "cohort": 320, "sampling_rate": "256/60000"}
OFTEN = {"population": 10, "cohort": 6, "sampling_rate": "0.5"}
ALWAYS = {"population": 20, "cohort": 2, "sampling_rate": "0.9"}


def statement(cut: dict[str, Any], noise: str, rounds: int, relation: str = "add-remove", **mechanism: str) -> Any:
    claim = {
        "title": "T",
        "source": "none",
        "unit": "client",
        "epsilon": "1",
        "epsilon_interval": None,
        "delta": "1e-05",
    }
    noisy = mechanism or {"kind": "gaussian", "noise_multiplier": noise}
    return {
        "format": "dpcert-certificate-2",
        "issued": {"dpcert": "0", "date": "2026-01-01", "claim_sha256": None},
        "claim": {**claim, "notion": "dp", "neighbouring": relation, "participation": "hidden"},
        "phases": [{"mechanism": noisy, "sampling": {"scheme": "truncated-poisson", **cut}, "rounds": rounds}],
    }


def document(stated: Any, low: str, high: str, upper: list[Any], lower: Any = None) -> Any:
    """A certificate of this interval by this evidence, true or false, and the verdict that follows."""
    ends = {"epsilon_lower": low, "epsilon_upper": high}
    verdict = "holds" if float(high) <= 1 else "refuted" if float(low) > 1 else "undecided"
    return stated | {"interval": ends, "verdict": verdict, "evidence": {"upper": upper, "lower": lower}}


def end(direction: str, **found: Any) -> Any:
    """Evidence that is fine enough for the small runs here."""
    fine = {"method": "inversion", "c": "1", "h": "0.5", "terms": 200, "beyond": "2", "split": None}
    return {"direction": direction} | fine | found


def one_round(shift: float, rate: float, eps: float) -> mp.mpf:
    """delta of (1-r) N(0) + r N(shift) against N(0), by its closed form."""
    level = mp.log(1 + (mp.e**eps - 1) / rate)
    near, far = level / shift - mp.mpf(shift) / 2, level / shift + mp.mpf(shift) / 2
    return rate * (mp.ncdf(-near) - mp.e**level * mp.ncdf(-far))


@pytest.mark.parametrize("relation", ["add-remove", *map(at_night, ("zero-out", "replace-one"))])
def test_a_claim_gets_one(relation: str, tmp_path: Path) -> None:
    """The run of the documentation's table, and the certificate's interval is the accountants'."""
    claim = {"title": "T", "neighbouring": relation, "epsilon": 5.79, "delta": 1e-5}
    sampling = {"scheme": "poisson", "population": 50000, "cohort": 4096, "max_cohort": 4300}
    run = {
        "mechanism": {"kind": "gaussian", "noise_multiplier": 3.0},
        "sampling": sampling,
        "composition": {"rounds": 2000},
    }
    found = verify(parse_claim({"claim": claim} | run), certificates=tmp_path)
    assert found.certificate is not None
    assert check(found.certificate).ok
    assert found.verdict == ("refuted" if relation == "replace-one" else "holds")


def test_a_full_cohort_s_move_is_two() -> None:
    """One round, always full: the one who makes room may contribute the opposite, and the closed form is the truth."""
    both = [end(side, h="0.3", terms=600) for side in ("add", "remove")]
    least = float(mp.findroot(lambda eps: one_round(2.0, 0.1, eps) - mp.mpf("1e-5"), (5, 9), solver="anderson"))
    assert not check(seal(document(statement(ALWAYS, "1", 1), "0", repr(least * 0.999), both))).ok
    assert check(seal(document(statement(ALWAYS, "1", 1), "0", repr(least * 1.02), both))).ok


OFTEN_ENDS = {"c": "2", "h": "0.1", "beyond": "3"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        at_night(("cohort", 5)),
        ("cohort", 7),
        ("cohort", 10),
        ("population", 6),
        at_night(("population", 9)),
        ("population", 12),
        ("sampling_rate", "0.49"),
        at_night(("sampling_rate", "0.53")),
        ("sampling_rate", "1"),
        ("sampling_rate", None),
        ("scheme", "poisson"),
        ("scheme", "fixed-size"),
    ],
)
def test_tampering_with_the_cohorts(key: str, value: Any) -> None:
    """Both ends are near what can be proved of the cohorts as they are."""
    stated, fine = statement(OFTEN, "4", 40, "replace-one"), end("both", **OFTEN_ENDS)
    true = document(stated, "7.01", "7.32", [fine], fine | {"phases": [0]})
    assert value != "poisson" or check(seal(true)).ok
    sampling = stated["phases"][0]["sampling"] | {key: value}
    tampered = true | {"phases": [stated["phases"][0] | {"sampling": sampling}]}
    assert not check(seal(tampered)).ok


Caught = Callable[[str, str, Any, str], None]


@pytest.fixture
def caught(tmp_path: Path) -> Caught:
    def judge(right: str, wrong: str, document: Any, why: str) -> None:
        sealed = seal(document)
        result = weakened(tmp_path, {right: wrong}).check(sealed)
        assert result.ok, f"the fault was meant to let this through: {result.reason}"
        assert why in check(sealed).reason

    return judge


def test_a_full_cohort_taken_for_a_poisson_cohort(caught: Caught) -> None:
    """The other unit that makes room may contribute the opposite."""
    assert one_round(2.0, 0.1, 4.0) > 1e-5 > 2 * one_round(1.0, 0.1, 4.0)
    low = document(
        statement(ALWAYS, "1", 1), "0", "4.0", [end("add", c="3", beyond="5"), end("remove", c="3", beyond="5")]
    )
    caught("_fixed_size(taken, relation, worst)", "_poisson(taken, 1, worst)", low, "the upper end is not proved")


def test_the_unit_s_chance_in_a_full_cohort_not_conditioned(caught: Caught) -> None:
    stated = statement(OFTEN, "4", 40, "replace-one")
    fine = end("both", **OFTEN_ENDS)
    attained = document(stated, "7.01", "inf", [], fine | {"phases": [0]})
    assert check(seal(attained)).ok, "the true epsilon is larger"
    low = document(stated, "0", "7.01", [fine])
    caught("arb(m / n) * over / full", "arb(m / n) * over", low, "the upper end is not proved")


def test_a_lower_end_of_cohorts_that_are_never_cut(caught: Caught) -> None:
    """Forged to the certified lower end of the run without cuts, which is above the upper end of the one with."""
    fine = end("remove", c="2", h="0.2", beyond="3")
    high = document(statement(ALWAYS, "4", 30), "5.5", "inf", [], fine | {"phases": [0]})
    caught("rate=r * (1 - full) + m / n * over", "rate=r", high, "the lower end is not proved")
    assert epsilon(Repeat(TruncatedPoisson(Gaussian(4.0), 0.9, 20, 2), 30), 1e-5).upper < 5.5


def test_a_coalition_that_knows_its_own_places(caught: Caught) -> None:
    """What is proved where nobody knows is false where a full cohort tells who is in it: two rounds in all but one."""
    stated = statement(ALWAYS, "0.2", 1, "zero-out")
    seen = stated | {"claim": stated["claim"] | {"participation": "visible"}}
    assert check(seal(document(seen, "2.0", "inf", [], end("both", method="mixture") | {"phases": [0]}))).ok
    told = stated | {"claim": stated["claim"] | {"notion": "joint", "participation": "pooled"}}
    low = document(told, "0", "50.0", [end("add", method="chernoff"), end("remove", method="chernoff")])
    caught('require(seen != "pooled", "a full cohort tells who is in it")', "pass", low, "tells who is in it")


def test_clients_own_noise_is_of_unknown_size_in_cut_cohorts() -> None:
    own = {"kind": "per-client-gaussian", "noise_std": "1.1", "clip_norm": "1"}
    free = [end("add", method="chernoff"), end("remove", method="chernoff")]
    false = document(statement(RARE, "", 1, "zero-out", **own), "0", "50.0", free)
    assert "the amount of noise is random" in check(seal(false)).reason


def test_few_terms_are_found() -> None:
    """A dozen nodes suffice here: halving what is left of them comes to an end."""
    made = proved(statement(RARE, "1.1", 14062), 0.0, 2.4077)
    assert min(end["terms"] for end in made["evidence"]["upper"]) < 16
    assert float(made["interval"]["epsilon_upper"]) < 2.409
