"""What a client sends: a vector, or a matrix most of whose rows are known to be the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """The vector matrix.flatten(), in whose matrix all rows but `rows` are `background`.

    rows: (k,) distinct row numbers; numbers: (k, width), those rows; background: (width,), None for zeros.
    A client's bags of words touch few words, so its update of a linear model has this form; so has one from pictures
    that share a margin.
    """

    rows: Tensor
    numbers: Tensor
    background: Tensor | None = None

    def write(self, out: Tensor) -> None:
        """The same vector into `out`."""
        matrix = out.view(-1, self.numbers.shape[1])
        if self.background is None:
            matrix.zero_()
        else:
            matrix.copy_(self.background)
        matrix.index_copy_(0, self.rows, self.numbers)

    def dense(self, dimension: int) -> Tensor:
        """The same vector, (dimension,)."""
        vector = self.numbers.new_empty(dimension)
        self.write(vector)
        return vector


Contribution: TypeAlias = Tensor | SparseRows


def as_vector(contribution: Contribution, dimension: int) -> Tensor:
    """A contribution as a (dimension,) vector."""
    return contribution if isinstance(contribution, torch.Tensor) else contribution.dense(dimension)
