"""The conventions that turn a run into a printed epsilon: conversion, orders, limit theorem, composition theorem."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ...accounting import dominating
from ...accounting.allocation import shuffled_event as shuffled
from ...accounting.currencies import gdp
from ...accounting.pairs import Composition, Sampling, SubsampledPair
from ...accounting.renyi import renyi as rdp
from ...accounting.renyi.conversions import asoodeh_epsilon, canonne_epsilon, mironov_epsilon
from ...accounting.renyi.orders import best_order
from ...mechanisms import (
    DiscreteGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    PrivacyNotion,
    PureDp,
    Zcdp,
    rounds_by_step,
    sensitivity,
)
from ..literature.wang import wang_balle_kasiviswanathan
from ..literature.zcdp_conversions import (
    bun_steinke_epsilon,
    bun_steinke_integral_epsilon,
    canonne_zcdp_epsilon,
)
from .order_grids import GRIDS
from .run_variants import Variant

CONVERSIONS: dict[str, Callable[[float, float, float], float]] = {
    "RDP, classic conversion": mironov_epsilon,
    "RDP, improved conversion": canonne_epsilon,
}
"""Mironov 2017 (= moments accountant); Canonne et al. 2020 (= Balle et al. 2020)."""

_LADDER = tuple(sorted({order for grid in GRIDS.values() for order in grid}))
_REGULAR, _CLOSE = tuple(GRIDS["dp-accounting's orders"]), 2.0
"""Between orders whose log(order - 1) differ by less than log 2, epsilon is a parabola to 1e-4 and better."""

_SEARCH = 1e-2
"""Tolerance in log(alpha - 1): epsilon is flat there, 1e-4 of it at most."""


_NO_NOISE = 10.0
"""With less than a tenth of the shift as noise one participation costs 50 and more: nobody prints that bound."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A convention's epsilon for a variant, and what to know about it."""

    name: str
    value: float
    detail: str


def renyi(variant: Variant, grids: Mapping[str, tuple[float, ...]] = GRIDS) -> Iterator[Computed]:
    """Both conversions, at the best order of each grid and at the best order of all; nothing where unsupported.

    Epsilon falls and then rises with the order, so each grid's best order is next to the best of them all together.
    """
    bound = _renyi_bound(variant)
    if bound is None:
        return
    for name, convert in CONVERSIONS.items():

        @cache
        def objective(alpha: float, convert: Callable[[float, float, float], float] = convert) -> float:
            return convert(alpha, bound(alpha), variant.delta)

        nearest = _best_of(_LADDER, objective)
        every = {**grids, **GRIDS}
        found = {grid: min((objective(alpha), alpha) for alpha in _around(every[grid], nearest)) for grid in every}
        best = _between(objective, nearest)
        value, order = min((objective(best), best), *found.values())
        yield Computed(name, value, f"best order {order:.4g}")
        for grid in grids:
            value, order = found[grid]
            yield Computed(f"{name}, {grid}", value, f"order {order:g}")


def _between(objective: Callable[[float], float], nearest: float) -> float:
    """The best order between those of a grid: the vertex of the parabola in log(order - 1) through its neighbours."""
    at = bisect_left(_REGULAR, nearest)
    three = _REGULAR[max(0, at - 1) : at + 2]
    if len(three) < 3 or three[2] - 1 > _CLOSE * (three[0] - 1):
        return best_order(objective, nearest, tolerance=_SEARCH)
    (x, y, z), (u, v, w) = [math.log(alpha - 1) for alpha in three], [objective(alpha) for alpha in three]
    first, second = (v - u) / (y - x), (w - v) / (z - y)
    if not 0 < second - first < math.inf:
        return nearest
    vertex = (x + y) / 2 - first * (z - x) / (2 * (second - first))
    return 1 + math.exp(min(max(vertex, x), z))


