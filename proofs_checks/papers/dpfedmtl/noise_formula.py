"""Section 6.1: sigma = sqrt(2 log(1.25/delta)) / epsilon, its four values, and where the formula is true at all."""

from __future__ import annotations

import math
from collections.abc import Mapping

from flint import arb

from ....accounting import gaussian
from ..balls import decide, gaussian_delta
from ..row import Finding, Kind, Row, Statement
from .settings import CHOSEN, DELTA


def printed_digits(statement: Statement) -> Finding:
    """The formula at delta = 1e-5, rounded to the two decimals printed."""
    right = {epsilon: math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon for epsilon in CHOSEN}
    wrong = {
        epsilon: sigma
        for epsilon, sigma in statement.claim["sigma by epsilon"].items()
        if round(right[epsilon], 2) != sigma
    }
    numbers = {f"formula at epsilon = {epsilon:g}": sigma for epsilon, sigma in right.items()}
    if not wrong:
        return Finding(True, "all four values are the formula's, rounded", numbers)
    text = "; ".join(f"epsilon = {epsilon:g}: {right[epsilon]:.4f}, not {sigma}" for epsilon, sigma in wrong.items())
    return Finding(False, text, numbers, {f"{epsilon:g}": sigma for epsilon, sigma in wrong.items()})


def formula_in_range(statement: Statement) -> Finding:
    """1e-5 minus the profile of one release with the formula's sigma, for every epsilon of the range.

    mu = 1/sigma is proportional to epsilon; the profile decreases in epsilon and increases in mu, so its largest
    value on a piece is below that at the piece's smallest epsilon and largest mu.
    """
    scale = statement.claim["sigma over the formula's"]

    def margin(at: Mapping[str, arb]) -> arb:
        low, high = float(at["epsilon"].lower()), float(at["epsilon"].upper())
        root = (2 * (arb(1.25) / arb("1e-5")).log()).sqrt() * arb(str(scale))
        most, least = float((arb(high) / root).upper()), float((arb(low) / root).lower())
        profile = arb(gaussian.profile_below(high, least)).union(arb(gaussian.profile_above(low, most)))
        above = statement.claim.get("true delta") == "above 1e-5"
        return profile - arb("1e-5") if above else arb("1e-5") - profile

    found = decide(
        margin,
        {"epsilon": statement.domain["epsilon"]},
        proof="the true delta keeps away from 1e-5 by {margin} or more, on {cells} pieces that cover the range",
        refutation="the true delta is on the other side of 1e-5 at {point}",
    )
    at = {f"certified delta at epsilon = {epsilon:g}": _true_delta(epsilon, scale) for epsilon in CHOSEN}
    return Finding(found.holds, found.text, dict(found.numbers) | at, found.witness)


def formula_for_every_delta(statement: Statement) -> Finding:
    """delta over the profile of one release with the formula's sigma at it, minus 1, on a box of epsilon and delta."""
    at_most = statement.claim["true delta over delta"] == "at most 1"

    def margin(at: Mapping[str, arb]) -> arb:
        target = (-at["log(1/delta)"]).exp()
        root = (2 * (arb(1.25) / target).log()).sqrt()
        ratio = gaussian_delta(at["epsilon"], at["epsilon"] / root) / target
        return 1 - ratio if at_most else ratio - 1

    return decide(
        margin,
        {"epsilon": statement.domain["epsilon"], "log(1/delta)": (4.7, 30.0)},
        proof="true over stated delta keeps away from 1 by {margin} or more, on {cells} pieces",
        refutation="true over stated delta is on the other side of 1 at {point}",
    )


def _true_delta(epsilon: float, scale: float) -> float:
    return gaussian.profile_below(epsilon, epsilon / math.sqrt(2 * math.log(1.25 / DELTA)) / scale)


