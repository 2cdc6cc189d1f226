"""How the laws of a pair's loss are found: one that dominates, and one that is dominated.

In closed form, from cells of the outcomes (exact for countable outcomes, a cut of the line for continuous noise), or
in a way of the pair's own. Each pair says which (`Pair.losses`); steps.py composes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...rounding import UNIT, End, down
from .cells import Atoms, Cells, optimistic, pessimistic
from .transform import AtomLaw, Frequencies, Law, log_moment

if TYPE_CHECKING:
    from .edges import Resolution

_TRIMMED = 1e-3
"""Share of the tail that may be lost to large losses."""


_COIN = 2.0**-39
"""By which numbers of a public coin are moved: twice what they are uncertain by."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Of laws that no number of cells makes finer: how closely it is worth to find and to invert them.

    finest: relative width below which inverting more finely is of no use. closest: above which inverting less finely
    saves nothing, for finding them takes the time. fineness: how finely the pair asks to be cut where that takes a
    share of the width (`Resolution.fineness`); infinite where it does not.
    """

    finest: float = 0.0
    closest: float = math.inf
    fineness: float = math.inf


@dataclass(frozen=True, slots=True)
class Losses:
    """How a pair's laws are found, its parameters taken as the doubles that they are.

    law: for either end. cells: of the outcomes, where there are any, for what is made of several pairs or sampled.
    rate: with which a coin lets the unit take part; 0 where none decides. It is what makes large losses rare.
    cut: None for those that more cells make finer.
    """

    law: Callable[[End, Resolution], Law]
    cells: Callable[[Resolution], Cells] | None = None
    rate: float = 0.0
    cut: Cut | None = None


def of_cells(cells: Callable[[Resolution], Cells], rate: float = 0.0) -> Losses:
    """The laws that cells are made into."""
    return Losses(lambda end, resolution: AtomLaw(atoms_of(cells(resolution), end, resolution.tail)), cells, rate)


def atoms_of(cells: Cells, end: End, tail: float) -> Atoms:
    """The cells made discrete."""
    discrete = pessimistic if end is End.UPPER else optimistic
    return discrete(cells.trimmed(_TRIMMED * tail))


def on_side(atoms: Atoms, likely: float, loss: float, end: End) -> Atoms:
    """The atoms seen on a side of a public coin, its numbers rounded to the safe side: H_gamma(p P || q Q) is
    p H_{gamma q/p}(P || Q), so masses are times p, and losses moved by log p/q. likely: p; loss: log p/q."""
    moved = atoms.loss
    if loss:
        moved = moved + (loss + end.value * _COIN * abs(loss))
        moved = moved + end.value * 2 * UNIT * np.abs(moved)
    share = likely * (1 + end.value * _COIN)
    return Atoms(moved, share * atoms.mass, share * atoms.infinite)


def together(parts: list[Atoms]) -> Atoms:
    """The atoms of all sides of a coin, which is part of the outcome."""
    return Atoms(
        np.concatenate([atoms.loss for atoms in parts]),
        np.concatenate([atoms.mass for atoms in parts]),
        sum(atoms.infinite for atoms in parts),
    )


def behind_public_coin(base: Law, rate: float, end: End) -> Law:
    """Atoms stay atoms, and one more at 0."""
    if not isinstance(base, AtomLaw):
        return VisibleLaw(base, rate)
    atoms = base.atoms
    wide = 1.0 + end.value * 8 * UNIT
    mass = np.append(atoms.mass * rate, 1 - rate) * wide
    return AtomLaw(Atoms(np.append(atoms.loss, 0.0), mass, atoms.infinite * rate * wide))


@dataclass(frozen=True, slots=True)
class VisibleLaw:
    """A public coin: the base law with probability `rate`, else loss 0. Error bounds: docs/theory/lattices.md, section
    "Transforms"."""

    base: Law
    rate: float

    @property
    def infinite(self) -> float:
        return self.rate * self.base.infinite

    @property
    def top(self) -> float:
        return max(0.0, self.base.top)

    def summit(self, price: float, least: float) -> tuple[float, float]:
        loss, mass = self.base.summit(price, least)
        return loss, down(self.rate * mass)

    def ceiling(self, mass: float) -> float:
        return max(0.0, self.base.ceiling(mass))

    def log_moments(self, points: Floats) -> Floats:
        return np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + self.base.log_moments(points))

    def normalised(self, c: float, grid: Frequencies) -> tuple[Complex, Floats]:
        total, base = log_moment(self, c), log_moment(self.base, c)
        out, taken = math.exp(math.log1p(-self.rate) - total), math.exp(math.log(self.rate) + base - total)
        value, error = self.base.normalised(c, grid)
        return out + taken * value, taken * error + UNIT * (64 + 4 * abs(base) + 4 * abs(total))
