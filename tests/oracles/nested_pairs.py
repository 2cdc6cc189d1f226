"""Kinds of mechanisms around each other around any leaf of docs/combinations.md: the pairs of laws of neighbours.

From the innermost kind out: releases one after the other are independent given what neighbours do, a unit is in one
Disjoint part, groups do what one unit does, the best of several runs is any order of merit's; cohorts are drawn in full
(federation.py). Where there are too many outcomes those of like ratios are put together, which shows no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import cut_views
import federation as fed
import leaf_worlds
import numpy as np
import random_rounds
import report_worlds as reports
import selection_worlds as selections
from finite_worlds import VIEWS
from flint import arb
from hockey_stick import Ends, rounding
from leaf_worlds import KERNELS
from nested_finite import SPARSE
from nested_worlds import drawn
from nesting import leaves, nested_run
from outcomes import Pair, coarser, distinct, joint, largest, telling
from sides import ONE, ZERO, Contribution, constant

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import Mechanism

F = Fraction
SEVERAL, FEWER, FEW = 1500, 600, 12
"""Outcomes of what is released alone, of what is released with something else, and of which all pairs are combined."""

CLIENTS = {"Poisson": 2, "TruncatedPoisson": 4, "FixedSize": 4, "Shuffled": 4, "RandomAllocation": 2}
"""By what draws cohorts: how many clients these are drawn from; of the sizes in nesting.py."""

COHORT = {"FixedSize": 2, "Shuffled": 2}
"""How many clients' noise adds up, where a cohort is drawn."""

RATES = {"Poisson": 1 / 2, "FixedSize": 1 / 2, "TruncatedPoisson": 13 / 32}
"""How often a unit takes part: of the last, 1/2 times the mean of min(1, 2 / (1 + B)), B of the three others."""

LAWS = {"distributed": "gaussian"}
NOISES = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "distributed", "skellam", "shares")
RANDOM = {"balls in bins": random_rounds.bins, "min-separated": random_rounds.apart}
HALF = selections.truncated_negative_binomial(F(1, 2), F(1))


@dataclass(frozen=True)
class Around:
    """Kinds from the outermost one in, a leaf of the table, and who looks."""

    names: tuple[str, ...]
    leaf: str
    relation: str
    sees: str

    @property
    def run(self) -> Mechanism:
        """What the product is told."""
        return nested_run(self.names, _leaves()[self.leaf])

    def ask(self, delta: float) -> Bracket:
        """The product's answer; InputError where it refuses."""
        return epsilon(self.run, delta, self.relation, **VIEWS[self.sees])  # type: ignore[arg-type]

    def most(self, loss: float) -> Ends:
        """Ends of the largest divergence, in both orders."""
        told = {"Shuffled", "ShuffledReports", *CLIENTS}.intersection(self.names) or self.leaf in RANDOM
        return _most(self.names, self.leaf, self.relation, self.sees if told else "hidden", loss)


@lru_cache(maxsize=64)
def _most(names: tuple[str, ...], leaf: str, relation: str, sees: str, loss: float) -> Ends:
    """sees: only where it matters. Of two releases, over choices by what came first."""
    rounds, inside = (2, names[1:]) if names[0] in ("Sequence", "Repeat") else (1, names)
    found = [coarser(one, SEVERAL) for one in pairs(inside, leaf, relation, sees, 1)]
    if rounds == 2:
        found = several([coarser(one, FEWER) for one in found], 5 if max(map(len, found)) > FEW**2 else 40)
    both = [largest(each, rounds, loss) for each in (found, [one.swapped() for one in found])]
    return max(low for low, _ in both), max(high for _, high in both)


@lru_cache(maxsize=1)
def _leaves() -> dict[str, Mechanism]:
    return leaves()


def several(found: list[Pair], most: int) -> list[Pair]:
    """Those of the largest divergences, at losses from 0 up."""
    if len(found) <= most:
        return found
    return telling(found, [_largest_loss(found) * k / most for k in range(most)], 1)


def _largest_loss(found: list[Pair]) -> float:
    """Of outcomes that both laws have."""
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = [np.log(one.p[0] / one.q[1])[(one.p[0] > 1e-9) & (one.q[0] > 0)] for one in found]
    return float(max(np.max(loss, initial=0.0) for loss in losses))