def optimal(variant: Variant) -> Iterator[Computed]:
    """Asoodeh et al.'s conversion at its own best order, which is near that of the improved one."""
    bound = _renyi_bound(variant)
    if bound is None:
        return

    def improved(alpha: float) -> float:
        return canonne_epsilon(alpha, bound(alpha), variant.delta)

    def objective(alpha: float) -> float:
        return asoodeh_epsilon(alpha, bound(alpha), variant.delta)

    best = best_order(objective, best_order(improved, tolerance=_SEARCH), tolerance=0.1)
    yield Computed("RDP, optimal conversion", objective(best), f"best order {best:.4g}")


def _renyi_bound(variant: Variant) -> Callable[[float], float] | None:
    """The run's Renyi divergence by order; None where it has none."""
    curves = [rdp.curve(product) for product in _products(variant)]
    if not curves or any(curve.failure > 0 for curve in curves):
        return None
    return lambda alpha: max(curve(alpha) for curve in curves)


def _around(grid: tuple[float, ...], best: float) -> list[float]:
    """The grid's orders next to the best one: the objective falls before it and rises after it."""
    at = bisect_left(grid, best)
    return list(grid[max(0, at - 1) : at + 1])


def _products(variant: Variant) -> tuple[Composition, ...]:
    """The product pairs that the classic accountants evaluate: with Poisson sampling, only the order "remove"."""
    observer = "pooled" if variant.notion != PrivacyNotion.DP else "hidden"
    try:
        products = dominating(variant.run, variant.neighbouring, observer).upper  # type: ignore[arg-type]
    except InputError:
        return ()
    if not all(rdp.supports(product) for product in products):
        return ()
    remove = tuple(product for product in products if not _in_order_add(product))
    return remove or products


def _in_order_add(product: Composition) -> bool:
    return any(isinstance(pair, SubsampledPair) and pair.order == Sampling.ADD for pair, _ in product)


def fixed_size(variant: Variant) -> Iterator[Computed]:
    """dp-accounting's RDP for cohorts of fixed size: Wang, Balle, Kasiviswanathan 2019, Theorem 27."""
    parts = rounds_by_step(variant.run)
    part, rounds = next(iter(parts.items()))
    if len(parts) != 1 or not isinstance(part, FixedSize) or not isinstance(part.mechanism, Gaussian):
        return
    shift = sensitivity(variant.neighbouring) / part.mechanism.noise_multiplier
    if shift > _NO_NOISE:
        return

    def objective(alpha: float) -> float:
        rdp_bound = rounds * wang_balle_kasiviswanathan(shift, part.sampling_rate, alpha)
        return canonne_epsilon(alpha, rdp_bound, variant.delta)

    order = _best_of(GRIDS["dp-accounting's orders"], objective)
    value = objective(order)
    yield Computed("RDP of fixed-size sampling, dp-accounting's bound and orders", value, f"order {order:g}")


def _best_of(grid: tuple[float, ...], objective: Callable[[float], float]) -> float:
    """The grid's best order by bisection: the objective falls before it and rises after it. High orders cost most."""
    low, high = 0, len(grid) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if objective(grid[middle]) <= objective(grid[middle + 1]) else (middle + 1, high)
    return grid[low]


def shuffled_epoch(variant: Variant) -> Iterator[Computed]:
    """The lower bound that one shuffled epoch gives by itself: Chua et al. 2024, section 4."""
    pairs = shuffled.epochs(variant.run, variant.neighbouring)
    value = max((shuffled.epsilon_lower(epoch, variant.delta) for epoch in pairs), default=0.0)
    if value > 0:
        yield Computed("lower bound of one shuffled epoch", value, "Chua et al. 2024, arXiv 2403.17673, section 4")


def limit(variant: Variant) -> Iterator[Computed]:
    """The central-limit estimates: Bu et al. 2020 for Poisson sampling, Dong et al. 2022 for fixed size."""
    products = _products(variant)
    if not products or not all(gdp.supports(product) for product in products):
        return
    found = [gdp.epsilon(product, variant.delta) for product in products]
    value = max(bracket.upper for bracket in found)
    if not all(bracket.certified for bracket in found):  # of unsampled Gaussians it is exact, and no convention apart
        yield Computed("GDP-CLT", value, "the limit, not a bound")


