"""Theorem 4.1, and what section 6 makes of it: the cost of the whole run, for Algorithm 1 as written and as corrected.

Replace-one neighbours throughout, as in the proof of Lemma 4.1. The claimed cost is that of T sampled rounds with the
curve C_p(G_(1/sigma)), the symmetric pair "hybrid".
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from flint import arb
from scipy.stats import binom

from .... import accounting
from ....accounting.bracket import Bracket, OutOfReach
from ....accounting.currencies.gdp import gdp_epsilon
from ....accounting.losses import one_event
from ....accounting.losses.atoms import pld
from ....accounting.losses.smooth import contour
from ....accounting.pairs import Composition, GaussianPair, Sampling, SubsampledPair
from ....accounting.pricing.dominating import dominating
from ....accounting.rounding import float_above, float_below
from ....mechanisms import FixedSize, Gaussian, Participation, Relation, Repeat
from ..balls import Point, decide
from ..row import CERTIFIED, Finding, Statement, resting_on
from .settings import CHOSEN, DELTA, EXPERIMENTS, FEMNIST, Experiment

SETTINGS = tuple((name, sigma) for name in EXPERIMENTS for sigma in (0.11, 0.65, 2.42, 9.69))
CHOSEN_FOR = {sigma: epsilon for epsilon, sigma in CHOSEN.items()}


def claimed_run(each: Experiment, sigma: float) -> Composition:
    """C_p(G_(1/sigma)) composed T times."""
    return ((SubsampledPair(GaussianPair(1 / sigma), each.rate, Sampling.HYBRID), each.rounds),)


@cache
def claimed_epsilon(each: Experiment, sigma: float) -> Bracket:
    """The claimed cost at DELTA, certified."""
    run = claimed_run(each, sigma)
    try:
        return contour.epsilon(run, DELTA)
    except OutOfReach:
        return pld.epsilon(run, DELTA)


def multiplier(each: Experiment, sigma: float, sensitivity: str, sees: str) -> float:
    """Noise over C: on the sum of K uploads, of standard deviation sigma S sqrt K, or on a single upload, sigma S."""
    size = {"2CK/M": 2 * each.cohort / each.population, "2C": 2.0}[sensitivity]
    return sigma * size * (1.0 if sees == "uploads" else math.sqrt(each.cohort))


@cache
def actual_epsilon(each: Experiment, sigma: float, sensitivity: str, sees: str, side: str) -> float:
    """An end of the certified cost of T rounds of Algorithm 1 with clipping, replace-one, cohorts of exactly K.

    The server that receives uploads sees who takes part; its cost is known exactly. For small noise on the
    averages the lower end is that of one event, which is enough there and takes no time.
    """
    noise = multiplier(each, sigma, sensitivity, sees)
    run = Repeat(FixedSize(Gaussian(noise), each.population, each.cohort), each.rounds)
    if sees == "averages" and side == "lower" and noise < 0.5:
        return max(one_event.epsilon(pair, DELTA).lower for pair in dominating(run, Relation.REPLACE_ONE).lower)
    participation = Participation.VISIBLE if sees == "uploads" else Participation.HIDDEN
    bracket = accounting.epsilon(run, DELTA, Relation.REPLACE_ONE, participation=participation)
    return bracket.lower if side == "lower" else bracket.upper


@resting_on(CERTIFIED)
def whole_run(statement: Statement) -> Finding:
    """The true epsilon at 1e-5 against the guarantee's: refuted by its certified lower end, proved by its upper."""
    sensitivity, sees = statement.claim["S"], statement.claim["observer sees"]
    numbers: dict[str, Any] = {}
    broken, unproved = [], []
    for name, sigma in statement.domain["settings"]:
        each = EXPERIMENTS[name]
        said = _stated(statement.claim["guarantee"], each, sigma)
        low = actual_epsilon(each, sigma, sensitivity, sees, "lower")
        numbers[f"{name}, sigma = {sigma}"] = {"stated": said, "certified at least": low}
        if low > said:
            broken.append((name, sigma, said, low))
        elif actual_epsilon(each, sigma, sensitivity, sees, "upper") > said:
            unproved.append((name, sigma))
    if broken:
        examples = "; ".join(
            f"{name} sigma = {s}: {said:.4g} stated, at least {low:.4g}" for name, s, said, low in broken
        )
        return Finding(False, f"epsilon at 1e-5: {examples}", numbers)
    if unproved:
        return Finding(False, f"not proved at {unproved}", numbers)
    return Finding(
        True, f"the certified epsilon at 1e-5 is at most the stated one in all {len(numbers)} settings", numbers
    )


def _stated(guarantee: str, each: Experiment, sigma: float) -> float:
    """The epsilon at 1e-5 that the guarantee gives."""
    if guarantee == "C_p(G_(1/sigma)), T times":
        return claimed_epsilon(each, sigma).lower
    if guarantee == "chosen epsilon":
        return CHOSEN_FOR[sigma]
    most = int(binom.isf(DELTA / 2, each.rounds, each.rate))
    return gdp_epsilon(math.sqrt(most) / sigma, DELTA / 2).upper


@resting_on(CERTIFIED)
def run_within_chosen(statement: Statement) -> Finding:
    """C_p(G_(1/sigma))^T at 1e-5, as Theorem 4.1 would have it, against the epsilon for which sigma was chosen."""
    numbers = {}
    for name, sigma in statement.domain["settings"]:
        bracket = claimed_epsilon(EXPERIMENTS[name], sigma)
        numbers[f"{name}, sigma = {sigma}"] = [CHOSEN_FOR[sigma], bracket.lower, bracket.upper]
    broken = [f"{name}: {low:.4g} > {chosen:g}" for name, (chosen, low, _) in numbers.items() if low > chosen]
    if broken:
        return Finding(False, "the certified epsilon of the run is larger: " + "; ".join(broken), numbers)
    proved = all(high <= chosen for chosen, _, high in numbers.values())
    return Finding(proved, f"the certified epsilon of the run is smaller in all {len(numbers)} settings", numbers)


def falls_short(statement: Statement) -> Finding:
    """epsilon of C_p(G_(1/sigma))^T minus the true one of T averages, FEMNIST, at 1e-5; each falls in sigma."""
    sensitivity = statement.claim["S"]

    def margin(at: Point) -> arb:
        least, most = float_below(at["sigma"].lower()), float_above(at["sigma"].upper())
        low = claimed_epsilon(FEMNIST, most).lower - actual_epsilon(FEMNIST, least, sensitivity, "averages", "upper")
        high = claimed_epsilon(FEMNIST, least).upper - actual_epsilon(FEMNIST, most, sensitivity, "averages", "lower")
        return arb(float_below(arb(low) - 1e-9)).union(arb(float_above(arb(high) + 1e-9)))

    return decide(
        margin,
        {"sigma": statement.domain["sigma"]},
        proof="the true epsilon stays below the claimed one by {margin} or more, on {cells} pieces",
        refutation="claimed minus true epsilon is at most {margin} at {point}",
        most_cells=60,
    )
