"""Formulas of rows: what they mean exactly, over the reals, and what is no formula."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from cases import few

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.papers import Finding, Statement
from dpcert.proofs_checks.papers.formula import conditions, evaluated, names
from dpcert.proofs_checks.papers.kinds import boxes, numbers, reals, wording


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 + 0.2", Fraction(3, 10)),
        ("-x**3 / 2", Fraction(-27, 2)),
        ("1 < x <= 3 and not x == 2", True),
        ("1 < x < 3 or x == 3.0", True),
        ("len(A) + max(A) - mean(A)", Fraction(3) + 4 - Fraction(7, 3)),
        ("all(A >= B) and not all(A > B) and any(A > 3)", True),
        ("sum(A * 2 - B)", Fraction(14 - 4)),
        ("abs(x - 5)", Fraction(2)),
        ("0.5**x", Fraction(1, 8)),
    ],
)
def test_exact_values(text: str, value: object) -> None:
    told = {
        "x": Fraction(3),
        "A": (Fraction(1), Fraction(2), Fraction(4)),
        "B": (Fraction(1), Fraction(2), Fraction(1)),
    }
    assert evaluated(text, told) == value


def test_names_and_conditions() -> None:
    assert names("eta*(L + lam) <= max(2, p)") == ["eta", "L", "lam", "p"]
    assert conditions("L > 0, 0 < p <= 1") == ["L > 0", "0 < p <= 1"]
    assert conditions(" ") == []


@pytest.mark.parametrize("text", ["x ** y", "x ** 2.5", "x <= ", "f(x)", "x.real", "[x]", "lambda: x", "x if x else 1"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="formula"):
        evaluated(text, {"x": Fraction(1), "y": Fraction(5, 2)})


def said(formula: str, given: str = "", where: str = "", exists: str = "", **constants: Any) -> Statement:
    domain = {"given": given, "where": where, "exists": exists}
    return Statement("S.", {"formula": formula, **constants}, {name: text for name, text in domain.items() if text})


TRUE = [
    said("x**2 + y**2 >= 2*x*y"),
    said("(S + x)**2 <= (m + 1)*(Q + x**2)", "m >= 1, Q >= 0, S**2 <= m*Q"),
    said("eta*(L + lam) <= 2", "L > 0, lam > 0, 0 < p <= 1, 1/2 <= p", "eta = p/(p**2*L + (p**2 + 1)*lam)"),
    said("x/y + y/x >= 2", "x > 0, y > 0"),
    said("abs(x + y) <= abs(x) + abs(y)"),
    said("min(x, y) + max(x, y) == x + y"),
    said("x <= c*x**2", "x >= 1", c=1),
    said("g <= C*x", "x >= 1, C > 0, 0 <= g <= 5", exists="C"),
    said("(x + d)**3 - x**3 >= d**3", "x >= 0, d >= 0"),
    said("x < 1 or x**2 >= x"),
]
FALSE = [
    (said("x**2 + y**2 >= 2.01*x*y"), "2.01"),
    (said("(S + x)**2 <= 0.99*(m + 1)*(Q + x**2)", "m >= 1, Q >= 0, S**2 <= m*Q"), "S ="),
    (said("eta*(L + lam) <= 2", "L > 0, lam > 0, 0 < p <= 1", "eta = p/(p**2*L + (p**2 + 1)*lam)"), "p ="),
    (said("x/y + y/x >= 2", "x != 0, y != 0"), "x ="),
    (said("abs(x + y) <= abs(x) + abs(y) - 1"), "fails at"),
    (said("min(x, y) == x"), "fails at"),
    (said("x <= c*x**2", "x >= 1", c=0.999), "x ="),
    (said("g <= C*x", "x > 0, C > 0, g == 5", exists="C"), "refuted"),
    (said("(x + d)**3 - x**3 >= d**3", "d >= 0"), "x = -"),
    (said("x <= 1 or x**2 >= 1.01*x"), "x = 1.0"),
]
"""Ten planted statements that are false, each near a true one, and a part of the reason."""


@pytest.mark.parametrize("statement", TRUE, ids=lambda s: str(s.claim["formula"]))
def test_true_formulas_are_proved(statement: Statement) -> None:
    assert reals(statement).holds


@pytest.mark.parametrize(("statement", "reason"), FALSE, ids=[str(s.claim["formula"]) for s, _ in FALSE])
def test_planted_formulas_are_refuted_for_their_reason(statement: Statement, reason: str) -> None:
    found = reals(statement)
    assert not found.holds
    assert reason in found.text
    if found.witness is not None:
        _confirm(statement, found)


def _confirm(statement: Statement, found: Finding) -> None:
    """The counterexample breaks the formula in floating point, by Python's own arithmetic."""
    assert found.witness is not None
    values: dict[str, Any] = {**statement.claim, **found.witness}
    for part in filter(None, statement.domain.get("where", "").split(",")):
        name, _, text = part.partition("=")
        values[name.strip()] = eval(text.strip(), {}, values)
    assert not eval(statement.claim["formula"], {"min": min, "max": max, "abs": abs}, values)


