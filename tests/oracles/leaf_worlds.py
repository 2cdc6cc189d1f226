"""The pairs of laws of one release of every mechanism that is about no other one, as docs/combinations.md has them.

By its name there: what neighbours, or neighbouring groups, show in one round. Of a bound, some mechanisms that meet it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import product

import correlated
import range_worlds as ranges
import report_worlds as reports
import selection_worlds as selections
import staircase_worlds as staircases
from flint import arb
from hockey_stick import at_bits, ball
from nesting import CORRELATED
from outcomes import Pair, distinct, pair
from report_worlds import Kernel

F = Fraction
ZERO, ONE = F(0), F(1)
NUMBERS = (F(-1), F(0), F(1, 2), F(1))
NEARER = (F(1), F(3, 4), F(1, 2), F(1, 8))
BANDED = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
TOEPLITZ = [[(1.0, 0.5)[i - j] if 0 <= i - j <= 1 else 0.0 for j in range(4)] for i in range(4)]


@at_bits
def binary(epsilon: Fraction) -> Kernel:
    """What meets epsilon-DP: randomized response."""
    odds = ball(epsilon).exp()
    return {v: {r: (odds if r == v else arb(1)) / (1 + odds) for r in (0, 1)} for v in (0, 1)}


KERNELS: dict[str, Callable[[], Kernel]] = {
    "randomized-response": lambda: reports.response(F(1, 4), 2),
    "unary-encoding": lambda: reports.unary(F(1, 2), F(1, 4), 3),
    "hadamard-response": lambda: reports.hadamard(ONE, 4),
    "local-hash": lambda: reports.hashed(ONE, 4, [(0, 1), (1, 0)]),
    "piecewise": lambda: reports.piecewise(ONE, NUMBERS),
    "duchi": lambda: reports.duchi(ONE, NUMBERS),
}
"""Of reports that every unit sends by itself."""


def elected(relation: str, noise: str, units: int) -> list[Pair]:
    """Noisy votes on two candidates; on three, tied, and on six, for ends that no two attain."""
    leads = [*selections.leads(ONE, 8, (2,)), (F(0),) * 3]
    found = selections.elections(relation, "signed", ONE, leads, noise, units)
    for n, k in product((3, 6), range(5)):
        ahead, behind = (ONE * units * k / 4, *[F(0)] * (n - 1)), (F(0), *[units - ONE * units * k / 4] * (n - 1))
        one = pair(selections.chosen(noise, ahead), selections.chosen(noise, behind))
        found += [one, one.swapped()]  # a unit that comes, or one of opposite votes that leaves
    return found + (selections.tied(ONE * units) if noise == "laplace" else [])


def asked(units: int) -> list[Pair]:
    """Sparse vector about one or two queries, and ten equal ones before a hit; each moves by up to so much."""
    moves = (-units, 0, units)
    single = list(product((F(-6), F(-2), F(0), F(1)), moves))
    streams = [tuple(zip(*stream, strict=True)) for n in (1, 2) for stream in product(single, repeat=n)]
    found = [(tuple(values), tuple(v + m for v, m in zip(values, by, strict=True))) for values, by in streams]
    found.append(((F(0),) * 10 + (F(-3),), (F(units),) * 10 + (F(-3 - units),)))
    return distinct(pair(*(selections.answers(side, F(2), F(4), 1) for side in stream)) for stream in found)


@at_bits
def normal(move: Fraction) -> list[Pair]:
    """N(0, 1) against N(move, 1)."""
    edges = ranges.cells(F(-6), move + 6, 400 + int(400 * move))
    p, q = (ranges.clamped(ranges.normal_below(ONE, at), edges) for at in (move, F(0)))
    return [pair(p, q), pair(q, p)]


@at_bits
def mixture(moves: dict[Fraction, Fraction]) -> list[Pair]:
    """Moved by each with its probability, against not at all: N(0, 1) noise."""
    edges = ranges.cells(F(-6), max(moves) + 6, 800)
    mixed: dict[object, arb] = {}
    for move, share in moves.items():
        for name, mass in ranges.clamped(ranges.normal_below(ONE, move), edges).items():
            mixed[name] = mixed.get(name, arb(0)) + ball(share) * mass
    still = ranges.clamped(ranges.normal_below(ONE, ZERO), edges)
    return [pair(mixed, still)]  # the same one of the neighbours in every release


def against_uniform(kernel: Kernel, units: int) -> list[Pair]:
    """Reports of one value against uniformly random ones, all units' alike."""
    count = F(1, len(kernel))
    law, uniform = kernel[0], dict.fromkeys(kernel, count)
    both = [
        {seen: math.prod((side[o] for o in seen), start=ONE) for seen in product(kernel, repeat=units)}
        for side in (law, uniform)
    ]
    return [pair(*both)]


