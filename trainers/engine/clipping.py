"""Bounding what one client contributes, on an integer grid, so that sums are exact in every order.

A contribution x becomes integers y = trunc(x s) with s = min(1, clip_norm (1 - 2^-22) / ||x||) / unit. Then
unit ||y|| <= clip_norm holds exactly, not up to rounding: truncation enlarges no coordinate; the norm, taken in
double precision over at most 2^27 coordinates, errs by less than 2^-25 relative (2^27 + 4 roundings of 2^-53), the
scale and the products in single precision by at most 2^-24 each; together less than 2^-22.
So the grid adds nothing to the sensitivity. A contribution that is not finite counts as zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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

    memory: an earlier sum of this shape, to be overwritten.
    """

    def __init__(
        self,
        blocks: int,
        dimension: int,
        layers: Layers,
        grid: Grid,
        device: torch.device,
        memory: Tensor | None = None,
    ) -> None:
        if dimension > LARGEST_DIMENSION:
            raise InputError("model", dimension, f"at most {LARGEST_DIMENSION} numbers in an update")
        if memory is not None and memory.shape == (blocks, dimension):
            self.total = memory.zero_()
        else:
            self.total = torch.zeros(blocks, dimension, dtype=torch.float64, device=device)
        self.layers = layers if sum(layers.sizes) == dimension else Layers((dimension,))
        self.grid = grid
        self.counts = 0
        self.within = 0
        self._blocks = self.total.unbind(0)
        self._scratch: _Scratch | None = None

    def add(self, contribution: Contribution, block: int) -> None:
        """Add one client's contribution."""
        self.counts += 1
        own = self._blocks[block]
        if isinstance(contribution, SparseRows) and len(self.layers.sizes) == 1:
            self._add_rows(contribution, own)
            return
        pieces = _split(as_vector(contribution, len(own)), self.layers.sizes)
        targets = _split(own, self.layers.sizes)
        for piece, target, factor in zip(pieces, targets, self._factors(pieces), strict=False):
            for part, added in zip(_in_pieces(piece), _in_pieces(target), strict=True):
                added.add_(self._memory(part).truncated(part, factor))

    def _add_rows(self, thin: SparseRows, own: Tensor) -> None:
        """own += thin, a few rows at a time."""
        width, left = thin.width, len(own) - len(thin.tail)
        matrix, few = own[:left].view(-1, width), max(1, PIECE // width)
        for factor in self._factors([thin.numbers]):
            for first in range(0, len(thin.rows), few):
                rows = thin.rows[first : first + few]
                part = thin.numbers[first * width : (first + len(rows)) * width]
                matrix.index_add_(0, rows, self._memory(part).truncated(part, factor).view(-1, width))
            own[left:].add_(self._memory(thin.tail).truncated(thin.tail, factor))

    def _factors(self, pieces: Sequence[Tensor]) -> list[float]:
        """By what each piece, clipped by itself, is multiplied to be in units of the grid; none where a norm is not
        finite, and nothing is to be added."""
        scales = [self._scale(self._norm(piece)) for piece in pieces]
        if not all(map(math.isfinite, scales)):
            return []
        self.within += all(scale >= 1 for scale in scales)
        return [scale / self.grid.unit for scale in scales]

    def _norm(self, piece: Tensor) -> float:
        """The norm, in double precision."""
        square = 0.0
        for part in _in_pieces(piece):
            wide = self._memory(part).wide[: len(part)].copy_(part)
            square += float(torch.dot(wide, wide))
        return math.sqrt(square)

    def _memory(self, part: Tensor) -> _Scratch:
        if self._scratch is None or len(self._scratch.wide) < len(part):
            self._scratch = _Scratch.of(min(self.total.shape[1], max(PIECE, len(part))), part, self.grid)
        return self._scratch

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
class _Scratch:
    """Memory for a piece of a contribution.

    wide: doubles; scaled: the contributions' dtype; whole: integers of that width, None where nothing is clipped.
    """

    wide: Tensor
    scaled: Tensor
    whole: Tensor | None

    @classmethod
    def of(cls, size: int, like: Tensor, grid: Grid) -> _Scratch:
        whole = None if grid.clip_norm is None else like.new_empty(size, dtype=_integer(like.dtype))
        return cls(like.new_empty(size, dtype=torch.float64), like.new_empty(size), whole)

    def truncated(self, part: Tensor, factor: float) -> Tensor:
        """part times factor, towards zero, as doubles. Conversion to integers truncates, and is much faster than trunc
        on a CPU."""
        size = len(part)
        scaled = torch.mul(part, factor, out=self.scaled[:size])
        if self.whole is None:
            return self.wide[:size].copy_(scaled).trunc_()
        return self.wide[:size].copy_(self.whole[:size].copy_(scaled))


def _split(vector: Tensor, sizes: tuple[int, ...]) -> Sequence[Tensor]:
    return (vector,) if len(sizes) == 1 else vector.split_with_sizes(list(sizes))


def _in_pieces(vector: Tensor) -> Sequence[Tensor]:
    sizes = [min(PIECE, len(vector) - first) for first in range(0, len(vector), PIECE)]
    return _split(vector, tuple(sizes))


def _truncated(scaled: Tensor, grid: Grid) -> Tensor:
    """Towards zero. Conversion to integers truncates, and is much faster than trunc on a CPU."""
    return scaled.to(torch.float64).trunc() if grid.clip_norm is None else scaled.to(_integer(scaled.dtype))


def _integer(dtype: torch.dtype) -> torch.dtype:
    return torch.int32 if dtype == torch.float32 else torch.int64
