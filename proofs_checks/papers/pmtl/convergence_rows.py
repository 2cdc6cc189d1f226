"""The rows that runs of the printed theorems decide; evidence: convergence.py."""

from __future__ import annotations

from typing import Any

from ..row import Kind, Row, Statement
from . import convergence as evidence


def _row(name: str, place: str, function: Any, printed: Statement, **more: Any) -> Row:
    told = {"kind": Kind.TRAINER} | more
    return Row(id=f"PMTL-{name}", paper="pmtl", place=place, evidence=function, printed=printed, **told)


ROWS = (
    _row(
        "T7-run",
        "Appendix A.3, Theorem 7, run with its step size (sigma = 0)",
        evidence.halves_every_step,
        Statement(
            "With eta = cp/(Lp^2 + lambda p^2 - 2 lambda) the gap shrinks to half in every step.",
            {"step size": "cp/(Lp^2 + lambda p^2 - 2 lambda)"},
            {"T": 30},
        ),
        repaired=Statement(
            "With eta = 1/(L + lambda) it shrinks by 1 - eta mu at least.", {"step size": "1/(L + lambda)"}, {"T": 30}
        ),
    ),
    _row(
        "NBH",
        "Section 4.3, convergence to a neighbourhood",
        evidence.neighbourhood,
        Statement(
            "The solver stays at a distance from the optimum that does not vanish, by the mean estimation example.",
            {"stays above 0": "F - F*"},
        ),
        repaired=Statement(
            "The objective itself stays above 0; its distance from the optimum vanishes (q = m, sigma = 0).",
            {"stays above 0": "F"},
        ),
    ),
    _row(
        "T6-29",
        "Appendix A.2, Theorem 6, (29) with the explicit constants of (70) and (71), m = 10",
        evidence.bound_29,
        Statement(
            "The averaged squared gradients obey it for every E and q.", {"bound": "(70), (71)"}, {"q": 1, "E": 1500}
        ),
        repaired=Statement("They do with q = m and E = 1.", {"bound": "(70), (71)"}, {"q": 10, "E": 1}),
    ),
)
"""The rows that runs of the printed theorems decide."""
