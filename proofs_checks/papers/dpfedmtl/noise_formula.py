"""Section 6.1: sigma = sqrt(2 log(1.25/delta)) / epsilon, its four values, and where the formula is true at all."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from flint import arb

from ....accounting import gaussian
from ....accounting.calibrate import calibrate
from ....mechanisms import Gaussian
from ..balls import decide, gaussian_delta
from ..row import EXACT, Finding, Statement, looseness
from .settings import CHOSEN, DELTA


def printed_digits(statement: Statement) -> Finding:
    """The formula at delta = 1e-5, rounded to the two decimals printed."""
    right = {epsilon: math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon for epsilon in CHOSEN}
    stated = zip(right, statement.claim["sigma for each epsilon"], strict=True)
    wrong = {epsilon: sigma for epsilon, sigma in stated if round(right[epsilon], 2) != sigma}
    numbers = {f"formula at epsilon = {epsilon:g}": sigma for epsilon, sigma in right.items()}
    if not wrong:
        return Finding(True, "all four values are the formula's, rounded", numbers, basis=EXACT)
    text = "; ".join(f"epsilon = {epsilon:g}: {right[epsilon]:.4f}, not {sigma}" for epsilon, sigma in wrong.items())
    return Finding(False, text, numbers, {f"{epsilon:g}": sigma for epsilon, sigma in wrong.items()}, basis=EXACT)


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
    loose = _noise_to_spare(statement) if found.holds and "true delta" not in statement.claim else None
    at = {f"certified delta at epsilon = {epsilon:g}": _true_delta(epsilon, scale) for epsilon in CHOSEN}
    return Finding(found.holds, found.text, dict(found.numbers) | at, found.witness, basis=found.basis, loose=loose)


def _noise_to_spare(statement: Statement) -> tuple[float, float]:
    """The formula's sigma over the least that does, at nine epsilons of the range."""
    scale, (low, high) = statement.claim["sigma over the formula's"], statement.domain["epsilon"]
    shares = []
    for epsilon in np.geomspace(low, high, 9).tolist():
        least = calibrate(Gaussian, solve_for="noise_multiplier", epsilon=epsilon, delta=DELTA).value
        shares.append(least * epsilon / math.sqrt(2 * math.log(1.25 / DELTA)) / scale)
    return looseness(shares)


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
