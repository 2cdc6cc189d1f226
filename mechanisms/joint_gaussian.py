"""Several outputs of one datum, released together: one Gaussian release with the effective shift.

Accounting each output by itself (its own sensitivity, its own noise) understates what all of them reveal together
(google/differential-privacy, issue 428). With moves m, all times one factor of at most 1 in absolute value, and noise
N(0, V), the release is N(0, V) against N(m, V), and V^(-1/2) makes it a Gaussian release of shift sqrt(m' V^-1 m): the
norm of the moves over the noise where the noises are independent, and any larger value where they are correlated,
since outputs can be subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .gaussian import Gaussian
from .validate import InputError, number


def joint_gaussian(moves: Sequence[float], covariance: Sequence[Sequence[float]]) -> Gaussian:
    """The one release that costs as much: noise_multiplier is 1 / sqrt(moves' covariance^-1 moves), rounded down.

    moves: by how much each output can move when one unit comes or goes, all at once and in this proportion.
    covariance: of the noise, symmetric and positive definite. Both in one unit. Raises InputError for anything else,
    and where nothing moves.

    >>> round(joint_gaussian([1.0, 0.5], [[4.0, 0.0], [0.0, 4.0]]).noise_multiplier, 6)  # 2 / sqrt(1.25)
    1.788854
    >>> joint_gaussian([1.0, -1.0], [[1.0, 0.96875], [0.96875, 1.0]]).noise_multiplier  # subtract: the noise is gone
    0.125
    """
    move = [Fraction(number(f"moves[{at}]", value)) for at, value in enumerate(moves)]
    rows = [[Fraction(number(f"covariance[{at}]", value)) for value in row] for at, row in enumerate(covariance)]
    if not move or len(rows) != len(move) or any(len(row) != len(move) for row in rows):
        raise InputError(
            "covariance", [len(row) for row in rows][:8], f"{len(move)} rows of {len(move)} numbers, not 0"
        )
    if any(rows[i][j] != rows[j][i] for i in range(len(rows)) for j in range(i)):
        raise InputError("covariance", "not symmetric", "a symmetric matrix")
    squared = _quadratic_form(move, rows)
    if squared == 0:
        raise InputError("moves", list(moves), "at least one output that moves")
    return Gaussian(_inverse_root_down(squared))


def _quadratic_form(move: list[Fraction], rows: list[list[Fraction]]) -> Fraction:
    """move' rows^-1 move, exactly, by elimination: each step takes off what the first output tells."""
    total = Fraction(0)
    while move:
        pivot, *rest = rows[0]
        if pivot <= 0:
            raise InputError("covariance", "not positive definite", "a positive definite matrix")
        total += move[0] ** 2 / pivot
        shares = [value / pivot for value in rest]
        rows = [
            [value - share * other for value, other in zip(row[1:], rest, strict=True)]
            for share, row in zip(shares, rows[1:], strict=True)
        ]
        move = [value - share * move[0] for share, value in zip(shares, move[1:], strict=True)]
    return total


def _inverse_root_down(squared: Fraction) -> float:
    """A double at most 1 / sqrt(squared), and next to it."""
    found = math.sqrt(float(1 / squared))
    while Fraction(found) ** 2 * squared > 1:
        found = math.nextafter(found, 0.0)
    return found
