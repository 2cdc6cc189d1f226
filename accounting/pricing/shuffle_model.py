"""The pairs of reports in random order (docs/theory/shuffle_model.md)."""

from __future__ import annotations

import math

from flint import arb, ctx

from ...mechanisms import (
    DuchiMechanism,
    HadamardResponse,
    InputError,
    LocalHash,
    PureDp,
    RandomizedResponse,
    ShuffledReports,
    UnaryEncoding,
)
from ..pairs import ApproximateDpPair, CountsPair, EventPair, Pair, Sampling, ShuffledResponsePair, SubsampledPair
from ..pairs.tails import binomial_tail
from ..rounding import float_above, float_below
from .local_randomisers import LocalRandomiser, separation
from .stated_parameters import StatedPairs, stated_pairs

_BITS = 128
_MOST_COUNTED = 7000
"""Expected reports of one category beyond which their table is too large."""

_UNIFORM = RandomizedResponse | UnaryEncoding | HadamardResponse | DuchiMechanism
"""Of any two values the reports' laws are alike, or mixtures of those of two extreme values."""


def of_shuffled_reports(mechanism: ShuffledReports) -> StatedPairs:
    """The pairs of one round to somebody who sees the reports without who sent them."""
    report, n = mechanism.report, mechanism.reports
    if not isinstance(report, LocalRandomiser | PureDp):
        raise InputError("report", report, "a local randomiser, or PureDp(epsilon), to be shuffled")
    if n == 1:
        alone = stated_pairs(report)
        assert alone is not None
        return alone
    with ctx.workprec(_BITS):
        return StatedPairs(_upper(report, n), _lower(report, n))


def _upper(report: LocalRandomiser | PureDp, n: int) -> Pair:
    """The others' reports could have been the unit's (Balle, Bell, Gascon, Nissim 2019, arXiv 1903.02837; Feldman,
    McMillan, Talwar 2022, arXiv 2012.12803, Theorem 3.2; docs/theory/shuffle_model.md)."""
    if isinstance(report, PureDp):
        epsilon, apart = arb(report.epsilon), arb(1)
    else:
        found = separation(report)
        assert found is not None
        epsilon, apart = found
    each, others = apart / (1 + epsilon.exp()), (-epsilon).exp() / 2
    if not isinstance(report, _UNIFORM) or each < others:  # more of the others can be taken for the unit
        each, apart = others, arb(1)
    largest = float_above(epsilon)
    if largest == 0.0:
        return ApproximateDpPair(0.0, 0.0)
    counts = CountsPair(n, largest, float_below(each))
    rate = float_above(apart)
    return counts if rate >= 1.0 else SubsampledPair(counts, rate, Sampling.VISIBLE)


def _is_small(report: RandomizedResponse, n: int) -> bool:
    return n * report.flip_probability / (report.categories - 1) <= _MOST_COUNTED


def _lower(report: LocalRandomiser | PureDp, n: int) -> tuple[Pair, ...]:
    """Of randomized response: all others have a third category, or of two categories the second. Of other reports: how
    many are likelier under the one value, where all others have the other one."""
    if isinstance(report, PureDp):
        return ()
    if not isinstance(report, RandomizedResponse):
        found = separation(report)
        assert found is not None
        odds = (found[0] * (1 - arb(2) ** -48)).exp()  # post-processing of every report, as the flip below
        apart = found[1] * (1 - arb(2) ** -48)
        told = apart * (1 - 1 / arb(report.buckets)) if isinstance(report, LocalHash) else apart
        return _first_category(told * odds / (1 + odds), told / (1 + odds), n)
    if report.categories > 2 and _is_small(report, n):
        return (ShuffledResponsePair(n, report.flip_probability, report.categories),)
    flip = arb(report.flip_probability) * (1 + arb(2) ** -48)  # post-processing, for all inputs that the double means
    return _first_category(1 - flip, flip / (report.categories - 1), n)


def _first_category(truth: arb, false: arb, n: int) -> tuple[Pair, ...]:
    """At least so many reports of the first category, of which the others make Bin(n - 1, false)."""
    mean, spread = float(false.mid()) * (n - 1), math.sqrt(float(false.mid()) * (n - 1))
    events = []
    for count in sorted({min(n, math.ceil(mean + deviations * spread + 1)) for deviations in range(-1, 8)}):
        before, at = (binomial_tail(n - 1, false, least) for least in (count - 1, count))
        likely, unlikely = truth * before + (1 - truth) * at, false * before + (1 - false) * at
        low, high = max(0.0, float_below(likely)), min(1.0, float_above(unlikely))
        if low > high:
            events.append(EventPair(low, high))
    return tuple(events)
