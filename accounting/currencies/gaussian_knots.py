"""What knots of a run's profile say of its mu: lines below the trade-off curve, and where they meet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from flint import arb

from ..bracket import Bracket
from ..losses import gaussian_rounds as gaussian
from ..pairs.tails import normal_quantile
from ..rounding import float_above, float_below, widened_up
from .known_profile import steepness
from .tradeoff import TradeOff

Knots = tuple[tuple[float, Bracket], ...]
"""(eps, the bracket of delta there), eps increasing."""


def around(knots: Knots, worst: int) -> Iterator[tuple[float, float]]:
    """The cells next to a vertex, which is between the lines of two neighbouring knots."""
    for i in range(max(0, worst - 1), min(len(knots) - 1, worst + 2)):
        yield knots[i][0], knots[i + 1][0]


def vertices(knots: Knots, least: float) -> Iterator[tuple[float, int]]:
    """(at least the mu through a vertex of the lines, which one), from type I error `least` to the diagonal."""
    lines = [(arb(eps).exp(), 1 - arb(bracket.upper)) for eps, bracket in knots]  # 1 - D - x alpha
    diagonal = lines[0][1] / (1 + lines[0][0])
    yield _mu_above(diagonal, diagonal), 0
    from_rate = arb(least)
    reached = least == 0.0
    for i, ((x, top), (x_next, top_next)) in enumerate(pairwise(lines)):
        alpha = (top_next - top) / (x_next - x)
        if alpha > from_rate:
            yield _mu_above(alpha, top - x * alpha), i
        else:  # the last line that matters: it leaves the range at the smallest error rate
            reached = True
            yield _mu_above(from_rate, top - x * from_rate), i
            break
    if not reached:
        yield math.inf, len(knots) - 2


def from_lines(knots: Knots, least: float) -> tuple[float, float]:
    """(at most, at least) the mu that a curve needs where both error rates are at least `least`, above 0, from these
    knots alone: beyond the last vertex the last line counts, and from below the cells next to the worst vertex."""
    needed = list(vertices(knots, least))
    if needed[-1][0] == math.inf:
        eps, bracket = knots[-1]
        needed[-1] = _mu_above(arb(least), 1 - arb(bracket.upper) - arb(eps).exp() * arb(least)), needed[-1][1]
    upper, worst = max(needed)
    near = range(max(0, worst - 1), min(len(knots) - 1, worst + 2))
    lower = max((below(knots[i : i + 2], least) for i in near), default=0.0)
    return min(max(lower, at_least_rate(knots, least)), upper), upper


def in_cells(knots: Knots, enough: float) -> Iterator[tuple[float, int]]:
    """(at least the mu whose profile is above the run's from one knot to the next, which cell).

    There the run's profile is below its chord, 1 - beta - x alpha with (alpha, beta) the vertex of the two lines, and
    that of G_mu is above it if G_mu is below the vertex; also if, at the second knot, it is above the run's at the
    first, as neither rises. What is at most `enough` is not looked at more closely.
    """
    for value, i in vertices(knots, 0.0):
        closer = value if value <= enough else gaussian.shift_above(knots[i + 1][0], knots[i][1].upper)
        yield min(value, closer), i


def _mu_above(alpha: arb, beta: arb) -> float:
    return float_above(_mu(alpha, beta)) if alpha > 0 and beta > 0 else math.inf


def _mu(alpha: arb, beta: arb) -> arb:
    """Phi^-1(1 - alpha) - Phi^-1(beta)."""
    return normal_quantile(alpha) + normal_quantile(beta)


def below(ends: Knots, least: float, floor: float = 0.0) -> float:
    """A mu that the curve needs: its profile at the first knot is above that of G_mu, and it touches the line there at
    a type I error of at least the chord's slope."""
    slope, _ = steepness(*ends)
    eps, bracket = ends[0]
    if not slope >= arb(least) or bracket.lower < floor:
        return 0.0
    return gaussian.shift_below(widened_up(eps, 2.0**-52), bracket.lower)


def at_least_rate(knots: Knots, least: float) -> float:
    """The mu through the curve's point at type I error `least`, where it is at most what the knots leave possible."""
    beta = TradeOff(knots).beta(least).upper
    if beta < least:  # the other kind of error is out of range there
        return 0.0
    return max(0.0, float_below(_mu(arb(least), arb(beta))))
