"""Small federations in full: every cohort, every coin, the noise as it is drawn, and what each observer sees of it.

Shares nothing with the accountants. A run's view is a discrete part (the coins that the observer knows) and released
numbers, independent given all coins, with known centres and scales. They are put into cells, whose masses are
differences of distribution functions. That is post-processing: the hockey-stick divergence of the two cell laws is a
lower bound of the true one, to rounding (SLACK), and close to it for narrow cells.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.special import ndtr

SLACK = 1e-11
"""More than all rounding in a divergence: at most 1e6 cells, each mass good to some 1e-16."""

CELLS = {1: 1200, 2: 110, 3: 28, 4: 14}
"""Cells an axis, by the number of released coordinates."""

Vector = tuple[float, ...]
Cohort = tuple[int, ...]  # the clients of one round; one that is drawn twice comes up twice
Coins = tuple[Cohort, ...]  # of all rounds
Contribution = Callable[[int, int], Vector]  # (round, earlier participations) -> what the client sends
Side = tuple[Contribution | None, ...]  # one entry a client, the unit first; None: not there


Scheme = Callable[[Cohort], list[tuple[float, Coins]]]  # who is there -> all coins, with their probabilities


@dataclass(frozen=True)
class Setting:
    """What is common to two neighbours. noise: of one round and coordinate; bringers: of each client's upload."""

    scheme: Scheme
    noise: float
    weights: Vector | None = None  # relative ones, normalised over each cohort; None: the sum itself
    brought: bool = False  # by each client of the cohort, instead of by the server
    law: Literal["gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "skellam"] = "gaussian"
    sees: Literal["release", "unit", "coalition", "coalition with unit", "uploads"] = "release"
    colluders: Cohort = ()


def every_round(rounds: int, one: list[tuple[float, Cohort]]) -> list[tuple[float, Coins]]:
    """Independent rounds of the same law of cohorts."""
    return [
        (math.prod(p for p, _ in draws), tuple(cohort for _, cohort in draws))
        for draws in itertools.product(one, repeat=rounds)
    ]


def everybody(rounds: int) -> Scheme:
    return lambda there: [(1.0, (there,) * rounds)]


def poisson(rounds: int, rate: float, most: int = 99) -> Scheme:
    """Coins of everybody's own; a cohort above `most` is cut to a uniform subset of that size."""

    def drawn(there: Cohort) -> list[tuple[float, Coins]]:
        one: dict[Cohort, float] = defaultdict(float)
        for bits in itertools.product((0, 1), repeat=len(there)):
            cohort = tuple(itertools.compress(there, bits))
            mass = math.prod(rate if bit else 1 - rate for bit in bits)
            kept = list(itertools.combinations(cohort, min(len(cohort), most)))
            for subset in kept:
                one[subset] += mass / len(kept)
        return every_round(rounds, [(p, cohort) for cohort, p in one.items() if p])

    return drawn


def fixed_size(rounds: int, cohort: int) -> Scheme:
    def drawn(there: Cohort) -> list[tuple[float, Coins]]:
        chosen = list(itertools.combinations(there, min(cohort, len(there))))
        return every_round(rounds, [(1 / len(chosen), one) for one in chosen])

    return drawn


def with_replacement(rounds: int, draws: int) -> Scheme:
    def drawn(there: Cohort) -> list[tuple[float, Coins]]:
        tuples = list(itertools.product(there, repeat=draws))
        return every_round(rounds, [(1 / len(tuples), one) for one in tuples])

    return drawn


def shuffled(batches: int) -> Scheme:
    """One epoch of batches of equal size."""

    def drawn(there: Cohort) -> list[tuple[float, Coins]]:
        size = len(there) // batches
        orders = list(itertools.permutations(there))
        found: dict[Coins, float] = defaultdict(float)
        for order in orders:
            found[tuple(tuple(sorted(order[size * b : size * (b + 1)])) for b in range(batches))] += 1 / len(orders)
        return [(p, coins) for coins, p in found.items()]

    return drawn


def cyclic(batches: int, passes: int = 1) -> Scheme:
    """Client i in batch i mod batches, in every pass."""
    return lambda there: [(1.0, tuple(tuple(i for i in there if i % batches == b) for b in range(batches)) * passes)]


def allocated(rounds: int, each: int = 1) -> Scheme:
    """Everybody picks `each` of the rounds."""

    def drawn(there: Cohort) -> list[tuple[float, Coins]]:
        picks = list(itertools.combinations(range(rounds), each))
        return [
            (
                len(picks) ** -len(there),
                tuple(tuple(i for i, p in zip(there, of, strict=True) if t in p) for t in range(rounds)),
            )
            for of in itertools.product(picks, repeat=len(there))
        ]

    return drawn


Law = dict[tuple[object, ...], dict[tuple[Vector, Vector], float]]
"""By what the observer knows for certain: the centres and scales of the released coordinates, with their masses."""


def view(setting: Setting, side: Side) -> Law:
    """The law of what the observer sees under one of two neighbours."""
    there = tuple(i for i, contribution in enumerate(side) if contribution is not None)
    law: Law = defaultdict(lambda: defaultdict(float))
    for mass, coins in setting.scheme(there):
        centres: list[float] = []
        scales: list[float] = []
        taken = [0] * len(side)
        for t, cohort in enumerate(coins):
            sent = {i: side[i](t, taken[i]) for i in cohort}  # type: ignore[misc]
            for i in cohort:
                taken[i] += 1
            if setting.sees == "uploads":  # of the others nothing depends on the unit
                centre, scale = sent.get(0, (0.0,) * _dimension(side)), setting.noise
            else:
                centre, scale = _released(setting, cohort, sent, _dimension(side))
            centres += centre
            scales += [scale] * len(centre)
        law[_known(setting, coins)][tuple(centres), tuple(scales)] += mass
    return law


def _dimension(side: Side) -> int:
    return next(len(contribution(0, 0)) for contribution in side if contribution is not None)


def _released(setting: Setting, cohort: Cohort, sent: dict[int, Vector], d: int) -> tuple[Vector, float]:
    """Centre and scale of one round's release, after the colluders have subtracted the noise that they sent."""
    total = sum(setting.weights[i] for i in cohort) if setting.weights else 1.0
    weights = [setting.weights[i] / total if setting.weights else 1.0 for i in cohort]
    centre = tuple(sum(w * sent[i][k] for w, i in zip(weights, cohort, strict=True)) for k in range(d))
    if not setting.brought:
        return centre, setting.noise
    shares = sum(w**2 for w, i in zip(weights, cohort, strict=True) if i not in setting.colluders)
    return centre, setting.noise * math.sqrt(shares)


def _known(setting: Setting, coins: Coins) -> tuple[object, ...]:
    if setting.sees in ("unit", "uploads"):
        return tuple(cohort.count(0) for cohort in coins)
    if setting.sees == "coalition with unit":
        return coins
    return tuple(tuple(cohort.count(i) for i in setting.colluders) for cohort in coins)


def divergences(setting: Setting, first: Side, second: Side, epsilons: Sequence[float]) -> list[float]:
    """At least (to SLACK below) the larger of both orders' hockey-stick divergences, at each epsilon."""
    p, q = view(setting, first), view(setting, second)
    totals = np.zeros((2, len(epsilons)))
    odds = [math.exp(min(e, 700.0)) for e in epsilons]
    for known in p.keys() | q.keys():
        both = [law.get(known, {}) for law in (p, q)]
        axes = _edges([component for law in both for component in law], setting)
        there, back = (_masses(law, axes, setting) for law in both)
        for k, (x, y) in enumerate(((there, back), (back, there))):
            totals[k] += [float(np.maximum(x - factor * y, 0.0).sum()) for factor in odds]
    return [float(value) for value in totals.max(axis=0)]


Axis = np.ndarray


def _edges(components: list[tuple[Vector, Vector]], setting: Setting) -> list[Axis]:
    """Cell edges of every axis, fine around the centres, with unbounded cells at both ends; lattices: the integers."""
    axes = len(components[0][0])
    found = []
    for axis in range(axes):
        centres = sorted({centre[axis] for centre, _ in components})
        reach = max(scale[axis] for _, scale in components) * (5.0 if setting.law == "gaussian" else 12.0)
        if setting.law not in ("gaussian", "laplace"):
            found.append(np.arange(math.floor(centres[0] - reach) - 2, math.ceil(centres[-1] + reach) + 3))
            continue
        inner = np.linspace(centres[0] - reach, centres[-1] + reach, CELLS.get(axes, 8))
        middles = [0.5 * (a + b) for a in centres for b in centres] if len(centres) < 12 else []
        found.append(np.concatenate([[-np.inf], np.unique([*inner, *middles]), [np.inf]]))
    return found


def _masses(law: dict[tuple[Vector, Vector], float], edges: list[Axis], setting: Setting) -> np.ndarray:
    """The mass of every cell, as an array of one axis a coordinate (the first apart, the others flattened)."""
    if not law:
        return np.zeros(1)
    centres, scales = (np.array([component[k] for component in law]) for k in (0, 1))
    weight = np.array(list(law.values()))[:, None]
    first = weight * _cells(edges[0], centres[:, 0], scales[:, 0], setting)
    rest = np.ones((len(law), 1))
    for axis in range(1, len(edges)):
        cells = _cells(edges[axis], centres[:, axis], scales[:, axis], setting)
        rest = (rest[:, :, None] * cells[:, None, :]).reshape(len(law), -1)
    return first.T @ rest


def _cells(edges: Axis, centres: np.ndarray, scales: np.ndarray, setting: Setting) -> np.ndarray:
    """One row a component. Differences of a distribution function on the side where it is small."""
    if setting.law not in ("gaussian", "laplace"):
        return np.array([_on_integers(setting, edges, c, s) for c, s in zip(centres, scales, strict=True)])
    x = (edges[None, :] - centres[:, None]) / np.maximum(scales, 1e-12)[:, None]
    if setting.law == "gaussian":
        below, above = ndtr(x), ndtr(-x)
    else:
        tail = 0.5 * np.exp(-np.abs(x))
        below, above = np.where(x < 0, tail, 1 - tail), np.where(x < 0, 1 - tail, tail)
    return np.where(x[:, 1:] <= 0, np.diff(below, axis=1), -np.diff(above, axis=1))


def _on_integers(setting: Setting, points: Axis, centre: float, scale: float) -> Axis:
    """Masses of noise on the integers; what lies outside the points is left out, for a lower bound still."""
    shares = round((scale / setting.noise) ** 2)
    law = _lattice(setting.law, setting.noise, shares)
    at = points - round(centre) + len(law) // 2
    inside = (at >= 0) & (at < len(law))
    return np.where(inside, law[np.clip(at, 0, len(law) - 1)], 0.0)


@lru_cache(maxsize=256)
def _lattice(law: str, parameter: float, shares: int) -> Axis:
    """A symmetric law's masses on -r, ..., r; the sum of so many shares of it."""
    k = np.arange(-80, 81)
    if law == "discrete-gaussian":
        one = np.exp(-(k**2) / (2 * parameter**2))
    elif law == "discrete-laplace":
        one = np.exp(-np.abs(k) / parameter)
    else:  # Skellam, by its variance parameter^2: the difference of two Poisson variables of half of it
        half = np.exp([j * math.log(parameter**2 / 2) - parameter**2 / 2 - math.lgamma(j + 1) for j in range(81)])
        one = np.convolve(half, half[::-1])
    one = one / one.sum()
    total = one
    for _ in range(shares - 1):
        total = np.convolve(total, one)
    return total


def constant(value: Vector) -> Contribution:
    return lambda t, taken: value


def stateful_pairs(relation: str, clients: int) -> Iterator[tuple[Side, Side]]:
    """Pairs of clients on the line who send something else once they have taken part, the unit among them."""
    points = grid(1)
    others = [constant((-1.0,)), state((-1.0,), (1.0,)), state((0.0,), (-1.0,))]
    for first, second in neighbours(relation, 1, 1):
        for other in others:
            yield (*first, *[other] * (clients - 1)), (*second, *[other] * (clients - 1))
        for later in points:
            changed = None if second[0] is None else state(second[0](0, 0), later)
            yield (state(first[0](0, 0), later), *[others[1]] * (clients - 1)), (changed, *[others[1]] * (clients - 1))


def state(first: Vector, later: Vector) -> Contribution:
    """A client that sends something else once it has taken part: it carries state."""
    return lambda t, taken: later if taken else first


def grid(dimension: int) -> list[Vector]:
    """0 and points of the unit sphere: contributions whose differences are the extreme ones."""
    if dimension == 1:
        return [(-1.0,), (0.0,), (1.0,)]
    turns = (0.0, 2 * math.pi / 3, math.pi)
    return [(0.0, 0.0), *((round(math.cos(a), 15), math.sin(a)) for a in turns)]


def neighbours(relation: str, clients: int, dimension: int, *, extreme: bool = False) -> Iterator[tuple[Side, Side]]:
    """Every pair on the grid, in one order (`divergences` takes both). extreme: with others who are all alike."""
    points = grid(dimension)
    zero = (0.0,) * dimension
    others = [(point,) * (clients - 1) for point in points]
    if not extreme:
        others = list(itertools.combinations_with_replacement(points, clients - 1))
    units: list[tuple[Contribution | None, Contribution | None]]
    if relation == "replace-one":
        units = [(constant(a), constant(b)) for a, b in itertools.combinations(points, 2)]
    else:
        gone = None if relation == "add-remove" else constant(zero)
        units = [(constant(a), gone) for a in points if relation == "add-remove" or a != zero]
    for rest in others:
        for first, second in units:
            yield (first, *map(constant, rest)), (second, *map(constant, rest))
