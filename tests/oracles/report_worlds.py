"""Small worlds of reports: every value's law of what a unit sends, written out, and a few units' reports shuffled.

A randomiser is a table: by value, the masses of its outcomes. Numbers' reports are cut where a density steps: within a
piece all densities are constant, so where a report lies in it says nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, permutations, product

from flint import arb
from hockey_stick import at_bits, ball
from outcomes import Law, Mass, Pair, distinct, pair

Kernel = dict[object, Law]
"""By the unit's value, the law of its report."""

Functions = list[tuple[int, ...]]
"""Hash functions, as the values' buckets."""

ONE = Fraction(1)


def response(flip: Fraction, categories: int) -> Kernel:
    return {
        v: {r: 1 - flip if r == v else flip / (categories - 1) for r in range(categories)} for v in range(categories)
    }


def unary(keep: Fraction, false: Fraction, values: int) -> Kernel:
    """A bit for each value."""

    def law(value: int) -> Law:
        ones = [keep if at == value else false for at in range(values)]
        return {
            bits: math.prod((p if bit else 1 - p for p, bit in zip(ones, bits, strict=True)), start=ONE)
            for bits in product((0, 1), repeat=values)
        }

    return {value: law(value) for value in range(values)}


@at_bits
def hadamard(epsilon: Fraction, size: int) -> Kernel:
    """Codewords are 0 .. size - 1; value v has those with an even number of common bits with v, v = 1 .. size - 1."""
    odds = ball(epsilon).exp()

    def law(value: int) -> Law:
        likely = [(value & word).bit_count() % 2 == 0 for word in range(size)]
        total = odds * sum(likely) + (size - sum(likely))
        return {word: (odds if own else arb(1)) / total for word, own in enumerate(likely)}

    return {value: law(value) for value in range(1, size)}


@at_bits
def hashed(epsilon: Fraction, buckets: int, functions: Functions) -> Kernel:
    """The hash function, drawn from these, and the bucket."""
    odds = ball(epsilon).exp()

    def law(value: int) -> Law:
        return {
            (function, bucket): (odds if function[value] == bucket else arb(1))
            / ((odds + buckets - 1) * len(functions))
            for function in functions
            for bucket in range(buckets)
        }

    return {value: law(value) for value in range(len(functions[0]))}


def any_functions(values: int, buckets: int) -> Functions:
    """The universal family of all functions."""
    return list(product(range(buckets), repeat=values))


def telling_functions(values: int, buckets: int) -> Functions:
    """All that tell every two values apart."""
    return list(permutations(range(buckets), values))


@at_bits
def piecewise(epsilon: Fraction, values: tuple[Fraction, ...]) -> Kernel:
    """High on [l(t), l(t) + C - 1] in [-C, C], and e^-epsilon as high elsewhere; Wang et al. 2019, Algorithm 2."""
    root = (ball(epsilon) / 2).exp()
    c = (root + 1) / (root - 1)
    high = (root * root - root) / (2 * root + 2)
    lefts = {t: (c + 1) / 2 * ball(t) - (c - 1) / 2 for t in values}
    lefts[ONE], lefts[-ONE] = lefts.get(ONE, c * 0 + 1), lefts.get(-ONE, -c)
    cuts = sorted([-c, c, *(x for t in values for x in (lefts[t], lefts[t] + c - 1))], key=lambda x: float(x.mid()))

    def law(t: Fraction) -> Law:
        masses = {}
        for at, (a, b) in enumerate(pairwise(cuts)):
            middle = float(((a + b) / 2).mid())
            inside = float(lefts[t].mid()) < middle < float((lefts[t] + c - 1).mid())
            masses[at] = (b - a) * high * (arb(1) if inside else root**-2)
        return masses

    return {t: law(t) for t in values}


@at_bits
def duchi(epsilon: Fraction, values: tuple[Fraction, ...]) -> Kernel:
    """Two outcomes; without bias, so the probability is linear in the value."""
    odds = ball(epsilon).exp()

    def law(t: Fraction) -> Law:
        up = (ball(t) * (odds - 1) + odds + 1) / (2 * odds + 2)
        return {1: up, -1: 1 - up}

    return {t: law(t) for t in values}


def extremal(ratio: Fraction) -> Iterator[Kernel]:
    """Every extreme randomiser of three values whose outcomes are at most `ratio` times as likely under one as another.

    Its columns are multiples of vectors of 1 and ratio (Kairouz, Oh, Viswanath 2016, arXiv 1407.1338, Theorem 2); three
    such columns, with rows that add up to 1.
    """
    shapes = [tuple(map(Fraction, shape)) for shape in product((1, ratio), repeat=3)][1:]
    for columns in combinations(shapes, 3):
        weights = _solved([[column[row] for column in columns] for row in range(3)])
        if weights and min(weights) >= 0 and len(set(columns)) > 1:
            yield {
                row: {at: w * column[row] for at, (w, column) in enumerate(zip(weights, columns, strict=True)) if w}
                for row in range(3)
            }


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Weights of the columns for which every row adds up to 1, by Cramer's rule."""

    def determinant(m: list[list[Fraction]]) -> Fraction:
        (a, b, c), (d, e, f), (g, h, i) = m
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)

    whole = determinant(rows)
    if whole == 0:
        return None
    return [
        determinant([[ONE if column == at else x for column, x in enumerate(row)] for row in rows]) / whole
        for at in range(3)
    ]


def alone(kernel: Kernel) -> list[Pair]:
    """One unit's report of each value against each other one."""
    return distinct(pair(kernel[one], kernel[other]) for one, other in permutations(kernel, 2))


@at_bits
def shuffled(kernel: Kernel, reports: int) -> list[Pair]:
    """What is seen of so many reports in random order is how many there are of each; all others' values, too."""
    found = []
    for others in combinations_with_replacement(list(kernel), reports - 1):
        counts: dict[object, arb] = {frozenset(): arb(1)}
        for value in others:
            counts = _more(counts, kernel[value])
        laws = {value: _more(counts, kernel[value]) for value in kernel}
        found += [pair(laws[one], laws[other]) for one, other in permutations(kernel, 2)]
    return distinct(found)


def _mass(mass: Mass) -> arb:
    return mass if isinstance(mass, arb) else ball(mass)


def _more(counts: dict[object, arb], report: Law) -> dict[object, arb]:
    following: dict[object, arb] = {}
    for seen, mass in counts.items():
        for outcome, chance in report.items():
            more = Counter(dict(seen))  # type: ignore[call-overload]
            more[outcome] += 1
            key = frozenset(more.items())
            following[key] = following.get(key, arb(0)) + mass * _mass(chance)
    return following


@at_bits
def together(kernel: Kernel, reports: int) -> list[Pair]:
    """A group's reports, each unit's own: all values of one world against all of the other."""
    rows = {
        values: {
            outcome: math.prod((_mass(kernel[v][o]) for v, o in zip(values, outcome, strict=True)), start=arb(1))
            for outcome in product(*(kernel[v] for v in values))
        }
        for values in product(kernel, repeat=reports)
    }
    return distinct(pair(rows[one], rows[other]) for one, other in permutations(rows, 2))
