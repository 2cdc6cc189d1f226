"""Memory for pieces of contributions on their way to the integer grid, allocated once."""

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