@lru_cache(maxsize=64)
def pairs(names: tuple[str, ...], leaf: str, relation: str, sees: str, units: int) -> list[Pair]:
    """Of one run, for a group of so many units."""
    if not names:
        return of_leaf(leaf, relation, sees, units)
    name, rest = names[0], names[1:]
    if name in CLIENTS or name == "VisibleParticipation":
        if leaf not in (*NOISES, "truncated-laplace"):
            return distinct(of_a_part(names, leaf, relation, sees, units))
        assert units == 1
        return distinct(sampled(names, leaf, relation, sees))
    if name == "ShuffledReports":
        return shuffled(leaf, sees)
    if name == "Group":
        return pairs(rest, leaf, relation, sees, 2 * units)
    inside = [coarser(one, FEWER) for one in pairs(rest, leaf, relation, sees, units)]
    if name in ("Sequence", "Repeat"):
        return one_after_the_other(inside)
    if name == "BestOfSeveral":
        return best_of(inside)
    if name == "Cyclic":
        return inside
    assert name == "Disjoint"
    if relation != "replace-one":
        return inside
    leaving = [coarser(one, FEWER) for one in pairs(rest, leaf, "add-remove", sees, units)]
    some = several(leaving, 24 if max(map(len, leaving)) <= FEW else 4)
    both = list(product(some, repeat=2))
    if leaf.startswith(("noisy-max", "sparse-vector")) and not CLIENTS.keys() & set(rest):
        # who enters may have the opposite votes
        both += [(one, one.swapped()) for one in leaving]
    return inside + distinct(coarser(joint((one, other.swapped())), SEVERAL) for one, other in both)


def one_after_the_other(inside: list[Pair]) -> list[Pair]:
    """Two releases; also, the second one's neighbours chosen by whether the first one's loss is above 0."""
    both = [*product(several(inside, 4), repeat=2), *((one, one) for one in several(inside, 24))]
    found = [joint(each) for each in both]
    chosen = several(inside, 2)
    if len(chosen) == 2:
        found += [following(first, *chosen[::way]) for first in chosen for way in (1, -1)]
    return [coarser(one, SEVERAL) for one in found]


def following(first: Pair, one: Pair, other: Pair) -> Pair:
    """The first pair, then one of two others."""
    above = first.p[1] > first.q[1]
    parts = [joint((_part(first, seen), then)) for seen, then in ((above, one), (~above, other))]
    p, q = (tuple(np.concatenate([getattr(part, side)[k] for part in parts]) for k in (0, 1)) for side in ("p", "q"))
    return Pair(p, q)  # type: ignore[arg-type]


def _part(whole: Pair, seen: np.ndarray) -> Pair:
    return Pair((whole.p[0][seen], whole.p[1][seen]), (whole.q[0][seen], whole.q[1][seen]))


def best_of(inside: list[Pair]) -> list[Pair]:
    """The best of several runs by likelihood ratio, up and down; where all are as good as each other, any of them."""
    found = list(inside)
    for one in several([coarser(one, FEWER) for one in inside], 8):
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(one.p[1] / one.q[1])
        for by in (order, order[::-1]):
            sides = [[arb((a + b) / 2, (b - a) / 2) for a, b in zip(*law, strict=True)] for law in (one.p, one.q)]
            found.append(Pair(*(_ranked([law[at] for at in by]) for law in sides)))
    return found


def _ranked(law: list[arb]) -> tuple[np.ndarray, np.ndarray]:
    """Of outcomes from the worst one up: that the best is this one."""
    beneath, before, found = arb(0), HALF(arb(0)), []
    for mass in law:
        beneath += mass
        now = HALF(beneath.min(arb(1)))
        gained = now - before
        found.append((max(float(gained.lower()), 0.0), float(gained.upper())) if mass != 0 else (0.0, 0.0))
        before = now
    low, high = np.array(found).T
    return low * (1 - 1e-15), high * (1 + 1e-15)


def shuffled(leaf: str, sees: str) -> list[Pair]:
    """Four reports in random order; one alone for who knows the others'."""
    kernel = leaf_worlds.binary(ONE) if leaf == "pure-dp" else KERNELS[leaf]()
    return reports.alone(kernel) if sees == "pooled" else reports.shuffled(kernel, 4)


def of_leaf(leaf: str, relation: str, sees: str, units: int) -> list[Pair]:
    """One release."""
    if leaf in NOISES:
        return list(noisy(leaf, relation, units))
    if leaf in RANDOM:
        return [
            cut_views.pair_of(*both, "gaussian") for both in random_rounds.views(RANDOM[leaf](), relation, sees, units)
        ]
    if leaf in KERNELS and units > 2 and relation == "replace-one":  # all of one value
        return [coarser(joint((one,) * units), FEWER) for one in reports.alone(KERNELS[leaf]())]
    found = leaf_worlds.pairs(leaf, relation, units)
    if leaf == "sparse-vector" and units == 1:  # a unit that comes, or one of opposite answers that leaves
        long = selections.long_streams(SPARSE)
        return [*found, *long, *(one.swapped() for one in long)]
    return found


