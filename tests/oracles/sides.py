"""What clients send in neighbouring federations: every pair of the relation, contributions on a grid of the ball."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

Vector = tuple[Fraction, ...]
Contribution = Callable[[int, int], Vector]  # (round, earlier participations) -> what the client sends
Side = tuple[Contribution | None, ...]  # one entry a client, the unit first; None: not there

ZERO, ONE = Fraction(0), Fraction(1)


def constant(value: Vector) -> Contribution:
    return lambda t, taken: value


def stateful_pairs(relation: str, clients: int) -> Iterator[tuple[Side, Side]]:
    """Pairs of clients on the line who send something else once they have taken part, the unit among them."""
    points = grid(1)
    others = [constant((-ONE,)), state((-ONE,), (ONE,)), state((ZERO,), (-ONE,))]
    for first, second in neighbours(relation, 1, grid(1)):
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
        return [(-ONE,), (ZERO,), (ONE,)]
    return [(ZERO, ZERO), (ONE, ZERO), (Fraction(-3, 5), Fraction(4, 5)), (-ONE, ZERO)]


def groups(relation: str, clients: int, units: int) -> Iterator[tuple[Side, Side]]:
    """Neighbours on the line that differ in the first so many clients: all that they may send, the others all alike."""
    points = [constant(point) for point in grid(1)]
    absent = None if relation == "add-remove" else points[1]
    for rest in points:
        others = (rest,) * (clients - units)
        for group in itertools.product(points, repeat=units):
            if relation != "replace-one":
                yield (*group, *others), (*(absent,) * units, *others)
                continue
            for changed in itertools.product(points, repeat=units):
                if changed != group:
                    yield (*group, *others), (*changed, *others)


def neighbours(
    relation: str, clients: int, points: list[Vector], *, extreme: bool = False
) -> Iterator[tuple[Side, Side]]:
    """Every pair on a grid, in one order (`divergences` takes both). extreme: with others who are all alike."""
    zero = (ZERO,) * len(points[0])
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