TABLE = {"mtl": (0.645, 0.608, 0.486), "other": (0.606, 0.581, 0.348)}
PLANTED = [
    "all(mtl < other)",
    "any(mtl == other)",
    "sum(mtl - other) > 0.204",
    "mean(mtl) >= 0.58",
    "max(other) > min(mtl) + 0.121",
    "len(mtl) == 4",
    "min(mtl - other) >= 0.028",
    "max(mtl - other) < 0.138",
    "sum(other) != 1.535",
    "all(mtl >= 0.487)",
]


@pytest.mark.parametrize("formula", PLANTED)
def test_planted_tables_are_refuted(formula: str) -> None:
    """One unit of the last printed digit decides, in decimal arithmetic."""
    assert not numbers(Statement("S.", {"formula": formula}, TABLE)).holds
    assert numbers(Statement("S.", {"formula": f"not {formula}"}, TABLE)).holds


def test_wording() -> None:
    assert wording(Statement("S.", {"printed": "H", "needed": "H"})).holds
    found = wording(Statement("S.", {"printed": "H", "needed": "H^2"}))
    assert not found.holds
    assert "H^2 has to stand" in found.text


BOX: dict[str, Any] = {"x": (0.5, 2.0), "y": (0.5, 2.0), "where": "both = x + y"}
ON_THE_BOX = [
    ("exp(-x) < 1 - x/3", "exp(-x) < 1 - x/2"),
    ("log(both) <= both - 0.99", "log(both) <= both - 1.32"),
    ("sqrt(x*y) < both/2 + 0.01", "sqrt(x*y) < both/2 - 0.01"),
    ("x*y >= 0.24", "x*y >= 0.26"),
    ("erf(x) < 1.13*x", "erf(x) < 1.03*x"),
    ("max(x, y) < both - 0.49", "max(x, y) < both - 0.51"),
    ("abs(x - y) <= 1.51", "abs(x - y) <= 1.49"),
    ("delta(x, y) < delta(x/2, y)", "delta(x, y) > delta(x/2, y)"),
    ("delta(x, 1) <= 0.24", "delta(x, 1) <= 0.23"),
    ("cos(x) < cos(x/2)", "cos(x) < cos(2*x)"),
]
"""Ten true statements, and of each a false one near it."""


@pytest.mark.parametrize(("true", "false"), few(ON_THE_BOX, 8))
def test_planted_statements_on_a_box_are_refuted_at_a_point_of_it(true: str, false: str) -> None:
    assert boxes(Statement("S.", {"formula": true}, BOX)).holds
    found = boxes(Statement("S.", {"formula": false}, BOX))
    assert not found.holds
    assert found.witness is not None
    assert all(0.5 <= place <= 2.0 for place in found.witness.values())
    assert f"{false} fails at" in found.text


@pytest.mark.parametrize(
    ("statement", "smallest", "median"),
    [
        (said("x <= 3*x", "x > 0"), 3.0, 3.0),
        (said("x <= y", "x > 0, y >= x"), 1.0, None),
        (said("x*y <= c*(x**2 + y**2)", "x > 0, y > 0", c=0.5), 1.0, None),
        (said("x <= c*y", "x > 0", where="y = x + 1", c=2), 2.0, None),
    ],
)
def test_the_smallest_ratio_of_bound_to_truth_is_proved(
    statement: Statement, smallest: float, median: float | None
) -> None:
    """From below, to a thousandth: the bound is no bound of more than that times the truth."""
    found = reals(statement)
    assert found.loose is not None
    assert found.loose[0] == pytest.approx(smallest, rel=2e-3)
    assert found.loose[0] <= smallest
    assert found.loose[1] is not None
    assert found.loose[1] >= smallest * (1 - 1e-9)
    if median is not None:
        assert found.loose[1] == pytest.approx(median)


def test_what_is_no_bound_has_no_ratio() -> None:
    assert reals(said("-x - 1 <= -x", "x > 0")).loose is None  # the truth is nowhere positive
    assert reals(said("x + 1 > x")).loose is None
    assert reals(said("2 <= x", "x >= 3")).loose is None


def test_the_ratio_on_a_box_is_that_of_its_points() -> None:
    found = boxes(Statement("S.", {"formula": "x*y <= 4.1"}, BOX))
    assert found.loose is not None
    assert found.loose[0] == pytest.approx(4.1 / 4)
    other = boxes(Statement("S.", {"formula": "x*y <= 4.1"}, BOX | {"ratio": "2*x"}))
    assert other.loose == pytest.approx((1.0, 2.5))
