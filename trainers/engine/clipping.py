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
        self._scratch: _Scratch | None = None

    def add(self, contribution: Contribution, block: int) -> Contribution:
        """Add one client's contribution; returns the integers that were added, in memory that the next one reuses."""
        self.counts += 1
        if isinstance(contribution, SparseRows) and len(self.layers.sizes) == 1:
            return self._add_sparse(contribution, block)
        vector = as_vector(contribution, self.total.shape[1])
        if self._scratch is None:
            self._scratch = _Scratch(vector)
        single = len(self.layers.sizes) == 1
        pieces = [vector] if single else torch.split(vector, list(self.layers.sizes))
        scales = [self._scale(norm) for norm in self._scratch.norms(vector, self.layers.sizes)]
        if not all(math.isfinite(scale) for scale in scales):
            return self._scratch.nothing()
        self.within += all(scale >= 1 for scale in scales)
        added = self._scratch.integers(pieces, [scale / self.grid.unit for scale in scales], self.grid)
        self.total[block].add_(added)
        return added

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

    def _add_sparse(self, contribution: SparseRows, block: int) -> SparseRows:
        scale = self._scale(math.hypot(*(_norm(piece.to(torch.float64)) for piece in contribution.parts())))
        if not math.isfinite(scale):
            zeros = [torch.zeros_like(part, dtype=torch.float64) for part in contribution.parts()]
            return SparseRows(contribution.rows, *zeros)
        self.within += scale >= 1
        factor = scale / self.grid.unit
        values, tail = (_truncated(part * factor, self.grid).to(torch.float64) for part in contribution.parts())
        own = self.total[block]
        own[: len(own) - len(tail)].view(-1, values.shape[1]).index_add_(0, contribution.rows, values)
        own[len(own) - len(tail) :].add_(tail)
        return SparseRows(contribution.rows, values, tail)

    def _scale(self, norm: float) -> float:
        """By what a piece of this norm is multiplied; NaN where the norm is not finite."""
        if not math.isfinite(norm):
            return math.nan
        if self.grid.clip_norm is None:
            return 1.0
        bound = self.grid.clip_norm * self.layers.share * SAFETY
        return 1.0 if norm <= bound else bound / norm


class _Scratch:
    """Memory for one contribution at a time: fresh megabytes for each client would cost more than the arithmetic."""

    def __init__(self, like: Tensor) -> None:
        self._wide = torch.empty(like.shape, dtype=torch.float64, device=like.device)
        self._scaled = torch.empty_like(like, memory_format=torch.contiguous_format)

    def norms(self, vector: Tensor, sizes: tuple[int, ...]) -> list[float]:
        """The norm of each piece, in double precision."""
        self._wide.copy_(vector)
        return [_norm(piece) for piece in torch.split(self._wide, list(sizes))]

    def integers(self, pieces: Sequence[Tensor], factors: list[float], grid: Grid) -> Tensor:
        """The pieces, each times its factor, towards zero, as doubles."""
        scaled = torch.split(self._scaled, [len(piece) for piece in pieces])
        for piece, factor, target in zip(pieces, factors, scaled, strict=True):
            torch.mul(piece, factor, out=target)
        return self._wide.copy_(_truncated(self._scaled, grid))

    def nothing(self) -> Tensor:
        """Zeros."""
        return self._wide.zero_()


def _norm(wide: Tensor) -> float:
    flat = wide.flatten()
    return math.sqrt(float(torch.dot(flat, flat)))


def _truncated(scaled: Tensor, grid: Grid) -> Tensor:
    """Towards zero. Conversion to integers truncates, and is much faster than trunc on a CPU."""
    if grid.clip_norm is None:
        return scaled.to(torch.float64).trunc()
    return scaled.to(torch.int32 if scaled.dtype == torch.float32 else torch.int64)
