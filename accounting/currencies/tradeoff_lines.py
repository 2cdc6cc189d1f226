"""Lines whose supremum bounds a trade-off curve: from below by a profile's upper ends, from above by its lower ends."""

from __future__ import annotations

import numpy as np
from flint import arb

from ...mechanisms.arrays import Floats
from ..bracket import Bracket

WIDER = 2.0**-45
"""Above what doubles lose in a line above 0."""


class Lines:
    """At every (x, D), both of 1 - D - x alpha and (1 - D - alpha) / x: in balls, and in doubles to see which are high.

    Those above 0 are known to 2^-45 in doubles.
    """

    def __init__(self, points: list[tuple[arb, arb]]) -> None:
        self.points = points
        self.x, self.profile = (np.array([float(each) for each in column]) for column in zip(*points, strict=True))

    def highest(self, alpha: float) -> arb:
        """The largest of the lines and 0."""
        with np.errstate(invalid="ignore"):  # an infinite x, of which nothing is known in doubles
            rough = np.concatenate([1.0 - self.profile - self.x * alpha, (1.0 - self.profile - alpha) / self.x])
        finite = bool(np.all(np.isfinite(rough)))
        near = np.flatnonzero(rough >= rough.max() - 2 * WIDER) if finite else np.arange(rough.size)
        found, count = arb(0), len(self.points)
        for at in near.tolist():
            x, profile = self.points[at % count]
            found = found.max(1 - profile - x * arb(alpha) if at < count else (1 - profile - arb(alpha)) / x)
        return found


Sides = tuple[Lines, Lines]
"""The lines that are ruled out, and those that are possible."""


def ruled_out(knots: tuple[tuple[float, Bracket], ...]) -> list[tuple[arb, arb]]:
    """(e^eps, at least delta(eps))."""
    return [(arb(eps).exp(), arb(bracket.upper)) for eps, bracket in knots]


def highest_lines(points: list[tuple[arb, arb]], alphas: Floats) -> Floats:
    """The highest of the lines and 0 at each alpha, in doubles: where a line is above 0, its terms are at most 1 and
    known to a few units in the last place, 2^-50 altogether."""
    x, profile = (np.array([float(number) for number in column])[:, None] for column in zip(*points, strict=True))
    lines = np.maximum(1.0 - profile - x * alphas, (1.0 - profile - alphas) / x)
    return np.asarray(np.maximum(0.0, lines.max(axis=0)), float)


def possible(knots: tuple[tuple[float, Bracket], ...]) -> list[tuple[arb, arb]]:
    """The corners of a lower bound of D(x) = delta(log x), x >= 1, which is convex with slope at least -1.

    Between two knots D is above the chords of the cells on either side, extended; past the last knot it is at
    least 0. On each straight piece, 1 - D - x alpha and (1 - D - alpha) / x are monotone in x, so the corners have
    their suprema.
    """
    x = [arb(eps).exp() for eps, _ in knots]
    low, high = [arb(bracket.lower) for _, bracket in knots], [arb(bracket.upper) for _, bracket in knots]
    corners = [*zip(x, low, strict=True), (x[-1], arb(0))]
    for i in range(len(x) - 1):
        left = (low[i] - high[i - 1]) / (x[i] - x[i - 1]) if i > 0 else arb(-1)
        right = (high[i + 2] - low[i + 1]) / (x[i + 2] - x[i + 1]) if i + 2 < len(x) else arb(0)
        right = right if right < 0 else arb(0)
        meeting = (low[i + 1] - low[i] + left * x[i] - right * x[i + 1]) / (left - right)
        if x[i] < meeting < x[i + 1]:
            corners.append((meeting, low[i] + left * (meeting - x[i])))
        else:
            corners.append((x[i], low[i + 1]))
    return corners
