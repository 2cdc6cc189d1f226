"""Claims as trade-off curves.

A claim is kept as finitely many lines (epsilon_i, delta_i): the pair is (epsilon_i, delta_i)-DP in both orders
for every i. Finitely many lines say less than the curve that they touch, and each delta_i is rounded up, so
what refutes the lines refutes the curve (Dong, Roth, Su 2022, JRSSB 84(1), Proposition 6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ... import accounting
from ...mechanisms import InputError, Mechanism, Neighbouring, Notion, PrivacyNotion, Relation
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import nonnegative, number, positive

LINES = 64

ORDERS = tuple(1.0 + 2.0**k for k in range(-6, 12))
"""Orders at which a claim of rho-zCDP is tested."""


@dataclass(frozen=True, slots=True)
class ClaimedCurve:
    """The pair is (epsilons[i], deltas[i])-DP for every i. `text` says it as it was claimed, mu or rho where it was."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    text: str
    mu: float | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        if not self.epsilons or len(self.epsilons) != len(self.deltas):
            raise InputError("claim", (self.epsilons, self.deltas), "as many epsilons as deltas, at least one")
        for eps, bound in self.lines:
            nonnegative("epsilon", eps)
            if not 0.0 <= number("delta", bound) <= 1.0:
                raise InputError("delta", bound, "a number from 0 to 1")

    def __repr__(self) -> str:
        return f"<ClaimedCurve: {self.text}>"

    @property
    def lines(self) -> list[tuple[float, float]]:
        """(epsilon, delta) of each line."""
        return list(zip(self.epsilons, self.deltas, strict=True))

    def tradeoff(self, alpha: ArrayLike) -> Floats:
        """f(alpha): the least error of the second kind that the claim allows a test at level alpha."""
        a = np.asarray(alpha, float)[..., None]
        eps, delta = np.array(self.epsilons), np.array(self.deltas)
        value = np.maximum(1 - delta - np.exp(eps) * a, np.exp(-eps) * (1 - delta - a)).max(axis=-1)
        return np.asarray(np.maximum(0.0, value), float)

    def forbids(self, epsilon: float, delta: float) -> bool:
        """Whether "no better than (epsilon, delta)-DP" contradicts the claim: some line says strictly more."""
        return any(eps < epsilon and bound <= delta for eps, bound in self.lines)


def approximate_dp(epsilon: float, delta: float = 0.0) -> ClaimedCurve:
    """(epsilon, delta)-DP."""
    if not 0 <= number("delta", delta) < 1:
        raise InputError("delta", delta, "a number of at least 0 and below 1")
    return ClaimedCurve((nonnegative("epsilon", epsilon),), (float(delta),), f"({epsilon:g}, {delta:g})-DP")


def gdp_delta(epsilon: ArrayLike, mu: float) -> Floats:
    """The profile of mu-GDP, rounded up (Dong, Roth, Su 2022, Corollary 1)."""
    eps = np.asarray(epsilon, float)
    first = special.ndtr(-eps / mu + mu / 2)
    second = np.exp(eps + special.log_ndtr(-eps / mu - mu / 2))
    # The difference loses the digits that the terms share; 1e-12 of the larger term covers their rounding.
    return np.asarray(np.clip(first - second + 1e-12 * first, 0.0, 1.0), float)


def gdp(mu: float) -> ClaimedCurve:
    """mu-Gaussian differential privacy."""
    level = positive("mu", mu)
    eps = np.unique(np.maximum(0.0, np.linspace(0.0, level * level / 2 + 7 * level, LINES)))
    return ClaimedCurve(tuple(eps.tolist()), tuple(gdp_delta(eps, level).tolist()), f"{level:g}-GDP", mu=level)


def rdp(orders: Sequence[float], epsilons: Sequence[float]) -> ClaimedCurve:
    """Renyi DP at the given orders (> 1), by Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Proposition 12."""
    if len(orders) == 0 or len(orders) != len(epsilons):
        raise InputError("orders", orders, "as many orders as epsilons, at least one")
    order, value = np.asarray(orders, float), np.asarray(epsilons, float)
    if not (np.all(order > 1) and np.all(np.isfinite(order)) and np.all(value >= 0)):
        raise InputError("orders", orders, "orders above 1, with Renyi divergences of at least 0")

    def profile(eps: float) -> float:
        logs = (order - 1) * (value - eps) - np.log(order - 1) + order * np.log1p(-1 / order)
        return min(1.0, math.exp(min(0.0, float(logs.min()))) * (1 + 1e-12))

    top = float((value + math.log(1e12) / (order - 1)).min())
    return from_profile(profile, np.linspace(0.0, top, LINES), f"RDP at {len(order)} orders")


