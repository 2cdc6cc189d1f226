"""What a client sends: a vector, or a vector most of whose rows are known to be zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """The vector [matrix.flatten(), tail], of whose matrix only `rows` may differ from zero.

    rows: (k,) distinct row numbers; numbers: (k width + t,), those rows one after the other, then the tail, which is
    dense. A client's bags of words touch few words, so its update of a linear model has this form.
    """

    rows: Tensor
    numbers: Tensor
    width: int

    @property
    def values(self) -> Tensor:
        """(k, width): the rows."""
        return self.numbers[: len(self.rows) * self.width].view(len(self.rows), self.width)

    @property
    def tail(self) -> Tensor:
        """(t,): what comes after the matrix."""
        return self.numbers[len(self.rows) * self.width :]

    def dense(self, dimension: int) -> Tensor:
        """The same vector, (dimension,)."""
        vector = self.numbers.new_zeros(dimension)
        left = dimension - len(self.tail)
        vector[:left].view(-1, self.width)[self.rows] = self.values
        vector[left:] = self.tail
        return vector


Contribution: TypeAlias = Tensor | SparseRows


def as_vector(contribution: Contribution, dimension: int) -> Tensor:
    """A contribution as a (dimension,) vector."""
    return contribution if isinstance(contribution, torch.Tensor) else contribution.dense(dimension)
