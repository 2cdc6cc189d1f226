"""Samples of stated bounds, against mechanisms that have them, enumerated or integrated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcert.accounting import delta, epsilon, question
from dpcert.accounting.pairs import Sampling
from dpcert.accounting.pricing import cut_cohorts
from dpcert.accounting.renyi.sampled_divergence import sampled_divergence
from dpcert.mechanisms import (
    ApproximateDp,
    BoundedLaplace,
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Poisson,
    PureDp,
    RandomizedResponse,
    Repeat,
    Sequence,
    TruncatedPoisson,
    VisibleParticipation,
    Zcdp,
    exponential_mechanism,
)


def test_an_epsilon_and_a_delta_are_amplified_by_the_formula() -> None:
    """ln(1 + q (e^6.8 - 1)) and q delta, at q = .124: (4.72, 5.06e-9)."""
    amplified, share = math.log(1 + 0.124 * math.expm1(6.8)), 0.124 * 4.08e-8
    for run, relation in (
        (Poisson(ApproximateDp(6.8, 4.08e-8), 0.124), "add-remove"),
        (FixedSize(ApproximateDp(6.8, 4.08e-8), 1000, 124), "replace-one"),
    ):
        found = epsilon(run, share * (1 + 1e-9), relation)
        assert found.upper == pytest.approx(amplified, rel=1e-6)
        assert found.lower == 0
        assert math.isinf(epsilon(run, share * (1 - 1e-6), relation).upper)


STATED = [PureDp(0.3), ApproximateDp(0.3, 1e-9), Zcdp(0.05), exponential_mechanism(0.3), BoundedLaplace(3.0, 5.0)]


@pytest.mark.parametrize("stated", STATED)
def test_a_cohort_of_a_fixed_size_shows_the_others_who_is_there(stated: Mechanism) -> None:
    """One of three: with the unit, none of the two others takes part in a third of the rounds; without it, never."""
    for run in (FixedSize(stated, 3, 1), FixedSize(Repeat(stated, 2), 3, 1), Cyclic(FixedSize(stated, 3, 1), 2),
                FixedSize(FixedSize(stated, 3, 1), 6, 3), Sequence(stated, FixedSize(stated, 3, 1))):  # fmt: skip
        for view in ({"notion": "billboard"}, {"participation": "visible"}):
            with pytest.raises(InputError, match="reveals that it is there"):
                epsilon(run, 0.02, "add-remove", **view)  # type: ignore[arg-type]
        assert epsilon(run, 0.02, "replace-one", notion="billboard").upper < math.inf


def _profile(p: np.ndarray, q: np.ndarray, at: float) -> float:
    return float(np.maximum(p - math.exp(at) * q, 0).sum())


@pytest.mark.parametrize("rate", [0.1, 0.6])
@pytest.mark.parametrize("at", [0.05, 0.2, 0.6])
def test_a_sample_of_what_says_who_is_there(rate: float, at: float) -> None:
    """Randomized response about whether the unit is in the sample is 1-DP, and the worst of pure DP, in both orders."""
    truth = 1 / (1 + math.exp(-1.0))
    there, absent = np.array([truth, 1 - truth]), np.array([1 - truth, truth])
    mixed = (1 - rate) * absent + rate * there
    worst = max(_profile(mixed, absent, at), _profile(absent, mixed, at))
    found = delta(Poisson(PureDp(1.0), rate), at).upper
    assert worst <= found * (1 + 1e-9) + 1e-15
    assert found == pytest.approx(worst, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("at", [0.05, 0.2, 0.6])
def test_a_place_in_a_cohort_that_somebody_else_takes(at: float) -> None:
    """Three categories by randomized response, of whoever is drawn out of four: unit, replacement and others differ."""
    flip, rate = 0.3, 0.25
    laws = np.full((3, 3), flip / 2) + np.eye(3) * (1 - 1.5 * flip)
    left, right = ((1 - rate) * laws[2] + rate * laws[place] for place in (0, 1))
    found = delta(FixedSize(RandomizedResponse(flip, 3), 4, 1), at, "replace-one").upper
    assert _profile(left, right, at) <= found + 1e-15
    assert found < delta(RandomizedResponse(flip, 3), at, "replace-one").lower


@pytest.mark.parametrize("at", [0.05, 0.1, 0.2])
def test_several_stated_bounds_on_one_sample_have_an_end_at_every_delta(at: float) -> None:
    """Two answers of randomized response about a place that somebody else may take: all outcomes, summed."""
    found = epsilon(FixedSize(Repeat(PureDp(1.0), 2), 4, 2), at, "replace-one")
    yes = math.e / (1 + math.e)
    told = [yes**2, 2 * yes * (1 - yes), (1 - yes) ** 2]

    def mirrored(level: float) -> float:
        """The unit answers yes or no, and who takes its place is undecided, as far as a threshold can tell."""
        uniform = [0.25, 0.5, 0.25]
        left = [(a + u) / 2 for a, u in zip(told, uniform, strict=True)]
        right = [(a + u) / 2 for a, u in zip(reversed(told), uniform, strict=True)]
        return sum(max(0.0, p - math.exp(level) * q) for p, q in zip(left, right, strict=True))

    assert mirrored(found.upper) <= at
    assert found.upper < epsilon(FixedSize(Repeat(PureDp(1.0), 2), 4, 2), 0.9 * at, "replace-one").upper


@pytest.mark.parametrize(
    ("run", "relation"),
    [
        (Poisson(exponential_mechanism(1.0), 0.1), "add-remove"),
        (FixedSize(exponential_mechanism(1.0), 100, 10), "replace-one"),
        (Poisson(Sequence(Gaussian(2.0), PureDp(0.1)), 0.1), "add-remove"),
        (Poisson(Repeat(PureDp(0.5), 3), 0.1), "add-remove"),
    ],
)
def test_what_is_sampled_costs_less_than_what_is_not(run: Mechanism, relation: str) -> None:
    whole = run.mechanism  # type: ignore[attr-defined]
    sampled = epsilon(Repeat(run, 10), 1e-6, relation)
    assert 0 < sampled.upper < 0.5 * epsilon(Repeat(whole, 10), 1e-6, relation).upper


def test_a_coin_hides_nothing_where_the_mechanism_without_the_unit_is_no_neighbour() -> None:
    """Zero-out and replace-one say nothing of the mechanism without the unit: a bound on epsilon stays what it is."""
    for relation in ("zero-out", "replace-one"):
        assert epsilon(Poisson(PureDp(1.0), 0.1), 0.0, relation).upper == pytest.approx(1.0)
    with pytest.raises(InputError, match="local randomisers"):
        epsilon(Poisson(RandomizedResponse(0.1), 0.1), 1e-5)


def _integrated(rate: float, shift: float, order: float, added: bool) -> float:
    """D_order of sampled Gaussian noise, whose divergences are shift^2 l / 2, by the trapezoidal rule."""
    x = np.linspace(-40, 40 + order * shift, 400_001)
    ratio = 1 - rate + rate * np.exp(shift * x - shift * shift / 2)
    power = 1 - order if added else order
    log = power * np.log(ratio) - x * x / 2 - 0.5 * math.log(2 * math.pi)
    return math.log(float(np.exp(log).sum() * (x[1] - x[0]))) / (order - 1)


@pytest.mark.parametrize("how", [Sampling.REMOVE, Sampling.ADD])
@pytest.mark.parametrize("order", [1.5, 2.0, 3.0, 7.4, 20.0])
@pytest.mark.parametrize(("rate", "shift"), [(0.01, 1.0), (0.1, 0.5), (0.5, 0.3)])
def test_renyi_bounds_hold_for_gaussian_noise(how: Sampling, order: float, rate: float, shift: float) -> None:
    bound = sampled_divergence(lambda at: shift * shift * at / 2, rate, how, order)
    truth = _integrated(rate, shift, order, how is Sampling.ADD)
    assert truth <= bound * (1 + 1e-9)
    if how is Sampling.REMOVE and order == int(order):
        assert bound == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_sample_of_zcdp_holds_for_gaussian_noise(relation: str) -> None:
    """Gaussian noise is rho-zCDP with rho = move^2 / (2 z^2): the bound is charged no less than the noise."""
    move = 2 if relation == "replace-one" else 1

    def sampled(one: Mechanism) -> Mechanism:
        return Repeat(FixedSize(one, 100, 10) if relation == "replace-one" else Poisson(one, 0.1), 100)

    noise = epsilon(sampled(Gaussian(4.0)), 1e-5, relation)
    bound = epsilon(sampled(Zcdp(move**2 / 32)), 1e-5, relation)
    assert noise.upper <= bound.upper < epsilon(Repeat(Zcdp(move**2 / 32), 100), 1e-5, relation).upper


def _of_two(rate: float, at: float) -> float:
    """The unit adds 1 and the other one -1, in cohorts of one at most, with noise that is 1-DP for a step."""
    places = np.arange(-80, 81)
    law = {value: math.tanh(0.5) * np.exp(-np.abs(places - value)) for value in (-1, 0, 1)}
    alone = rate * (1 - rate) + rate * rate / 2
    there = alone * (law[1] + law[-1]) + (1 - rate) ** 2 * law[0]
    absent = rate * law[-1] + (1 - rate) * law[0]
    return max(_profile(there, absent, at), _profile(absent, there, at))


def test_a_cut_cohort_of_what_is_known_by_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full cohort's unit takes another's place. The plant: that is one step."""

    def missed() -> list[tuple[Mechanism, float]]:
        settings = [(rate, at) for rate in (0.3, 0.9) for at in (0.01, 0.3, 1.1)]
        return [
            each
            for each in settings
            if _of_two(*each) > delta(TruncatedPoisson(PureDp(1.0), each[0], 2, 1), each[1]).upper
        ]

    assert missed() == []
    drawn = cut_cohorts.drawn
    monkeypatch.setattr(
        cut_cohorts, "drawn", lambda mechanism, relation, units, rate: drawn(mechanism, relation, 1, rate)
    )
    question._pairs.cache_clear()
    assert missed()


@pytest.mark.parametrize("mechanism", [PureDp(1.0), Zcdp(0.5), RandomizedResponse(0.25), exponential_mechanism(1.0)])
def test_a_cut_cohort_is_seen_at_worst(mechanism: Mechanism) -> None:
    """Of a unit that is there anyway: a coin that shows, of the rate that is left; .5 (1 + 1/2) of pairs cut to one."""
    found = delta(TruncatedPoisson(mechanism, 0.5, 2, 1), 0.1, "replace-one")
    shown = delta(VisibleParticipation(Poisson(mechanism, 0.375)), 0.1, "replace-one")
    assert found.upper == pytest.approx(shown.upper, rel=1e-9)


def test_where_no_pair_of_a_cut_cohort_is_known_cuts_are_to_be_rare() -> None:
    """Renyi bounds alone, and mechanisms of which two steps' cost is not known: by the distance to the run without."""
    for mechanism in (Zcdp(0.5), BoundedLaplace(1.0, 4.0)):
        rare, uncut = TruncatedPoisson(mechanism, 0.01, 1000, 60), Poisson(mechanism, 0.01)
        assert 0 < delta(rare, 0.1).upper - delta(uncut, 0.1).upper < 1e-6
