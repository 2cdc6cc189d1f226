"""Memory for contributions on their way to the integer grid, allocated once, and for rows of several that wait."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Memory for so many numbers: doubles, the contribution's dtype, and integers of that width."""

    wide: Tensor
    scaled: Tensor
    whole: Tensor

    def truncated(self, bounded: bool) -> Tensor:
        """What `scaled` holds, towards zero, in `wide`. Conversion to integers truncates, and is faster than trunc on a
        CPU; what is not bounded may not fit into them."""
        return self.wide.copy_(self.whole.copy_(self.scaled)) if bounded else self.wide.copy_(self.scaled).trunc_()


class Scratch:
    """One memory, and its beginnings of each length that was asked for: slicing it anew costs as much as the work."""

    def __init__(self) -> None:
        self._begins: dict[tuple[int, torch.dtype], Piece] = {}
        self._longest: Piece | None = None

    def of(self, size: int, like: Tensor) -> Piece:
        """The first `size` numbers; what a shorter piece holds stays, unless more is asked for than ever before."""
        found = self._begins.get((size, like.dtype))
        if found is None:
            longest = self._longest
            if longest is None or longest.wide.shape[0] < size or longest.scaled.dtype != like.dtype:
                kinds = (torch.float64, like.dtype, integers_of(like.dtype))
                longest = self._longest = Piece(*(like.new_empty(size, dtype=kind) for kind in kinds))
                self._begins.clear()
            found = Piece(longest.wide[:size], longest.scaled[:size], longest.whole[:size])
            self._begins[size, like.dtype] = found
        return found


def integers_of(dtype: torch.dtype) -> torch.dtype:
    """The integers of a float's width."""
    return torch.int32 if dtype == torch.float32 else torch.int64


class RowQueue:
    """Holds up to `size` numbers, already in units of the grid. What is done to them together is elementwise and exact,
    so that a client's integers do not depend on whom it waited with."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._scratch = Scratch()
        self._used = 0
        self._rows: list[Tensor] = []
        self._margins: list[tuple[int, int]] = []

    def takes(self, length: int) -> bool:
        """Whether there is room for so many numbers."""
        return self._used + length <= self._size

    def put(self, rows: Tensor, numbers: Tensor, width: int, length: int, factor: float, *, background: bool) -> None:
        """Wait with numbers times factor, of this length, for these rows of this width: see SparseRows."""
        begin = self._used
        self._used = begin + length
        waiting = self._scratch.of(max(self._size, self._used), numbers).scaled
        torch.mul(numbers, factor, out=waiting[begin : self._used])
        self._rows.append(rows)
        if background:
            self._margins.append((begin // width, self._used // width))

    def settle(self, matrix: Tensor, like: Tensor, bounded: bool) -> None:
        """Add what waits, numbers like these, to the matrix. bounded: see scratch.Piece.truncated.

        A background goes to all rows, to those that are listed their difference from it, so that its own row in the
        list adds nothing. Partial sums then stay below 2^53 still: clipping.Grid leaves a bit for that.
        """
        added = self._scratch.of(self._used, like).truncated(bounded).view(-1, matrix.shape[1])
        if self._margins:
            everywhere = added.new_zeros(matrix.shape[1])
            for begin, end in self._margins:
                background = added[end - 1].clone()
                everywhere += background
                added[begin:end].sub_(background)
            matrix += everywhere
        matrix.index_add_(0, torch.cat(self._rows), added)
        self._used = 0
        self._rows.clear()
        self._margins.clear()
