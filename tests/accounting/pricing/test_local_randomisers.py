"""Local randomisers (docs/theory/local_randomisers.md) against their reports' laws, written out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from dpcert import delta, epsilon
from dpcert.mechanisms import (
    DuchiMechanism,
    Group,
    HadamardResponse,
    InputError,
    LocalHash,
    Mechanism,
    PiecewiseMechanism,
    RandomizedResponse,
    Repeat,
    UnaryEncoding,
)

Law = tuple[np.ndarray, np.ndarray]


def unary(keep: float, false: float) -> Law:
    """Three categories; the values 0 and 1."""

    def law(value: int) -> np.ndarray:
        one = [keep if at == value else false for at in range(3)]
        return np.array([math.prod(p if bit else 1 - p for p, bit in zip(one, bits, strict=True))
                         for bits in product((0, 1), repeat=3)])  # fmt: skip

    return law(0), law(1)


def hadamard(e: float) -> Law:
    """Eight codewords, rows 1 and 2 of Sylvester's matrix."""
    odds = math.exp(e)

    def law(row: int) -> np.ndarray:
        ours = np.array([bin(row & word).count("1") % 2 == 0 for word in range(8)])
        return np.where(ours, odds, 1.0) / (4 * (odds + 1))

    return law(1), law(2)


def piecewise(e: float) -> Law:
    """Masses of 100,000 cells of the output's range, for -1 and 1."""
    half = math.exp(e / 2)
    c = (half + 1) / (half - 1)
    high = (math.exp(e) - half) / (2 * half + 2)
    edges = np.linspace(-c, c, 100_001)

    def law(t: float) -> np.ndarray:
        left = (c + 1) / 2 * t - (c - 1) / 2
        inside = np.clip(np.minimum(edges[1:], left + c - 1) - np.maximum(edges[:-1], left), 0, None)
        return high * inside + high / math.exp(e) * (np.diff(edges) - inside)

    return law(-1.0), law(1.0)


def duchi(e: float) -> Law:
    high = 0.5 + (math.exp(e) - 1) / (2 * (math.exp(e) + 1))
    return np.array([high, 1 - high]), np.array([1 - high, high])


def hashed(e: float, buckets: int) -> Law:
    """A public bucket for each of the values: told apart."""
    odds = math.exp(e)
    p, q = np.ones(buckets), np.ones(buckets)
    p[0] = q[1] = odds
    return p / (odds + buckets - 1), q / (odds + buckets - 1)


CASES: list[tuple[Mechanism, Law]] = [
    (UnaryEncoding(0.5, 0.25), unary(0.5, 0.25)),
    (UnaryEncoding(0.9, 0.2), unary(0.9, 0.2)),
    (HadamardResponse(1.3), hadamard(1.3)),
    (PiecewiseMechanism(1.1), piecewise(1.1)),
    (DuchiMechanism(0.7), duchi(0.7)),
]


@pytest.mark.parametrize(("report", "law"), CASES, ids=lambda case: type(case).__name__)
@pytest.mark.parametrize("eps", [0.0, 0.4])
def test_against_the_reports_laws(report: Mechanism, law: Law, eps: float) -> None:
    p, q = law
    assert math.isclose(p.sum(), 1, rel_tol=1e-9)
    seen = float(np.sum(np.maximum(0.0, p - math.exp(eps) * q)))
    found = delta(report, eps, "replace-one")
    cut = 1e-4 if isinstance(report, PiecewiseMechanism) else 1e-9  # cells on an interval's edge
    assert found.lower * (1 - cut) <= seen <= found.upper * (1 + cut)
    assert found.narrower_than(1e-8)
    pure = epsilon(report, 0, "replace-one")
    assert pure.lower * (1 - 1e-8) <= float(np.max(np.log(p / q))) <= pure.upper * (1 + 1e-8)


def test_two_reports_against_a_product() -> None:
    p, q = unary(0.6, 0.3)
    twice = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    seen = float(np.sum(np.maximum(0.0, twice[0] - math.exp(0.9) * twice[1])))
    for run in (Repeat(UnaryEncoding(0.6, 0.3), 2), Group(UnaryEncoding(0.6, 0.3), 2)):
        found = delta(run, 0.9, "replace-one")
        assert found.lower * (1 - 1e-6) <= seen <= found.upper * (1 + 1e-6)
        assert found.narrower_than(1e-5)


def test_hashes_between_random_and_perfect_ones() -> None:
    p, q = hashed(1.0, 4)
    told = float(np.sum(np.maximum(0.0, p - math.exp(0.2) * q)))
    found = delta(LocalHash(1.0, 4), 0.2, "replace-one")
    assert found.upper == pytest.approx(told, rel=1e-9)
    assert found.lower == pytest.approx(0.75 * told, rel=1e-9)
    assert epsilon(LocalHash(0.3, 4), 0, "replace-one").upper == 0.3


def test_the_optimised_encoding_has_its_epsilon() -> None:
    """OUE: keep = 1/2, false = 1/(e^eps + 1) is epsilon-LDP, and no less."""
    found = epsilon(UnaryEncoding(0.5, 1 / (math.e + 1)), 0, "replace-one")
    assert found.lower <= 1.0 <= found.upper + 1e-12
    assert found.width < 1e-13


@pytest.mark.parametrize("report", [UnaryEncoding(0.6, 0.3), DuchiMechanism(1.0), RandomizedResponse(0.2)])
@pytest.mark.parametrize("at", [0.0, 1e-5])
def test_who_reports_cannot_be_absent(report: Mechanism, at: float) -> None:
    with pytest.raises(InputError, match="always reports"):
        epsilon(report, at, "add-remove")


def test_planted_symmetric_flips_for_one_sided_ones_are_caught() -> None:
    """Unary encoding priced by its kept bits alone, as randomized response of keep against false, falls short."""
    p, q = unary(0.5, 0.25)
    seen = float(np.sum(np.maximum(0.0, p - math.exp(0.4) * q)))
    assert delta(UnaryEncoding(0.5, 0.25), 0.4, "replace-one").lower >= seen * (1 - 1e-9)
    alone = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert float(np.sum(np.maximum(0.0, alone[0] - math.exp(0.4) * alone[1]))) < seen


@pytest.mark.parametrize(
    "build",
    [
        lambda: UnaryEncoding(0.3, 0.3),
        lambda: UnaryEncoding(1.0, 0.3),
        lambda: LocalHash(1.0, 1),
        lambda: DuchiMechanism(-1),
    ],
)
def test_bad_input(build: object) -> None:
    with pytest.raises(InputError):
        build()  # type: ignore[operator]
