"""Bounding what one client contributes, on an integer grid, so that sums are exact in every order.

A contribution x becomes integers y = trunc(x s) with s = min(1, clip_norm (1 - 2^-22) / ||x||) / unit. Then
unit ||y|| <= clip_norm holds exactly, not up to rounding: truncation enlarges no coordinate; the norm, taken in
double precision over at most 2^27 coordinates, errs by less than 2^-25 relative (2^27 + 4 roundings of 2^-53), the
scale and the products in single precision by at most 2^-24 each; together less than 2^-22.
So the grid adds nothing to the sensitivity. A contribution that is not finite counts as zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ...mechanisms import InputError

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
    """Adds contributions up, block by block. counts: how many have been added; within: how many were not shortened."""

    def __init__(self, blocks: int, dimension: int, layers: Layers, grid: Grid, device: torch.device) -> None:
        if dimension > LARGEST_DIMENSION:
            raise InputError("model", dimension, f"at most {LARGEST_DIMENSION} numbers in an update")
        self.total = torch.zeros(blocks, dimension, dtype=torch.float64, device=device)
        self.layers = layers if sum(layers.sizes) == dimension else Layers((dimension,))
        self.grid = grid
        self.counts = 0
        self.within = 0

    def add(self, contribution: Tensor, block: int) -> Tensor:
        """Add one client's (dimension,) contribution; returns the integers that were added."""
        wide = contribution.to(torch.float64)
        pieces = torch.split(wide, list(self.layers.sizes))
        norms = [math.sqrt(float(torch.dot(piece, piece))) for piece in pieces]
        integers = torch.zeros_like(wide)
        self.counts += 1
        if all(math.isfinite(norm) for norm in norms):
            scales = [self._scale(norm) for norm in norms]
            self.within += all(scale >= 1 for scale in scales)
            targets, sources = (torch.split(vector, list(self.layers.sizes)) for vector in (integers, contribution))
            for target, piece, scale in zip(targets, sources, scales, strict=True):
                target.copy_(_truncated(piece * (scale / self.grid.unit), self.grid))
        self.total[block].add_(integers)
        return integers

    def _scale(self, norm: float) -> float:
        if self.grid.clip_norm is None:
            return 1.0
        bound = self.grid.clip_norm * self.layers.share * SAFETY
        return 1.0 if norm <= bound else bound / norm


def _truncated(scaled: Tensor, grid: Grid) -> Tensor:
    """Towards zero. Conversion to integers truncates, and is much faster than trunc on a CPU."""
    if grid.clip_norm is None:
        return scaled.to(torch.float64).trunc()
    return scaled.to(torch.int32 if scaled.dtype == torch.float32 else torch.int64)
