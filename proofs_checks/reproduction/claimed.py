"""The search for a claim: its run, its stated population and cohort, and the readings that its source allows."""

from __future__ import annotations

import math
from fractions import Fraction

from ...accounting import Bracket
from ...mechanisms import Gaussian, InputError, Mechanism, Poisson, Repeat
from ...mechanisms.client_noise import as_central
from ...mechanisms.tables.kinds import together
from ...mechanisms.tables.noise import GaussianMeanTable, PerClientGaussianTable
from ...mechanisms.tables.phase import Phase, has_weights, run_of
from ..claims.claim import Claim
from ..claims.currency import EpsilonAt
from .cohort_variants import Sizes
from .explain import common, explain
from .matches import Convention
from .other_currencies import explained_elsewhere
from .run_variants import AS_POISSON, Reading


def explained(claim: Claim) -> tuple[Convention, ...]:
    """`explain` for a claim: every convention searched for its printed number. InputError where it states several."""
    said, currency = claim.statement, claim.statement.currency
    if not isinstance(currency, EpsilonAt) or currency.delta == 0.0:
        return explained_elsewhere(claim)
    return explain(
        _as_read(claim),
        _delta(claim),
        said.neighbouring,
        claim.printed,
        said.notion,
        stated_sizes(claim),
        readings(claim),
        said.rdp_orders,
    )


def commonly_explained(claim: Claim, bracket: Bracket | None) -> tuple[Convention, ...]:
    """`common` for a claim; bracket: the certified epsilon of the run, if known."""
    said = claim.statement
    return common(
        _as_read(claim),
        _delta(claim),
        said.neighbouring,
        claim.printed,
        said.notion,
        bracket,
        readings(claim),
        said.rdp_orders,
    )


def _delta(claim: Claim) -> float:
    """The claim's delta: at 0, and in other currencies, numbers come about in one way, which verify shows."""
    currency = claim.statement.currency
    if not isinstance(currency, EpsilonAt) or currency.delta == 0.0:
        raise InputError(f"claim.{currency.name}", claim.printed, "an epsilon at a delta above 0, to be explained")
    return currency.delta


def _as_read(claim: Claim) -> Mechanism:
    """The run as published accountings take it: noise that clients add themselves counts like a server's."""
    return as_central(claim.run)


def stated_sizes(claim: Claim) -> Sizes:
    """Population and cohort of a claim with one phase."""
    if len(claim.phases) > 1:
        return Sizes()
    sampling = claim.phases[0].sampling
    return Sizes(sampling.population, sampling.cohort)


def readings(claim: Claim) -> tuple[Reading, ...]:
    """Where the source's accounting takes another sensitivity than the mechanism's: its own, or equal weights'."""
    found = []
    equal = tuple(_with_equal_weights(phase) for phase in claim.phases)
    if equal != claim.phases:
        found.append(Reading("weights taken as equal", run_of(equal), claim.statement.neighbouring))
    found += _of_uneven_batches(claim)
    alone = len(claim.phases) == 1 and claim.phases[0].is_single
    if alone and isinstance(table := claim.phases[0].mechanism, PerClientGaussianTable):
        phase, assumed = claim.phases[0], table.assumed_sensitivity
        if assumed is not None:
            # zero-out's unit move is then the assumed sensitivity, whichever neighbours the source had in mind
            noise = Gaussian(table.noise_std / assumed)
            run = Repeat(phase.sampling.sampled(noise), phase.rounds)
            found.append(Reading(f"sensitivity {assumed:.6g}, as the source takes it", run, "zero-out"))
    return tuple(found)


def _of_uneven_batches(claim: Claim) -> list[Reading]:
    """Shuffled batches with a smaller last one, as Poisson's: with the stated cohort's rate, rounds by either rule."""
    if len(claim.phases) > 1:
        return []
    phase, sampling = claim.phases[0], claim.phases[0].sampling
    if sampling.scheme != "shuffle" or not sampling.population or not sampling.cohort:
        return []
    if sampling.population % sampling.cohort == 0:
        return []
    cohorts = Poisson(phase.described().upper, sampling.rate)
    passes = phase.steps // sampling.together
    whole = math.ceil(Fraction(passes * sampling.population, sampling.cohort))
    return [
        Reading(f"{AS_POISSON}, {rounds} rounds", Repeat(cohorts, rounds), claim.statement.neighbouring)
        for rounds in dict.fromkeys((phase.steps, whole, passes * (sampling.population // sampling.cohort)))
    ]


def _with_equal_weights(phase: Phase) -> Phase:
    if not has_weights(phase):
        return phase
    equal = [
        table.model_copy(update={"weights": "uniform"}) if isinstance(table, GaussianMeanTable) else table
        for table in phase.tables
    ]
    return phase.model_copy(update={"mechanism": together(equal)})
