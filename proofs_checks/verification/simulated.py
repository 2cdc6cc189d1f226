"""Sampled correlated noise: what a simulation says of a claim that no accountant decides.

Draws of the attained pair's loss can refute (simulation/estimates.py), with a stated probability of error; they
never make a claim hold.
"""

from __future__ import annotations

from dataclasses import replace

from ...mechanisms import BallsInBins, MinSeparated, Relation, rounds_by_step
from ..claims.claim import Claim
from ..claims.currency import EpsilonAt
from ..claims.findings import Finding
from ..claims.observers import judged_against
from ..simulation.estimates import DeltaEstimate, estimate_delta
from .verdict import Verification
from .witness import SimulatedWitness

DRAWS = 100_000
ERROR = 1e-6
"""With which probability a claim that is true of the attained pair is refuted, at most."""


def simulated(verification: Verification) -> Verification:
    """The verification with what a simulation adds; unchanged where it is decided, or nothing can be simulated."""
    statement, run = verification.claim.statement, simulable(verification.claim)
    if run is None or verification.verdict != "undecided" or not statement.delta:
        return verification
    about = statement.threshold, statement.neighbouring
    found = estimate_delta(run, about[0], neighbouring=about[1], draws=DRAWS, error=ERROR)
    told = replace(verification, findings=(*verification.findings, _finding(found, statement.delta)))
    if not found.refutes(statement.delta):
        return told
    return replace(told, verdict="refuted", witness=_witness(verification.claim, run, found))


def simulable(claim: Claim) -> BallsInBins | MinSeparated | None:
    """What is drawn: the run, if it is one of sampled correlated noise alone, and hidden; else None."""
    steps = list(rounds_by_step(claim.run).items())
    plain = isinstance(claim.statement.currency, EpsilonAt) and claim.statement.is_ordinary
    if not plain or judged_against(claim) is not None or len(steps) != 1:
        return None
    ((run, times),) = steps
    return run if times == 1 and isinstance(run, BallsInBins | MinSeparated) else None


def _finding(found: DeltaEstimate, delta: float) -> Finding:
    says = "refutes the claim" if found.refutes(delta) else "does not refute the claim (which proves nothing)"
    text = (
        f"A simulation {says}. At the claimed epsilon, a unit that contributes the same in every round needs a delta "
        f"of about {found.delta:.3g}, and of at least {found.lower:.3g} with probability of error {found.error:g} "
        f"({found.draws:,} draws, seed {found.seed})."
    )
    return Finding("simulated", "info", text)


def _witness(claim: Claim, run: BallsInBins | MinSeparated, found: DeltaEstimate) -> SimulatedWitness:
    statement = claim.statement
    other = "-clip u" if statement.neighbouring == Relation.REPLACE_ONE else "nothing"
    neighbours = (
        f"In the rounds that it draws, one unit contributes +clip u in data set A and {other} in data set B. All "
        "others contribute zero (u is a vector of length 1 that the attacker knows)"
    )
    drawn = (
        f"one of {run.bins} bins, in each of {run.passes} passes"
        if isinstance(run, BallsInBins)
        else f"coins of {run.sampling_rate:.6g}, {run.noise.min_separation} rounds apart at least"
    )
    pair = f"all {run.noise.rounds} rounds together, noise {run.noise_multiplier:.6g}; rounds drawn: {drawn}"
    order = "replace" if statement.neighbouring == Relation.REPLACE_ONE else "remove"
    ends = found.lower, found.error, found.draws, found.seed
    return SimulatedWitness(neighbours, pair, order, statement.delta or 0.0, *ends)
