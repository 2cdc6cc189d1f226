"""Of what a clipping bound is the bound: `norm` and `dimension`, against enumerated vectors of noise."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcert.accounting import delta
from dpcert.mechanisms import DiscreteLaplace, Gaussian, InputError, Laplace, Repeat
from dpcert.mechanisms.tables.norms import over_root
from dpcert.proofs_checks import verify
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import Claim, parse_claim

CLAIM = {"title": "t", "neighbouring": "add-remove", "epsilon": 2.0, "delta": 0.0}


def claim(kind: str, stated: dict[str, Any] | None = None, **keys: Any) -> Claim:
    return parse_claim({"claim": CLAIM | (stated or {}), "mechanism": {"kind": kind, **keys}})


def test_laplace_noise_on_a_vector_of_bounded_euclidean_norm_costs_the_root_of_its_dimension() -> None:
    """Replace-one, noise multiplier 1, a claim of 2, which one number does not exceed."""
    replaced = {"neighbouring": "replace-one"}
    one = verify(claim("laplace", replaced, noise_multiplier=1.0))
    assert (one.verdict, one.certified.upper) == ("holds", 2.0)
    assert "norm-not-stated" in {finding.id for finding in one.findings}
    vector = verify(claim("laplace", replaced, noise_multiplier=1.0, norm="l2", dimension=100))
    assert (vector.verdict, vector.certified.lower, vector.certified.upper) == ("refuted", 20.0, 20.0)
    assert "norm-not-stated" not in {finding.id for finding in vector.findings}
    assert verify(claim("laplace", replaced, noise_multiplier=1.0, norm="l1")).certified == one.certified
    assert verify(claim("laplace", replaced, noise_multiplier=10.0, norm="linf", dimension=10)).verdict == "holds"


def test_whole_numbers_with_discrete_gaussian_noise_say_their_norm() -> None:
    """Ten numbers, each clipped by itself, were priced as one: .927 where 3.34 is true."""
    with pytest.raises(InputError, match=r"mechanism\.norm is required: linf beside dimension"):
        claim("discrete-gaussian", sigma=4.0, dimension=10)
    each = claim("discrete-gaussian", {"delta": 1e-5}, sigma=4.0, dimension=10, norm="linf")
    assert verify(each).certified.lower > 3.3
    for one in ({}, {"dimension": 1}, {"norm": "number"}):
        assert verify(claim("discrete-gaussian", {"delta": 1e-5}, sigma=4.0, **one)).certified.upper < 0.93


def _profile(scale: float, moves: tuple[int, ...], epsilon: float) -> float:
    """delta at epsilon of discrete Laplace noise on each coordinate, by enumeration (a lower bound: tails are cut)."""
    t, x = 1 / scale, np.arange(-60, 61)
    masses = [(np.exp(-t * abs(x - move)), np.exp(-t * abs(x))) for move in moves]
    p, q = (functools.reduce(np.multiply.outer, [pair[at] for pair in masses]) for at in (0, 1))
    weight = math.tanh(t / 2) ** len(moves)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) * weight


@pytest.mark.parametrize(("norm", "clip"), [("l1", 3), ("l2", 2), ("l2", 3), ("linf", 1)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_no_whole_vector_costs_more_and_the_lower_end_is_a_vector_s(norm: str, clip: int, epsilon: float) -> None:
    """All vectors of two numbers within the bound, enumerated; scale 1.5."""
    read = claim("discrete-laplace", scale=1.5, clip=clip, norm=norm, dimension=2)
    assert read.attained_run is not None
    sizes = {"l1": lambda a, b: a + b <= clip, "l2": lambda a, b: a * a + b * b <= clip**2}
    within = sizes.get(norm, lambda a, b: max(a, b) <= clip)
    moves = [pair for pair in itertools.product(range(clip + 1), repeat=2) if within(*pair)]
    worst = max(_profile(1.5, pair, epsilon) for pair in moves)
    assert worst <= delta(read.run, epsilon).upper + 1e-15
    assert delta(read.attained_run, epsilon).lower <= worst + 1e-9


def test_the_plant_a_bound_taken_for_one_number_s_is_exceeded() -> None:
    assert _profile(1.5, (1, 1), 0.3) > delta(DiscreteLaplace(1.5, 1), 0.3).upper


def test_coordinates_that_are_clipped_one_by_one_are_releases() -> None:
    assert claim("laplace", noise_multiplier=3.0, norm="linf", dimension=4).run == Repeat(Repeat(Laplace(3.0), 4), 1)
    assert claim("gaussian", {"delta": 1e-5}, noise_multiplier=6.0, norm="linf", dimension=4).run == Repeat(
        Gaussian(3.0), 1
    )
    read = claim("gaussian", {"delta": 1e-5}, noise_multiplier=1.0, norm="linf", dimension=2)
    assert read.run != read.attained_run  # the root is no double: rounded to either side


@pytest.mark.parametrize(("value", "square"), [("1", 100), ("0.3", 9), ("1", 2), ("7.25", 10**9 + 7), ("1", 9)])
def test_roots_are_rounded_to_the_named_side(value: str, square: int) -> None:
    low, high = over_root(Fraction(value), square)
    assert Fraction(repr(low)) ** 2 * square <= Fraction(value) ** 2 <= Fraction(repr(high)) ** 2 * square
    assert high <= math.nextafter(low, math.inf)


@pytest.mark.parametrize(
    ("kind", "keys", "field"),
    [
        ("laplace", {"noise_multiplier": 1.0, "norm": "l2"}, "mechanism.dimension"),
        ("laplace", {"noise_multiplier": 1.0, "dimension": 3}, "mechanism.norm"),
        ("laplace", {"noise_multiplier": 1.0, "norm": "number", "dimension": 3}, "mechanism.dimension"),
        ("laplace", {"noise_multiplier": 1.0, "norm": "l3", "dimension": 3}, "mechanism.norm"),
        ("staircase", {"epsilon": 1.0, "norm": "l1"}, "mechanism.dimension"),
        ("truncated-laplace", {"noise_multiplier": 1.0, "bound": 9.0, "norm": "l2", "dimension": 3}, "mechanism.norm"),
        ("bounded-laplace", {"scale": 1.0, "width": 9.0, "norm": "l2", "dimension": 3}, "mechanism.norm"),
        ("discrete-gaussian", {"sigma": 3.0, "norm": "l2", "dimension": 3}, "mechanism.norm"),
        ("gaussian", {"noise_multiplier": 1.0, "norm": "linf"}, "mechanism.dimension"),
    ],
)
def test_what_is_not_known_or_not_said_is_an_error(kind: str, keys: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        claim(kind, {"delta": 1e-5}, **keys)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("laplace", {"noise_multiplier": 9.0, "norm": "l2", "dimension": 9}),
        ("laplace", {"noise_multiplier": 9.0, "norm": "linf", "dimension": 3}),
        ("discrete-laplace", {"scale": 9.0, "norm": "l2", "dimension": 9}),
        ("staircase", {"epsilon": 0.1, "norm": "linf", "dimension": 3}),
        ("gaussian", {"noise_multiplier": 9.0, "norm": "linf", "dimension": 3}),
    ],
)
def test_certificates_count_every_coordinate(kind: str, keys: dict[str, Any], tmp_path: Path) -> None:
    found = verify(claim(kind, {"delta": 1e-6, "epsilon": 40.0}, **keys), certificates=tmp_path)
    proved = check(found.certificate or "")
    assert proved.ok
    assert found.certified.upper <= float(proved.reason.split("at most ")[1].split(":")[0]) * (1 + 1e-12)
