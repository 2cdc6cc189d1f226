"""Correlated Gaussian noise over the rounds: the matrix mechanism of private training (MF-DP-FTRL, BandMF, BLT).

What is released is a function of C x + z: x has one row a round (the clipped sum), C is a lower triangular encoder,
z is Gaussian with standard deviation noise_multiplier * clip_norm. With C lower triangular the cost is that of one
Gaussian release, adaptively chosen rows included (Denisov et al. 2022, arXiv 2202.08312, Theorem 2.1).
A unit contributes at most max_participations rows, at least min_separation rounds apart (1: every round), at times
that do not depend on the data. Contributions are vectors of norm at most 1 in units of clip_norm, so

    squared sensitivity = max over allowed sets of rounds, over such vectors, of sum_ij <C_i, C_j> <x_i, x_j>.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from .base import Mechanism
from .correlated import CorrelatedGaussian
from .validate import InputError, count, listed, nonnegative, number, positive


def _numbers(name: str, values: Iterable[float], one: Callable[[str, float], float]) -> tuple[float, ...]:
    """The values as a tuple of floats, each checked by `one`; InputError for an empty or shapeless value."""
    items = tuple(one(f"{name}[{index}]", item) for index, item in enumerate(listed(name, values)))
    if not items:
        raise InputError(name, items, "at least one number")
    return items


def _settle(mechanism: Mechanism, *counts: str) -> None:
    """Validates the noise multiplier and the counts of a frozen description."""
    checks = {"noise_multiplier": positive} | dict.fromkeys((*counts, "min_separation", "max_participations"), count)
    for name, check in checks.items():
        object.__setattr__(mechanism, name, check(name, getattr(mechanism, name)))


@dataclass(frozen=True, slots=True)
class MatrixFactorisation(CorrelatedGaussian):
    """Any lower triangular encoder, row by row.

    encoder: rows of the matrix C, shape (rounds, rounds), zero above the diagonal.

    >>> MatrixFactorisation(2.0, encoder=((1.0, 0.0), (0.5, 1.0))).encoder[1]
    (0.5, 1.0)
    """

    noise_multiplier: float
    encoder: tuple[tuple[float, ...], ...]
    min_separation: int = 1
    max_participations: int = 1

    def __post_init__(self) -> None:
        _settle(self)
        rows = tuple(
            _numbers(f"encoder[{index}]", row, number) for index, row in enumerate(listed("encoder", self.encoder))
        )
        if not rows or any(len(row) != len(rows) for row in rows):
            raise InputError("encoder", [len(row) for row in rows][:8], "a square matrix, as a sequence of rows")
        if any(value != 0 for index, row in enumerate(rows) for value in row[index + 1 :]):
            raise InputError("encoder", "an entry above the diagonal", "a lower triangular matrix")
        object.__setattr__(self, "encoder", rows)

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

    noise_multiplier: float
    coefficients: tuple[float, ...]
    rounds: int
    min_separation: int = 1
    max_participations: int = 1

    def __post_init__(self) -> None:
        _settle(self, "rounds")
        column = _numbers("coefficients", self.coefficients, nonnegative)
        object.__setattr__(self, "coefficients", column)
        if len(column) > self.rounds:
            raise InputError("coefficients", f"{len(column)} numbers", f"at most one a round, {self.rounds}")
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

    noise_multiplier: float
    column_norms: tuple[float, ...]
    bands: int
    min_separation: int = 1
    max_participations: int = 1

    def __post_init__(self) -> None:
        _settle(self, "bands")
        object.__setattr__(self, "column_norms", _numbers("column_norms", self.column_norms, nonnegative))
        if self.bands > self.min_separation:
            raise InputError("bands", self.bands, f"at most min_separation, {self.min_separation}")

    @property
    def rounds(self) -> int:
        """One a column."""
        return len(self.column_norms)

    def squared_sensitivity(self) -> tuple[float, float]:
        """(attained, bound): the squared sensitivity, rounded down and up."""
        from .matrix_sensitivity import banded

        return banded(self.column_norms, self.min_separation, self.max_participations)
