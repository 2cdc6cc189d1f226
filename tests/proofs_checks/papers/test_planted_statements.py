"""Ten false statements a kind of check, each put in the place of a row's true one: the verdict changes, for its reason.

What z3, tables and boxes decide by themselves has its ten in test_formula.py. Here the row's own true statement is what
has to pass for the verdict; where that is its repaired one, a false statement of ours takes the printed one's place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cases import few

from dpcert.proofs_checks.papers import Row, Statement, Status, judge, register
from dpcert.proofs_checks.papers.kinds import reals, wording

REFUTED = {Status.FALSE, Status.BROKEN, Status.READ}


def planted(name: str, **changed: Any) -> tuple[Row, Row]:
    """The row with its true statement as the printed one, and with a false one there; keys of claim or of domain."""
    (row,) = register(only=name)
    true = row.repaired or row.readings[0]
    claim = {key: changed.get(key, value) for key, value in true.claim.items()}
    domain = {key: changed.get(key, value) for key, value in true.domain.items()}
    false = replace(true, claim=claim, domain=domain)
    assert false != true, f"{name} has none of {', '.join(changed)}"
    return replace(row, printed=true, spoilt=false), replace(row, printed=false, repaired=true)


def changes_the_verdict(name: str, changed: dict[str, Any], reason: str) -> None:
    kept, swapped = (judge(row) for row in planted(name, **changed))
    assert kept.status not in REFUTED - {Status.READ}
    assert kept.printed[0].holds
    assert swapped.status in REFUTED
    assert not swapped.printed[0].holds
    assert reason in swapped.why


def of(formula: str, given: str = "", where: str = "", exists: str = "") -> Statement:
    domain = {"given": given, "where": where, "exists": exists}
    return Statement("S.", {"formula": formula}, {name: text for name, text in domain.items() if text})


IDENTITIES = [
    ("(x + y)**2 == x**2 + 2*x*y + y**2", "(x + y)**2 == x**2 + 2*x*y + 1.01*y**2", "y**2"),
    ("(x - y)*(x + y) == x**2 - y**2", "(x - y)*(x + y) == x**2 + y**2", "x ** 2 + y ** 2 ="),
    ("lam/2*(w - c)**2*2 == lam*(w - c)**2", "lam/2*(w - c)**2 == lam*(w - c)**2", "lam / 2 * (w - c) ** 2 ="),
    ("(1 - p)*a + p*a == a", "(1 - p)*a + p*a == p*a", "p * a ="),
    ("min(x, y) + max(x, y) == x + y", "min(x, y) + max(x, y) == 2*x", "2 * x ="),
    ("abs(x)**2 == x**2", "abs(x) == x", "abs(x) ="),
    ("(x**3 - y**3) == (x - y)*(x**2 + x*y + y**2)", "(x**3 - y**3) == (x - y)*(x**2 + y**2)", "x ** 3"),
    ("p*(eta*g)**2 == p*eta**2*g**2", "p*(eta*g)**2 == p**2*eta**2*g**2", "p ** 2 * eta ** 2 * g ** 2 ="),
    ("m*(s + b)**2 == m*s**2 + 2*m*s*b + m*b**2", "m*(s + b)**2 == m*s**2 + m*s*b + m*b**2", "m * s * b"),
    ("1 - (1 - x)**2 == 2*x - x**2", "1 - (1 - x)**2 == 2*x", "2 * x ="),
]
"""A true identity, a false one, and a side that its counterexample shows."""

EXISTENCE = [
    ("x <= C*y", "x >= 0, y >= 1, x <= 3, C > 0", "x <= C*y", "x >= 0, y >= 1, C > 0"),
    ("1 <= C*(1 + lam)", "lam > 0, C > 0", "1 <= C*lam", "lam > 0, C > 0"),
    ("m*s <= C*m*s", "m >= 1, s >= 0, C > 0", "m*s <= C*s", "m >= 1, s >= 0, C > 0"),
    ("x**2 <= C*x", "0 <= x <= 5, C > 0", "x**2 <= C*x", "0 <= x, C > 0"),
    ("x*y <= C*(x**2 + y**2)", "C > 0", "x*y <= C*(x**2 - y**2)", "C > 0"),
    ("(a + b)**2 <= C*(a**2 + b**2)", "C > 0", "(a + b)**2 <= C*a**2", "C > 0"),
    ("1 <= C*p", "1/10 <= p, p <= 1, C > 0", "1 <= C*p", "0 < p, p <= 1, C > 0"),
    ("L + lam <= C*(L + lam)", "L > 0, lam > 0, C > 0", "L + lam <= C*lam", "L > 0, lam > 0, C > 0"),
    ("x + C >= 0", "x >= -7, C > 0", "x + C >= 0", "C > 0"),
    ("C*x >= x**3", "0 <= x <= 2, C > 0", "C*x >= x**3", "x >= 0, C > 0"),
]
"""One C for all the others: where there is one, and where there is none."""

READ = [
    "eta_t I_k",
    "-eta I_k grad f_k",
    "<grad f_k, eta_t I_k grad f_k>",
    "<grad f_k, -eta_t grad f_k>",
    "<f_k, -eta_t I_k grad f_k>",
    "<grad f_k, -eta_t I_k f_k>",
    "<grad f_k, -2 eta_t I_k grad f_k>",
    "-<grad f_k, -eta_t I_k grad f_k>",
    "<grad f_k, -eta_t p_k grad f_k>",
    "<grad f_k, -eta_t I_k^t grad f_k>",
]

CERTIFIED = [
    ("PMTL-FIG2-StackOverflow-accounting", {"epsilon": 13.5}, "epsilon in [13.571, 13.571], stated 13.5"),
    ("PMTL-FIG2-FEMNIST-accounting", {"epsilon": 12.1}, "epsilon in [12.123, 12.123], stated 12.1"),
    ("PMTL-FIG2-CelebA-accounting", {"guarantee": "billboard"}, "epsilon in [141.6, 141.6], stated 15.51"),
    ("PMTL-FIG2-StackOverflow", {"epsilon": 112.7}, "stated 112.7"),
    ("PMTL-FIG2-FEMNIST-neighbours", {"epsilon": 33.8}, "stated 33.8"),
    ("PMTL-C-T1", {"times": 1.001}, "with a millionth less"),
    ("PMTL-CODE-weights", {"weight over the mean": 2.4}, "stated 6.6"),
    ("PMTL-C2-m", {"cohort": "100"}, "not 1"),
    ("DPFEDMTL-SIG-run", {"settings": (("CelebA", 0.11),)}, "is larger: CelebA, sigma = 0.11: 264.2 > 45"),
    ("DPFEDMTL-FIG3-order", {"order": "smaller sigma, nearer"}, "for sigma = 0.65, 2.42, 9.69"),
]

RATES = [
    ("PMTL-T3-T", {"exponent": -1.1}, "start ~ (T)^-1.000"),
    ("PMTL-T3-sigma", {"exponent": 1.8}, "(sigma)^2.000"),
    ("PMTL-T3-d", {"exponent": 0.9}, "(d)^1.000"),
    ("PMTL-T3-start-m", {"exponent": -0.1}, "start ~ (m)^-0.000"),
    ("PMTL-T6-31-start", {"exponent": -0.9}, "(m, T ~ m)^-1.000"),
    ("PMTL-conv-epsilon", {"exponent": -1.8}, "(epsilon)^-2.000"),
    ("DPFEDMTL-RATE-sigma", {"exponent": 1.8}, "(S sigma)^2.000"),
    ("DPFEDMTL-RATE-K", {"exponent": -0.9}, "(K)^-1.000"),
    ("DPFEDMTL-RATE-T", {"exponent": -0.9}, "T^-1.000"),
    ("MOCHA-T1-rate-s", {"exponent": 0.9}, "(1/s)^1.011"),
]

RUNS = [
    ("PMTL-RUN-sensitivity", {"clip norms": 1.99}, "moves by 2 clip norms"),
    ("DPFEDMTL-RUN-sensitivity", {"clip norms": 1.99}, "moves by 2 clip norms"),
    ("MOCHA-RUN-sensitivity", {"clip norms": 1.99}, "moves by 2 clip norms"),
    ("PMTL-RUN-noise", {"deviation in noise multipliers times clip norms": 0.96}, "deviation 1.0"),
    ("DPFEDMTL-RUN-noise", {"deviation in noise multipliers times clip norms": 0.96}, "deviation 1.0"),
    ("MOCHA-RUN-noise", {"deviation in noise multipliers times clip norms": 0.96}, "deviation 1.0"),
    ("PMTL-C-T6", {"noise factor": 0.97}, "and 1.0172"),
    ("PMTL-C-T6-E", {"noise factor": 0.97}, "and 1.0147"),
    ("PMTL-C-T7", {"noise factor": 0.97}, "and 1.0257"),
    ("PMTL-C-T7-E-rate", {"rate factor": 1.03}, "measured/bound between 1."),
]

AUDITS = [
    ("PMTL-RG2-audit", {"move": 3.0}, "refutes 2"),
    ("PMTL-RG2-audit", {"epsilon": 0.1, "move": 20.0}, "refutes 0.1"),
    ("PMTL-T1-general-audit", {"move": 2.5}, "refutes 4"),
    ("PMTL-T1-general-audit", {"delta": 0.001, "move": 3.0}, "refutes 4"),
    ("PMTL-L2-audit", {"power of d": 0.9}, "against the stated Renyi curve"),
    ("PMTL-L2-audit", {"power of d": 0.5}, "against the stated Renyi curve"),
    ("PMTL-C2-audit", {"epsilon": 2.0}, "refutes 2"),
    ("DPFEDMTL-T4.1-audit", {"S": "2CK/M"}, "against epsilon = 0.19"),
    ("DPFEDMTL-L4.3-audit", {"observer sees": "one upload"}, "against delta(0.5)"),
    ("SVT-A4-audit", {"algorithm": "4"}, "against epsilon = 1"),
]


@pytest.mark.parametrize(("true", "false", "side"), IDENTITIES)
def test_false_identities(true: str, false: str, side: str) -> None:
    assert reals(of(true)).holds
    found = reals(of(false))
    assert not found.holds
    assert side in found.text


@pytest.mark.parametrize(("true", "given", "false", "widened"), EXISTENCE)
def test_constants_that_there_are_not(true: str, given: str, false: str, widened: str) -> None:
    assert reals(of(true, given, exists="C")).holds
    found = reals(of(false, widened, exists="C"))
    assert not found.holds
    assert "refuted, by elimination of quantifiers" in found.text


@pytest.mark.parametrize("printed", READ)
def test_false_wording(printed: str) -> None:
    changes_the_verdict("PMTL-T6-33", {"printed": printed}, f"it says {printed}, where")
    assert wording(Statement("S.", {"printed": printed, "needed": printed})).holds


@pytest.mark.parametrize(("name", "changed", "reason"), few(CERTIFIED, 6))
def test_false_certified_numbers(name: str, changed: dict[str, Any], reason: str) -> None:
    changes_the_verdict(name, changed, reason)


@pytest.mark.parametrize(("name", "changed", "reason"), few(RATES, 6))
def test_false_rates(name: str, changed: dict[str, Any], reason: str) -> None:
    changes_the_verdict(name, changed, reason)


@pytest.mark.parametrize(("name", "changed", "reason"), few(RUNS, 6))
def test_false_statements_on_runs(name: str, changed: dict[str, Any], reason: str) -> None:
    changes_the_verdict(name, changed, reason)


@pytest.mark.parametrize(("name", "changed", "reason"), few(AUDITS, 12))
def test_false_statements_that_are_attacked(name: str, changed: dict[str, Any], reason: str) -> None:
    changes_the_verdict(name, changed, reason)