def zcdp(rho: float) -> ClaimedCurve:
    """rho-zero-concentrated DP: a Renyi divergence of at most rho times the order, at ORDERS (Bun, Steinke 2016,
    arXiv 1605.02065, Definition 1.1)."""
    level = positive("rho", rho)
    return replace(rdp(ORDERS, [level * order for order in ORDERS]), text=f"{level:g}-zCDP", rho=level)


def renyi_at(stated: Sequence[float]) -> ClaimedCurve:
    """A Renyi divergence of one order: (order, divergence)."""
    if not isinstance(stated, tuple | list) or len(stated) != 2:
        raise InputError("renyi", stated, "(order, divergence)")
    order, divergence = number("renyi", stated[0]), nonnegative("renyi", stated[1])
    if order <= 1:
        raise InputError("renyi", stated, "an order above 1")
    return replace(rdp([order], [divergence]), text=f"a Renyi divergence of at most {divergence:g} at order {order:g}")


def points(stated: Sequence[Sequence[float]]) -> ClaimedCurve:
    """(epsilon, delta)-DP at each of the points."""
    if not stated or not all(isinstance(point, tuple | list) and len(point) == 2 for point in stated):
        raise InputError("curve", stated, "(epsilon, delta) points, at least one")
    epsilons, deltas = zip(*stated, strict=True)
    return ClaimedCurve(
        tuple(epsilons), tuple(deltas), f"a curve of {len(stated)} point{'s' if len(stated) > 1 else ''}"
    )


def from_profile(profile: Callable[[float], float], epsilons: ArrayLike, text: str) -> ClaimedCurve:
    """A claimed upper bound delta(epsilon), such as a privacy loss distribution's, at the given epsilons."""
    grid = [float(eps) for eps in np.atleast_1d(np.asarray(epsilons, float))]
    return ClaimedCurve(tuple(grid), tuple(min(1.0, max(0.0, float(profile(eps)))) for eps in grid), text)


def of_mechanism(
    run: Mechanism,
    neighbouring: Neighbouring = Relation.ADD_REMOVE,
    notion: Notion = PrivacyNotion.DP,
    *,
    lines: int = 32,
) -> ClaimedCurve:
    """What our accountants prove of a described mechanism: the upper ends of delta(epsilon)."""
    top = accounting.epsilon(run, 1e-9, neighbouring, notion=notion).upper
    if not math.isfinite(top):
        raise InputError("claim", run, "a mechanism of finite epsilon at delta = 1e-9")
    grid = np.linspace(0.0, top, lines)
    return from_profile(
        lambda eps: accounting.delta(run, eps, neighbouring, notion=notion).upper, grid, f"{run} ({neighbouring})"
    )


_OF: Mapping[str, Callable[[Any], ClaimedCurve]] = {"rho": zcdp, "mu": gdp, "curve": points, "renyi": renyi_at}


def stated_claim(stated: Mapping[str, Any], delta: float = 0.0) -> ClaimedCurve:
    """The claim by what it is stated in: epsilon (at this delta), rho, mu, curve or renyi. InputError for two."""
    (name, value), *others = stated.items()
    if others:
        raise InputError(others[0][0], others[0][1], f"nothing beside {name}: one claim")
    return approximate_dp(value, delta) if name == "epsilon" else _OF[name](value)


def as_claim(claim: ClaimedCurve | Mechanism | None, epsilon: float | None, delta: float) -> ClaimedCurve | None:
    """The claim under test, from either of the two ways of saying it; None when nothing is claimed."""
    if claim is not None and epsilon is not None:
        raise InputError("claim", claim, "either a claim or an epsilon, not both")
    if isinstance(claim, Mechanism):
        return of_mechanism(claim)
    if claim is not None and not isinstance(claim, ClaimedCurve):
        raise InputError("claim", claim, "a ClaimedCurve, a mechanism description, or None")
    return approximate_dp(epsilon, delta) if epsilon is not None else claim
