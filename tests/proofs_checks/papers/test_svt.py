"""The sparse-vector variants' odds against another library's quadrature, and statements that are off."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
from flint import ctx

from dpcert.proofs_checks.papers import Grade, Statement
from dpcert.proofs_checks.papers.svt.checks import _probability, odds_grow, private

ALGORITHM_4 = {"threshold": 4, "query": 1.3333333333333333, "c": 2}


def by_quadrature(claim: dict[str, Any], answers: tuple[float, ...], output: tuple[int, ...]) -> Any:
    """mpmath, 30 digits, between the kinks; Laplace laws written with abs and sign."""
    threshold, query = mpmath.mpf(claim["threshold"]), mpmath.mpf(claim["query"])

    def below(x: Any, scale: Any) -> Any:
        return (1 + mpmath.sign(x) * (1 - mpmath.exp(-abs(x) / scale))) / 2

    def integrand(z: Any) -> Any:
        value = mpmath.exp(-abs(z) / threshold) / (2 * threshold)
        for answer, above in zip(answers, output, strict=True):
            share = below(z - answer, query)
            value *= 1 - share if above else share
        return value

    with mpmath.workdps(30):
        return mpmath.quad(integrand, [-mpmath.inf, -60, -20, -5, *sorted({0, *answers}), 5, 20, 60, mpmath.inf])


@pytest.mark.parametrize(
    ("answers", "output"), [((0, 0, 0), (0, 0, 1)), ((1, 1, -1, -1), (0, 0, 1, 1)), ((1, 0.5, -1), (1, 0, 0))]
)
def test_probabilities_are_another_quadratures(answers: tuple[float, ...], output: tuple[int, ...]) -> None:
    with ctx.workprec(128):
        found = _probability(ALGORITHM_4, answers, output)
    assert float(found.rad()) < 1e-15
    assert float(found.mid()) == pytest.approx(float(by_quadrature(ALGORITHM_4, answers, output)), rel=1e-12)


def test_a_threshold_drawn_again_makes_parts_independent() -> None:
    claim = {"threshold": 4, "query": 8, "anew": 4}
    parts = (0.0, 1.0), (0, 1)
    with ctx.workprec(128):
        both = _probability(claim, parts[0] * 2, parts[1] * 2)
        one = _probability(claim, *parts)
    assert float(both.mid()) == pytest.approx(float(one.mid()) ** 2, rel=1e-12)


@pytest.mark.parametrize(
    ("claim", "domain"),
    [
        ({"epsilon": 3.2, **ALGORITHM_4}, {"below": 8, "above": 2}),
        ({"epsilon": 0.99, "threshold": 2, "query": 4, "c": 1}, {"below": 40, "above": 1}),
        ({"epsilon": 1.0, "threshold": 1.9, "query": 4, "c": 1}, {"below": 40, "above": 1}),
        ({"epsilon": 1.0, "threshold": 2, "query": 7.6, "c": 2}, {"below": 60, "above": 2}),
        ({"epsilon": 1.0, "threshold": 4, "query": 8, "c": 2, "anew": 3.6}, {"below": 40, "above": 2}),
        (
            {"epsilon": 50.0, "threshold": 2, "query": 0, "c": 0},
            {"data": (0, 1), "neighbour": (1, 0), "output": (0, 1)},
        ),
    ],
)
def test_what_is_a_little_off_is_refuted_with_certainty(claim: dict[str, Any], domain: dict[str, Any]) -> None:
    found = private(Statement("", claim, {"entries": 3, **domain}))
    assert not found.holds
    assert found.grade is Grade.REFUTED


def test_an_impossible_claim_is_not_proved() -> None:
    """Without a place to look the search for a proof fails, which refutes nothing."""
    found = private(Statement("", {"epsilon": 0.5, "threshold": 2, "query": 4, "c": 1}, {"entries": 3}))
    assert not found.holds
    assert found.grade is Grade.TESTED


def test_odds_of_algorithm_6() -> None:
    claim = {"threshold": 2, "query": 2, "rate": 0.82, "side": "at least"}
    assert odds_grow(Statement("", claim, {"m": (1, 2)})).holds
    assert not odds_grow(Statement("", claim | {"rate": 0.83}, {"m": (1, 2)})).holds
