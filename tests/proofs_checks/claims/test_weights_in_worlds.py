"""Claims with a list of weights against small federations in full: the interval of `verify` holds what pairs need."""

from fractions import Fraction

import federation as fed
import pytest
import sides
from cases import few

from dpcert.accounting.cohorts import hidden_cohorts as cohorts
from dpcert.proofs_checks.claims import observers
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification import verify as verification

WEIGHTS = (3.0, 1.0, 1.5)
DELTA = 0.1
SAMPLINGS = {
    "none": ({"population": 3}, fed.everybody(1)),
    "fixed-size": ({"scheme": "fixed-size", "population": 3, "cohort": 2}, fed.fixed_size(1, 2)),
    "poisson": ({"scheme": "poisson", "population": 3, "sampling_rate": 0.5}, fed.poisson(1, Fraction(1, 2))),
}


def interval(scheme, relation, notion):
    tables = {
        "claim": {"title": "t", "neighbouring": relation, "epsilon": 1.0, "delta": DELTA, "notion": notion},
        "mechanism": {"kind": "gaussian-mean", "noise_std": 0.7, "clip_norm": 1.0, "weights": list(WEIGHTS)},
        "sampling": SAMPLINGS[scheme][0],
    }
    return verification.verify(parse_claim(tables)).certified


def most(scheme, relation, notion, epsilon):
    """Over the others' contributions on the grid, the unit being the heaviest client."""
    weights = tuple(map(Fraction, WEIGHTS))
    constant = sum(weights) / 2 if scheme == "poisson" else None  # what a Poisson mean divides by
    seen = ("coalition", (1, 2)) if notion == "billboard" else ("release", ())
    shares = None if constant else weights
    setting = fed.Setting(SAMPLINGS[scheme][1], Fraction(0.7) ** 2, shares, False, "gaussian", *seen)

    def weighed(side):
        if not constant:
            return side
        scaled = [w / constant for w in weights]
        return tuple(
            None if one is None else (lambda t, taken, one=one, w=w: tuple(w * x for x in one(t, taken)))
            for one, w in zip(side, scaled, strict=True)
        )

    pairs = [tuple(map(weighed, pair)) for pair in sides.neighbours(relation, 3, sides.grid(1))]
    return fed.most(setting, pairs, epsilon, 1e-6, lambda low, high: False)


CASES = [(s, r, n) for s in SAMPLINGS for r in ("zero-out", "replace-one") for n in ("dp", "billboard")]


@pytest.mark.parametrize(("scheme", "relation", "notion"), few([*CASES, ("poisson", "add-remove", "dp")], 8))
def test_no_pair_exceeds_the_upper_end_and_one_needs_the_lower(scheme, relation, notion):
    found = interval(scheme, relation, notion)
    assert most(scheme, relation, notion, found.upper)[0] <= DELTA
    assert not found.lower or most(scheme, relation, notion, found.lower)[1] >= DELTA * (1 - 1e-6)


def test_the_lightest_company_is_what_counts(monkeypatch):
    """The plant: the mean weight of the heaviest client instead of its largest one."""
    right = verification.certified_interval
    assert (
        most("fixed-size", "zero-out", "billboard", interval("fixed-size", "zero-out", "billboard").upper)[0] <= DELTA
    )

    def planted(claim, _):
        run = claim.run
        quieter = parse_claim(
            {
                "claim": {
                    "title": "t",
                    "neighbouring": "zero-out",
                    "epsilon": 1.0,
                    "delta": DELTA,
                    "notion": "billboard",
                },
                "mechanism": {"kind": "gaussian-mean", "noise_std": 0.7, "clip_norm": 1.0, "weights": 0.6},
                "sampling": SAMPLINGS["fixed-size"][0],
            }
        )
        assert run != quieter.run
        return right(quieter)

    monkeypatch.setattr(verification, "certified_interval", planted)
    found = interval("fixed-size", "zero-out", "billboard")
    assert most("fixed-size", "zero-out", "billboard", found.upper)[0] > DELTA


STATED = (
    {"epsilon": 11.0},
    {"mu": 3.0, "delta": 0.01},
    {"tpr_at_fpr": {"fpr": 0.1, "tpr": 0.5}},
    {"advantage": 0.5},
)


def gone_further(relation, monkeypatch, every=STATED):
    """Whether the recursion goes to work for a claim with unequal weights in hidden cohorts, undecided by pairs."""
    tables = {
        "claim": {"title": "t", "neighbouring": relation, "epsilon": 11.0, "delta": 1e-3},
        "mechanism": {"kind": "gaussian-mean", "noise_std": 0.5, "clip_norm": 1.0, "weights": [2.0, *[1.0] * 9]},
        "sampling": {"scheme": "fixed-size", "population": 10, "cohort": 4},
        "composition": {"rounds": 8},
    }
    asked = []
    real = cohorts.phases
    monkeypatch.setattr(cohorts, "phases", lambda run: asked.append(run) or real(run))
    for stated in every:
        plain = {key: tables["claim"][key] for key in ("title", "neighbouring")}
        delta = {"delta": 1e-3} if "epsilon" in stated else {}
        verification.verify(parse_claim(tables | {"claim": plain | delta | stated}))
    return bool(asked)


@pytest.mark.parametrize("relation", few(["zero-out", "replace-one"], 4))
def test_unequal_weights_are_not_narrowed_by_what_holds_for_equal_ones(relation, monkeypatch):
    """docs/theory/fixed_cohorts.md, Theorem 2, needs one shift for everybody: of every number that can be stated."""
    assert not gone_further(relation, monkeypatch)


def test_forgetting_that_weights_are_unequal_is_caught(monkeypatch):
    """The plant."""
    monkeypatch.setattr(observers, "has_uneven_cohorts", lambda phase: False)
    assert gone_further("replace-one", monkeypatch, STATED[:1])
