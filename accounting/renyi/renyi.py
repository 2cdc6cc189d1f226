"""Renyi accountant: a certified upper bound for every pair whose Renyi divergence is known.

D_alpha adds up over adaptive rounds (Mironov 2017, arXiv 1702.07476, Proposition 1); the order is optimised
continuously and every number is rounded up. Only an upper bound: `lower` is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from flint import ctx

from ...mechanisms import (
    InputError,
    Neighbouring,
    Participation,
    Relation,
    Run,
    Visibility,
    as_run,
    neighbouring_relation,
)
from ...mechanisms.validate import number
from ..bracket import Bracket
from ..currencies.pure_dp import decimal, decimal_above, decimal_below
from ..losses import closed_form
from ..losses import gaussian_rounds as gaussian
from ..losses.smooth import contour as densities
from ..pairs import Composition, Pair, Sampling
from ..pairs.moments import SLACK
from ..pairs.pair import dominating_parameters, largest_loss
from ..pricing.dominating import dominating
from ..rounding import TARGET, down, nearest_above, up, widened_down, widened_up
from .conversions import best_delta, best_epsilon, canonne_delta, canonne_epsilon
from .divergence_below import divergence_below
from .optimal_conversion import CLOSE, ROUGHLY
from .orders import best_order
from .proportional import proportional
from .sampled_rounds import of_sampled_rounds

METHOD = "rdp"

_BITS = 128
_SLACK = 2.0**-40

_NEAR, _ABOUT = 4e-3, 0.1
"""How near to the best order, less 1, a search ends: the bound is flat there; and one by the quick conversion, whose
best order is about that of the best one."""

_ABOVE_ONE = tuple(1 + 2.0**-k for k in (4, 8, 12, 16, 20))
"""Orders whose divergences bound that of order 1, as they grow with the order (Mironov 2017, Proposition 9): the nearer
the better, but for rounding, which grows."""


class NoDivergence(TypeError):
    """Of a pair whose Renyi divergence is not known."""


@dataclass(frozen=True, slots=True)
class RenyiCurve:
    """alpha -> an upper bound on D_alpha of the composition; failure: the probability of an unbounded loss.

    Given that no round fails, the curve bounds the rest: delta(eps) = failure + (1 - failure) delta_rest(eps).
    """

    composition: Composition
    failure: float

    def __call__(self, alpha: float) -> float:
        total = 0.0
        for pair, rounds in self.composition:
            total = up(total + up(rounds * divergence(pair, alpha)))
        return total

    def stated_orders(self) -> tuple[float, ...]:
        """Of all its rounds."""
        return tuple(dict.fromkeys(order for pair, _ in self.composition for order in pair.renyi().orders))


def curve(composition: Composition) -> RenyiCurve:
    """The composition's curve, the probability that some round's loss is infinite split off
    (docs/theory/rdp.md, "Rounds that fail")."""
    log_success = 0.0
    parts: dict[Pair, int] = {}
    for pair, rounds in composition:
        finite = pair.failure()[1]
        failing = 0.0 if finite is pair else failure_of(pair)
        if failing >= 1.0:
            return RenyiCurve(composition, 1.0)
        log_success += rounds * math.log1p(-failing)
        bounded = finite or pair
        parts[bounded] = parts.get(bounded, 0) + rounds
    failure = -math.expm1(log_success)
    return RenyiCurve(tuple(parts.items()), min(1.0, widened_up(failure, _SLACK)) if failure > 0 else 0.0)


@lru_cache(maxsize=1024)
def failure_of(pair: Pair) -> float:
    """At least P(the loss is infinite)."""
    with ctx.workprec(_BITS):
        return min(1.0, nearest_above(dominating_parameters(pair).failure()[0]))


@lru_cache(maxsize=8192)
def divergence(pair: Pair, alpha: float) -> float:
    """An upper bound on the Renyi divergence of the pair at order alpha > 1, infinity included.

    It holds for all parameters within rounding.PARAMETER of the given doubles. Raises NoDivergence.
    """
    largest = widened_up(largest_loss(pair), SLACK)
    if math.isinf(alpha):
        return largest
    known = pair.renyi().divergence(alpha)
    if known is None:
        raise NoDivergence(f"no Renyi divergence for {pair}")
    return min(largest, known)


def of_product(product: Composition, alpha: float) -> float:
    """One run's divergence, given that it does not fail."""
    return curve(product)(alpha)


def delta_of_product(product: Composition, epsilon: float) -> float:
    """One run's delta from above, given that it does not fail; then by the conversion that is quick, many are asked."""
    run = curve(product)
    if run.failure > 0:
        alpha = best_order(lambda order: _log_delta(order, run(order), epsilon))
        return up(min(best_delta(math.inf, run(math.inf), epsilon), canonne_delta(alpha, run(alpha), epsilon)))
    return delta_above(product, epsilon, lambda each, at: delta(each, at).upper)


def largest_of(products: tuple[Composition, ...]) -> tuple[Composition, ...]:
    """Those that no other one exceeds at every order: sampled Gaussian noise reveals no more of a unit that is added
    than of one that is removed (Mironov, Talwar, Zhang 2019, arXiv 1908.10530, Theorem 5), in each round."""
    return tuple(each for each in products if not _is_added(each) or _mirrored(each) not in products)


def _is_added(product: Composition) -> bool:
    known = [pair.gaussian() for pair, _ in product]
    coins = [None if noise is None else noise.coin for noise in known]
    return None not in known and Sampling.ADD in coins and set(coins) <= {Sampling.ADD, None}


def _mirrored(product: Composition) -> Composition:
    return tuple((pair.mirrored(), rounds) for pair, rounds in product)


