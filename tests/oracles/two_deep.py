"""Worlds of two values for every mechanism inside of every wrapper, two deep: all that neighbours can show, enumerated.

What a unit does is listed for the leaf (`leaf_pairs`; of discrete Laplace noise that is sampled, by its coin), and
each wrapper makes of the pairs of what is inside those of the whole. A list holds the neighbours in one order: with the
unit, or what it was, first. Outcomes of one likelihood ratio are one: most pairs have two to four outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import leaf_worlds
import numpy as np
import report_worlds as reports
from finite_worlds import VIEWS
from flint import arb
from hockey_stick import LARGE, Ends, at_bits
from leaves_nested import LEAVES
from nested_finite import SPARSE, masses, several
from outcomes import Pair, coarser, distinct, joint, largest, pair
from selection_worlds import long_streams, searches, truncated_negative_binomial
from worlds import RELATIONS

from dpcert import epsilon
from dpcert.accounting import Bracket
from dpcert.mechanisms import (
    BestOfSeveral,
    Cyclic,
    DiscreteLaplace,
    Disjoint,
    FixedSize,
    Group,
    InputError,
    Mechanism,
    Poisson,
    RandomizedResponse,
    Repeat,
    Sequence,
    VisibleParticipation,
)

MOST = 4096
FEWER = 120
CELLS = 600
"""Of what is put together out of cells, before it is put together with more."""


def alike(one: Pair) -> Pair:
    """Outcomes whose ratios agree to a relative 1e-9 together: no divergence grows, none falls by more than that."""
    with np.errstate(all="ignore"):
        ratio = np.log(one.p[1]) - np.log(one.q[1])
    kept = np.maximum(one.p[1], one.q[1]) > 0
    ratio = np.where(np.isfinite(ratio), np.round(ratio * 1e9), np.sign(ratio) * 1e300)[kept]
    at = np.unique(ratio, return_inverse=True)[1]
    widen = len(one) * 2.0**-50

    def together(law):
        low, high = (np.bincount(at, weights=side[kept]) for side in law)
        return low * (1 - widen), high * (1 + widen)

    return coarser(Pair(together(one.p), together(one.q)), MOST)


@lru_cache(maxsize=64)
@at_bits
def noise(scale: float, centre: int) -> dict[int, arb]:
    """Discrete Laplace noise about an integer, cut where 1e-30 of its mass is left, which goes to the ends."""
    rest = (-1 / arb(scale)).exp()
    most = 70 * max(1, round(scale)) + 3
    law = {k: (1 - rest) / (1 + rest) * rest ** abs(k - centre) for k in range(-most, most + 1)}
    for end, away in ((most, most - centre), (-most, most + centre)):
        law[end] += rest ** (away + 1) / (1 + rest)
    return law


def mixed(rate: float, one: dict, other: dict) -> dict:
    """The one with this probability, else the other."""
    q = arb(rate)
    return {k: q * one[k] + (1 - q) * other[k] for k in one}


def seen(rate: float, one: dict, other: dict) -> dict:
    """The same where the coin shows."""
    q = arb(rate)
    return {("in", k): q * mass for k, mass in one.items()} | {("out", k): (1 - q) * mass for k, mass in other.items()}


MOVES = {"add-remove": ((1, None),), "zero-out": ((1, 0), (-1, 0)), "replace-one": ((1, -1), (1, 0), (0, -1))}
"""What the unit contributes under both neighbours; None: it is not there."""


@at_bits
def sampled(run: Poisson | FixedSize, relation: str, visible: bool) -> list[Pair]:
    """A count by a coin, or in a cohort in which, without the unit, another one contributes h."""
    scale, rate = run.mechanism.scale, run.sampling_rate
    coin: Callable = seen if visible else mixed
    found = []
    for (first, second), other in product(MOVES[relation], (-1, 0, 1) if isinstance(run, FixedSize) else (0,)):
        rest = noise(scale, other)
        laws = [rest if c is None else coin(rate, noise(scale, c), rest) for c in (first, second)]
        found.append(alike(pair(*laws)))
    if relation == "replace-one":
        found += [one.swapped() for one in found]
    return distinct(found)


@lru_cache(maxsize=512)
def leaf_pairs(leaf: str, relation: str, units: int = 1) -> tuple[Pair, ...]:
    if leaf == "discrete-laplace":
        moves = [(units * a, units * (b or 0)) for a, b in MOVES[relation]]
        found = [alike(pair(noise(1.0, a), noise(1.0, b))) for a, b in moves]
        return (*found, *(one.swapped() for one in found)) if relation == "replace-one" else tuple(found)
    if leaf in leaf_worlds.KERNELS and relation == "replace-one":
        return tuple(map(alike, reports.alone(leaf_worlds.KERNELS[leaf]())))
    found = leaf_worlds.pairs(leaf, relation, units) + (long_streams(SPARSE) if leaf == "sparse-vector" else [])
    if leaf.startswith("noisy-max"):  # with the opposite votes, who leaves does what would enter
        found = [*found, *(one.swapped() for one in found)]
    return tuple(coarser(one, FEWER) for one in found)


SEVERAL = 2.0**-10
RUNS = truncated_negative_binomial(1 - Fraction(SEVERAL), Fraction(1))
"""Hardly ever more than one: what is attained by one run is next to the truth."""

BESIDE = Poisson(DiscreteLaplace(0.7689), 0.34184)
"""What a Sequence has beside: a round in which the two orders differ."""

INNER: dict[str, Mechanism] = {
    "discrete-laplace": DiscreteLaplace(1.0),
    "poisson": Poisson(DiscreteLaplace(0.5), 0.125),
    "fixed-size": FixedSize(DiscreteLaplace(0.5), 8, 2),
    "randomized-response": RandomizedResponse(0.25),
} | LEAVES
EXACT = ("discrete-laplace", "poisson", "fixed-size", "randomized-response")

WRAPPERS: dict[str, Callable[[Mechanism], Mechanism]] = {
    "Sequence": lambda run: Sequence(run, BESIDE),
    "Disjoint": lambda run: Disjoint(run, run),
    "Group": lambda run: Group(run, 2),
    "Cyclic": lambda run: Cyclic(run, 2),
    "BestOfSeveral": lambda run: BestOfSeveral(run, 1 - SEVERAL),
    "VisibleParticipation": lambda run: VisibleParticipation(run),  # type: ignore[arg-type]
    "Repeat": lambda run: Repeat(run, 2),
}


@dataclass(frozen=True)
class Nested:
    """names: the wrappers, from the outermost one in."""

    leaf: str
    names: tuple[str, ...]
    relation: str
    view: str

    @property
    def run(self) -> Mechanism:
        """Raises InputError where there is no such run."""
        run = INNER[self.leaf]
        for name in reversed(self.names):
            run = WRAPPERS[name](run)
        return run

    def ask(self, delta: float) -> Bracket:
        return epsilon(self.run, delta, self.relation, **VIEWS[self.view])  # type: ignore[arg-type]

    def pairs(self) -> list[Pair]:
        return enumerated(self.leaf, self.names, self.relation, self.view == "visible", self.view != "hidden")


@lru_cache(maxsize=512)
def enumerated(leaf: str, names: tuple[str, ...], relation: str, visible: bool, known: bool) -> list[Pair]:
    """visible: everybody's participation; known: of a cohort of a fixed size, the others'."""
    if not names and leaf in ("poisson", "fixed-size"):
        return sampled(INNER[leaf], relation, visible or (known and leaf == "fixed-size"))  # type: ignore[arg-type]
    if not names:
        return list(leaf_pairs(leaf, relation))
    name, *inside = names
    if name == "Group":
        if set(inside) - {"Cyclic"} or leaf in ("poisson", "fixed-size", "randomized-response"):
            raise NotImplementedError(names)
        return list(leaf_pairs(leaf, relation, 2))

    def of(relation: str) -> list[Pair]:
        return enumerated(leaf, tuple(inside), relation, visible or name == "VisibleParticipation", known)

    found = few(of(relation))
    if leaf not in EXACT:
        found = [coarser(one, CELLS) for one in found]
    if name == "Sequence":
        partner = sampled(BESIDE, relation, visible)
        return [alike(joint(both)) for both in product(found, partner)]
    if name == "Repeat":
        return [alike(joint(both)) for both in product(found, repeat=2)]
    if name == "BestOfSeveral":
        return [alike(one) for one in searches([masses(one) for one in few(found)], RUNS)]
    if name == "Disjoint" and relation == "replace-one":
        leaving = few(of("add-remove"))
        moved = [alike(joint((one, other.swapped()))) for one, other in product(leaving, repeat=2)]
        return [*found, *moved]
    return found


def few(pairs: list[Pair]) -> list[Pair]:
    """Of many the most telling ones, in this order and in the other."""
    if len(pairs) <= 8:
        return pairs
    return distinct([*several(pairs), *(one.swapped() for one in several([one.swapped() for one in pairs]))])


DELTAS = {True: (1e-6, 7e-3, 0.1), False: (0.05, 0.3)}
NEAR = {True: 1e-6, False: 0.05}
"""By whether the worlds are exact; else outcomes are cells that are put together, of several releases again."""


def most(pairs: list[Pair], epsilon: float) -> Ends:
    """The ends of the larger divergence of the two orders."""
    ends = [largest(each, 1, min(epsilon, LARGE)) for each in (pairs, [one.swapped() for one in pairs])]
    return max(low for low, _ in ends), max(high for _, high in ends)


def compared(row: tuple[str, ...]) -> int:
    """How many answers there are, of a leaf inside of these wrappers; AssertionError where one is wrong."""
    leaf, *names = row
    exact, found = leaf in EXACT, 0
    for relation, view in product(RELATIONS, VIEWS):
        world = Nested(leaf, tuple(names), relation, view)
        for delta in DELTAS[exact]:
            try:
                bracket = world.ask(delta)
                pairs = world.pairs()
            except (InputError, NotImplementedError):
                break
            assert bracket.certified
            if bracket.upper < math.inf:
                assert most(pairs, bracket.upper)[0] <= delta, (world, bracket)
            if bracket.lower > 0:
                assert most(pairs, bracket.lower)[0] >= delta * (1 - NEAR[exact]), (world, bracket)
            found += 1
    return found
