"""The two laws of the privacy loss, one that dominates and one that is dominated, for every pair this project has.

Gaussian and Laplace pairs are in closed form, so only the pair's parameters are rounded (up for the upper law,
down for the lower: a larger shift or rate dominates, docs/theory/lattices.md, section "Parameters"). Everything else
is a list of cells: exact for countable outcomes, a cut of the line for subsampled continuous noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...allocation.block import supports_base
from ...allocation.repeated_blocks import law_above, law_below
from ...allocation.replaced import known_shift, losses_of_replaced
from ...allocation.replaced_blocks import losses_of_one, serves
from ...allocation.scored_block import losses_of_scores
from ...allocation.shuffled_replaced import losses_of_shuffled
from ...pairs import (
    AllocationPair,
    CategoriesPair,
    Composition,
    CountsPair,
    CutPair,
    FinitePair,
    GaussianPair,
    LocationPair,
    LossesPair,
    MixtureOfGaussiansPair,
    MixturePair,
    OpposedPair,
    Pair,
    ProductPair,
    ReplacedAllocationPair,
    ReplacedShuffledPair,
    Sampling,
    ScoredBlockPair,
    ShuffledPair,
    ShuffledResponsePair,
    Side,
    SubsampledPair,
    ZeroedPair,
)
from ...pairs.parameters import dominated_parameters, dominating_parameters
from ...rounding import UNIT
from .cells import Atoms, Cells, optimistic, pessimistic
from .count_cells import counts_cells, supports_counts
from .discrete_cells import finite_cells, lattice_base, lattice_cells, outcome_cells, stated_cells
from .edges import Resolution, even_edges, graded, opposed_edges, sampled_edges
from .knee_cells import cut_cells
from .mixed_cells import mixed_cells, mixed_span
from .product_cells import MOST_CELLS, crossed, merged
from .sampled_cells import joined, location_cells, replace_lattice, sampled_cells, sheets
from .transform import AtomLaw, Law
from .visible_law import VisibleLaw
from .zeroed_cells import below_zero, opposed_cells, zeroed_cells

_TRIMMED = 1e-3
"""Share of the tail that may be lost to large losses."""

_COIN = 2.0**-39
"""By which numbers of a public coin are moved: twice what they are uncertain by."""

_FINE_CELLS = 2048
"""Cells of other pairs' outcomes from which on a replaced unit's block is cut finely, too."""

SampledPair = SubsampledPair | OpposedPair | ZeroedPair | MixtureOfGaussiansPair
"""Pairs in which a coin, seen or not, decides about taking part."""


@dataclass(frozen=True, slots=True)
class Step:
    """`rounds` rounds of a pair, by a law that dominates it and one that it dominates.

    sampled: whether a coin decides about taking part, which is what makes large losses rare.
    """

    upper: Law
    lower: Law
    rounds: int
    sampled: bool


def supports_pair(pair: Pair) -> bool:
    """Whether `steps` knows the pair."""
    if isinstance(pair, AllocationPair):
        return supports_base(pair.base)
    if isinstance(pair, ReplacedAllocationPair):
        return known_shift(pair) is not None
    if isinstance(pair, ShuffledPair | ReplacedShuffledPair):
        return supports_base(pair.base if isinstance(pair, ShuffledPair) else pair.apart)
    if isinstance(pair, MixturePair):
        inner = [each.pair for each in pair.sides if each.pair]
        return all(isinstance(part, SampledPair) and supports_pair(part) for part in inner)
    if isinstance(pair, CountsPair | ShuffledResponsePair):
        return supports_counts(pair)
    if isinstance(pair, ProductPair):
        return all(not isinstance(part, SampledPair) and supports_pair(part) for part, _ in pair.parts)
    if isinstance(pair, SubsampledPair):
        listed = CategoriesPair | FinitePair | LossesPair | ProductPair | CutPair
        if pair.order == Sampling.REPLACE and isinstance(pair.base, listed):
            return False
        return not isinstance(pair.base, SubsampledPair) and supports_pair(pair.base)
    return (
        isinstance(
            pair,
            LocationPair
            | CategoriesPair
            | FinitePair
            | LossesPair
            | OpposedPair
            | ZeroedPair
            | MixtureOfGaussiansPair
            | CutPair
            | ScoredBlockPair,
        )
        or lattice_base(pair) is not None
    )


def steps(composition: Composition, resolution: Resolution) -> list[Step]:
    """The laws of every step; all Gaussian rounds are one Gaussian step."""
    rest = [(pair, rounds) for pair, rounds in composition if not isinstance(pair, GaussianPair)]
    squares = [rounds * pair.shift**2 for pair, rounds in composition if isinstance(pair, GaussianPair)]
    merged = [(GaussianPair(math.sqrt(math.fsum(squares))), 1)] if squares else []
    return [
        Step(
            *_sides(dominating_parameters(pair), dominated_parameters(pair), resolution),
            rounds,
            isinstance(pair, SampledPair | MixturePair),
        )
        for pair, rounds in [*merged, *rest]
    ]


def _sides(upper: Pair, lower: Pair, resolution: Resolution) -> tuple[Law, Law]:
    """The two laws; a replaced unit's block has both from the same values where a grid holds its jumps."""
    if isinstance(upper, ShuffledPair | ReplacedShuffledPair):
        known = AtomLaw(losses_of_shuffled(upper, resolution.tail))  # an upper end: of no use from below
        return known, known
    if isinstance(upper, ReplacedAllocationPair) and serves(upper) and serves(lower):
        above, below = losses_of_one(upper, lower, resolution.tail, quickly=resolution.cells < _FINE_CELLS)
        return AtomLaw(above), AtomLaw(below)
    return _law(upper, resolution, pessimistic), _law(lower, resolution, optimistic)


