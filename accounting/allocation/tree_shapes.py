"""Trees of clones: how many units of each type hide each other, and what the rest reveals, by balls.

Theorem T (docs/theory/shuffled.md): a unit is of type l or a higher one with probability c_l (1 - eta_l), wherever it
is and whatever was published. In a tree a node of level l has r_l siblings of type l, and 1 + r_l children of level
l - 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from flint import arb, ctx
from scipy.special import bdtrik

from ..losses.crossing import Excess, crossing, over
from ..pairs.gaussian import GaussianPair
from ..pairs.tails import binomial_tail, normal_tail
from ..rounding import UNIT, End, float_above, float_below, up

_BITS = 160

_RARE = (1e-10, 1e-7, 1e-4, 0.01, 0.08, 0.3, 0.7)
"""How often a shape that is looked at has fewer units than it needs, of each type."""

_FAR_OUT = 64.0
"""Standard deviations at which shares are not told from 0 and 1."""

_TRIED = 64
"""Numbers of siblings of the root among which a shape's is chosen."""

Shape = tuple[int, ...]
"""r_1, r_2, .., of the lowest level first."""


@dataclass(frozen=True, slots=True)
class Types:
    """By level, the lowest first. likely: at most the chance to be of this type or a higher one. failing: at least
    eta'_l; density: at least kappa_l = 1 / (1 - eta'_l)."""

    likely: tuple[float, ...]
    failing: tuple[float, ...]
    density: tuple[float, ...]


@lru_cache(maxsize=64)
def types(base: GaussianPair, thresholds: tuple[float, ...]) -> Types:
    """Of shares c_l = e^-threshold, thresholds growing."""
    with ctx.workprec(_BITS):
        shares = [arb(math.nextafter(math.exp(-each) * (1 - 8 * UNIT), 0.0)) for each in thresholds]
        missing = [share * base.profile(-share.log()) for share in shares]
        apart = [
            (lost - next_lost) / (share - next_share)
            for (share, next_share), (lost, next_lost) in zip(
                pairwise([*shares, arb(0)]), pairwise([*missing, arb(0)]), strict=True
            )
        ]
        return Types(
            tuple(max(0.0, float_below(share - lost)) for share, lost in zip(shares, missing, strict=True)),
            tuple(max(0.0, float_above(each)) for each in apart),
            tuple(float_above(1 / (1 - each)) for each in apart),
        )


@dataclass(frozen=True, slots=True)
class Weighted:
    """A shape, and at least the probability that it is what is used."""

    weight: float
    shape: Shape


@lru_cache(maxsize=64)
def weighted_shapes(of: Types, others: int) -> tuple[Weighted, ...]:
    """Shapes of growing needs, each used where the next one has too few units: fewer units than there are may always
    be used, the others being revealed, so that probabilities may be moved to smaller shapes."""
    chain: list[Shape] = [(0,) * len(of.likely)]
    for rare in _RARE:
        shape = _largest([_count(others, likely, rare) for likely in of.likely])
        grows = all(new >= old for new, old in zip(needs(shape), needs(chain[-1]), strict=True))
        if grows and shape != chain[-1] and reveals(of, shape):
            chain.append(shape)
    with ctx.workprec(_BITS):
        missed = [min(1.0, float_above(_too_few(of, others, shape))) if any(shape) else 0.0 for shape in chain]
    used = zip(chain, missed, [*missed[1:], 1.0], strict=True)
    return tuple(Weighted(up(later - now), shape) for shape, now, later in used if later > now)


def needs(shape: Shape) -> list[int]:
    """By level, how many units of this type or a higher one a shape needs: nodes one level below, but for one."""
    nodes, found = 1, []
    for siblings in reversed(shape):
        nodes *= 1 + siblings
        found.append(nodes - 1)
    return found[::-1]


def _count(others: int, likely: float, rare: float) -> int:
    """Of which there are fewer about this rarely; nothing rests on it."""
    found = bdtrik(rare, others, likely)
    return max(0, math.floor(found)) if math.isfinite(found) else 0


def _largest(counts: list[int]) -> Shape:
    """With as many places as so many units of each type, lowest first, can fill."""
    top = counts[-1]
    return max(
        (_with_root(counts, top - less) for less in range(min(top // 2, _TRIED) + 1)), key=lambda each: needs(each)[0]
    )


def _with_root(counts: list[int], top: int) -> Shape:
    nodes, found = 1 + top, [top]
    for count in counts[-2::-1]:
        siblings = max(0, (count + 1) // nodes - 1)
        nodes *= 1 + siblings
        found.append(siblings)
    return tuple(found[::-1])


def _too_few(of: Types, others: int, shape: Shape) -> arb:
    """Whether there are too few of some type."""
    fewer = (
        binomial_tail(others, 1 - arb(likely), others - need + 1)
        for likely, need in zip(of.likely, needs(shape), strict=True)
    )
    return sum(fewer, arb(0))


@dataclass(frozen=True, slots=True)
class Reveals:
    """What gives units away. failing: by role 1 .. L, at least b_m; i's is 0. cuts: by role, the last place of a holder
    that has not failed, and one that its likelihood ratio may be thought at if it has. classes: k = 1 .. L, from which
    place on a holder's place is of class k or a higher one; with equal numbers there is nothing between.

    Places are outcomes of N(0), mirrored in the order "add": unlikely ones are at the right.
    """

    failing: tuple[float, ...]
    cuts: tuple[tuple[float, float], ...]
    classes: tuple[float, ...]


@lru_cache(maxsize=256)
def reveals(of: Types, shape: Shape) -> Reveals | None:
    """None where the theorem asks for less than so many siblings reveal."""
    with ctx.workprec(_BITS):
        each = [siblings * arb(failing) for siblings, failing in zip(shape, of.failing, strict=True)]
        above = [sum(each[at:], arb(0)) for at in range(len(shape) + 1)]  # A_{at + 2}
        failing = tuple(
            _above(arb(density) * ((siblings - 1) * arb(lost) + rest)) if siblings else 0.0
            for density, siblings, lost, rest in zip(of.density, shape, of.failing, above[1:], strict=True)
        )
        if not all(lost < 1.0 for lost in failing):
            return None
        kept = [(1 - arb(lost)) / arb(density) for lost, density in zip(failing, of.density, strict=True)]
        if not all(above[0] <= each for each in kept):
            return None
        cuts = tuple((_place(share, End.LOWER), _place(share, End.UPPER)) for share in kept)
        classes = tuple(_place(share, End.LOWER) if share > 0 else math.inf for share in above[:-1])
        return Reveals(failing, cuts, classes) if all(low < classes[0] for low, _ in cuts) else None


def _above(ball: arb) -> float:
    return 0.0 if ball.is_zero() else float_above(ball)


def _place(share: arb, end: End) -> float:
    """x next to where P(N(0) > x) is the share: at least it (the lower end of where that is), or at most; infinite far
    out."""
    rounded = float_below if end is End.LOWER else float_above
    ends = crossing(
        lambda at: Excess(over(rounded(normal_tail(arb(at - _FAR_OUT)) / share), 1.0)), _FAR_OUT, farthest=2 * _FAR_OUT
    )
    found = ends[0] if end is End.LOWER else ends[1]
    return found - _FAR_OUT if 0.0 < found < 2 * _FAR_OUT else end.value * math.inf
