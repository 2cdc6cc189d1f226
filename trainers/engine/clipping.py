"""Bounding what one client contributes, on an integer grid, so that sums are exact in every order.

A contribution x becomes integers y = trunc(x s) with s = min(1, clip_norm (1 - 2^-22) / ||x||) / unit. Then
unit ||y|| <= clip_norm holds exactly, not up to rounding: truncation enlarges no coordinate; the norm, taken in
double precision over at most 2^27 coordinates, errs by less than 2^-25 relative (2^27 + 4 roundings of 2^-53), the
scale and the products in single precision by at most 2^-24 each; together less than 2^-22.
So the grid adds nothing to the sensitivity. A contribution that is not finite counts as zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...mechanisms import InputError
from .contribution import Contribution, SparseRows, as_vector

SAFETY = 1 - 2.0**-22
LARGEST_DIMENSION = 2**27
UNCLIPPED_UNIT = 2.0**-32
PIECE = 2**18
"""A long contribution is worked on in pieces of so many numbers: shorter ones cost more in calls than they save."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The integers that stand for multiples of `unit`, a power of two.

    clip_norm: None where nothing is clipped (and nothing private).
    """

    unit: float
    clip_norm: float | None

    @classmethod
    def for_round(cls, clip_norm: float | None, largest_cohort: int, dtype: torch.dtype) -> Grid:
        """The finest grid on which sums of largest_cohort contributions stay below 2^53, where doubles are exact.

        Single precision converts through 32-bit integers, hence at most 30 bits.
        """
        if clip_norm is None:
            return cls(UNCLIPPED_UNIT, None)
        bits = min(40, 52 - math.ceil(math.log2(largest_cohort + 1)))
        if bits < 20:
            raise InputError("cohort", largest_cohort, "at most 2^32 clients in a round")
        bits = min(bits, 30) if dtype == torch.float32 else bits
        return cls(2.0 ** (math.ceil(math.log2(clip_norm)) - bits), clip_norm)


@dataclass(frozen=True, slots=True)
class Layers:
    """How a contribution is cut into layers, each clipped to its own share of the clip norm.

    With L layers each has clip_norm / sqrt(L), so that the whole is bounded by clip_norm (McMahan, Ramage, Talwar,
    Zhang 2018, arXiv 1710.06963v3, section 3, per-layer clipping). One layer is flat clipping.
    """

    sizes: tuple[int, ...]

    @property
    def share(self) -> float:
        return 1 / math.sqrt(len(self.sizes))


class ClippedSum:
    """Adds contributions up, block by block. counts: how many have been added; within: how many were not shortened.

    earlier: a sum that is no longer needed; where it has this shape its memory is used again.
    """

    def __init__(
        self,
        blocks: int,
        dimension: int,
        layers: Layers,
        grid: Grid,
        device: torch.device,
        earlier: ClippedSum | None = None,
    ) -> None:
        if dimension > LARGEST_DIMENSION:
            raise InputError("model", dimension, f"at most {LARGEST_DIMENSION} numbers in an update")
        self._total, self._scratch = self._memory(blocks, dimension, device, earlier)
        self.layers = layers if sum(layers.sizes) == dimension else Layers((dimension,))
        self.grid = grid
        self.counts = 0
        self.within = 0
        self._blocks = self._total.unbind(0)
        self._everywhere: dict[int, Tensor] = {}

    @staticmethod
    def _memory(
        blocks: int, dimension: int, device: torch.device, earlier: ClippedSum | None
    ) -> tuple[Tensor, _Scratch]:
        if earlier is not None and earlier._total.shape == (blocks, dimension):
            return earlier._total.zero_(), earlier._scratch
        return torch.zeros(blocks, dimension, dtype=torch.float64, device=device), _Scratch()

    @property
    def total(self) -> Tensor:
        """(blocks, D): the sum so far."""
        while self._everywhere:
            block, row = self._everywhere.popitem()
            self._blocks[block].view(-1, len(row)).add_(row)
        return self._total

    def add(self, contribution: Contribution, block: int) -> None:
        """Add one client's contribution."""
        self.counts += 1
        own = self._blocks[block]
        if isinstance(contribution, SparseRows) and len(self.layers.sizes) == 1:
            self._add_rows(contribution, block)
            return
        pieces = _split(as_vector(contribution, len(own)), self.layers.sizes)
        targets = _split(own, self.layers.sizes)
        for piece, target, factor in zip(pieces, targets, self._factors(map(self._square, pieces)), strict=False):
            for part, added in zip(_in_pieces(piece), _in_pieces(target), strict=True):
                added.add_(self._truncated(part, factor))

    def _add_rows(self, thin: SparseRows, block: int) -> None:
        """The background goes to all rows at once, when the sum is read; to those that are listed their difference from
        it. Partial sums then stay below 2^53 still: `Grid.for_round` leaves a bit for that."""
        numbers, (listed,), below = thin.numbers, thin.rows.shape, None
        matrix = self._blocks[block].view(-1, numbers.shape[1])
        square = self._square(numbers.view(-1))
        if thin.has_background:  # one of the rows that it stands for is in `numbers`
            square += (matrix.shape[0] - listed - 1) * self._square(numbers[-1])
        few = max(1, PIECE // numbers.shape[1])
        for factor in self._factors([square]):
            for first in reversed(range(0, numbers.shape[0], few)):
                part = numbers[first : first + few]
                added = self._truncated(part.view(-1), factor).view(part.shape)
                if thin.has_background and below is None:
                    below = added[-1].clone()
                    self._everywhere[block] = below + self._everywhere.get(block, 0)
                if below is not None:
                    added = added[: listed - first].sub_(below)
                matrix.index_add_(0, thin.rows[first : first + few], added)

    def _factors(self, squares: Iterable[float]) -> list[float]:
        """By what each piece, clipped by itself, is multiplied to be in units of the grid, from its squared norm; none
        where a norm is not finite, and nothing is to be added."""
        scales = [self._scale(math.sqrt(square)) for square in squares]
        if not all(map(math.isfinite, scales)):
            return []
        self.within += all(scale >= 1 for scale in scales)
        return [scale / self.grid.unit for scale in scales]

    def _square(self, piece: Tensor) -> float:
        """The squared norm, in double precision."""
        square = 0.0
        for part in _in_pieces(piece):
            wide = self._scratch.of(part).wide.copy_(part)
            square += float(torch.dot(wide, wide))
        return square

    def _truncated(self, part: Tensor, factor: float) -> Tensor:
        """part times factor, towards zero, as doubles in memory that the next call overwrites. Conversion to integers
        truncates, and is much faster than trunc on a CPU."""
        memory = self._scratch.of(part)
        torch.mul(part, factor, out=memory.scaled)
        if self.grid.clip_norm is None:
            return memory.wide.copy_(memory.scaled).trunc_()
        return memory.wide.copy_(memory.whole.copy_(memory.scaled))

    def alone(self, contribution: Contribution) -> Tensor:
        """(D,): the integers that `add` adds for this contribution."""
        total = ClippedSum(1, self.total.shape[1], self.layers, self.grid, self.total.device)
        total.add(contribution, 0)
        return total.total[0]

    def add_all(self, contributions: Tensor, blocks: npt.NDArray[np.int64]) -> Tensor:
        """Add (c, D) contributions at once, which on a GPU is much faster; returns the integers that were added.

        The same integers as `add` gives wherever both find the same norm to the last bit.
        """
        self.counts += len(contributions)
        sizes = list(self.layers.sizes)
        squares = contributions.to(torch.float64).square()
        norms = torch.stack([piece.sum(1) for piece in torch.split(squares, sizes, dim=1)], dim=1).sqrt_()
        finite = norms.isfinite().all(1)
        scales = torch.ones_like(norms)
        if self.grid.clip_norm is not None:
            bound = self.grid.clip_norm * self.layers.share * SAFETY
            scales = torch.where(norms <= bound, scales, bound / norms)
        self.within += int((finite & (scales >= 1).all(1)).sum())
        factors = (scales / self.grid.unit).to(contributions.dtype)
        pieces = zip(torch.split(contributions, sizes, dim=1), factors.T, strict=True)
        scaled = torch.cat([piece * factor.unsqueeze(1) for piece, factor in pieces], dim=1)
        added = _truncated(torch.where(finite.unsqueeze(1), scaled, scaled.new_zeros(())), self.grid).to(torch.float64)
        if len(self.total) == 1:
            self.total[0] += added.sum(0)
        else:
            self.total.index_add_(0, torch.from_numpy(blocks).to(added.device), added)
        return added

    def _scale(self, norm: float) -> float:
        """By what a piece of this norm is multiplied; NaN where the norm is not finite."""
        if not math.isfinite(norm):
            return math.nan
        if self.grid.clip_norm is None:
            return 1.0
        bound = self.grid.clip_norm * self.layers.share * SAFETY
        return 1.0 if norm <= bound else bound / norm


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Memory for a piece of a contribution: doubles, the contribution's dtype, and integers of that width."""

    wide: Tensor
    scaled: Tensor
    whole: Tensor


class _Scratch:
    """Memory for one piece at a time, and its beginnings of each length that was asked for: slicing them each time
    costs as much as a piece."""

    def __init__(self) -> None:
        self._begins: dict[tuple[int, torch.dtype], _Piece] = {}
        self._longest: _Piece | None = None

    def of(self, piece: Tensor) -> _Piece:
        """Memory of the piece's length and dtype."""
        size, dtype = piece.shape[0], piece.dtype
        found = self._begins.get((size, dtype))
        if found is None:
            longest = self._longest
            if longest is None or longest.wide.shape[0] < size or longest.scaled.dtype != dtype:
                kinds = (torch.float64, dtype, _integer(dtype))
                longest = self._longest = _Piece(*(piece.new_empty(size, dtype=kind) for kind in kinds))
                self._begins.clear()
            found = _Piece(longest.wide[:size], longest.scaled[:size], longest.whole[:size])
            self._begins[size, dtype] = found
        return found


def _split(vector: Tensor, sizes: tuple[int, ...]) -> Sequence[Tensor]:
    return (vector,) if len(sizes) == 1 else vector.split_with_sizes(list(sizes))


def _in_pieces(vector: Tensor) -> Sequence[Tensor]:
    if vector.shape[0] <= PIECE:
        return (vector,)
    sizes = [min(PIECE, len(vector) - first) for first in range(0, len(vector), PIECE)]
    return _split(vector, tuple(sizes))


def _truncated(scaled: Tensor, grid: Grid) -> Tensor:
    """Towards zero. Conversion to integers truncates, and is much faster than trunc on a CPU."""
    return scaled.to(torch.float64).trunc() if grid.clip_norm is None else scaled.to(_integer(scaled.dtype))


def _integer(dtype: torch.dtype) -> torch.dtype:
    return torch.int32 if dtype == torch.float32 else torch.int64
