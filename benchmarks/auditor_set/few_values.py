"""Few values: coins, categories, bit vectors, rare events. (14 broken, 10 sound)"""

from __future__ import annotations

import numpy as np

from .case import Case, twins

BIT = ([1], [0])


def coin(one, zero):
    return lambda data, rng, size: (rng.random(size) < (one if data[0] else zero)).astype(int)


def flipped(epsilon):
    """Randomised response: the truth with probability e^epsilon/(1 + e^epsilon)."""
    stay = 1 / (1 + np.exp(-epsilon))
    return coin(stay, 1 - stay)


def of_categories(keep):
    """The truth with probability keep, else one of all eight evenly."""

    def mechanism(data, rng, size):
        return np.where(rng.random(size) < keep, data[0], rng.integers(8, size=size))

    return mechanism


def unary(p, q):
    """One bit a category: 1 stays with probability p, 0 becomes 1 with q."""

    def mechanism(data, rng, size):
        truth = np.arange(6) == data[0]
        return (rng.random((size, 6)) < np.where(truth, p, q)).astype(int)

    return mechanism


def exponential(epsilon):
    def mechanism(data, rng, size):
        weights = np.exp(epsilon * np.asarray(data, float) / 2)
        return rng.choice(len(data), size, p=weights / weights.sum())

    return mechanism


def parity_of_many_coins(data, rng, size):
    """Five bits of which each alone is fair; their parity is the data's in three of four runs."""
    bits = rng.integers(2, size=(size, 5))
    bits[:, 4] = (bits[:, :4].sum(axis=1) + data[0] + (rng.random(size) < 0.25)) % 2
    return bits


def noisy_parity(data, rng, size):
    bits = rng.integers(2, size=(size, 5))
    bits[:, 4] = (bits[:, :4].sum(axis=1) + data[0] + (rng.random(size) < 0.2689414213699951)) % 2
    return bits


def local_hash(buckets, keep):
    def mechanism(data, rng, size):
        seed = rng.integers(1, 1000, size)
        hashed = (seed * (data[0] + 7) * 2654435761 >> 7) % buckets
        return np.column_stack([seed, np.where(rng.random(size) < keep, hashed, rng.integers(buckets, size=size))])

    return mechanism


def laplace_bit(scale):
    return lambda data, rng, size: (data[0] + rng.laplace(0, scale, size) > 0.5).astype(int)


def subset(keep):
    """Three of eight categories; with probability keep the true one is among them for certain."""

    def mechanism(data, rng, size):
        order = np.argsort(rng.random((size, 8)), axis=1)[:, :3]
        seen = (order == data[0]).any(axis=1)
        forced = (rng.random(size) < keep) & ~seen
        order[forced, 0] = data[0]
        return np.sort(order, axis=1)

    return mechanism


E = np.e

CASES: tuple[Case, ...] = (
    *twins("randomised response, epsilon 1.15 for 1", BIT, 1.0, flipped(1.15), flipped(1.0)),
    *twins("a rare event, .0052 against .0028", BIT, 0.3, coin(0.0052, 0.0028), coin(0.0028 * 1.349, 0.0028)),
    *twins("a rarer event, .0010 against .0003", BIT, 0.5, coin(0.0010, 0.0003), coin(0.0003 * 1.648, 0.0003)),
    *twins("an event that never happens on the other side", BIT, 1.0, coin(0.001, 0.0)),
    *twins("eight categories, k forgotten", ([3], [5]), 1.0, of_categories(0.35),
           of_categories((E - 1) / (E + 7))),
    *twins("unary encoding, one bit's epsilon", ([0], [1]), 1.0, unary(1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))),
           unary(1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(0.5)))),
    *twins("unary encoding, optimised with p wrong", ([0], [1]), 1.0, unary(0.6, 1 / (1 + E)), unary(0.5, 1 / (1 + E))),
    *twins("exponential mechanism, sensitivity two", ([3, 1, 1], [1, 3, 3]), 1.0, exponential(1.0), exponential(0.5)),
    *twins("a parity of fair bits", BIT, 1.0, parity_of_many_coins, noisy_parity),
    *twins("local hashing, four buckets", ([1], [2]), 1.0, local_hash(4, 0.6), local_hash(4, (E - 1) / (E + 3))),
    *twins("a thresholded noisy bit", BIT, 0.5, laplace_bit(1.0), laplace_bit(2.0)),
    *twins("a subset with the true category", ([0], [5]), 0.4, subset(0.3)),
    *twins("a value in 10,000 that says it", BIT, 2.0, lambda data, rng, size: np.where(
        rng.random(size) < 0.0008, 7 + data[0], rng.integers(5, size=size))),
    *twins("a coin that is seldom biased", BIT, 0.05, coin(0.53, 0.49)),
)  # fmt: skip