def zcdp(variant: Variant) -> Iterator[Computed]:
    """rho summed over the rounds, sampling ignored, then each of the conversions from zCDP."""
    rho = total_rho(variant.run, variant.neighbouring)
    if rho is None:
        return
    detail = f"rho = {rho:.6g}"
    yield Computed("zCDP, Bun and Steinke's closed form", bun_steinke_epsilon(rho, variant.delta), detail)
    yield Computed("zCDP, Bun and Steinke's integral", bun_steinke_integral_epsilon(rho, variant.delta), detail)
    yield Computed("zCDP, Canonne et al.'s conversion", canonne_zcdp_epsilon(rho, variant.delta), detail)


def total_rho(run: Mechanism, neighbouring: Neighbouring) -> float | None:
    """The run's rho-zCDP without amplification; None where a mechanism has none or is sampled."""
    total, move = 0.0, sensitivity(neighbouring)
    for part, rounds in rounds_by_step(run).items():
        if isinstance(part, Zcdp):
            rho = part.rho
        elif isinstance(part, Gaussian):
            rho = (move / part.noise_multiplier) ** 2 / 2
        elif isinstance(part, DiscreteGaussian):
            rho = (move * part.clip / part.sigma) ** 2 / 2
        elif isinstance(part, PureDp):
            rho = part.epsilon**2 / 2
        else:
            return None
        total += rounds * rho
    return total


def composition_theorems(variant: Variant) -> Iterator[Computed]:
    """Formulas from before tight accounting, for equal rounds of a Gaussian, sampled or not."""
    parts = rounds_by_step(variant.run)
    if len(parts) != 1:
        return
    ((part, rounds),) = parts.items()
    rate = part.sampling_rate if isinstance(part, Poisson | FixedSize) else 1.0
    base = part.mechanism if isinstance(part, Poisson | FixedSize) else part
    if isinstance(base, PureDp):
        yield Computed("basic composition", rounds * base.epsilon, "rounds times epsilon")
        value = _advanced(base.epsilon, rounds, variant.delta)
        yield Computed("advanced composition", value, "Dwork, Rothblum, Vadhan 2010, Theorem III.3")
    if not isinstance(base, Gaussian):
        return
    z = base.noise_multiplier / sensitivity(variant.neighbouring)
    yield Computed("one round's Gaussian formula", math.sqrt(2 * math.log(1.25 / variant.delta)) / z, _DWORK_ROTH)
    yield Computed("strong composition of amplified rounds", _strong(z, rate, rounds, variant.delta), _ABADI_STRONG)
    if rate == 1:
        theorem = 4 / base.noise_multiplier * math.sqrt(rounds * -math.log(variant.delta))
        yield Computed(
            "closed-form noise of PMTL's Theorem 1", theorem, "Hu, Wu, Smith 2023, 4 sqrt(T log(1/delta)) / z"
        )


_DWORK_ROTH = "sqrt(2 log(1.25/delta)) / z: Dwork, Roth 2014, Theorem A.1; composition and sampling ignored"
_ABADI_STRONG = "each round rate * sqrt(2 log(1.25/delta_0)) / z, composed by the theorem of 2010, best split of delta"


def _advanced(epsilon: float, rounds: int, delta: float) -> float:
    return epsilon * math.sqrt(2 * rounds * -math.log(delta)) + rounds * epsilon * math.expm1(min(epsilon, 700.0))


def _strong(z: float, rate: float, rounds: int, delta: float) -> float:
    """Abadi et al. 2016, section 5.1, the curve that the moments accountant is compared with."""

    def at(share: float) -> float:
        each = math.sqrt(2 * math.log(1.25 * rate * rounds / (delta * (1 - share)))) / z
        return _advanced(rate * each, rounds, delta * share)

    return min(at(k / 100) for k in range(1, 100))