def supports(composition: Composition) -> bool:
    """Whether every pair has a known Renyi divergence."""
    return all(_is_known(pair) for pair, _ in composition)


@lru_cache(maxsize=1024)
def _is_known(pair: Pair) -> bool:
    try:
        return (pair.failure()[1] or pair).renyi().divergence(2.0) is not None
    except (ArithmeticError, ValueError):  # out of reach at this order
        return True


def epsilon(composition: Composition, delta: float) -> Bracket:
    """0 <= the composed pair's epsilon at delta <= the best Renyi bound."""
    run = curve(composition)
    target = down(down(widened_down(delta, TARGET) - run.failure) / (1 - run.failure)) if run.failure < 1 else 0.0
    if target <= 0:
        return Bracket(0.0, math.inf, True, METHOD)

    def quick(order: float) -> float:
        return canonne_epsilon(order, run(order), target)

    def best(order: float, close: float = CLOSE) -> float:
        return best_epsilon(order, run(order), target, close)

    alpha = best_order(quick, min((_start(run, target), *run.stated_orders()), key=quick), _ABOUT)
    orders = math.inf, best_order(lambda order: best(order, ROUGHLY), alpha, _NEAR, _ABOUT), *run.stated_orders()
    return Bracket(0.0, min(map(best, orders)), True, METHOD)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """0 <= the composed pair's delta at epsilon <= the best Renyi bound, at most 1."""
    run = curve(composition)
    rest = _given_success(run, epsilon) if run.failure < 1 else 1.0
    return Bracket(0.0, min(1.0, up(run.failure + rest)) if rest > 0 else run.failure, True, METHOD)


def _given_success(run: RenyiCurve, epsilon: float) -> float:
    """At least the delta of what is left given that no round fails."""
    target = max(0.0, widened_down(epsilon, TARGET))

    def quick(order: float) -> float:
        return _log_delta(order, run(order), target)

    def best(order: float, close: float = CLOSE) -> float:
        return best_delta(order, run(order), target, close)

    if best(math.inf) == 0:
        return 0.0
    alpha = best_order(quick, min((8.0, *run.stated_orders()), key=quick), _ABOUT)
    orders = math.inf, best_order(lambda order: best(order, ROUGHLY), alpha, _NEAR, _ABOUT), *run.stated_orders()
    return up(min(map(best, orders)))  # not even an underflow is 0


def _log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """The exponent of the closed-form delta: comparable where delta itself underflows or exceeds 1."""
    return (alpha - 1) * (rdp - epsilon + math.log1p(-1 / alpha)) - math.log(alpha)


def _start(run: RenyiCurve, delta: float) -> float:
    """The order that would be best if the divergence were proportional to the order."""
    return 1 + max(1e-4, math.sqrt(-math.log(delta) * 2 / max(run(2.0), 1e-300)))


def renyi(
    run: Run,
    alpha: float,
    neighbouring: Neighbouring = Relation.ADD_REMOVE,
    participation: Visibility = Participation.HIDDEN,
) -> Bracket:
    """The Renyi divergence of order alpha between the run's outputs on neighbours, as a certified bracket.

    alpha: at least 1, where it is the Kullback-Leibler divergence; infinity gives the largest privacy loss. The largest
    over both orders of the neighbours. The lower end is 0 where no attained pair's divergence is known.
    Raises InputError for alpha < 1 and for combinations without a known bound.

    >>> from dpcert.mechanisms import Gaussian
    >>> renyi(Gaussian(2.0), alpha=8.0).upper  # alpha / (2 z^2)
    1.0
    """
    if alpha != math.inf and number("alpha", alpha) < 1:
        raise InputError("alpha", alpha, "an order of at least 1")
    relation, run = neighbouring_relation(neighbouring), as_run(run)
    known_ends = of_sampled_rounds(run, float(alpha), relation, participation) if 1 < alpha < math.inf else None
    if known_ends is not None:
        return Bracket(*known_ends, True, METHOD)
    pairs, largest = dominating(run, relation, participation), 0.0
    above = pairs.upper if alpha == math.inf else largest_of(pairs.upper)
    below = () if alpha in (1, math.inf) else above if pairs.lower == pairs.upper else largest_of(pairs.lower)
    known = [divergence_below(product, float(alpha)) for product in below]
    if math.inf in known:
        return Bracket(math.inf, math.inf, True, METHOD)
    for product in above:
        composed = curve(product)
        orders = (float(alpha),) if alpha > 1 else _ABOVE_ONE
        try:
            largest = max(largest, math.inf if composed.failure > 0 else min(map(composed, orders)))
        except NoDivergence:
            raise InputError("run", run, "mechanisms whose Renyi divergence is known") from None
    exact = proportional(run, relation) if alpha < math.inf else None
    if exact is not None:
        order = decimal(alpha)
        return Bracket(decimal_below(order * exact.always), decimal_above(order * exact.most), True, METHOD)
    return Bracket(min(largest, max(known, default=0.0)), largest, True, METHOD)


_RTOL = 1e-3
"""Much finer than what it is for."""


def delta_above(product: Composition, epsilon: float, by_renyi: Callable[[Composition, float], float]) -> float:
    """At least the product pair's delta at epsilon >= 0; by_renyi: the bound where nothing exact is quick."""
    try:
        if gaussian.supports(product):
            return gaussian.delta(product, epsilon).upper
        if closed_form.supports(product):
            return closed_form.delta(product, epsilon).upper
        if densities.supports(product):
            return densities.delta(product, epsilon, _RTOL).upper
    except (ArithmeticError, ValueError):  # out of its reach here
        pass
    return by_renyi(product, epsilon)
