"""What a client sends: a vector, or a vector most of whose rows are known to be zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """The vector [matrix.flatten(), tail], of whose matrix only `rows` may differ from zero.

    rows: (k,) distinct row numbers; values: (k, width); tail: (t,), dense. A client's bag of words touches few words,
    so its update of a linear model has this form.
    """

    rows: Tensor
    values: Tensor
    tail: Tensor

    def dense(self, dimension: int) -> Tensor:
        """The same vector, (dimension,)."""
        width = self.values.shape[1]
        vector = self.values.new_zeros(dimension)
        matrix = vector[: dimension - len(self.tail)].view(-1, width)
        matrix[self.rows] = self.values
        vector[dimension - len(self.tail) :] = self.tail
        return vector

    def like(self, numbers: Tensor) -> SparseRows:
        """The same rows with other numbers, (k width + t,): the values, then the tail."""
        size = self.values.numel()
        return SparseRows(self.rows, numbers[:size].view(self.values.shape), numbers[size:])

    def parts(self) -> tuple[Tensor, Tensor]:
        """What may differ from zero."""
        return self.values, self.tail


Contribution: TypeAlias = Tensor | SparseRows


def as_vector(contribution: Contribution, dimension: int) -> Tensor:
    """A contribution as a (dimension,) vector."""
    return contribution if isinstance(contribution, torch.Tensor) else contribution.dense(dimension)
