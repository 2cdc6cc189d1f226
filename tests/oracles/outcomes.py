"""Laws on finitely many outcomes: proved ends of hockey-stick divergences, over adaptive choices in a few rounds too.

Masses are Arb balls or rationals; each becomes two doubles around it, and sums and products of doubles are widened by a
bound of their rounding (hockey_stick.py). Shares nothing with the accountants.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from hockey_stick import LARGE, Ends, Floats, at_bits, ball, ends, rounding

Mass = arb | Fraction
Law = Mapping[Hashable, Mass]


@dataclass(frozen=True)
class Pair:
    """Two laws over the same outcomes: P and Q, each mass at least and at most."""

    p: tuple[Floats, Floats]
    q: tuple[Floats, Floats]

    def swapped(self) -> Pair:
        return Pair(self.q, self.p)

    def __len__(self) -> int:
        return len(self.p[0])


@at_bits
def pair(p: Law, q: Law) -> Pair:
    """Outcomes that one law lacks have no mass under it."""
    outcomes = list(dict.fromkeys([*p, *q]))
    return Pair(_doubles(p, outcomes), _doubles(q, outcomes))


def _doubles(law: Law, outcomes: list[Hashable]) -> tuple[Floats, Floats]:
    found = [_ends(law.get(outcome, Fraction(0))) for outcome in outcomes]
    return np.array([max(low, 0.0) for low, _ in found]), np.array([max(high, 0.0) for _, high in found])


def _ends(mass: Mass) -> Ends:
    return (0.0, 0.0) if mass == 0 else ends(mass if isinstance(mass, arb) else ball(mass))


def joint(pairs: Iterable[Pair]) -> Pair:
    """Independent ones at once."""
    one = np.ones(1)
    whole = Pair((one, one), (one, one))
    for each in pairs:
        whole = Pair(_outer(whole.p, each.p), _outer(whole.q, each.q))
    return whole


def _outer(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    widen = rounding(1)
    low, high = (np.multiply.outer(a, b).ravel() for a, b in zip(one, other, strict=True))
    return low * (1 - widen), high * (1 + widen)


def coarser(one: Pair, outcomes: int) -> Pair:
    """Outcomes of neighbouring likelihood ratios put together: no divergence grows. Those that one law lacks stay."""
    if len(one) <= outcomes:
        return one
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.log(one.p[1]) - np.log(one.q[1])
    seen = np.isfinite(losses)
    at = np.where(losses == np.inf, outcomes - 1, 0)
    known = losses[seen & (np.maximum(one.p[1], one.q[1]) > 1e-12)]
    step = (known.max() - known.min()) / (outcomes - 3) or 1.0
    at[seen] = np.clip(np.floor((losses[seen] - known.min()) / step), 0, outcomes - 3) + 1
    widen = rounding(len(one))

    def together(law: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        low, high = (np.bincount(at, weights=side, minlength=outcomes) for side in law)
        return low * (1 - widen), high * (1 + widen)

    return Pair(together(one.p), together(one.q))


def distinct(pairs: Iterable[Pair]) -> list[Pair]:
    """Each only once, whatever the names of its outcomes."""
    found = {}
    for one in pairs:
        order = np.lexsort((one.q[0], one.p[0]))
        found[one.p[0][order].tobytes(), one.q[0][order].tobytes()] = one
    return list(found.values())


@at_bits
def largest(pairs: list[Pair], rounds: int, epsilon: float) -> Ends:
    """Ends of the largest divergence over all ways to choose one of the pairs in each round, by what came before.

    In the order in which they are named: P is the first neighbour's in every round. Of a larger epsilon than LARGE only
    that much is used, with a lower end of 0.
    """
    width = max(map(len, pairs))
    stacked = [
        np.array([np.pad(side[k], (0, width - len(one))) for one in pairs for side in (getattr(one, name),)])
        for name in ("p", "q")
        for k in (0, 1)
    ]
    odds = ends(arb(min(epsilon, LARGE)).exp())
    one = np.ones(1)
    low, high = _chosen(stacked, rounds, (one, one), (one, one), odds)
    return 0.0 if epsilon > LARGE else float(low[0]), float(high[0])


def _chosen(
    pairs: list[Floats], rounds: int, a: tuple[Floats, Floats], b: tuple[Floats, Floats], odds: Ends
) -> tuple[Floats, Floats]:
    """By state (mass a under P and b under Q so far): the ends of the most that the rounds to come make of it."""
    p_low, p_high, q_low, q_high = pairs
    outcomes = p_low.shape[1]
    widen = rounding(outcomes)
    up, down = 1 + widen, 1 - widen
    if rounds == 1:
        low, high = np.zeros(len(a[0])), np.zeros(len(a[0]))
        for k in range(len(p_low)):
            gain = np.multiply.outer(a[0], p_low[k]) * down - np.multiply.outer(b[1], q_high[k]) * (odds[1] * up)
            most = np.multiply.outer(a[1], p_high[k]) * up - np.multiply.outer(b[0], q_low[k]) * (odds[0] * down)
            low = np.maximum(low, np.maximum(gain, 0.0).sum(axis=1) * down)
            high = np.maximum(high, np.maximum(most, 0.0).sum(axis=1) * up)
        return low, high
    low, high = np.zeros(len(a[0])), np.zeros(len(a[0]))
    for k in range(len(p_low)):
        states = [
            np.multiply.outer(mass, by[k]).ravel() * factor
            for mass, by, factor in zip((*a, *b), pairs, (down, up, down, up), strict=True)
        ]
        least, most = _chosen(pairs, rounds - 1, (states[0], states[1]), (states[2], states[3]), odds)
        low = np.maximum(low, least.reshape(-1, outcomes).sum(axis=1) * down)
        high = np.maximum(high, most.reshape(-1, outcomes).sum(axis=1) * up)
    return low, high


def telling(pairs: list[Pair], losses: Iterable[float], each: int) -> list[Pair]:
    """Those of the largest divergences at each of these losses: for rounds in which all choices are too many.

    Nearly the largest, which is all that a choice among true pairs needs.
    """
    width = max(map(len, pairs))
    p, q = (
        np.array([np.pad(law, (0, width - len(law))) for law in laws])
        for laws in ([one.p[0] for one in pairs], [one.q[1] for one in pairs])
    )
    found: dict[int, Pair] = {}
    for loss in losses:
        gained = np.maximum(p - math.exp(min(loss, LARGE)) * q, 0.0).sum(axis=1)
        found |= {id(pairs[at]): pairs[at] for at in np.argsort(-gained, kind="stable")[:each]}
    return list(found.values())
