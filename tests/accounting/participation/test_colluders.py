"""Staircases of conditional rates, against exact rational probabilities over every sequence of cohorts."""

import itertools
import math
from fractions import Fraction

import pytest

from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE, OUTSIDE, Observer
from dpcert.accounting.billboard.observers import observer_epsilon
from dpcert.accounting.participation.colluders import (
    _at_least,
    _at_most,
    _stairs,
    colluders_in_cohort,
    less_revealing,
    more_revealing,
)
from dpcert.mechanisms import FixedSize, Gaussian, Laplace, Poisson, Repeat, rounds_by_step

SMALL = [(6, 3, 3), (7, 2, 4), (8, 6, 4), (5, 3, 4), (9, 1, 3)]  # population, colluders, cohort


def exact_masses(population, colluders, cohort):
    least, most = max(0, cohort - (population - colluders)), min(colluders, cohort)
    ways = math.comb(population, cohort)
    return least, [
        Fraction(math.comb(colluders, j) * math.comb(population - colluders, cohort - j), ways)
        for j in range(least, most + 1)
    ]


@pytest.mark.parametrize("sizes", [*SMALL, (205, 100, 100), (205, 200, 100), (1000, 17, 300), (400, 398, 100)])
def test_the_law_of_colluders_in_a_cohort(sizes):
    least, masses = colluders_in_cohort(*sizes)
    exact_least, exact = exact_masses(*sizes)
    assert least == exact_least
    assert len(masses) == len(exact)
    for found, true in zip(masses, exact, strict=True):
        assert abs(Fraction(float(found)) - true) <= Fraction(1, 10**10) * true


def sequences(sizes, rounds):
    """Every sequence of J over the rounds with its exact probability."""
    least, exact = exact_masses(*sizes)
    values = range(least, least + len(exact))
    for sequence in itertools.product(values, repeat=rounds):
        yield sequence, math.prod((exact[j - least] for j in sequence), start=Fraction(1))


@pytest.mark.parametrize("delta", [0.3, 0.02, 1e-6])
@pytest.mark.parametrize("sizes", SMALL)
def test_the_upper_staircase_covers_all_but_delta(sizes, delta):
    population, colluders, cohort = sizes
    rounds = 5
    run = more_revealing(FixedSize(Gaussian(1.0), population, cohort), colluders, rounds, delta)
    steps = [step.sampling_rate for step, times in rounds_by_step(run).items() for _ in range(times)]
    steps = sorted([*steps, *[0.0] * rounds][:rounds], reverse=True)
    missed = Fraction(0)
    for sequence, mass in sequences(sizes, rounds):
        rates = sorted(((cohort - j) / (population - colluders) for j in sequence), reverse=True)
        if any(rate > step for rate, step in zip(rates, steps, strict=True)):
            missed += mass
    assert missed <= Fraction(delta)


@pytest.mark.parametrize("failure", [0.3, 0.02, 1e-4])
@pytest.mark.parametrize("sizes", SMALL)
def test_the_lower_staircase_is_covered_but_for_its_failure(sizes, failure):
    population, colluders, cohort = sizes
    rounds = 5
    run = less_revealing(FixedSize(Gaussian(1.0), population, cohort), colluders, rounds, failure, "replace-one")
    phases = rounds_by_step(run).items() if run else ()  # None: no round is certain enough to count
    steps = [getattr(step, "sampling_rate", 1.0) for step, times in phases for _ in range(times)]
    steps = sorted([*steps, *[0.0] * rounds][:rounds], reverse=True)
    least, exact = exact_masses(*sizes)
    mean = {}  # what is left of J when only its stair is told
    for stair in _stairs(*colluders_in_cohort(population, colluders, cohort), 0):
        inside = range(stair.first, stair.last + 1)
        weights = [exact[j - least] for j in inside]
        average = sum(w * (cohort - j) for w, j in zip(weights, inside, strict=True)) / sum(weights)
        mean |= dict.fromkeys(inside, float(average / (population - colluders)))
    missed = Fraction(0)
    for sequence, mass in sequences(sizes, rounds):
        rates = sorted((mean[j] for j in sequence), reverse=True)
        if any(rate < step * (1 - 1e-12) for rate, step in zip(rates, steps, strict=True)):
            missed += mass
    assert missed <= Fraction(failure)


@pytest.mark.parametrize("rate", [0.01, 0.4, 0.93])
@pytest.mark.parametrize("failure", [0.1, 1e-5, 1e-12])
def test_binomial_ends_are_on_the_safe_side(rate, failure):
    rounds, p = 60, Fraction(rate)

    def beyond(n):
        return sum(math.comb(rounds, k) * p**k * (1 - p) ** (rounds - k) for k in range(n + 1, rounds + 1))

    top, bottom = _at_most(rounds, rate, failure), _at_least(rounds, rate, failure)
    assert beyond(top) <= Fraction(failure) * (1 + Fraction(1, 10**12))
    assert top == 0 or beyond(top - 1) > Fraction(failure) / 2  # and not wastefully so
    assert 1 - beyond(bottom - 1) <= Fraction(failure) * (1 + Fraction(1, 10**12))


@pytest.mark.nightly
def test_coalitions_grow_from_the_outside_reader_to_everybody():
    run = Repeat(FixedSize(Gaussian(5.0), 205, 100), 1000)

    def against(observer):
        return observer_epsilon(run, observer, 1 / 205, "replace-one", clients="stateless").epsilon

    outside, everybody = against(OUTSIDE), against(EVERYBODY_ELSE)
    found = [against(Observer("coalition", size)) for size in (1, 50, 150, 203)]
    for bracket in found:
        assert outside.lower <= bracket.lower <= bracket.upper <= everybody.upper
    uppers = [bracket.upper for bracket in found]
    assert uppers == sorted(uppers)
    # Worth having: one other client is hardly worse than none, and half the federation far from all of it.
    assert found[0].upper < 1.01 * outside.upper
    assert found[1].upper < 0.7 * everybody.lower
    assert found[3].lower > 1.1 * outside.lower


def test_nothing_to_say():
    assert less_revealing(FixedSize(Laplace(1.0), 6, 3), 2, 5, 1e-3, "replace-one") is None
    assert less_revealing(FixedSize(Gaussian(1.0), 6, 3), 2, 5, 1e-3, "add-remove") is None
    halved = less_revealing(FixedSize(Gaussian(3.0), 6, 3), 2, 5, 1e-3, "replace-one")
    assert {step.mechanism for step in rounds_by_step(halved) if isinstance(step, Poisson)} == {Gaussian(1.5)}
