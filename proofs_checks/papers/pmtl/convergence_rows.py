"""The rows that runs decide; evidence: convergence.py."""

from __future__ import annotations

from typing import Any

from ..row import Kind, Row, Statement
from . import convergence as evidence


def _row(name: str, place: str, function: Any, printed: Statement, **more: Any) -> Row:
    told = {"kind": Kind.TRAINER, "cost": "full"} | more
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
        cost="quick",
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
        cost="quick",
    ),
    _row(
        "C-T6",
        "Our correction of Theorems 3 and 6, Algorithm 1 as printed (q = m, E = 1, eta <= 1/(L + lambda))",
        evidence.gradient_bound,
        Statement(
            "mean ||grad mF||^2 <= 2 m (F(W^0) - F*)/(eta T) + lambda^2 m d sigma^2 (T - 1)/2.",
            {"line 8": "as-printed", "noise factor": 1.0},
        ),
        spoilt=Statement("The same with 0.7 times the noise term.", {"line 8": "as-printed", "noise factor": 0.7}),
    ),
    _row(
        "C-T6-reset",
        "Our correction of Theorems 3 and 6, with w~ reset to the mean (q = m, E = 1, eta < 2/(L + lambda))",
        evidence.gradient_bound,
        Statement(
            "mean ||grad mF||^2 <= m (F(W^0) - F*)/(c eta T) + eta L lambda^2 m d sigma^2/(2c), "
            "c = 1 - eta (L + lambda)/2.",
            {"line 8": "reset", "noise factor": 1.0},
        ),
        spoilt=Statement("The same with 0.7 times the noise term.", {"line 8": "reset", "noise factor": 0.7}),
    ),
    _row(
        "C-T7",
        "Our correction of Theorems 5 and 7, with w~ reset to the mean (q = m, E = 1, eta < 2/(L + lambda))",
        evidence.gap_bound,
        Statement(
            "F(W^T) - F* <= (1 - 2 eta mu c)^T (F(W^0) - F*) + eta L lambda^2 d sigma^2/(4 mu c), "
            "c = 1 - eta (L + lambda)/2.",
            {"rate factor": 1.0, "noise factor": 1.0},
            {"start": "near"},
        ),
        spoilt=Statement(
            "The same with 0.7 times the noise term.", {"rate factor": 1.0, "noise factor": 0.7}, {"start": "near"}
        ),
    ),
    _row(
        "C-T7-rate",
        "Our correction of Theorems 5 and 7: the rate",
        evidence.gap_bound,
        Statement(
            "The gap decays as fast as (1 - 2 eta mu c)^T.", {"rate factor": 1.0, "noise factor": 1.0}, {"start": "far"}
        ),
        spoilt=Statement("It decays 5% faster.", {"rate factor": 1.05, "noise factor": 1.0}, {"start": "far"}),
    ),
    _row(
        "T6-29",
        "Appendix A.2, Theorem 6, (29) with the explicit constants of (70) and (71), m = 10",
        evidence.bound_29,
        Statement(
            "The averaged squared gradients obey it for every E and q.", {"bound": "(70), (71)"}, {"q": 1, "E": 10_000}
        ),
        repaired=Statement("They do with q = m and E = 1.", {"bound": "(70), (71)"}, {"q": 10, "E": 1}),
    ),
    _row(
        "T3-T",
        "Section 4.3, Theorem 3, (9): O(lambda/T)",
        evidence.start_rate,
        Statement("The term of the start falls like 1/T.", {"exponent of T": -1}),
        spoilt=Statement("It falls like T^-0.95.", {"exponent of T": -0.95}),
    ),
    _row(
        "T3-sigma",
        "Section 4.3, Theorem 3, (9): O(d lambda sigma^2/E)",
        evidence.noise_rate,
        Statement("The noise term grows like sigma^2.", {"parameter": "sigma", "exponent": 2}),
        spoilt=Statement("It grows like sigma^1.9.", {"parameter": "sigma", "exponent": 1.9}),
    ),
    _row(
        "T3-d",
        "Section 4.3, Theorem 3, (9): O(d lambda sigma^2/E)",
        evidence.noise_rate,
        Statement("The noise term grows like d.", {"parameter": "d", "exponent": 1}),
        spoilt=Statement("It grows like d^0.8.", {"parameter": "d", "exponent": 0.8}),
    ),
    _row(
        "T3-lambda",
        "Section 4.3, Theorem 3, (9): O(d lambda sigma^2/E)",
        evidence.noise_rate,
        Statement("The noise term grows like lambda (for lambda above L).", {"parameter": "lambda", "exponent": 1}),
        repaired=Statement("It grows like lambda^2, as in (29).", {"parameter": "lambda", "exponent": 2}),
    ),
    _row(
        "T3-E",
        "Section 4.3, Theorem 3, (9): O(d lambda sigma^2/E), with w~ reset to the mean",
        evidence.noise_rate,
        Statement("The noise term falls like 1/E.", {"parameter": "E", "exponent": -1}),
        spoilt=Statement("It falls like E^-0.8.", {"parameter": "E", "exponent": -0.8}),
    ),
    _row(
        "T6-29-m",
        "Appendix A.2, Theorem 6, (29): O(.../(mE)) sigma^2",
        evidence.noise_rate,
        Statement("At fixed sigma the noise term falls like 1/m.", {"parameter": "m at fixed sigma", "exponent": -1}),
        repaired=Statement(
            "It does not depend on m, as in (9) and (76): all clients read the same noise.",
            {"parameter": "m at fixed sigma", "exponent": 0},
        ),
    ),
    _row(
        "T6-77",
        "Appendix A.2, (77), against (10) and (31): sigma by Theorem 1, T proportional to m",
        evidence.noise_rate,
        Statement("The noise term is O(log(1/delta)/epsilon^2), whatever m.", {"parameter": "m, T ~ m", "exponent": 0}),
        repaired=Statement("It falls like 1/m, as in (31).", {"parameter": "m, T ~ m", "exponent": -1}),
    ),
    _row(
        "conv-noise",
        "Section 4.3, after (11): more tasks, smaller bound",
        evidence.noise_rate,
        Statement(
            "At a given epsilon the noise term falls like 1/m (T proportional to m).",
            {"parameter": "m, T ~ m", "exponent": -1},
        ),
        spoilt=Statement("It falls like m^-0.8.", {"parameter": "m, T ~ m", "exponent": -0.8}),
    ),
    _row(
        "conv-epsilon",
        "Section 4.3, after (11): inversely proportional to epsilon",
        evidence.noise_rate,
        Statement("The noise term grows like 1/epsilon.", {"parameter": "epsilon", "exponent": -1}),
        repaired=Statement("It grows like 1/epsilon^2, as in (10).", {"parameter": "epsilon", "exponent": -2}),
    ),
)
"""The rows that runs decide."""
