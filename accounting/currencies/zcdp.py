"""Zero-concentrated DP: the least rho with D_alpha <= rho alpha at every order alpha > 1 (Bun, Steinke 2016,
arXiv 1605.02065, Definition 1.1), in both orders of the neighbours.

rho is the supremum over alpha of D_alpha / alpha. From below: any order of an attained pair, and for Gaussian noise the
limit alpha -> infinity. From above: (alpha - 1) D_alpha is convex in alpha and 0 at 1 (van Erven, Harremoes 2014,
arXiv 1206.2459, Corollary 2), so between two orders D_alpha / alpha is below what the chord gives; beyond the last
order it is below a bound of every pair's own. Cells are halved where their bound is largest.

For a Poisson-sampled Gaussian the limit is T / (2 z^2): with probability rate^T the unit takes part in every round, and
no amplification survives at large orders. `orders_up_to` says up to which order a smaller rho is meant.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from itertools import pairwise

from ...mechanisms import Run, as_run
from ...mechanisms.neighbours import Neighbouring, Notion, PrivacyNotion, Visibility, relation_meant
from ...mechanisms.validate import InputError, number
from ..bracket import Bracket
from ..losses.gaussian_rounds import composed_shift
from ..losses.gaussian_rounds import supports as gaussian_only
from ..pairs import Composition
from ..pairs.pair import largest_loss
from ..pricing.dominating import dominating
from ..question import seen_by, tolerance
from ..renyi.divergence_below import divergence_below
from ..renyi.proportional import proportional
from ..renyi.renyi import RenyiCurve, curve
from ..renyi.renyi import supports as has_renyi
from ..rounding import down, up, widened_up
from .pure_dp import decimal_above, decimal_below

METHOD = "renyi-orders"

_FIRST, _LAST = 1.0 + 2.0**-20, 2.0**14
"""The smallest order at which a cell ends, and the largest one where no other is asked for."""

_SLACK = 2.0**-40
_MOST_CELLS = 400


def rho(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    orders_up_to: float = math.inf,
    rtol: float = 1e-4,
) -> Bracket:
    """The least rho of the run, D_alpha <= rho alpha for 1 < alpha <= orders_up_to, as a certified bracket.

    orders_up_to: the largest Renyi order that is looked at, above 1.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> found = rho(Repeat(Gaussian(noise_multiplier=10.0), rounds=4))
    >>> 0.02 - 1e-12 < found.lower <= 0.02 <= found.upper < 0.02 + 1e-12
    True

    rtol: the relative width at which the search ends. Raises InputError for orders_up_to of at most 1, and as
    accounting.epsilon does.
    """
    if orders_up_to != math.inf and number("orders_up_to", orders_up_to) <= 1:
        raise InputError("orders_up_to", orders_up_to, "an order above 1")
    rtol, relation = tolerance("rtol", rtol), relation_meant(neighbouring, notion, participation)
    pairs = dominating(as_run(run), relation, seen_by(notion, participation))
    exact = proportional(as_run(run), relation)
    if exact is not None:
        attained = exact.limit if orders_up_to == math.inf else exact.always
        return Bracket(decimal_below(attained), decimal_above(exact.most), True, METHOD)
    upper = max((_above(product, orders_up_to, rtol) for product in pairs.upper), default=math.inf)
    lower = max((_below(product, orders_up_to) for product in pairs.lower), default=0.0)
    found = Bracket(min(lower, upper), upper, True, METHOD)
    return replace(found, reached=found.narrower_than(rtol))


def _above(product: Composition, last: float, rtol: float) -> float:
    if gaussian_only(product):
        return up(composed_shift(product)[1] ** 2 / 2, 2)
    if not has_renyi(product):
        return math.inf
    renyi = curve(product)
    if renyi.failure > 0:
        return math.inf
    beyond = 0.0
    if last > _LAST:
        last, beyond = _LAST, _limit_above(product)
    return max(beyond, _halved(renyi, last, rtol, beyond))


def _halved(renyi: RenyiCurve, last: float, rtol: float, enough: float) -> float:
    """The largest of the cells' bounds, once it is within rtol of a value at some order or below `enough`."""
    moments = {1.0: 0.0}

    def moment(alpha: float) -> float:
        if alpha not in moments:
            moments[alpha] = up((alpha - 1) * renyi(alpha), 2)
        return moments[alpha]

    def cell(left: float, right: float) -> tuple[float, float, float]:
        return -_on_chord(left, moment(left), right, moment(right)), left, right

    first = min(_FIRST, last)
    orders = [first * (last / first) ** (k / 24) for k in range(24)] + [last] if last > first else [last]
    cells = [(-widened_up(renyi(orders[0]), _SLACK), 1.0, orders[0])]
    cells += [cell(*ends) for ends in pairwise(orders)]
    heapq.heapify(cells)
    reached = max(moment(alpha) / ((alpha - 1) * alpha) for alpha in orders)
    while len(cells) < _MOST_CELLS and -cells[0][0] > max(enough, reached * (1 + rtol)):
        bound, left, right = cells[0]
        middle = 1 + math.sqrt((left - 1) * (right - 1)) if left > 1 else 1 + (right - 1) / 16
        if not left < middle < right or right - 1 < 2.0**-40:
            return -bound
        heapq.heappop(cells)
        reached = max(reached, moment(middle) / ((middle - 1) * middle))
        lower = cell(left, middle) if left > 1 else (-widened_up(renyi(middle), _SLACK), 1.0, middle)
        for part in (lower, cell(middle, right)):
            heapq.heappush(cells, part)
    return -cells[0][0]


