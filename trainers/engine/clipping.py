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
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...mechanisms import InputError
from .contribution import Contribution, SparseRows, as_vector

SAFETY = 1 - 2.0**-22
LARGEST_DIMENSION = 2**27
UNCLIPPED_UNIT = 2.0**-32
IN_CACHE = 2**16
"""So many doubles stay in a core's own cache while several operations pass over them."""


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

    def add(self, contribution: Contribution, block: int) -> Contribution:
        """Add one client's contribution; returns the integers that were added, in memory that the next one reuses."""
        self.counts += 1
        own = self._blocks[block]
        if isinstance(contribution, SparseRows) and len(self.layers.sizes) == 1:
            thin = replace(contribution, numbers=self._integers(contribution.numbers, (len(contribution.numbers),)))
            self._add_rows(thin, own)
            return thin
        added = self._integers(as_vector(contribution, len(own)), self.layers.sizes)
        for part, target in zip(_in_cache(added), _in_cache(own), strict=True):
            target.add_(part)
        return added

    def _add_rows(self, thin: SparseRows, own: Tensor) -> None:
        """own += thin, a few rows at a time: index_add_ takes doubles only."""
        left = len(own) - len(thin.tail)
        matrix = own[:left].view(-1, thin.width)
        few = max(1, IN_CACHE // thin.width)
        for rows, values in zip(thin.rows.split(few), thin.values.split(few), strict=True):
            matrix.index_add_(0, rows, values.to(torch.float64))
        own[left:].add_(thin.tail)

    def _integers(self, vector: Tensor, sizes: tuple[int, ...]) -> Tensor:
        """The vector, cut into pieces of these sizes that are clipped apart, in units of the grid, towards zero."""
        if self._scratch is None:
            self._scratch = _Scratch.of(self.total.shape[1], vector, self.grid)
        pieces, scratch = _split(vector, sizes), self._scratch
        whole = scratch.whole[: len(vector)]
        scales = [self._scale(scratch.norm(piece)) for piece in pieces]
        if not all(map(math.isfinite, scales)):
            return whole.zero_()
        self.within += all(scale >= 1 for scale in scales)
        for piece, scale, target in zip(pieces, scales, _split(whole, sizes), strict=True):
            scratch.truncate(piece, scale / self.grid.unit, target)
        return whole

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
    """Memory for one contribution at a time: fresh megabytes for each client would cost more than the arithmetic.

    whole: (dimension,) integers of the contributions' width, doubles where nothing is clipped; wide, scaled: so many
    doubles, and numbers of the contributions' dtype, as stay in a core's cache.
    """

    whole: Tensor
    wide: Tensor
    scaled: Tensor

    @classmethod
    def of(cls, dimension: int, like: Tensor, grid: Grid) -> _Scratch:
        whole = torch.float64 if grid.clip_norm is None else _integer(like.dtype)
        size = min(dimension, IN_CACHE)
        return cls(
            like.new_empty(dimension, dtype=whole), like.new_empty(size, dtype=torch.float64), like.new_empty(size)
        )

    def norm(self, piece: Tensor) -> float:
        """The norm, in double precision."""
        square = 0.0
        for part in _in_cache(piece):
            wide = self.wide[: len(part)].copy_(part)
            square += float(torch.dot(wide, wide))
        return math.sqrt(square)

    def truncate(self, piece: Tensor, factor: float, out: Tensor) -> None:
        """out <- piece factor, towards zero. Conversion to integers truncates, and is much faster than trunc on a
        CPU."""
        for part, target in zip(_in_cache(piece), _in_cache(out), strict=True):
            target.copy_(torch.mul(part, factor, out=self.scaled[: len(part)]))
        if out.is_floating_point():
            out.trunc_()


def _split(vector: Tensor, sizes: tuple[int, ...]) -> Sequence[Tensor]:
    return (vector,) if len(sizes) == 1 else vector.split_with_sizes(list(sizes))


def _in_cache(vector: Tensor) -> Sequence[Tensor]:
    return (vector,) if len(vector) <= IN_CACHE else vector.split(IN_CACHE)


def _truncated(scaled: Tensor, grid: Grid) -> Tensor:
    """Towards zero. Conversion to integers truncates, and is much faster than trunc on a CPU."""
    return scaled.to(torch.float64).trunc() if grid.clip_norm is None else scaled.to(_integer(scaled.dtype))


def _integer(dtype: torch.dtype) -> torch.dtype:
    return torch.int32 if dtype == torch.float32 else torch.int64
