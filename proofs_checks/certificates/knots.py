"""Where the proofs of a rho and a mu have their orders and points: as few as will do."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from flint import arb, ctx, fmpq

from .checker import currencies, format
from .checker.command import PRECISION
from .restated import NoCertificate

_MOST_ORDERS = 400


def as_far_as_can_be(moments: Callable[[fmpq], list[arb]], most: fmpq, last: float) -> list[str]:
    """Orders from a little above 1 to the last."""

    def first_does(order: fmpq) -> bool:
        try:
            return all(bool(value <= arb(most * (order - 1))) for value in moments(order))
        except ValueError:  # the checker's arithmetic does not go so far
            return False

    def cell_does(a: fmpq, b: fmpq) -> bool:
        try:
            ends = zip(moments(a), moments(b), strict=True)
            return all(currencies.below(most, a, at_a, b, at_b) for at_a, at_b in ends)
        except ValueError:
            return False

    end, at, step = format.number(repr(last)), fmpq(1), fmpq(1)
    found: list[fmpq] = []
    while at < end:
        following = min(at + step, end)
        does = first_does(following) if not found else cell_does(at, following)
        if does:
            at, step = following, 2 * step
            found.append(at)
        else:
            step = step / 2
        if len(found) > _MOST_ORDERS or step < fmpq(1, 2**30):
            raise NoCertificate(f"no {_MOST_ORDERS} orders prove the rho, so near is the claim to the truth")
    return [f"{order.p}/{order.q}" for order in found]


def in_order(knots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without those whose lines hardly touch the others' maximum: the vertices then come one after the other."""
    kept: list[tuple[float, float, float]] = []
    corner = 1.0
    for at, value in knots:
        corner = 0.5 * (1 - value)
        while kept:
            before, less, own = kept[-1]
            corner = (less - value) / (math.exp(at) - math.exp(before))
            if len(kept) == 1 or corner < own * (1 - 1e-6):
                break
            kept.pop()
        kept.append((at, value, corner))
    return [(at, value) for at, value, _ in kept]


def worst_vertex(knots: list[tuple[float, float]], least: float, most: float) -> list[tuple[float, float]] | None:
    """The cells about the vertex that is furthest below the curve of the mu; None where all are above it."""
    lines = [(math.exp(at), 1 - value) for at, value in knots]
    corners = [(lines[0][1] / 2, lines[0][1] / 2, 0)]
    for i, ((x, top), (after, top_after)) in enumerate(pairwise(lines)):
        alpha = (top_after - top) / (after - x)
        if alpha <= least:
            corners.append((least, top - x * least, i))
            break
        corners.append((alpha, top - x * alpha, i))
    with ctx.workprec(PRECISION):
        needed = [
            (float(currencies.mu_of(arb(alpha), arb(beta)).upper()) if alpha > 0 and beta > 0 else math.inf, i)
            for alpha, beta, i in corners
        ]
    worst, at = max(needed)
    if worst <= most * (1 - 1e-7):
        return None
    cells = range(max(0, at - 1), min(len(knots) - 1, at + 2))
    return [(knots[i][0], knots[i + 1][0]) for i in cells]