def _on_chord(left: float, at_left: float, right: float, at_right: float) -> float:
    """At least the largest K(alpha) / (alpha (alpha - 1)) on the cell, K convex with these upper bounds at its ends.

    With K = u + v alpha on the chord the derivative vanishes where v alpha^2 + 2 u alpha = u; near a maximum the place
    matters in the second order only, which the slack covers.
    """
    v = (at_right - at_left) / (right - left)
    u = at_left - v * left
    candidates = [left, right]
    square = u * u + u * v
    if v != 0.0 and square >= 0.0:
        candidates += [(-u + sign * math.sqrt(square)) / v for sign in (-1.0, 1.0)]
    inside = [alpha for alpha in candidates if left <= alpha <= right]
    share = ((alpha, (alpha - left) / (right - left)) for alpha in inside)
    largest = max(((1 - w) * at_left + w * at_right) / (alpha * (alpha - 1)) for alpha, w in share)
    return widened_up(largest, _SLACK)


def _limit_above(product: Composition) -> float:
    """At least D_alpha / alpha for every alpha >= _LAST."""
    total = 0.0
    for pair, rounds in product:
        total = up(
            total + up(rounds * min(up(widened_up(largest_loss(pair), _SLACK) / _LAST), pair.renyi().slope(_LAST)[1]))
        )
    return total


def _below(product: Composition, last: float) -> float:
    """The largest of a few orders of an attained product, and the limit of large orders where it is known."""
    if gaussian_only(product):
        return max(0.0, down(composed_shift(product)[0] ** 2 / 2, 2))
    orders = [alpha for alpha in (1.001, 1.5, 2.0, 4.0, 16.0, 64.0) if alpha < last]
    if last < math.inf:
        orders.append(last)
    least = [divergence_below(product, alpha) / alpha for alpha in orders]
    if math.inf in least:
        return math.inf
    found = max(map(down, least))
    return max(0.0, found, _limit_below(product) if last == math.inf else 0.0)


def _limit_below(product: Composition) -> float:
    """lim D_alpha / alpha."""
    total = 0.0
    for pair, rounds in product:
        total = down(total + down(rounds * pair.renyi().slope(_LAST)[0]))
    return max(0.0, total)
