"""Clones: how many of the other units hide a unit's batch in an epoch of shuffled batches, and what the rest reveals.

Theorem S' (docs/theory/shuffled.md): with B - 1 others, a share c of each hides as a clone, and eta = H_{1/c}(Q0||P0),

    H_gamma <= sum over C of binom(B-1, C) c^C (1 - c + c eta)^{B-1-C} [sum over f of binom(C, f) ((C-1) eta)^f
               H_gamma(one of C+1-f) + R_gamma(C eta)].

Here are the weights, by balls; counts of clones are taken together in groups, whose least hides and whose most fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, ctx
from scipy.special import bdtrik

from ..losses.atoms.cells import Atoms, Cells, pessimistic
from ..pairs.discrete_gaussian import DiscreteGaussianPair
from ..pairs.discrete_laplace import DiscreteLaplacePair
from ..pairs.gaussian import GaussianPair
from ..pairs.laplace import LaplacePair
from ..pairs.order import Order
from ..pairs.pair import Pair
from ..pairs.tails import binomial_tail
from ..rounding import UNIT, float_above, up

_BITS = 160

_MORE = 1.5
"""Standard deviations above the mean from which on clones are taken for surplus."""


SYMMETRIC = GaussianPair | LaplacePair | DiscreteGaussianPair | DiscreteLaplacePair
"""Bases whose two orders have one profile, which `failing` takes for granted; others have no bound by clones."""


@dataclass(frozen=True, slots=True)
class Clones:
    """share: c, the double that it is. failing: at least eta."""

    share: float
    failing: float


@dataclass(frozen=True, slots=True)
class Group:
    """At least the sum of weights of so many clones: at least `least`, at most `most`."""

    weight: float
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Part:
    """`weight` times one of so many rounds."""

    weight: float
    rounds: int


def clones(base: Pair, threshold: float) -> Clones:
    """Of the loss e^threshold = 1/c; base: the dominating pair of one round.

    Raises TypeError for a base that is not known to be SYMMETRIC.
    """
    if not isinstance(base, SYMMETRIC):
        raise TypeError(f"no bound by clones for {type(base).__name__}: its orders may differ")
    with ctx.workprec(_BITS):
        share = math.nextafter(math.exp(-threshold) * (1 - 8 * UNIT), 0.0)
        return Clones(share, max(0.0, float_above(profile_of(base, -arb(share).log()))))


def profile_of(base: Pair, epsilon: arb) -> arb:
    """A base's profile, however long it takes. Raises TypeError for one without a formula."""
    found = base.summed_profile(epsilon) if isinstance(base, DiscreteGaussianPair) else base.profile(epsilon)
    if found is None:
        raise TypeError(f"no formula for {base}")
    return found


@lru_cache(maxsize=128)
def groups(of: Clones, batches: int, few: int, rare: float) -> tuple[Group, ...]:
    """All numbers of clones among batches - 1 others; few: as in `known_rounds`. rare: numbers that fewer clones have
    with this probability are one group."""
    others = batches - 1
    expected = others * of.share
    cap = min(others, math.ceil(expected + _MORE * math.sqrt(expected)))
    fewest = int(np.nan_to_num(bdtrik(rare, others, of.share)))  # nothing rests on it
    starts = sorted({0, *(known_rounds(count + 1, few) - 1 for count in range(min(fewest, cap), cap + 1))})
    with ctx.workprec(_BITS):
        share, kept = arb(of.share), arb(of.share) * of.failing
        total = (1 + kept) ** others
        rate = share / (1 + kept)
        above = [binomial_tail(others, rate, start) for start in starts] + [arb(0)]
    ends = [*starts[1:], starts[-1] + 1]
    return tuple(
        Group(max(0.0, float_above(total * (above[at] - above[at + 1]))), start, ends[at] - 1)
        for at, start in enumerate(starts)
    )


def known_rounds(rounds: int, few: int) -> int:
    """The largest number up to this one that is looked at: every one up to `few`, a power of 2, and beyond it half as
    many between any two powers."""
    unit = max(1, (2 << (rounds.bit_length() - 1)) // few)
    return rounds - rounds % unit


def hidden(group: Group, failing: float, few: int) -> list[Part]:
    """What hides the unit's batch: one of C + 1 - f, f of the clones revealed; two and more with the unit alone."""
    least, most = group.least, group.most
    with ctx.workprec(_BITS):
        each = arb(max(most - 1, 0)) * failing
        parts = [(arb(1), least + 1), (most * each, max(least, 1)), ((1 + each) ** most - 1 - most * each, 1)]
        return [Part(float_above(group.weight * w), known_rounds(m, few)) for w, m in parts if not w.is_zero()]


def revealed(cells: Cells, order: Order, group: Group, failing: float) -> Atoms:
    """weight times R_gamma(C eta): the largest losses, as far as their mass without the unit goes.

    cells: in this order of the neighbours, the largest losses first. Whole ones as far as the mass goes, and of the
    largest loss h of all others what is left of it: for gamma <= e^h with the multiplier e^h - gamma, beyond because
    nothing else is positive. Cells that reach below h do not count for the mass.
    """
    wanted = up(group.most * failing)
    if wanted == 0.0:
        return Atoms(np.zeros(0), np.zeros(0), 0.0)
    without = cells.q if order == Order.REMOVE else cells.p
    mass = without * (1 - cells.error - 4 * UNIT)
    count = int(np.count_nonzero(np.cumsum(mass) <= wanted))
    found = pessimistic(cells.at(slice(count)))
    if count < mass.size:
        largest = float(np.max(cells.high[count:]))
        left = max(0.0, wanted - float(np.sum(mass[:count][cells.low[:count] >= largest])) * (1 - 1e-12))
        left *= math.exp(largest) * (1 + 8 * UNIT * (1 + abs(largest))) if order == Order.REMOVE else 1.0
        found = Atoms(np.append(found.loss, largest), np.append(found.mass, left), found.infinite)
    return scaled(found, group.weight)


def scaled(atoms: Atoms, weight: float) -> Atoms:
    """With all masses times the weight, rounded up."""
    return Atoms(atoms.loss, atoms.mass * (weight * (1 + 4 * UNIT)), up(atoms.infinite * weight))