@at_bits
def double_exponential(move: Fraction, told: Fraction = ZERO) -> list[Pair]:
    """Laplace noise of scale 1, about 0 against about the move; with probability `told` the data themselves."""
    edges = ranges.cells(F(0), move, 1000)
    laws = []
    for at in (move, F(0)):
        law = ranges.clamped(ranges.laplace_below(ONE, at), edges)
        laws.append({name: ball(1 - told) * mass for name, mass in law.items()} | {("told", at): ball(told)})
    return [pair(*laws), pair(*laws[::-1])]


def told_response() -> list[Pair]:
    """(1, .01)-DP: randomized response that fails at times."""
    found = []
    for p, q in ((0, 1), (1, 0)):
        laws = ({r: ball(F(99, 100)) * m for r, m in binary(ONE)[v].items()} | {("told", v): F(1, 100)} for v in (p, q))
        found.append(pair(*laws))
    return found


def of_range(law: Callable[..., dict[object, arb]], units: int) -> list[Pair]:
    """Values in [0, 4] that move by up to so much; law: of a centre and edges."""
    found = []
    for share, part in product((F(0), F(1, 4), F(1, 2), ONE), (ONE, F(1, 2))):
        move = min(F(units), F(4))
        at = share * (4 - move)
        edges = ranges.cells(F(0), F(4), 400, ranges.cells(at, at + part * move, 400))
        p, q = (law(centre, edges) for centre in (at, at + part * move))
        found += [pair(p, q), pair(q, p)]
    return distinct(found)


@at_bits
def bounded_laplace(units: int) -> list[Pair]:
    return of_range(lambda at, edges: ranges.within(ranges.laplace_below(ONE, at), edges, F(0), F(4)), units)


@at_bits
def clamped_gaussian(units: int) -> list[Pair]:
    return of_range(lambda at, edges: ranges.clamped(ranges.normal_below(ONE, at), edges), units)


@at_bits
def truncated_gaussian(units: int) -> list[Pair]:
    return of_range(lambda at, edges: ranges.within(ranges.normal_below(ONE, at), edges, F(0), F(4)), units)


def of_matrix(name: str, relation: str, units: int) -> list[Pair]:
    """Correlated noise: what is released is as far apart as two normal laws, every unit in the same rounds."""
    run = CORRELATED[name]
    seen = {
        "tree-aggregation": lambda: correlated.tree(4, 1.0),
        "banded-factorisation": lambda: correlated.prefix_sums(BANDED, 1.0),
        "toeplitz-factorisation": lambda: correlated.prefix_sums(TOEPLITZ, 1.0),
        "matrix-factorisation": lambda: correlated.prefix_sums([[1.0, 0.0], [0.5, 1.0]], 1.0),
    }[name]()
    squared = correlated.largest(seen, relation, run.min_separation, run.max_participations, 1)  # type: ignore[attr-defined]
    return normal(units * F(math.sqrt(squared) * (1 - 1e-15)))


def pairs(name: str, relation: str, units: int = 1) -> list[Pair]:
    """Of one release, for units of a group that all do the same or, of reports, send one each."""
    return _pairs(name, relation, units)


@lru_cache(maxsize=256)
def _pairs(name: str, relation: str, units: int) -> list[Pair]:
    if name == "randomized-response" and relation == "zero-out":
        return against_uniform(KERNELS[name](), units)
    if name in KERNELS:
        return reports.alone(KERNELS[name]()) if units == 1 else reports.together(KERNELS[name](), units)
    if name in CORRELATED:
        return of_matrix(name, relation, units)
    if name.startswith("noisy-max"):
        return elected(relation, name.split()[1], units)
    if name.startswith("stable-histogram"):
        below = ranges.laplace_below if "laplace" in name else ranges.normal_below
        return ranges.histogram(below, ONE, F(8), 2, relation)
    moved = 2 if relation == "replace-one" else 1
    made: dict[str, Callable[[], list[Pair]]] = {
        "pure-dp": lambda: double_exponential(F(units)) + (reports.alone(binary(ONE)) if units == 1 else []),
        "approximate-dp": lambda: double_exponential(F(units), F(1, 100)) + (told_response() if units == 1 else []),
        "zcdp": lambda: normal(F(units)),
        "renyi-dp": lambda: normal(F(units)),
        "loss-distribution": lambda: reports.alone(reports.response(F(1, 4), 2)),
        "mixture-of-gaussians": lambda: mixture({ZERO: F(1, 2), ONE: F(1, 4), F(2): F(1, 4)}),
        "sparse-vector": lambda: asked(units),
        "staircase": lambda: staircases.pairs(ONE, F(1, 2), [units * near for near in NEARER]),
        "truncated-laplace": lambda: ranges.truncated_laplace(ONE, F(8), moved * units),
        "bounded-laplace": lambda: bounded_laplace(units),
        "clamped-gaussian": lambda: clamped_gaussian(units),
        "truncated-gaussian": lambda: truncated_gaussian(units),
        "shuffled two categories": lambda: reports.shuffled(reports.response(F(1, 4), 2), 20),
        "shuffled bound": lambda: reports.shuffled(binary(ONE), 20),
    }
    return made[name]()
