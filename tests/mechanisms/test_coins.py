"""Coins flipped for many units at once: the exact law, by going through all bits, and who takes the short way."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from dpcert.mechanisms import Gaussian, Poisson, Repeat, coins, draw_schedule
from dpcert.mechanisms.coins import TOGETHER, heads, heads_together
from dpcert.mechanisms.randomness import KeyedSource
from dpcert.proofs_checks.schedules.audit import audit_schedule

UNITS, PLACES = 2, 3


class Told:
    """Says these numbers, one after the other."""

    def __init__(self, numbers):
        self._numbers = iter(numbers)

    def below(self, bound):
        number = next(self._numbers)
        assert number < bound
        return number


def law(flip, share):
    """How many of all sequences of bits give which coins."""
    return Counter(flip(share, UNITS, Told(digits)) for digits in product(range(2**UNITS), repeat=PLACES))


def exact(share):
    """(2^places share) of 2^places sequences show a unit's heads, independently of the other's."""
    often = int(share * 2**PLACES)
    each = [2**PLACES - often, often]
    found = {first + 2 * second: each[first] * each[second] for first in (0, 1) for second in (0, 1)}
    return {which: count for which, count in found.items() if count}


@pytest.mark.parametrize("eighths", range(9))
def test_all_coins_are_independent_with_the_exact_share(eighths):
    assert law(heads_together, Fraction(eighths, 8)) == exact(Fraction(eighths, 8))


def test_a_number_equal_to_the_share_that_counts_as_below_is_noticed():
    """Planted: whoever agrees with the share to its last digit shows heads: 6/8 instead of 5/8."""

    def spoilt(share, units, source):
        return heads_together(share + Fraction(1, 2**PLACES), units, source)

    assert law(spoilt, Fraction(5, 8)) == exact(Fraction(6, 8)) != exact(Fraction(5, 8))


def test_few_units_have_the_cohorts_that_were_recorded(monkeypatch):
    def never(*told):
        raise AssertionError

    monkeypatch.setattr(coins, "heads_together", never)
    share, source = Fraction(0.01), KeyedSource(b"key")
    expected = [unit for unit in range(TOGETHER) if source.below(share.denominator) < share.numerator]
    assert heads(share, TOGETHER, KeyedSource(b"key")) == expected
    with pytest.raises(AssertionError):
        heads(share, TOGETHER + 1, KeyedSource(b"key"))


def test_cohorts_of_many_units_pass_the_audit_as_their_own_rate_alone():
    """The audit errs with probability at most 1e-6."""
    run, units = Repeat(Poisson(Gaussian(1.0), 0.01), 30), 2 * TOGETHER + 17
    cohorts = draw_schedule(run, units, KeyedSource(b"key"))
    assert not audit_schedule(run, cohorts, units).refuted
    assert audit_schedule(Repeat(Poisson(Gaussian(1.0), 0.0125), 30), cohorts, units).refuted
    assert {unit // TOGETHER for cohort in cohorts for unit in cohort} == {0, 1, 2}
    assert all(cohort == sorted(set(cohort)) for cohort in cohorts)
