"""What units report of themselves, and reports in random order: samplers of the local randomisers, and their faults.

The dataset is one unit's value (a category, or a number in [-1, 1]); of shuffled reports, all units' values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from dpcert.accounting import delta
from dpcert.mechanisms import RandomizedResponse, ShuffledReports
from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import approximate_dp

from .case import Batched, Planted


def categories(flip: float, count: int) -> Batched:
    """The value, or with probability flip another one, uniformly."""

    def mechanism(value: int, rng: Generator, size: int) -> Floats:
        other = (value + rng.integers(1, count, size)) % count
        return np.where(rng.random(size) < flip, other, value).astype(float)

    return mechanism


def unary(keep: float, false: float, count: int) -> Batched:
    """One bit a category (Wang, Blocki, Li, Jha 2017, Section 4.2)."""

    def mechanism(value: int, rng: Generator, size: int) -> Floats:
        chance = np.full(count, false)
        chance[value] = keep
        return (rng.random((size, count)) < chance).astype(float)

    return mechanism


def hadamard(epsilon: float, order: int) -> Batched:
    """A codeword of the value's half with probability e^eps / (e^eps + 1) (Acharya, Sun, Zhang 2019, arXiv 1802.04705,
    Section 4); value v has the codewords x with an even number of ones in x & (v + 1)."""

    def mechanism(value: int, rng: Generator, size: int) -> Floats:
        words = np.arange(order)
        even = np.array([(int(word) & (value + 1)).bit_count() % 2 == 0 for word in words])
        chance = np.where(even, math.exp(epsilon), 1.0)
        return rng.choice(order, size, p=chance / chance.sum()).astype(float)

    return mechanism


def local_hash(epsilon: float, buckets: int) -> Batched:
    """A hash function of the unit's own, told, and the bucket by randomized response (Wang et al. 2017, 4.3)."""
    odds = math.exp(epsilon)

    def mechanism(value: int, rng: Generator, size: int) -> Floats:
        hashed = rng.integers(0, buckets, (size, 2))  # where the two categories 0 and 1 go
        bucket = hashed[:, value]
        other = (bucket + rng.integers(1, buckets, size)) % buckets
        kept = rng.random(size) < odds / (odds + buckets - 1)
        return np.column_stack([hashed, np.where(kept, bucket, other)]).astype(float)

    return mechanism


def piecewise(epsilon: float) -> Batched:
    """A point of [l, r] about the value, or of the rest of [-C, C] (Wang et al. 2019, 1907.00782, Algorithm 2)."""
    half = math.exp(epsilon / 2)
    widest = (half + 1) / (half - 1)

    def mechanism(value: float, rng: Generator, size: int) -> Floats:
        left = (widest + 1) / 2 * value - (widest - 1) / 2
        near = left + (widest - 1) * rng.random(size)
        rest = -widest + (widest + 1) * rng.random(size)
        far = np.where(rest < left, rest, rest + widest - 1)
        return np.where(rng.random(size) < half / (half + 1), near, far)

    return mechanism


def duchi(epsilon: float) -> Batched:
    """One of two values, without bias (Wang et al. 2019, arXiv 1907.00782, Algorithm 1)."""
    odds = math.exp(epsilon)

    def mechanism(value: float, rng: Generator, size: int) -> Floats:
        high = rng.random(size) < (value * (odds - 1) + odds + 1) / (2 * odds + 2)
        return np.where(high, 1.0, -1.0) * (odds + 1) / (odds - 1)

    return mechanism


def in_order(flip: float) -> Batched:
    """The broken one: reports of bits, in the order of their senders."""

    def mechanism(values: Sequence[int], rng: Generator, size: int) -> Floats:
        flipped = rng.random((size, len(values))) < flip
        return (np.asarray(values, bool) ^ flipped).astype(float)

    return mechanism


def shuffled(flip: float) -> Batched:
    """In random order they tell no more than how many ones there are."""
    return lambda values, rng, size: in_order(flip)(values, rng, size).sum(axis=1)


def counted(flip: float, count: int) -> Batched:
    """Reports of categories in random order: how many there are of each."""

    def mechanism(values: Sequence[int], rng: Generator, size: int) -> Floats:
        reports = np.stack([categories(flip, count)(value, rng, size) for value in values], axis=1)
        return np.stack([(reports == each).sum(axis=1) for each in range(count)], axis=1).astype(float)

    return mechanism


_ONE = approximate_dp(1.0)
_UNITS = 40
_BITS = ([1] + [0] * (_UNITS - 1), [0] * _UNITS)


def cases() -> tuple[Planted, ...]:
    """Made on demand: what is claimed is computed by the accountants."""
    of_shuffled = delta(ShuffledReports(RandomizedResponse(0.25), _UNITS), 0.4, "replace-one").upper
    of_counted = delta(ShuffledReports(RandomizedResponse(0.6, 4), _UNITS), 0.4, "replace-one").upper
    return (
        Planted("randomized response, half the flips", "flip probability .15 for .25", approximate_dp(math.log(9)),
            (0, 3), categories(0.15, 4), categories(0.25, 4), 20_000),
        Planted("unary encoding by one bit's odds", "(p, q) for epsilon, though two bits differ", _ONE, (0, 1),
            unary(math.e / (1 + math.e), 1 / (1 + math.e), 4), unary(0.5, 1 / (1 + math.e), 4), 20_000),
        Planted("Hadamard response at twice its epsilon", "epsilon 2", _ONE, (0, 1),
            hadamard(2.0, 8), hadamard(1.0, 8), 20_000),
        Planted("local hash at twice its epsilon", "epsilon 2", _ONE, (0, 1),
            local_hash(2.0, 4), local_hash(1.0, 4), 20_000),
        Planted("piecewise, a number that is not clipped", "values of 1.5 in place of 1", approximate_dp(1.0),
            (-1.5, 1.5), piecewise(1.0),
            lambda value, rng, size: piecewise(1.0)(min(max(value, -1.0), 1.0), rng, size), 20_000),
        Planted("Duchi at twice its epsilon", "epsilon 2", _ONE, (-1.0, 1.0), duchi(2.0), duchi(1.0), 20_000),
        Planted("reports that are not shuffled", "who reported what is told", approximate_dp(0.4, of_shuffled), _BITS,
            in_order(0.25), shuffled(0.25), 20_000),
        Planted("shuffled categories, a third of the flips", "flip probability .2 for .6",
            approximate_dp(0.4, of_counted), _BITS, counted(0.2, 4), counted(0.6, 4), 5_000),
    )  # fmt: skip
