"""What a client sends: a vector, or a matrix most of whose rows are known to be the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """The vector matrix.flatten(), in whose matrix all rows but `rows` are zero, or one and the same.

    rows: (k,) distinct row numbers; numbers: (k, width), those rows. With a background the last of `numbers` is the row
    that all others are, and the last of `rows` is any row number. A client's bags of words touch few words, so its
    update of a linear model has this form; so has one from pictures that share a margin.
    """

    rows: Tensor
    numbers: Tensor
    background: bool = False

    def write(self, out: Tensor) -> None:
        """The same vector into `out`."""
        matrix, listed = out.view(-1, self.numbers.shape[1]), self.numbers.shape[0] - self.background
        if self.background:
            matrix.copy_(self.numbers[listed])
        else:
            matrix.zero_()
        matrix.index_copy_(0, self.rows[:listed], self.numbers[:listed])

    def add_to(self, out: Tensor) -> None:
        """Add the same vector to `out`."""
        matrix, numbers = out.view(-1, self.numbers.shape[1]), self.numbers
        if self.background:
            numbers, background = numbers[:-1], numbers[-1]
            matrix += background
            numbers = numbers - background
        matrix.index_add_(0, self.rows[: len(numbers)], numbers)

    def dense(self, dimension: int) -> Tensor:
        """The same vector, (dimension,)."""
        vector = self.numbers.new_empty(dimension)
        self.write(vector)
        return vector


Contribution: TypeAlias = Tensor | SparseRows


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The (c, d) vectors minus others, (d,) or (c, d), as contributions: each is made when its turn comes, in memory
    that the next one overwrites and that caches hold."""

    vectors: Tensor
    others: Tensor

    def __iter__(self) -> Iterator[Tensor]:
        buffer = self.vectors.new_empty(self.vectors.shape[1])
        for vector, other in zip(self.vectors, self.others.expand_as(self.vectors), strict=True):
            yield torch.sub(vector, other, out=buffer)

    def together(self) -> Tensor:
        """All of them, (c, d), in new memory."""
        return self.vectors - self.others


def as_vector(contribution: Contribution, dimension: int) -> Tensor:
    """A contribution as a (dimension,) vector."""
    return contribution if isinstance(contribution, torch.Tensor) else contribution.dense(dimension)
