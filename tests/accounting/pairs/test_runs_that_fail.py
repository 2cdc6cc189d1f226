"""Searches beside, and over, mechanisms whose loss may be infinite: against enumerated outcomes, with planted bugs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from importlib import import_module
from itertools import islice, pairwise, product

import pytest
import range_worlds as ranges
import selection_worlds as selections
from cases import few
from flint import arb
from outcomes import Pair, distinct, joint, largest, pair

from dpcert import delta, epsilon, renyi, rho
from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.pairs import ApproximateDpPair, SubsampledPair, TruncatedLaplacePair
from dpcert.mechanisms import (
    ApproximateDp,
    BestOfSeveral,
    Laplace,
    Mechanism,
    Neighbouring,
    Poisson,
    PureDp,
    Repeat,
    Sequence,
    StableHistogram,
    TruncatedLaplace,
)

rdp = import_module("dpcert.accounting.renyi.renyi")

GEOMETRIC, MEAN = selections.truncated_negative_binomial(F(1, 4), F(1)), 4
HISTOGRAM = StableHistogram(Laplace(1.0), 4.0)
ANY = BestOfSeveral(PureDp(math.log(3.0)), 0.25)
Worlds = Iterator[tuple[Mechanism, list[Pair]]]
Singles = list[tuple[list[arb], list[arb]]]


def searched(singles: Singles, powers: selections.Powers) -> list[Pair]:
    """The best of several runs with each of these laws, in every order of merit; outcomes may be impossible."""
    return distinct(
        pair(_best(p, ranks, powers), _best(q, ranks, powers))
        for p, q in singles
        for ranks in selections.merits(len(p))
    )


def _best(law: list[arb], ranks: tuple[int, ...], powers: selections.Powers) -> dict[int, arb]:
    seen = [at for at, mass in enumerate(law) if mass > 0]
    found = selections.best([law[at] for at in seen], tuple(ranks[at] for at in seen), powers)
    return {seen[at] if at >= 0 else at: mass for at, mass in found.items()}


def responses() -> list[Pair]:
    """The best of several answers of a coin with odds 3 to 1, and of a rare one."""
    quarter, rare = arb(1) / 4, arb(1) / 100
    coins = [(1 - quarter, quarter), (3 * rare, rare)]
    return searched(
        [side for a, b in coins for side in (([a, 1 - a], [b, 1 - b]), ([b, 1 - b], [a, 1 - a]))], GEOMETRIC
    )


def new_group() -> Singles:
    """Of a group that the unit alone is in: withheld, up to a scale above the threshold, beyond; without the unit."""
    below = ranges.laplace_below(F(1), F(1))
    at, beyond = below(F(4)), below(F(5))
    laws = [at, beyond - at, 1 - beyond], [arb(1), arb(0), arb(0)]
    return [laws, laws[::-1]]


def groups() -> list[Pair]:
    """The same, and a group that others are in, too, in cells."""
    edges = [F(4) + F(k, 4) for k in range(9)]
    laws = []
    for others in (F(4), F(3)):
        below = [ranges.laplace_below(F(1), others)(edge) for edge in edges]
        laws.append([below[0], *(b - a for a, b in pairwise(below)), 1 - below[-1]])
    known = [laws, laws[::-1]]
    return [_outcomes(p, q) for p, q in new_group() + known]


def cut() -> list[Pair]:
    """Laplace noise within 4 scales of 0 and of 1, in cells of half a scale."""
    below = ranges.laplace_below(F(1), F(0))
    edges = [F(k, 2) for k in range(-8, 11)]
    laws = []
    for centre in (F(1), F(0)):
        parts = [below(min(max(edge - centre, F(-4)), F(4))) for edge in edges]
        laws.append([(b - a) / (parts[-1] - parts[0]) if a is not b else arb(0) for a, b in pairwise(parts)])
    return [_outcomes(*laws), _outcomes(*laws[::-1])]


def behind_a_coin(centres: tuple[int, int], edges: list[F]) -> Singles:
    """Laplace noise within 4 scales about 0, about a centre with probability 1/4: in cells, in either order."""
    noise = {at: _truncated(F(at), edges) for at in {0, *centres}}
    p, q = ([(3 * a + b) / 4 for a, b in zip(noise[0], noise[at], strict=True)] for at in centres)
    return [(p, q), (q, p)]


def _truncated(centre: F, edges: list[F]) -> list[arb]:
    below = ranges.laplace_below(F(1), F(0))
    parts = [min(max(edge - centre, F(-4)), F(4)) for edge in edges]
    whole = below(F(4)) - below(F(-4))
    return [(below(b) - below(a)) / whole if a < b else arb(0) for a, b in pairwise(parts)]


def _outcomes(p: list[arb], q: list[arb]) -> Pair:
    return pair(*({at: mass for at, mass in enumerate(law) if mass > 0} for law in (p, q)))


def beside() -> Worlds:
    """Both in one run: their laws side by side."""
    for other, pairs in ((HISTOGRAM, groups()), (TruncatedLaplace(1.0, 4.0), cut())):
        yield Sequence((ANY, other)), [joint(both) for both in product(responses(), pairs)]


def over() -> Worlds:
    """A search over runs that may fail: a unit's own group, in every order of merit."""
    logarithmic = selections.truncated_negative_binomial(F(1, 20), F(-1, 2))
    yield BestOfSeveral(HISTOGRAM, 0.25), searched(new_group(), GEOMETRIC)
    yield BestOfSeveral(HISTOGRAM, 0.05, -0.5), searched(new_group(), logarithmic)
    yield BestOfSeveral(HISTOGRAM, poisson_mean=6.0), searched(new_group(), selections.poisson(F(6)))


