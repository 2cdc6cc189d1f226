"""Section 5: what Table 1 says of itself. Its data, splits and lambda grid are in the absent appendix or elsewhere."""

from __future__ import annotations

import math

from scipy.stats import norm

from ..row import Finding, Kind, Row, Statement

TABLE_1 = {
    "Human Activity": {"Global": (2.23, 0.30), "Local": (1.34, 0.21), "MTL": (0.46, 0.11)},
    "Google Glass": {"Global": (5.34, 0.26), "Local": (4.92, 0.26), "MTL": (2.02, 0.15)},
    "Vehicle Sensor": {"Global": (13.4, 0.26), "Local": (7.81, 0.13), "MTL": (6.59, 0.21)},
}
"""Mean error in per cent and its standard error over 10 shuffles."""


def significantly_lower(statement: Statement) -> Finding:
    """One-sided z-tests of two means from their standard errors, Bonferroni over the comparisons.

    The shuffles of one data set are shared by the models and share samples among themselves: independence of the means
    is the assumption under which the standard errors are printed.
    """
    best, tests = statement.claim["lower"], {}
    for data in statement.domain["data"]:
        for rival in statement.claim["than"]:
            (low, low_error), (high, high_error) = TABLE_1[data][best], TABLE_1[data][rival]
            tests[f"{data}, {rival}"] = float(norm.sf((high - low) / math.hypot(low_error, high_error)))
    worst = max(tests, key=lambda name: tests[name])
    holds = tests[worst] * len(tests) <= 0.01
    return Finding(
        holds, f"largest p-value {tests[worst]:.2g} ({worst}), of {len(tests)}", tests, error_probability=0.01
    )


ROWS = (
    Row(
        id="MOCHA-TAB1",
        paper="mocha",
        place="Table 1 and section 5.2",
        kind=Kind.SIMULATION,
        evidence=significantly_lower,
        printed=Statement(
            "MTL is significantly better than Local and Global on all data (by the standard errors, level 0.01).",
            {"lower": "MTL", "than": ("Local", "Global")},
            {"data": tuple(TABLE_1)},
        ),
        spoilt=Statement(
            "Local is significantly better than MTL and Global on all data (by the standard errors, level 0.01).",
            {"lower": "Local", "than": ("MTL", "Global")},
            {"data": tuple(TABLE_1)},
        ),
    ),
    Row(
        id="MOCHA-TAB1-global",
        paper="mocha",
        place="Table 1 and section 5.2",
        kind=Kind.SIMULATION,
        evidence=significantly_lower,
        printed=Statement(
            "Global is the worst on all data, beyond chance (by the standard errors, level 0.01).",
            {"lower": "Local", "than": ("Global",)},
            {"data": tuple(TABLE_1)},
        ),
        repaired=Statement(
            "Global is the worst on Vehicle Sensor, beyond chance (level 0.01); on Human Activity and Google Glass its "
            "distance to Local may be chance.",
            {"lower": "Local", "than": ("Global",)},
            {"data": ("Vehicle Sensor",)},
        ),
    ),
)
"""The rows of Table 1."""
