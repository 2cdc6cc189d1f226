"""Rows that wait to be put on the grid and added to a matrix, those of several clients at once."""

from __future__ import annotations

import torch
from torch import Tensor

from .scratch import Scratch


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
