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
        self._shifts: list[tuple[int, int, Tensor]] = []

    def takes(self, numbers: Tensor) -> bool:
        """Whether there is room for these."""
        return self._used + numbers.numel() <= self._size

    def put(self, rows: Tensor, numbers: Tensor, factor: float, background: Tensor | None) -> None:
        """Wait with numbers times factor, (k, width), for these rows (k,). background: (width,) integers to be taken
        off each of them, once they are truncated."""
        begin, width = self._used, numbers.shape[1]
        self._used += numbers.numel()
        waiting = self._scratch.of(max(self._size, self._used), numbers).scaled
        torch.mul(numbers.view(-1), factor, out=waiting[begin : self._used])
        self._rows.append(rows)
        if background is not None:
            self._shifts.append((begin // width, self._used // width, background))

    def settle(self, matrix: Tensor, like: Tensor, bounded: bool) -> None:
        """Add what waits, numbers like these, to the matrix. bounded: see scratch.Piece.truncated."""
        added = self._scratch.of(self._used, like).truncated(bounded).view(-1, matrix.shape[1])
        for begin, end, background in self._shifts:
            added[begin:end].sub_(background)
        matrix.index_add_(0, torch.cat(self._rows), added)
        self._used = 0
        self._rows.clear()
        self._shifts.clear()
