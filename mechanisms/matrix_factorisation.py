"""Correlated Gaussian noise over the rounds: the matrix mechanism of private training (MF-DP-FTRL, BandMF, BLT).

What is released is a function of C x + z: x has one row a round (the clipped sum), C is a lower triangular encoder,
z is Gaussian with standard deviation noise_multiplier * clip_norm. With C lower triangular the cost is that of one
Gaussian release, adaptively chosen rows included (Denisov et al. 2022, arXiv 2202.08312, Theorem 2.1).
A unit contributes at most max_participations rows, at least min_separation rounds apart (1: every round), at times
that do not depend on the data. Contributions are vectors of norm at most 1 in units of clip_norm, so

    squared sensitivity = max over allowed sets of rounds, over such vectors, of sum_ij <C_i, C_j> <x_i, x_j>.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from .base import Mechanism
from .correlated import CorrelatedGaussian, MaxParticipations, MinSeparation, NodeNoise, RoundsTogether
from .quantity import Check, Quantity
from .validate import InputError, count, listed, nonnegative, number

_SOME = "a list of numbers, not empty"


def _numbers(name: str, values: Any, one: Check = nonnegative) -> tuple[float, ...]:
    """The values as a tuple of floats, each checked by `one`; InputError for an empty or shapeless value."""
    items = listed(name, values, _SOME)
    if not items:
        raise InputError(name, items, _SOME)
    return tuple(one(f"{name}[{index}]", item) for index, item in enumerate(items))


def _lower_triangular(name: str, values: Any) -> tuple[tuple[float, ...], ...]:
    rows = tuple(_numbers(f"{name}[{index}]", row, number) for index, row in enumerate(listed(name, values)))
    if not rows or any(len(row) != len(rows) for row in rows):
        raise InputError(name, [len(row) for row in rows][:8], "a square matrix, as a sequence of rows")
    if any(value != 0 for index, row in enumerate(rows) for value in row[index + 1 :]):
        raise InputError(name, "an entry above the diagonal", "a lower triangular matrix")
    return rows


Coefficients = Annotated[tuple[float, ...], Quantity(_numbers, "first column of the Toeplitz encoder")]
ColumnNorms = Annotated[tuple[float, ...], Quantity(_numbers, "column norms of the encoder: one per round, or one")]
Bands = Annotated[int, Quantity(count, "number of bands of the encoder, at most min_separation")]


@dataclass(frozen=True, slots=True)
class MatrixFactorisation(CorrelatedGaussian):
    """Any lower triangular encoder, row by row.

    encoder: rows of the matrix C, shape (rounds, rounds), zero above the diagonal.

    >>> MatrixFactorisation(2.0, encoder=((1.0, 0.0), (0.5, 1.0))).encoder[1]
    (0.5, 1.0)
    """

    noise_multiplier: NodeNoise
    encoder: Annotated[tuple[tuple[float, ...], ...], Quantity(_lower_triangular, "rows of the encoder")]
    min_separation: MinSeparation = 1
    max_participations: MaxParticipations = 1

    @property
    def rounds(self) -> int:
        """One a row."""
        return len(self.encoder)

    def squared_sensitivity(self) -> tuple[float, float]:
        """(attained, bound): the squared sensitivity is at least the first and at most the second.

        Attained: by equal contributions in some allowed set of rounds. Bound: two maximisations, of each row of
        absolute inner products and of their sum; what is attained where columns at min_separation do not overlap.
        """
        from .matrix_sensitivity import general

        return general(self.encoder, self.min_separation, self.max_participations)


@dataclass(frozen=True, slots=True)
class ToeplitzFactorisation(CorrelatedGaussian):
    """A Toeplitz encoder: coefficients are its first column, followed by zeros (banded Toeplitz, BLT).

    Non-negative and non-increasing, as optimal ones are (at most min_separation of them need not be non-increasing).

    coefficients: first entries of the first column of C, at most one per round, each at least 0.

    >>> ToeplitzFactorisation(2.0, coefficients=(1.0, 0.5), rounds=4).coefficients
    (1.0, 0.5)
    """

    noise_multiplier: NodeNoise
    coefficients: Coefficients
    rounds: RoundsTogether
    min_separation: MinSeparation = 1
    max_participations: MaxParticipations = 1

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        column = self.coefficients
        if not any(column):
            raise InputError("coefficients", column[:4], "one above 0: this releases nothing")
        if len(column) > self.rounds:
            raise InputError("coefficients", f"{len(column)} numbers", f"at most {self.rounds}, one per round")
        if len(column) > self.min_separation and any(later > earlier for earlier, later in pairwise(column)):
            raise InputError("coefficients", column[:4], "non-increasing numbers; MatrixFactorisation takes others")

    def squared_sensitivity(self) -> tuple[float, float]:
        """(attained, bound): the squared sensitivity, rounded down and up.

        <C_i, C_j> = sum_s c_s c_{s + j - i} over s < rounds - j, for i <= j, decreases in j and, for non-increasing c,
        in j - i; so rounds 0, b, 2b, ... are the worst (docs/theory/correlated_noise.md). Bands that do not overlap
        have products of 0, and the same holds.
        """
        from .matrix_sensitivity import toeplitz

        return toeplitz(self.coefficients, self.rounds, self.min_separation, self.max_participations)


@dataclass(frozen=True, slots=True)
class BandedFactorisation(CorrelatedGaussian):
    """A banded encoder of which the column norms are known, with no more bands than min_separation.

    Then no two of a unit's participations overlap, and nothing else of the encoder matters.
    (Choquette-Choo et al. 2023, arXiv 2306.08153, Theorem 2.)

    column_norms: Euclidean norm of each column of C, one per round. bands: number of bands, from 1 to min_separation.

    >>> BandedFactorisation(2.0, column_norms=(1.0,) * 6, bands=2, min_separation=2, max_participations=3).bands
    2
    """

    noise_multiplier: NodeNoise
    column_norms: ColumnNorms
    bands: Bands
    min_separation: MinSeparation = 1
    max_participations: MaxParticipations = 1

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.bands > self.min_separation:
            raise InputError("bands", self.bands, f"at most min_separation, {self.min_separation}")
        if not any(self.column_norms):
            raise InputError("column_norms", self.column_norms[:4], "one above 0: this releases nothing")

    @property
    def rounds(self) -> int:
        """One a column."""
        return len(self.column_norms)

    def squared_sensitivity(self) -> tuple[float, float]:
        """(attained, bound): the squared sensitivity, rounded down and up."""
        from .matrix_sensitivity import banded

        return banded(self.column_norms, self.min_separation, self.max_participations)
