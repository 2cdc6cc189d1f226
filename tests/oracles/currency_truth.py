"""What is true of a certificate in another currency than epsilon, from closed forms and enumeration in mpmath.

Shares nothing with the checker, the accountants or what writes certificates; it reads the JSON document by itself. Of
one phase in which everybody takes part, with Gaussian noise, one round of Laplace noise, or finitely many outcomes;
of anything else nothing is known, and so nothing is called false.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import mpmath as mp
from certificate_truth import World, bound_only, composed, exact, gauss, hockey_stick

DIGITS = 30
UNKNOWN = mp.mpf(0), mp.inf
Law = list[tuple[mp.mpf, mp.mpf]]
"""Masses under both neighbours."""


def is_false(document: dict[str, Any]) -> bool:
    """Whether the verdict contradicts what is true: to 1e-9 above a number that holds, 1e-5 below a refuted one."""
    with mp.workdps(DIGITS):
        number = exact(document["currency"]["number"])
        if document["verdict"] == "refuted" and bound_only(document):
            return True
        low, high = _span(document)
        if document["verdict"] == "holds":
            return bool(number < low * (1 - mp.mpf("1e-9")))
        return bool(number >= high * (1 + mp.mpf("1e-5")))


def _span(document: dict[str, Any]) -> tuple[mp.mpf, mp.mpf]:
    """At most, and about at least, the true number."""
    currency, phases = document["currency"], document["phases"]
    if len(phases) != 1 or phases[0]["sampling"]["scheme"] != "none" or document["claim"]["notion"] != "dp":
        return UNKNOWN
    key = tuple(sorted(phases[0]["mechanism"].items()))
    place = None if currency["place"] is None else str(currency["place"])
    return _cached(key, phases[0]["rounds"], document["claim"]["neighbouring"], currency["name"], place)


@lru_cache(maxsize=4096)
def _cached(key: Any, rounds: int, relation: str, name: str, place: str | None) -> tuple[mp.mpf, mp.mpf]:
    mechanism, at = dict(key), None if place is None else exact(place)
    move = 2 if relation == "replace-one" else 1
    kind = mechanism["kind"]
    if kind == "zcdp":
        return (exact(mechanism["rho"]) * rounds, mp.inf) if name == "rho" else UNKNOWN
    if kind == "gaussian":
        return _of_gaussian(mp.sqrt(rounds) * move / exact(mechanism["noise_multiplier"]), name, at)
    if kind == "laplace":
        return _of_laplace(move / exact(mechanism["noise_multiplier"]), name, at) if rounds == 1 else UNKNOWN
    if kind in ("gaussian-mean", "per-client-gaussian", "three-valued", "approximate-dp") or rounds > 64:
        return UNKNOWN
    if kind == "randomized-response" and relation != "replace-one":
        return UNKNOWN
    world = World(mechanism, rounds, relation, "none", mp.mpf(1), None, move)
    law = list(composed(world.laws(move)[0], rounds).values())
    low, high = _of_law([(p, q) for p, q in law if p > 0 and q > 0], name, at)
    return low, mp.inf if kind.startswith("discrete") else high  # their far tails are cut here


def _of_gaussian(mu: mp.mpf, name: str, at: mp.mpf | None) -> tuple[mp.mpf, mp.mpf]:
    """All in closed form; of a range without anything in it nothing is true or false."""
    if name == "tpr_at_fpr" and at is not None and 0 < at < 1:
        value = mp.ncdf(_quantile(at) + mu)
    elif name == "renyi" and at is not None:
        value = at * mu**2 / 2
    elif name == "rho":
        value = mu**2 / 2 if at is None or at > 1 else mp.mpf(0)
    elif name == "mu":
        value = mu if at is None or at <= mp.ncdf(-mu / 2) else mp.mpf(0)
    elif name == "mu at deltas" and at is not None:
        value = mu if at < gauss(mu, mp.mpf(0)) else mp.mpf(0)
    else:
        return UNKNOWN
    return value, value


def _of_laplace(loss: mp.mpf, name: str, at: mp.mpf | None) -> tuple[mp.mpf, mp.mpf]:
    """One round: the divergences of Mironov 2017, arXiv 1702.07476, Proposition 6; the three pieces of the curve."""

    def divergence(order: mp.mpf) -> mp.mpf:
        terms = order * mp.exp((order - 1) * loss) + (order - 1) * mp.exp(-order * loss)
        return mp.log(terms / (2 * order - 1)) / (order - 1)

    def beta(alpha: mp.mpf) -> mp.mpf:
        if alpha < mp.exp(-loss) / 2:
            return 1 - mp.exp(loss) * alpha
        return mp.exp(-loss) / (4 * alpha) if alpha < mp.mpf("0.5") else mp.exp(-loss) * (1 - alpha)

    if name == "tpr_at_fpr" and at is not None and 0 < at < 1:
        return 1 - beta(at), 1 - beta(at)
    if name == "renyi" and at is not None and at > 1:
        return divergence(at), divergence(at)
    if name == "rho":
        found = [divergence(order) / order for order in _orders(at)]
        return max(found, default=mp.mpf(0)), max(found, default=mp.inf)
    middle = -2 * _quantile(mp.exp(-loss / 2) / 2)
    if name == "mu" and (at is None or at < mp.exp(-loss / 2) / 2):
        return middle, middle
    return mp.mpf(0), middle if name in ("mu", "mu at deltas") else mp.inf


def _of_law(law: Law, name: str, at: mp.mpf | None) -> tuple[mp.mpf, mp.mpf]:
    """Over the outcomes, in both orders."""
    swapped = [(q, p) for p, q in law]
    if name == "tpr_at_fpr" and at is not None and 0 < at < 1:
        value = max(_power(_tests(side), at) for side in (law, swapped))
    elif name == "renyi" and at is not None and at > 1:
        value = max(_divergence(side, at) for side in (law, swapped))
    elif name == "rho":
        found = [_divergence(side, order) / order for side in (law, swapped) for order in _orders(at)]
        return max(found, default=mp.mpf(0)), max(found, default=mp.inf)
    elif name in ("mu", "mu at deltas"):
        least = at if name == "mu" and at is not None else mp.mpf(0)
        corners = [(a, b) for side in (law, swapped) for a, b in _tests(side) if a > 0 and b > 0]
        needed = [(-_quantile(a) - _quantile(b), min(a, b)) for a, b in corners]
        highest = max((level for level, _ in needed), default=mp.mpf(0))
        if name == "mu at deltas":
            return max((_needed(law, eps, at) for eps in _losses(law)), default=mp.mpf(0)), highest
        return max((level for level, rate in needed if rate > least), default=mp.mpf(0)), highest
    else:
        return UNKNOWN
    return value, value


def _divergence(law: Law, order: mp.mpf) -> mp.mpf:
    return mp.log(mp.fsum(p**order * q ** (1 - order) for p, q in law)) / (order - 1)


def _orders(last: mp.mpf | None) -> list[mp.mpf]:
    """From next to 1 on, up to the last."""
    orders = [1 + mp.mpf(10) ** (mp.mpf(k) / 8) for k in range(-64, 32)]
    return [order for order in orders if last is None or order <= last] + ([] if last is None or last <= 1 else [last])


def _tests(law: Law) -> Iterator[tuple[mp.mpf, mp.mpf]]:
    """(type I, type II error) of the tests that accuse the likeliest outcomes first (Neyman and Pearson)."""
    alpha, power = mp.mpf(0), mp.mpf(0)
    for p, q in sorted(law, key=lambda masses: masses[1] / masses[0]):
        alpha, power = alpha + q, power + p
        yield alpha, 1 - power


def _power(tests: Iterator[tuple[mp.mpf, mp.mpf]], rate: mp.mpf) -> mp.mpf:
    """Between two tests by a coin."""
    before = mp.mpf(0), mp.mpf(1)
    for alpha, beta in tests:
        if alpha >= rate:
            share = (rate - before[0]) / (alpha - before[0])
            return 1 - before[1] + share * (before[1] - beta)
        before = alpha, beta
    return mp.mpf(1)


def _losses(law: Law) -> list[mp.mpf]:
    found = {mp.nstr(mp.log(p / q), 12) for p, q in law}
    return [mp.mpf(loss) * mp.mpf("0.999") for loss in found if mp.mpf(loss) > 0] + [mp.mpf(0)]


def _needed(law: Law, eps: mp.mpf, least: mp.mpf | None) -> mp.mpf:
    """A little less than the mu whose delta at eps is the law's, where that is at least the least one."""
    delta = hockey_stick(dict(enumerate(law)), eps)
    if least is None or delta < least:
        return mp.mpf(0)
    low, high = mp.mpf(0), mp.mpf(64)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if gauss(middle, eps) < delta else (low, middle)
    return low


def _quantile(share: mp.mpf) -> mp.mpf:
    """Phi^-1."""
    return mp.sqrt(2) * mp.erfinv(2 * share - 1)
