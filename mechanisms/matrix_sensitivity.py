"""How far one unit can move C x, for an encoder C: (at most, at least) the square, both moved outwards by rounding.

Apart from the descriptions, so that describing what ran needs no numpy. Proofs: docs/theory/correlated_noise.md.
separation: rounds from one participation to the next, at least; most: participations, at most.
"""

from __future__ import annotations

import numpy as np

from .arrays import Floats

UNIT = 2.0**-52

BLOCK = 64
"""Rows at a time, to keep memory small."""


def general(encoder: tuple[tuple[float, ...], ...], separation: int, most: int) -> tuple[float, float]:
    """Any square encoder, row by row."""
    matrix = np.array(encoder)
    terms = (len(matrix) + 8) * UNIT * (np.abs(matrix).T @ np.abs(matrix))
    products = matrix.T @ matrix
    over, under = np.abs(products) + terms, products - terms
    chosen = min(most, -(-len(matrix) // separation))
    bound = _best_total(_best_rows(over, separation, chosen), separation, chosen)
    tried = _progressions(len(matrix), separation, chosen)
    attained = max(float(under[np.ix_(rounds, rounds)].sum()) for rounds in tried)
    slack = (len(matrix) + chosen**2) * UNIT
    return max(0.0, attained * (1 - slack)), bound * (1 + slack)


def toeplitz(coefficients: tuple[float, ...], rounds: int, separation: int, most: int) -> tuple[float, float]:
    """First column `coefficients` and zeros, non-negative; non-increasing, or no more of them than separation."""
    chosen = min(most, -(-rounds // separation))
    total = np.zeros(rounds)
    for start in range(0, chosen * separation, separation):
        part = coefficients[: rounds - start]
        total[start : start + len(part)] += part
    exact = float(np.sum(total * total))
    slack = (rounds + 2 * chosen + 8) * UNIT
    return exact * (1 - slack), exact * (1 + slack)


def banded(column_norms: tuple[float, ...], separation: int, most: int) -> tuple[float, float]:
    """Columns of these norms, no two of which overlap at `separation`."""
    chosen = min(most, -(-len(column_norms) // separation))
    exact = _best_total(np.square(column_norms), separation, chosen)
    slack = (chosen + 8) * UNIT
    return exact * (1 - slack), exact * (1 + slack)


def _best_total(weights: Floats, separation: int, most: int) -> float:
    """The largest sum of at most `most` weights (>= 0) that are at least `separation` apart."""
    return float(_best_totals(weights[None, :], separation, most)[0, -1, -1])


def _best_totals(weights: Floats, separation: int, most: int) -> Floats:
    """best[i, k, n]: the largest sum of at most k of the first n entries of row i, at least `separation` apart.

    weights: shape (rows, n), >= 0.
    """
    rows, size = weights.shape
    best = np.zeros((rows, most + 1, size + 1))
    for place in range(size):
        before = best[:, :-1, max(0, place + 1 - separation)]
        best[:, 1:, place + 1] = np.maximum(best[:, 1:, place], before + weights[:, place, None])
    return best


def _best_rows(products: Floats, separation: int, most: int) -> Floats:
    """For each round i, the largest sum of products[i, j] over j in an allowed set of rounds that has i in it."""
    size = len(products)
    result = np.empty(size)
    for first in range(0, size, BLOCK):
        block = products[first : first + BLOCK]
        before = _best_totals(block, separation, most - 1)
        after = _best_totals(block[:, ::-1], separation, most - 1)
        for row, i in enumerate(range(first, first + len(block))):
            left = before[row, :, max(0, i + 1 - separation)]
            right = after[row, :, max(0, size - i - separation)]
            result[i] = products[i, i] + float(np.max(left + right[::-1]))
    return result


def _progressions(rounds: int, separation: int, most: int) -> list[list[int]]:
    """Sets of rounds to try: as many as allowed, as close as allowed, from every start."""
    return [
        list(range(start, min(rounds, start + most * separation), separation)) for start in range(min(rounds, 10_000))
    ]


def moves_of_bins(columns: list[tuple[float, ...]], bins: int) -> Floats:
    """Row b: by what C x moves where a unit contributes 1 in rounds b, b + bins, ...: shape (bins, rounds)."""
    moves = np.zeros((bins, len(columns)))
    for at, column in enumerate(columns):
        moves[at % bins, at : at + len(column)] += column
    return moves


def least_common_move(columns: list[tuple[float, ...]], bins: int) -> float:
    """The square of an s such that along some unit vector every bin moves C x by s or more, rounded down; 0 for none.

    The largest s is the distance of the bins' convex hull from 0: Frank and Wolfe's steps towards its nearest point.
    Any point u of the hull serves, with s = min <move, u> / |u|.
    """
    moves = moves_of_bins(columns, bins)
    products = moves @ moves.T
    slack = (4 * len(columns) + 2 * bins + 8) * UNIT * float(np.max(np.abs(moves) @ np.abs(moves).T))
    weights, best = np.full(bins, 1 / bins), 0.0
    for _ in range(_STEPS):
        along = products @ weights
        square, nearest = float(weights @ along), int(np.argmin(along))
        least = float(along[nearest]) - slack
        if square <= 0 or least <= 0:
            break
        best = max(best, least * least / (square + slack))
        gap = square - 2 * float(along[nearest]) + float(products[nearest, nearest])
        step = min(1.0, (square - float(along[nearest])) / gap) if gap > 0 else 0.0
        if step <= 0:
            break
        weights *= 1 - step
        weights[nearest] += step
    return best * (1 - 8 * UNIT)


_STEPS = 200