def noisy(leaf: str, relation: str, units: int) -> Iterator[Pair]:
    """A sum of all clients' numbers, moved by 1 or, replaced, by 2, for each unit."""
    moved, variance = units * (2 if relation == "replace-one" else 1), _variance(leaf, 1)
    for move in (moved, moved - 1, -moved, 1 - moved):
        if move:
            laws = [{(): {((F(at),), (variance,)): ONE}} for at in (move, 0)]
            yield cut_views.pair_of(*laws, LAWS.get(leaf, leaf))  # type: ignore[arg-type]


def _variance(leaf: str, cohort: int) -> Fraction:
    """Of a release, or of each share where the cohort brings the noise: nesting.py's four clients have 4 together."""
    if leaf == "distributed":
        return F(4, cohort)
    return F(4) if leaf == "skellam" else F(1)


def sampled(names: tuple[str, ...], leaf: str, relation: str, sees: str) -> Iterator[Pair]:
    """Cohorts drawn in full; everybody else alike, the unit at 1 or -1, the same or by turns."""
    run, scheme = nested_run(names, _leaves()[leaf]), next(name for name in names if name in CLIENTS)
    clients = CLIENTS[scheme]
    others = tuple(range(1, clients))
    shown = "VisibleParticipation" in names
    seen = {"hidden": "unit" if shown else "release", "visible": "unit", "pooled": "coalition"}[sees]
    if shown and sees == "pooled":
        seen = "coalition with unit"
    setting = fed.Setting(
        lambda there: drawn(run, [tuple(range(clients))], there),
        _variance(leaf, COHORT.get(scheme, clients)),
        brought=leaf == "distributed",
        law=LAWS.get(leaf, leaf),
        sees=seen,  # type: ignore[arg-type]
        colluders=others if sees == "pooled" else (),
    )
    for rest, (one, other) in product((ZERO, -ONE, ONE), units_sent(relation)):
        sides = [(side, *[constant((rest,))] * (clients - 1)) for side in (one, other)]
        yield cut_views.pair_of(*(fed.view(setting, side) for side in sides), LAWS.get(leaf, leaf))


def of_a_part(names: tuple[str, ...], leaf: str, relation: str, sees: str, units: int) -> list[Pair]:
    """Of what is no sum with noise: the pair if the unit takes part, else nothing where that is seen, or what is
    released without it, as of everybody who is like that. A replaced unit may be one whose value changes nothing."""
    name, rest = names[0], names[1:]
    if name == "VisibleParticipation":
        return of_a_part(rest, leaf, relation, "visible", units)
    fixed, reports_it = name == "FixedSize", leaf in KERNELS
    if sees == "visible" or (fixed and sees == "pooled") or (reports_it and not fixed):
        return [_seen(RATES[name], one) for one in pairs(rest, leaf, relation, sees, units)]
    within = relation if reports_it or relation == "zero-out" else "add-remove"
    if relation == "replace-one" and "FixedSize" in rest:  # whoever takes its place is one replacement away
        within = "zero-out"
    if fixed and relation == "add-remove":  # it takes another's place
        units = 2
    return [_hidden(RATES[name], one) for one in pairs(rest, leaf, within, sees, units)]


def _seen(rate: float, one: Pair) -> Pair:
    """With a coin that shows."""
    parts = [[np.append(side * rate, 1 - rate) for side in law] for law in (one.p, one.q)]
    return Pair(*map(tuple, parts))  # type: ignore[arg-type]


def _hidden(rate: float, one: Pair) -> Pair:
    """With a coin that does not: of exact shares, so that products are exact, and sums widened."""
    widen = rounding(2)
    low, high = (rate * p + (1 - rate) * q for p, q in zip(one.p, one.q, strict=True))
    return Pair((low * (1 - widen), high * (1 + widen)), one.q)


def units_sent(relation: str) -> Iterator[tuple[Contribution, Contribution | None]]:
    """By both neighbours."""
    turns: Contribution = lambda t, taken: (ONE if t % 2 else -ONE,)  # noqa: E731
    back: Contribution = lambda t, taken: (-ONE if t % 2 else ONE,)  # noqa: E731
    for one, opposite in ((constant((ONE,)), constant((-ONE,))), (turns, back)):
        yield one, None if relation == "add-remove" else constant((ZERO,))
        if relation == "replace-one":
            yield one, opposite