def over_sampled(neighbouring: str, gamma: F = F(1, 4)) -> Worlds:
    """A search over sampled noise that may fail: what one end alone has, two cells of both, and the other end's."""
    sampled = Poisson(TruncatedLaplace(1.0, 4.0), 0.25)
    if neighbouring == "add-remove":
        singles = behind_a_coin((1, 0), [F(-4), F(-3), F(1, 2), F(4), F(5)])
    else:
        singles = behind_a_coin((1, -1), [F(-5), F(-4), F(0), F(4), F(5)])
    powers = selections.truncated_negative_binomial(gamma, F(1))
    yield BestOfSeveral(sampled, float(gamma)), searched(singles, powers)
    yield BestOfSeveral(sampled, poisson_mean=6.0), searched(singles, selections.poisson(F(6)))


def exceeded(worlds: Worlds, eps: float, neighbouring: Neighbouring = "add-remove") -> bool:
    """Whether a world, or the product's own lower end, shows more than the upper end."""
    for run, pairs in worlds:
        try:
            upper = delta(run, eps, neighbouring=neighbouring).upper
        except EmptyBracket:
            return True
        if max(largest([one], 1, eps)[0] for one in pairs) > upper:
            return True
    return False


@pytest.mark.parametrize("worlds", [beside, over])
@pytest.mark.parametrize("eps", few((6.0, 0.0, 1.0, 0.5, 2.0), 6))
def test_no_world_exceeds_an_upper_end(worlds: Callable[[], Worlds], eps: float) -> None:
    assert not exceeded(worlds(), eps)


@pytest.mark.parametrize("neighbouring", ["add-remove", "replace-one"])
@pytest.mark.parametrize("eps", few((0.0, 6.0, 0.2, 0.5, 1.0), 8))
def test_no_world_of_sampled_runs_exceeds_an_upper_end(neighbouring: Neighbouring, eps: float) -> None:
    assert not exceeded(over_sampled(neighbouring), eps, neighbouring)


def test_planted_faults_of_sampled_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds that fail half as often as they do, which shows where nothing else counts; a rest that shows little."""
    honest = rdp.failure_of.__wrapped__
    with monkeypatch.context() as halved:
        halved.setattr(rdp, "failure_of", lambda pair: honest(pair) / (1 + isinstance(pair, SubsampledPair)))
        assert exceeded(over_sampled("add-remove"), 6.0)
    failure = TruncatedLaplacePair.failure
    monkeypatch.setattr(TruncatedLaplacePair, "failure", lambda self: (failure(self)[0], ApproximateDpPair(0.01, 0.0)))
    others = over_sampled("add-remove", F(1, 5))  # divergences of searches are remembered
    assert exceeded(islice(others, 1), 0.0)


@pytest.mark.parametrize("planted", ["no failures", "one run's"])
def test_planted_failures_that_are_forgotten(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those beside the search, or those of all runs of a search but one: at a large epsilon nothing else counts."""
    honest = rdp.failure_of
    if planted == "no failures":
        monkeypatch.setattr(rdp, "failure_of", lambda pair: 0.0)
        assert exceeded(beside(), 6.0)
    else:
        monkeypatch.setattr(rdp, "failure_of", lambda pair: honest(pair) / getattr(pair, "mean", 1.0))
        assert exceeded(over(), 6.0)


def test_the_failures_are_the_largest_delta_that_nothing_undercuts() -> None:
    """At a large epsilon: 1 - (1 - f)(1 - d) of a histogram beside a search; mean times f of a search over it."""
    own = delta(HISTOGRAM, 50.0).upper
    both = delta(Sequence((BestOfSeveral(ApproximateDp(0.1, 1e-3), 0.25), HISTOGRAM)), 50.0)
    assert both.upper == pytest.approx(1 - (1 - own) * (1 - MEAN * 1e-3), rel=1e-6)
    assert delta(BestOfSeveral(HISTOGRAM, 0.25), 50.0).upper == pytest.approx(MEAN * own, rel=1e-6)
    assert epsilon(BestOfSeveral(HISTOGRAM, 0.25), 0.9 * own).lower == math.inf


def test_no_renyi_divergence_is_claimed_of_what_may_fail() -> None:
    for run in (Sequence((ANY, HISTOGRAM)), BestOfSeveral(HISTOGRAM, 0.25), TruncatedLaplace(1.0, 4.0)):
        assert renyi(run, 4.0).upper == math.inf
        assert rho(run).upper == math.inf


def test_truncated_noise_over_rounds_is_above_what_is_exact() -> None:
    """The Renyi accountant by itself: its way of splitting off the failures against the convolved loss."""
    run = Repeat(TruncatedLaplace(4.0, 60.0), 5)
    for eps in (0.3, 0.8, 1.2):
        exact = delta(run, eps)
        assert exact.narrower_than(1e-3)
        assert exact.lower <= delta(run, eps, accountant="rdp").upper < exact.upper + 0.2