def _law(pair: Pair, resolution: Resolution, discrete: Callable[[Cells], Atoms]) -> Law:
    """The law of a pair in closed form, or of its cells made discrete."""
    if isinstance(pair, SubsampledPair) and pair.order == Sampling.VISIBLE:
        return _visible(_law(pair.base, resolution, discrete), pair.rate, 1.0 if discrete is pessimistic else -1.0)
    if isinstance(pair, AllocationPair):
        of_block = law_above if discrete is pessimistic else law_below
        return of_block(pair, pair.fineness, resolution.tail)
    if isinstance(pair, ReplacedAllocationPair):
        return _replaced(pair, resolution, discrete is pessimistic)
    if isinstance(pair, ScoredBlockPair):
        return AtomLaw(losses_of_scores(pair, discrete is pessimistic))
    return pair.law() or AtomLaw(_atoms(pair, resolution, discrete))


def _replaced(pair: ReplacedAllocationPair, resolution: Resolution, above: bool) -> Law:
    apart = pair.apart
    if not isinstance(apart.base, GaussianPair):
        raise TypeError(f"not Gaussian: {pair}")
    shift = apart.base.shift
    if above:
        tail = max(1e-13, 2.0 ** math.floor(math.log2(resolution.tail)))  # neighbouring targets share a law
        return AtomLaw(losses_of_replaced(shift, apart.rounds, tail))
    return AtomLaw(losses_of_scores(ScoredBlockPair(shift, apart.rounds, 1, 1, -1), above=False))


def _atoms(pair: Pair, resolution: Resolution, discrete: Callable[[Cells], Atoms]) -> Atoms:
    if isinstance(pair, MixturePair):
        return _mixed(pair, resolution, discrete)
    if isinstance(pair, CountsPair | ShuffledResponsePair):
        cells = counts_cells(pair, resolution.tail, discrete is pessimistic)
        return discrete(cells.trimmed(_TRIMMED * resolution.tail))
    return discrete(_cells(pair, resolution).trimmed(_TRIMMED * resolution.tail))


def _mixed(pair: MixturePair, resolution: Resolution, discrete: Callable[[Cells], Atoms]) -> Atoms:
    """The atoms of all sides: the coin is part of the outcome, and its numbers are rounded to the safe side."""
    direction = 1.0 if discrete is pessimistic else -1.0
    found = [_of_side(each, direction, resolution, discrete) for each in pair.sides]
    return Atoms(
        np.concatenate([atoms.loss for atoms in found]),
        np.concatenate([atoms.mass for atoms in found]),
        sum(atoms.infinite for atoms in found),
    )


