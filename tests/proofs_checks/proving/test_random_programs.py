"""Random programs: what is proved of them agrees with how often their outputs occur.

Each frequency comes from 200,000 runs; a proof is contradicted by 6 standard deviations, so that the error
probability of a comparison is below 1e-8 (normal approximation), and below 1e-4 for all of them together.
"""

import itertools
import math

import numpy as np
import pytest
from cases import many

from dpcert.proofs_checks.proving import alignment, prove
from dpcert.proofs_checks.proving.checker import costs

KINDS = ("laplace", "laplace", "laplace", "exponential", "gumbel", "uniform")
RUNS = 200_000


def program(rng, entries):
    """Kinds and scales of the noise, and a tree of tests of linear forms; leaves are outputs."""
    noise = [(str(rng.choice(KINDS)), float(rng.choice([0.5, 1, 2]))) for _ in range(rng.integers(1, 4))]

    def node(depth):
        if depth == 0 or rng.random() < 0.1:
            return int(rng.integers(0, 3))
        slopes = (
            rng.choice([-1.0, 0.0, 1.0, 0.5], entries).tolist(),
            rng.choice([-1.0, 1, 1, 0, 2], len(noise)).tolist(),
        )
        return *slopes, float(rng.choice([-0.5, 0, 0.5, 1])), node(depth - 1), node(depth - 1)

    return noise, node(int(rng.integers(1, 4)))


def drawn(rng, kind, scale, size=None):
    return rng.random(size) if kind == "uniform" else getattr(rng, kind)(scale=scale, size=size)


def value(node, data, noise):
    return sum(a * b for a, b in zip(node[0], data, strict=True)) + sum(
        a * b for a, b in zip(node[1], noise, strict=True)
    )


def as_mechanism(noise, root):
    def mechanism(data, rng):
        drawn_noise, node = [drawn(rng, kind, scale) for kind, scale in noise], root
        while isinstance(node, tuple):
            node = node[3] if value(node, data, drawn_noise) > node[2] else node[4]
        return node

    return mechanism


def frequencies(noise, root, data, rng):
    drawn_noise = [drawn(rng, kind, scale, RUNS) for kind, scale in noise]

    def outputs(node):
        if isinstance(node, int):
            return np.full(RUNS, node)
        above = value(node, data, drawn_noise) > node[2]
        return np.where(above, outputs(node[3]), outputs(node[4]))

    return np.bincount(outputs(root), minlength=3) / RUNS


def contradiction(epsilon, noise, root, entries, rng):
    """By how many standard deviations an output is too frequent on extreme datasets."""
    worst = -math.inf
    for data in itertools.product((0.0, 1.0), repeat=entries):
        here = frequencies(noise, root, data, rng)
        for j in range(entries):
            there = frequencies(noise, root, tuple(1 - x if i == j else x for i, x in enumerate(data)), rng)
            for p, q in zip(here, there, strict=True):
                deviation = math.sqrt((p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q)) / RUNS) + 1e-9
                worst = max(worst, (p - math.exp(epsilon) * q) / deviation)
    return worst


def proved(seed, count):
    """(proved with a positive epsilon, the largest contradiction) of that many programs."""
    rng, positive, worst = np.random.default_rng(seed), 0, -math.inf
    for _ in range(count):
        entries = int(rng.integers(1, 3))
        noise, root = program(rng, entries)
        proof = prove(as_mechanism(noise, root), up_to=entries)
        assert proof.verdict != "unsupported", proof.reason
        assert "rejects" not in proof.reason
        if proof.proved:
            positive += proof.epsilon > 0
            worst = max(worst, contradiction(proof.epsilon, noise, root, entries, rng))
    return positive, worst


def test_proofs_agree_with_frequencies():
    positive, worst = proved(seed=2, count=15)
    assert positive >= 3
    assert worst < 6


def test_wrong_proofs_would_be_noticed(monkeypatch):
    """A third of the price of every shift, in the search and in the checker."""
    right, also_right = alignment.weight, costs.weight
    monkeypatch.setattr(alignment, "weight", lambda kind, scale: right(kind, scale) / 3)
    monkeypatch.setattr(costs, "weight", lambda kind, scale: also_right(kind, scale) / 3)
    assert proved(seed=2, count=15)[1] > 6


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 10 + many(10)))
def test_more_proofs_agree_with_frequencies(seed):
    assert proved(seed, count=60)[1] < 6