ROWS = (
    Row(
        id="DPFEDMTL-SIG",
        paper="dpfedmtl",
        place="Section 6.1, choosing sigma",
        kind=Kind.COUNTEREXAMPLE,
        evidence=printed_digits,
        printed=Statement(
            "At delta = 1e-5 the epsilons 45, 8, 2, 0.5 give sigma = 0.11, 0.65, 2.42, 9.69.",
            {"sigma by epsilon": dict(CHOSEN)},
        ),
        repaired=Statement(
            "At delta = 1e-5 the epsilons 45, 8, 2, 0.5 give sigma = 0.11, 0.61, 2.42, 9.69. (0.65 belongs to 7.45.)",
            {"sigma by epsilon": CHOSEN | {8.0: 0.61}},
        ),
    ),
    Row(
        id="DPFEDMTL-SIG-domain",
        paper="dpfedmtl",
        place="Section 6.1, choosing sigma",
        kind=Kind.BALLS,
        evidence=formula_in_range,
        printed=Statement(
            "sigma = sqrt(2 log(1.25/delta)) / epsilon makes one release (epsilon, 1e-5)-DP for the epsilons used, 0.5 "
            "to 45.",
            {"sigma over the formula's": 1.0},
            {"epsilon": (0.5, 45.0)},
        ),
        repaired=Statement(
            "sigma = sqrt(2 log(1.25/delta)) / epsilon makes one release (epsilon, 1e-5)-DP for every epsilon from "
            "0.01 to 8.4.",
            {"sigma over the formula's": 1.0},
            {"epsilon": (0.01, 8.4)},
        ),
    ),
    Row(
        id="DPFEDMTL-SIG-classic",
        paper="dpfedmtl",
        place="Section 6.1, the formula of [1] where its source proves it",
        kind=Kind.BALLS,
        evidence=formula_in_range,
        printed=Statement(
            "sigma = sqrt(2 log(1.25/delta)) / epsilon makes one release (epsilon, 1e-5)-DP, 0.01 <= epsilon <= 1.",
            {"sigma over the formula's": 1.0},
            {"epsilon": (0.01, 1.0)},
        ),
        spoilt=Statement(
            "sigma = sqrt(2 log(1.25/delta)) / epsilon makes no release (epsilon, 1e-5)-DP, 0.01 <= epsilon <= 1.",
            {"sigma over the formula's": 1.0, "true delta": "above 1e-5"},
            {"epsilon": (0.01, 1.0)},
        ),
    ),
    Row(
        id="DPFEDMTL-SIG-limit",
        paper="dpfedmtl",
        place="Section 6.1, the formula at the end of the range in which it is true",
        kind=Kind.BALLS,
        evidence=formula_in_range,
        printed=Statement(
            "sigma = sqrt(2 log(1.25/delta)) / epsilon makes one release (epsilon, 1e-5)-DP, 8 <= epsilon <= 8.4.",
            {"sigma over the formula's": 1.0},
            {"epsilon": (8.0, 8.4)},
        ),
        spoilt=Statement(
            "0.97 times that sigma does, too.", {"sigma over the formula's": 0.97}, {"epsilon": (8.0, 8.4)}
        ),
    ),
    Row(
        id="DPFEDMTL-SIG-outside",
        paper="dpfedmtl",
        place="Section 6.1, the formula beyond its domain",
        kind=Kind.BALLS,
        evidence=formula_in_range,
        printed=Statement(
            "At every epsilon from 8.5 to 45 the formula's sigma is too small for (epsilon, 1e-5)-DP.",
            {"sigma over the formula's": 1.0, "true delta": "above 1e-5"},
            {"epsilon": (8.5, 45.0)},
        ),
        spoilt=Statement(
            "At every epsilon from 8.2 to 45 the formula's sigma is too small for (epsilon, 1e-5)-DP.",
            {"sigma over the formula's": 1.0, "true delta": "above 1e-5"},
            {"epsilon": (8.2, 45.0)},
        ),
    ),
    Row(
        id="DPFEDMTL-SIG-delta",
        paper="dpfedmtl",
        place="Section 6.1, the formula where its source proves it, for every delta from e^-30 to 0.009",
        kind=Kind.BALLS,
        evidence=formula_for_every_delta,
        printed=Statement(
            "sigma = sqrt(2 log(1.25/delta)) / epsilon makes one release (epsilon, delta)-DP, 0.05 <= epsilon <= 1.",
            {"true delta over delta": "at most 1"},
            {"epsilon": (0.05, 1.0)},
        ),
        spoilt=Statement(
            "sigma = sqrt(2 log(1.25/delta)) / epsilon leaves a larger delta than stated, 0.05 <= epsilon <= 1.",
            {"true delta over delta": "above 1"},
            {"epsilon": (0.05, 1.0)},
        ),
    ),
)
"""The rows of section 6.1 on sigma."""
