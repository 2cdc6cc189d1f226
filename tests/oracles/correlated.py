"""Correlated noise over a few rounds, as it is released: prefix sums with errors that depend on each other, or a tree.

All in exact rationals: what an observer sees is a normal vector whose covariance both neighbours share, so two of them
are as far apart as N(0, 1) and N(mu, 1), mu^2 = d^T S^-1 d; d is the difference of the means and S the covariance.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from hockey_stick import Ends, divergence

Matrix = list[list[Fraction]]
ONE = Fraction(1)
POINTS = {1: [(-ONE,), (0 * ONE,), (ONE,)], 2: [(ONE, 0 * ONE), (Fraction(-3, 5), Fraction(4, 5)), (-ONE, 0 * ONE)]}


def solved(matrix: Matrix, right: Matrix) -> Matrix:
    """X with matrix X = right, by elimination."""
    rows = [[*row, *other] for row, other in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[len(matrix) :] for row in rows]


def product(a: Matrix, b: Matrix) -> Matrix:
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), 0 * ONE) for column in zip(*b, strict=True)]
        for row in a
    ]


def prefix_sums(encoder: Sequence[Sequence[float]], noise_multiplier: float) -> tuple[Matrix, Matrix]:
    """What is released by a matrix mechanism: A x + B z with A the prefix sums, B C = A; A, and the covariance."""
    rounds = len(encoder)
    sums = [[ONE * (j <= i) for j in range(rounds)] for i in range(rounds)]
    transposed = [list(column) for column in zip(*[[Fraction(x) for x in row] for row in encoder], strict=True)]
    decoder = solved(transposed, [list(column) for column in zip(*sums, strict=True)])  # B^T, of B C = A
    variance = Fraction(noise_multiplier) ** 2
    covariance = product([list(column) for column in zip(*decoder, strict=True)], decoder)
    return sums, [[variance * x for x in row] for row in covariance]


def tree(rounds: int, noise_multiplier: float) -> tuple[Matrix, Matrix]:
    """Every complete node of a binary tree over the rounds, each with its own noise."""
    nodes, length = [], 1
    while length <= rounds:
        nodes += [[ONE * (s <= t < s + length) for t in range(rounds)] for s in range(0, rounds - length + 1, length)]
        length *= 2
    variance = Fraction(noise_multiplier) ** 2
    return nodes, [[variance * (i == j) for j in range(len(nodes))] for i in range(len(nodes))]


def patterns(rounds: int, separation: int, most: int) -> Iterator[tuple[int, ...]]:
    """The sets of rounds that one unit may take part in."""
    for times in range(1, most + 1):
        for chosen in itertools.combinations(range(rounds), times):
            if all(later - earlier >= separation for earlier, later in itertools.pairwise(chosen)):
                yield chosen


def largest(seen: tuple[Matrix, Matrix], relation: str, separation: int, most: int, dimension: int) -> Fraction:
    """mu^2 of the worst neighbours on the grid: a unit's contributions are zero, absent, or others, in its rounds."""
    means, covariance = seen
    inverse = solved(covariance, [[ONE * (i == j) for j in range(len(covariance))] for i in range(len(covariance))])
    points = POINTS[dimension]
    if relation == "replace-one":
        moves = {tuple(a - b for a, b in zip(x, y, strict=True)) for x in points for y in points}
    else:
        moves = set(points)
    worst = 0 * ONE
    for chosen in patterns(len(means[0]), separation, most):
        for contributions in itertools.product(sorted(moves), repeat=len(chosen)):
            squared = 0 * ONE
            for k in range(dimension):
                d = [sum((row[t] * x[k] for t, x in zip(chosen, contributions, strict=True)), 0 * ONE) for row in means]
                squared += sum((d[i] * inverse[i][j] * d[j] for i in range(len(d)) for j in range(len(d))), 0 * ONE)
            worst = max(worst, squared)
    return worst


def profile(squared: Fraction, epsilon: float) -> Ends:
    """Ends of delta(epsilon) of N(0, 1) and N(mu, 1)."""
    variance = (1 / squared,)
    found = divergence({((ONE,), variance): ONE}, {((0 * ONE,), variance): ONE}, epsilon, "gaussian", ONE)
    return found.low, found.high
