"""The provers behind the rows, on statements whose answers are known."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcert.proofs_checks.convergence.exponents import fitted_exponent
from dpcert.proofs_checks.papers import Statement, Undecided, balls, kinds
from dpcert.proofs_checks.papers.formula import stated
from dpcert.proofs_checks.papers.measured import by_exponent
from dpcert.proofs_checks.papers.row import on_instances
from dpcert.proofs_checks.papers.smt import Question


def counterexample(formula: str, given: str = "") -> dict[str, Fraction] | None:
    return Question(stated(Statement("S.", {"formula": formula}, {"given": given}))).counterexample(formula)


def test_z3_proves_and_refutes() -> None:
    assert counterexample("x*x + y*y >= 2*x*y") is None
    assert counterexample("x*x + y*y >= 2.1*x*y") is not None
    assert counterexample("x*y > 0", "x > 0, y > 0") is None


def test_a_counterexample_satisfies_what_is_given() -> None:
    found = counterexample("x*x >= x", "x > 0")
    assert found is not None
    assert 0 < found["x"] < 1


def test_algebraic_counterexample() -> None:
    found = counterexample("x*x != 2", "x > 0")
    assert found is not None
    assert float(found["x"]) == pytest.approx(math.sqrt(2), abs=1e-15)


def test_a_counterexample_that_does_not_survive_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Question, "counterexample", lambda self, formula: {"x": Fraction(1)})
    with pytest.raises(Undecided, match="does not survive"):
        kinds.reals(Statement("S.", {"formula": "x >= 0"}))


def test_box_is_certified_or_violated() -> None:
    box = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    held = balls.over_box(lambda v: 1.01 - v["x"] * v["y"] * (2 - v["x"] * v["y"]), box)
    assert held.violated_at is None
    assert 0 < held.margin <= 0.0100001
    broken = balls.over_box(lambda v: 0.99 - v["x"] * v["y"], box)
    assert broken.violated_at is not None
    assert broken.violated_at["x"] * broken.violated_at["y"] > 0.99


def test_box_with_an_equality_is_undecided() -> None:
    with pytest.raises(Undecided, match="not known after 50 pieces"):
        balls.over_box(lambda v: v["x"] - v["x"] ** 2, {"x": (0.0, 1.0)}, most_cells=50)


def test_exponents_of_noisy_power_laws_are_covered() -> None:
    """200 intervals at error probability 0.05: more than 22 misses has a probability below 1e-3."""
    rng, sizes = np.random.default_rng(7), np.geomspace(1, 100, 9)
    missed = 0
    for _ in range(200):
        drift = 0.1 * rng.standard_normal((6, 9)).cumsum(axis=1)  # what a seed measures depends on each other
        missed += not fitted_exponent(sizes, 3 * sizes**-1.5 * np.exp(drift), alpha=0.05).agrees_with(-1.5)
    assert missed <= 22


def test_exponent_tells_rates_apart() -> None:
    rng, sizes = np.random.default_rng(8), np.geomspace(1, 100, 9)
    found = fitted_exponent(sizes, sizes**-1.0 * np.exp(0.02 * rng.standard_normal((6, 9))))
    assert found.agrees_with(-1.0)
    assert not found.agrees_with(-0.9)
    assert "over seeds" in found.range


def test_no_confidence_is_said_of_numbers_without_chance() -> None:
    """A fit's interval of 1 + 1/x would be narrow; between neighbours the exponent goes from -0.4 to -0.1."""
    found = fitted_exponent([1.0, 2.0, 4.0, 8.0], [2.0, 1.5, 1.25, 1.125])
    assert found.alpha == 0.0
    assert "%" not in found.range
    assert found.low == pytest.approx(math.log2(0.75))
    assert found.high == pytest.approx(math.log2(0.9))


@pytest.mark.parametrize(
    ("stated", "relation", "towards", "holds"),
    [
        (-1.0, "is", math.inf, True),
        (-1.1, "is", math.inf, False),
        (-0.5, "at most", math.inf, True),
        (-1.5, "at most", math.inf, False),
        (-0.5, "at least", math.inf, False),
        (-1.5, "at least", math.inf, True),
        (-1.5, "at most", 0, True),
        (-0.5, "at most", 0, False),
        (-1.5, "at least", 0, False),
    ],
)
def test_which_side_a_bound_in_an_exponent_is_on(stated: float, relation: str, towards: float, holds: bool) -> None:
    """The quantity is 1/x: for small x it is O(x^-1.5), for large x it is not."""
    statement = Statement("S.", {"exponent": stated, "relation": relation}, {"towards": towards})
    found = by_exponent(fitted_exponent([1.0, 2.0, 4.0], [1.0, 0.5, 0.25]), statement, "x", on_instances(3), {}, 0.02)
    assert found.holds is holds