def _of_side(side: Side, direction: float, resolution: Resolution, discrete: Callable[[Cells], Atoms]) -> Atoms:
    """H_gamma(p P || q Q) = p H_{gamma q/p}(P || Q): masses times p, and losses moved by log p/q."""
    atoms = _atoms(side.pair, resolution, discrete) if side.pair else Atoms(np.zeros(1), np.ones(1), 0.0)
    likely = side.likely * (1 + direction * _COIN)
    loss = atoms.loss
    if side.loss:
        loss = loss + (side.loss + direction * _COIN * abs(side.loss))
        loss = loss + direction * 2 * UNIT * np.abs(loss)
    return Atoms(loss, likely * atoms.mass, likely * atoms.infinite)


def _visible(base: Law, rate: float, direction: float) -> Law:
    """A public coin. Atoms stay atoms, and one more at 0; direction: of the masses' rounding, 1 or -1."""
    if not isinstance(base, AtomLaw):
        return VisibleLaw(base, rate)
    atoms = base.atoms
    wide = 1.0 + direction * 8 * UNIT
    mass = np.append(atoms.mass * rate, 1 - rate) * wide
    return AtomLaw(Atoms(np.append(atoms.loss, 0.0), mass, atoms.infinite * rate * wide))


def _cells(pair: Pair, resolution: Resolution) -> Cells:
    if isinstance(pair, SubsampledPair):
        return _subsampled(pair, resolution)
    if isinstance(pair, MixtureOfGaussiansPair):
        forced = mixed_span(pair, resolution.tail)
        edges = graded(lambda edges: [mixed_cells(pair, edges, resolution.tail)], forced, resolution)
        return mixed_cells(pair, edges, resolution.tail)
    if isinstance(pair, CutPair):
        return cut_cells(pair, resolution.cells, resolution.tail)
    if isinstance(pair, LossesPair):
        return merged(stated_cells(pair), resolution.cells)
    if isinstance(pair, OpposedPair):
        return opposed_cells(pair, opposed_edges(pair, resolution), resolution.tail)
    if isinstance(pair, ZeroedPair):
        edges = opposed_edges(OpposedPair(pair.shift, pair.rate, pair.order), resolution)
        other = below_zero(pair)
        return joined(
            zeroed_cells(pair, edges, sampled_edges(GaussianPair(pair.shift), other, resolution), resolution.tail)
        )
    return _product(pair, resolution) if isinstance(pair, ProductPair) else _table(pair, resolution.tail)


def _table(pair: Pair, tail: float) -> Cells:
    if isinstance(pair, CategoriesPair):
        return finite_cells(pair)
    if isinstance(pair, FinitePair):
        return outcome_cells(pair)
    base = lattice_base(pair)
    if base is None:
        raise TypeError(f"no table for {pair}")
    return lattice_cells(base, tail)


def _subsampled(pair: SubsampledPair, resolution: Resolution) -> Cells:
    base, lattice = pair.base, lattice_base(pair.base)
    if isinstance(base, LocationPair):
        edges = sampled_edges(base, pair, resolution)
        return joined(sampled_cells(base, pair.order, pair.rate, edges, resolution.tail))
    if lattice is not None and pair.order == Sampling.REPLACE:
        return replace_lattice(lattice, pair.rate, resolution.tail)
    whole = (
        _cells(base, resolution)
        if isinstance(base, ProductPair | CutPair | LossesPair)
        else _table(base, resolution.tail)
    )
    return joined(sheets(whole, pair.order, pair.rate))


def _product(pair: ProductPair, resolution: Resolution) -> Cells:
    """All parts' cells together, few enough at each step."""
    total: Cells | None = None
    for part, rounds in pair.parts:
        for _ in range(rounds):
            cells = _even(part, resolution) if isinstance(part, LocationPair) else _cells(part, resolution)
            if total is None:
                total = cells
                continue
            room = max(2, MOST_CELLS // cells.p.size)
            total = merged(crossed(merged(total, room), cells), resolution.cells)
    assert total is not None
    return total


def _even(base: LocationPair, resolution: Resolution) -> Cells:
    """A part's own cells, of equal width: they are merged with others'."""
    return location_cells(base, even_edges(base, resolution), resolution.tail)
