"""Correlated noise in whose rounds units are drawn: balls in bins, and rounds kept apart, in four rounds in full.

C x + z, with z of variance 1: what neighbours show is a mixture of normal laws about the moves that units' draws make.
Along two orthogonal directions, in exact rationals, or of many draws along one; others are left out: no more is shown.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import federation as fed

F = Fraction
Vector = tuple[Fraction, ...]
ROUNDS, BINS, APART = 4, 2, 2
RATE = F(1, 2)
COLUMNS: list[Vector] = [
    tuple({0: F(1), 1: F(1, 2)}.get(row - at, F(0)) for row in range(ROUNDS)) for at in range(ROUNDS)
]
"""Of nesting.py's encoder."""

SIGNS = ((1, 1, 1, 1), (1, -1, 1, -1), (1, 1, -1, -1))
"""What a unit sends in each round, or the other way round."""

Draws = list[tuple[Fraction, tuple[int, ...]]]
"""A unit's rounds, with their probabilities."""


def bins() -> Draws:
    return [(F(1, BINS), tuple(range(place, ROUNDS, BINS))) for place in range(BINS)]


def apart() -> Draws:
    """A coin in every round, except in those soon after one that came up; the first rounds as in the middle of a run.

    How long there is to wait at first has the stationary law: 1, ..., APART - 1 rounds with weights RATE, 0 with 1."""
    found: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)

    def draw(at: int, wait: int, taken: tuple[int, ...], mass: Fraction) -> None:
        if at == ROUNDS:
            found[taken] += mass
        elif wait:
            draw(at + 1, wait - 1, taken, mass)
        else:
            draw(at + 1, APART - 1, (*taken, at), mass * RATE)
            draw(at + 1, 0, taken, mass * (1 - RATE))

    total = 1 + (APART - 1) * RATE
    for wait in range(APART):
        draw(0, wait, (), (RATE if wait else F(1)) / total)
    return [(mass, taken) for taken, mass in found.items()]


def move(rounds: tuple[int, ...], signs: tuple[int, ...]) -> Vector:
    """Of what the noise is put on."""
    return tuple(sum((signs[t] * COLUMNS[t][row] for t in rounds), F(0)) for row in range(ROUNDS))


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), F(0))


def orthogonal(vectors: Iterator[Vector], most: int) -> list[Vector]:
    """The first few of these, each less what is along the ones before."""
    basis: list[Vector] = []
    for vector in vectors:
        left = vector
        for one in basis:
            share = dot(vector, one) / dot(one, one)
            left = tuple(x - share * y for x, y in zip(left, one, strict=True))
        if any(left) and len(basis) < most:
            basis.append(left)
    return basis


def views(draws: Draws, relation: str, sees: str, units: int) -> Iterator[tuple[fed.Law, fed.Law]]:
    """Of neighbours: a group whose units all send the same, each drawn by itself, and zeros or the opposite.

    Who sees the units' rounds knows the moves; what the others know of their own says nothing about them."""
    directions = 2 if len(draws) <= BINS else 1
    for signs in SIGNS:
        moves = [(mass, move(rounds, signs), rounds) for mass, rounds in draws]
        law: dict[tuple[object, Vector], Fraction] = defaultdict(Fraction)
        for group in itertools.product(moves, repeat=units):
            mass, total = F(1), (F(0),) * ROUNDS
            for p, one, _ in group:
                mass, total = mass * p, tuple(a + b for a, b in zip(total, one, strict=True))
            known = tuple(sorted(rounds for _, _, rounds in group)) if sees == "visible" else ()
            law[known, total] += mass
        other = -1 if relation == "replace-one" else 0
        yield _seen(law, 1, directions), _seen(law, other, directions)


def _seen(law: dict[tuple[object, Vector], Fraction], sign: int, directions: int) -> fed.Law:
    """Coordinates along the moves that are possible given what is known; of a single move, how long it is says all."""
    found: fed.Law = defaultdict(lambda: defaultdict(Fraction))
    for known in {known for known, _ in law}:
        moves = {vector: mass for (at, vector), mass in law.items() if at == known}
        basis = orthogonal(iter(sorted(moves, key=lambda v: -dot(v, v))), directions)
        variances = tuple(dot(one, one) for one in basis)
        label = (known,) if len(moves) > 1 else variances
        for vector, mass in moves.items():
            found[label][tuple(sign * dot(vector, one) for one in basis), variances] += mass
    return found
