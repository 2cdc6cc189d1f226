"""The exact game of a few units whose types are known, in a tree of clones of two levels: Theorem T's oracle.

A unit of type l has at outcome x the density kappa_l a_l(x) to N(0), where with rho = n_h/n_0, c_1 > c_2 > c_3 = 0

    a_l = min(1, (rho - c_{l+1})_+ / (c_l - c_{l+1})),   kappa_l = 1 / E_0 a_l,

unit i has the density e^{<g, x> - |g|^2/2} to its neighbour's N(0), and the order is uniform. So with P and Q the means
over all orders, H_gamma(P||Q) = E (P - gamma Q)_+ over outcomes of N(0): Sobol points, scrambled eight times with fixed
seeds, and five deviations of their mean. Nothing of this is the accountants'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
from scipy.stats import norm, qmc

Signs = Callable[[int, int, np.ndarray], np.ndarray]
"""Unit, place and all outcomes of the places before: 1 with the direction of i, -1 against it."""


def shares(shift: float, reach: Sequence[float]) -> list[float]:
    """c_l, for places at so many deviations."""
    return [math.exp(-shift * k - shift**2 / 2) for k in reach]


def mean_of_a(shift: float, above: float, below: float) -> float:
    """E_0 min(1, (rho - below)_+ / (above - below)), rho = e^{shift x - shift^2/2}, in closed form."""

    def least(c: float) -> float:  # E_0 min(rho, c)
        if c == 0.0:
            return 0.0
        at = (math.log(c) + shift**2 / 2) / shift
        return float(norm.cdf(at - shift) + c * norm.sf(at))

    return (least(above) - least(below)) / (above - below)


def game(
    shift: float, c: Sequence[float], types: Sequence[int], gamma: float, order: str, signs: Signs, length: float = 1.0
) -> tuple[float, float]:
    """H_gamma and five deviations of its error. types: of the others, 1 for the lowest; length: of their contributions
    over the shift; shorter ones keep the weights of longer ones, as no unit does."""
    edges = [*c, 0.0]
    kappa = [1 / mean_of_a(shift, edges[at], edges[at + 1]) for at in range(len(c))]
    found = [
        _one(
            qmc.Sobol(len(types) + 1, seed=seed).random_base2(14),
            shift,
            edges,
            kappa,
            types,
            gamma,
            order,
            signs,
            length,
        )
        for seed in range(8)
    ]
    return float(np.mean(found)), 5 * float(np.std(found, ddof=1)) / math.sqrt(len(found))


def _one(points, shift, edges, kappa, types, gamma, order, signs, length):  # type: ignore[no-untyped-def]
    x = norm.ppf(np.clip(points, 1e-12, 1 - 1e-12))
    places = range(x.shape[1])
    known = {}
    for unit, kind in enumerate(types):
        for place in places:
            move = length * shift
            rho = np.exp(move * signs(unit, place, x[:, :place]) * x[:, place] - move**2 / 2)
            above, below = edges[kind - 1], edges[kind]
            known[unit, place] = kappa[kind - 1] * np.clip((rho - below) / (above - below), 0.0, 1.0)
    with_unit, without = np.zeros(len(x)), np.zeros(len(x))
    for first, *rest in permutations(places):
        weight = np.prod([known[unit, place] for unit, place in enumerate(rest)], axis=0)
        with_unit += weight * np.exp(shift * x[:, first] - shift**2 / 2)
        without += weight
    count = math.factorial(len(places))
    p, q = with_unit / count, without / count
    return float(np.mean(np.maximum(p - gamma * q if order == "remove" else q - gamma * p, 0.0)))


def against(_: int, place: int, before: np.ndarray) -> np.ndarray:
    """All others against i."""
    return np.full(len(before), -1.0)


def along(_: int, place: int, before: np.ndarray) -> np.ndarray:
    """All others with i."""
    return np.full(len(before), 1.0)


def following(_: int, place: int, before: np.ndarray) -> np.ndarray:
    """Against i where the last outcome spoke for it."""
    return -np.sign(before[:, -1]) if place else np.full(len(before), -1.0)


def mixed(unit: int, place: int, before: np.ndarray) -> np.ndarray:
    """Some with it and some against."""
    return np.full(len(before), 1.0 if (unit + place) % 2 else -1.0)
