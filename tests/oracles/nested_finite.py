"""Finite worlds of kinds around each other: disjoint parts, groups, and the best of several runs of what is nested.

Each says what the product is told, and which pairs of laws its neighbours have, from those of what is inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product

import federation as fed
import report_worlds as reports
import selection_worlds as selections
import staircase_worlds as staircases
from finite_worlds import NEARER, RELATIONS, Finite, largest_loss
from flint import arb
from hockey_stick import ball
from nested_worlds import KINDS, Nested, releases
from outcomes import Pair, distinct, joint, pair, telling

from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import (
    BestOfSeveral,
    Cyclic,
    DiscreteLaplace,
    Disjoint,
    Group,
    InputError,
    Mechanism,
    RandomizedResponse,
    Repeat,
    ReportNoisyMax,
    Sequence,
    ShuffledReports,
    SparseVector,
    Staircase,
)

F = Fraction
GEOMETRIC = selections.truncated_negative_binomial(F(1, 4), F(1))
Build = Callable[[str], list[Pair]]
"""By relation, the pairs of one round."""


def masses(one: Pair) -> tuple[list[arb], list[arb]]:
    """Balls around the masses; outcomes that hardly either law has are one with the first, which tells no more."""
    seen = (one.p[1] > 1e-25) | (one.q[1] > 1e-25)
    found = []
    for low, high in (one.p, one.q):
        balls = [arb((a + b) / 2, (b - a) / 2 + 1e-300) for a, b in zip(low[seen], high[seen], strict=True)]
        rest = float(high[~seen].sum()) * (1 + 1e-9)
        balls[0] += arb(rest / 2, rest / 2)
        found.append(balls)
    return found[0], found[1]


def several(pairs: list[Pair]) -> list[Pair]:
    """Those of the largest divergences, at losses from 0 up."""
    return telling(pairs, [largest_loss(pairs) * k / 32 for k in range(32)], 1)


def best_of(pairs: list[Pair]) -> list[Pair]:
    """The best of several runs, in several orders of merit."""
    return selections.searches([masses(one) for one in several(pairs)], GEOMETRIC)


def twice(pairs: list[Pair]) -> list[Pair]:
    """Two releases, whose contributions are chosen beforehand."""
    return [joint(both) for both in product(telling(pairs, (0.0, 0.5, 1.0), 1), repeat=2)]


def in_parts(build: Build, relation: str) -> list[Pair]:
    """A unit of one of two parts; replaced, it is another unit of that part, or leaves it and enters the other."""
    inside = build(relation)
    if relation != "replace-one":
        return inside
    leaving = build("add-remove")
    entering = [one.swapped() for one in leaving]
    return inside + [joint(both) for both in product(several(leaving), several(entering))]


def elected(relation: str, units: int = 1) -> list[Pair]:
    """Noisy votes on two candidates."""
    return selections.elections(relation, "signed", F(1, 2), selections.leads(F(1, 2), 16, (2,)), "gumbel", units)


def asked(relation: str) -> list[Pair]:
    """Sparse vector about one or two queries, and a few equal ones."""
    streams = [s for n in (1, 2) for s in selections.streams(n, (F(-2), F(0), F(1)), False)]
    streams.append(((F(0),) * 11, (*[F(1)] * 10, F(-1))))
    return distinct(pair(*(selections.answers(side, F(2), F(4), 1) for side in stream)) for stream in streams)


SPARSE = SparseVector(2.0, 4.0)


def asked_long(relation: str) -> list[Pair]:
    """Of many queries too, in double precision: for lower ends."""
    return asked(relation) + selections.long_streams(SPARSE)


INSIDE: dict[str, tuple[Mechanism, Build]] = {
    "noisy max": (ReportNoisyMax(0.5, "gumbel"), elected),
    "sparse vector": (SPARSE, asked),
    "staircase": (Staircase(0.5, 0.5), lambda relation: staircases.pairs(F(1, 2), F(1, 2), NEARER)),
}
RESPONSE = RandomizedResponse(0.25), reports.response(F(1, 4), 2)


def _best_count(relation: str) -> list[Pair]:
    """The best of several counts."""
    return best_of(on_the_integers(Nested((), "discrete-laplace", relation, "hidden")))


def disjoint() -> Iterator[Finite]:
    """Of selections, staircases, groups of votes, and the best of several."""
    group = Group(ReportNoisyMax(0.5, "gumbel"), 2)
    more: dict[str, tuple[Mechanism, Build]] = {
        **INSIDE,
        "group": (group, lambda relation: elected(relation, 2)),
        "search": (BestOfSeveral(DiscreteLaplace(1.0), 0.25), _best_count),
    }
    for (inner, build), relation in product(more.values(), RELATIONS):
        longer = asked_long if inner == SPARSE else build
        yield Finite(
            Disjoint(inner, inner),
            relation,
            lambda b=build, r=relation: in_parts(b, r),
            larger=lambda b=longer, r=relation: in_parts(b, r),
        )


def groups() -> Iterator[Finite]:
    """Two units: numbers that move by two sensitivities, queries by two, both reports, and all of it twice."""
    noise = Staircase(0.5, 0.5)
    steps = tuple(2 * near for near in NEARER)
    for relation in RELATIONS:
        yield Finite(Group(noise, 2), relation, lambda s=steps: staircases.pairs(F(1, 2), F(1, 2), s))
        yield Finite(Group(SparseVector(4.0, 8.0), 2), relation, lambda r=relation: asked(r))
    response, kernel = RESPONSE
    yield Finite(Group(Sequence(response, response), 2), "replace-one", lambda: reports.together(kernel, 4))
    yield Finite(Group(Group(response, 2), 2), "replace-one", lambda: reports.together(kernel, 4))


def searches() -> Iterator[Finite]:
    """The best of several runs of what is nested itself."""
    response, kernel = RESPONSE
    alone = reports.alone
    runs: list[tuple[Mechanism, Callable[[], list[Pair]]]] = [
        (BestOfSeveral(response, 0.25), lambda: best_of(alone(kernel))),
        (ShuffledReports(response, 3), lambda: reports.shuffled(kernel, 3)),
        (Group(response, 2), lambda: reports.together(kernel, 2)),
        (Sequence(response, response), lambda: twice(alone(kernel))),
        (Repeat(response, 2), lambda: twice(alone(kernel))),
        (Cyclic(response, 2), lambda: alone(kernel)),
    ]
    for run, build in runs:
        yield Finite(BestOfSeveral(run, 0.25), "replace-one", lambda b=build: best_of(b()))
    for (inner, pairs), relation in product(INSIDE.values(), RELATIONS):
        yield Finite(BestOfSeveral(inner, 0.25), relation, lambda p=pairs, r=relation: best_of(p(r)))
        yield Finite(
            BestOfSeveral(Disjoint(inner, inner), 0.25), relation, lambda p=pairs, r=relation: best_of(in_parts(p, r))
        )


def on_the_integers(world: Nested) -> list[Pair]:
    """What neighbours' runs show, of noise of Laplace's law on the integers: what is further out is one outcome."""
    found: list[Pair] = []
    for one, other in world.pairs():
        views = [fed.view(world.setting(), side) for side in (one, other)]
        found.append(pair(*(_outcomes(view, world) for view in views)))
    return distinct(found)


def _outcomes(view: fed.Law, world: Nested) -> dict[object, arb]:
    """Beyond all centres, which are from -clients to clients, ratios do not change."""
    t, reach = (-1 / ball(world.scale)).exp(), 2 if releases(world.run) > 1 else 3
    law: dict[object, arb] = {}
    for known, mixture in view.items():
        for (centres, _), mass in mixture.items():
            single = [_cut(int(centre), t, reach) for centre in centres]
            for spots in product(range(2 * reach + 1), repeat=len(centres)):
                weight = ball(mass)
                for spot, masses_ in zip(spots, single, strict=True):
                    weight *= masses_[spot]
                law[known, spots] = law.get((known, spots), arb(0)) + weight
    return law


def _cut(centre: int, t: arb, reach: int) -> list[arb]:
    """Of -reach and less, of what is between, and of reach and more."""
    inside = [(1 - t) / (1 + t) * t ** abs(k - centre) for k in range(-reach + 1, reach)]
    left = t ** (reach + centre) / (1 + t)
    return [left, *inside, 1 - left - sum(inside, arb(0))]


def sampled_searches() -> Iterator[Finite]:
    """The best of several runs of every scheme, and of what is around and inside of it, where that has a price."""
    for kind, relation in product(KINDS, RELATIONS):
        world = Nested((kind,), "discrete-laplace", relation, "hidden")
        try:
            run = BestOfSeveral(world.run, 0.25)
            dominating(world.run, relation)
        except InputError:
            continue
        yield Finite(run, relation, lambda w=world: best_or_any_of(on_the_integers(w)))


def best_or_any_of(pairs: list[Pair]) -> list[Pair]:
    """Where no run is better than another, any of them is released: its own law."""
    return best_of(pairs) + pairs


KINDS_AROUND: dict[str, Callable[[], Iterator[Finite]]] = {
    "disjoint": disjoint,
    "groups of two": groups,
    "best of nested": searches,
    "best of sampled": sampled_searches,
}


@lru_cache(maxsize=1)
def around() -> dict[str, list[Finite]]:
    """All of them, by kind."""
    return {kind: list(made()) for kind, made in KINDS_AROUND.items()}
