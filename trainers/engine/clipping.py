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
from .scratch import RowQueue, Scratch, integers_of

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
        if earlier is not None and earlier._total.shape == (blocks, dimension):
            self._total: Tensor = earlier._total.zero_()
            self._scratch: Scratch = earlier._scratch
            self._queue: RowQueue = earlier._queue
        else:
            self._total = torch.zeros(blocks, dimension, dtype=torch.float64, device=device)
            self._scratch, self._queue = Scratch(), RowQueue(min(PIECE, dimension))
        self.layers = layers if sum(layers.sizes) == dimension else Layers((dimension,))
        self.grid = grid
        self.counts = 0
        self.within: int | Tensor = 0
        self._blocks = self._total.unbind(0)
        self._waiting: tuple[int, Tensor] | None = None

    @property
    def dimension(self) -> int:
        """D."""
        return self._total.shape[1]

    @property
    def total(self) -> Tensor:
        """(blocks, D): the sum so far."""
        self._settle()
        return self._total

    def add(self, contribution: Contribution, block: int) -> None:
        """Add one client's contribution."""
        self.counts += 1
        own = self._blocks[block]
        if isinstance(contribution, SparseRows) and len(self.layers.sizes) == 1 and _fits(contribution):
            self._add_rows(contribution, block)
            return
        pieces = _split(as_vector(contribution, len(own)), self.layers.sizes)
        targets = _split(own, self.layers.sizes)
        for piece, target, factor in zip(pieces, targets, self._factors(map(self._square, pieces)), strict=False):
            for part, added in zip(_in_pieces(piece), _in_pieces(target), strict=True):
                added.add_(self._truncated(part, factor))

    def _add_rows(self, thin: SparseRows, block: int) -> None:
        """Note what is to be added: short ones wait for others, with which they are added at once."""
        numbers, (listed, width) = thin.numbers, thin.numbers.shape
        flat = numbers.view(-1)
        square = self._square(flat)
        if thin.background:  # one of the rows that it stands for is in `numbers`, of which `wide` has the doubles
            last = self._scratch.of(flat.shape[0], flat).wide[-width:]
            square += (self._blocks[block].shape[0] // width - listed) * float(torch.dot(last, last))
        few = max(1, PIECE // width)
        for factor in self._factors([square]):
            for first in range(0, listed, few):
                part, rows = numbers, thin.rows
                if few < listed:
                    part, rows = numbers[first : first + few], rows[first : first + few]
                length = part.shape[0] * width
                if self._waiting is not None and (self._waiting[0] != block or not self._queue.takes(length)):
                    self._settle()
                self._queue.put(rows, part.view(-1), width, length, factor, background=thin.background)
                self._waiting = block, numbers

    def _settle(self) -> None:
        """Add the rows that wait."""
        if self._waiting is not None:
            block, numbers = self._waiting
            matrix = self._blocks[block].view(-1, numbers.shape[1])
            self._queue.settle(matrix, numbers, bounded=self.grid.clip_norm is not None)
            self._waiting = None

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
            wide = self._scratch.of(part.shape[0], part).wide.copy_(part)
            square += float(torch.dot(wide, wide))
        return square

    def _truncated(self, part: Tensor, factor: float) -> Tensor:
        """part times factor, towards zero, as doubles in memory that the next call overwrites."""
        memory = self._scratch.of(part.shape[0], part)
        torch.mul(part, factor, out=memory.scaled)
        return memory.truncated(self.grid.clip_norm is not None)

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
        self.within = self.within + (finite & (scales >= 1).all(1)).sum()  # on the device: nobody waits for it
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


def _fits(thin: SparseRows) -> bool:
    """Whether a background is in one piece with the rows that it is taken off."""
    return not thin.background or thin.numbers.numel() <= PIECE


def _split(vector: Tensor, sizes: tuple[int, ...]) -> Sequence[Tensor]:
    return (vector,) if len(sizes) == 1 else vector.split_with_sizes(list(sizes))


def _in_pieces(vector: Tensor) -> Sequence[Tensor]:
    if vector.shape[0] <= PIECE:
        return (vector,)
    sizes = [min(PIECE, len(vector) - first) for first in range(0, len(vector), PIECE)]
    return _split(vector, tuple(sizes))


def _truncated(scaled: Tensor, grid: Grid) -> Tensor:
    """Towards zero. Conversion to integers truncates, and is much faster than trunc on a CPU."""
    return scaled.to(torch.float64).trunc() if grid.clip_norm is None else scaled.to(integers_of(scaled.dtype))
