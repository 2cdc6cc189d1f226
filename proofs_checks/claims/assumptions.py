"""What a verdict takes for granted, and what it does not cover."""

from __future__ import annotations

from collections.abc import Iterator

from ...mechanisms import (
    BoundedLaplace,
    ClampedGaussian,
    Gaussian,
    Participation,
    PrivacyNotion,
    Relation,
    ReportNoisyMax,
    SparseVector,
    Staircase,
    TruncatedGaussian,
    sensitivity,
)
from ...mechanisms.tables.correlated import CorrelatedTable
from ...mechanisms.tables.fields import KindTable
from ...mechanisms.tables.kinds import MechanismTable
from ...mechanisms.tables.noise import GaussianMeanTable, PerClientGaussianTable
from ...mechanisms.tables.phase import Phase
from ...mechanisms.tables.scheme import Scheme
from .claim import Claim
from .findings import delta_is_large

NOT_CHECKED = (
    "that the noise is drawn as described: real-valued, from a sound and unpredictably seeded generator "
    "(floating-point samplers leak low-order bits)",
    "that every contribution is really clipped to the stated bound, before it is summed",
    "that the cohorts were really drawn as stated, and what logs, traffic or timing say about who took part",
    "data-dependent choices around the run: hyper-parameters, early stopping, initial models, released statistics",
    "that the source's parameters are those of the run that was released",
)
"""What no verdict covers; KNOWN_LIMITS.md says more on each."""


def assumptions(claim: Claim) -> tuple[str, ...]:
    """Everything that the verdict takes for granted, one sentence each."""
    return tuple([*_about_statement(claim), *_about_phases(claim), *claim.statement.assumed])


def _about_statement(claim: Claim) -> Iterator[str]:
    statement = claim.statement
    move = sensitivity(statement.neighbouring)
    yield (
        f"neighbouring data sets: {statement.neighbouring}; one {statement.unit} changes a clipped sum by at most "
        f"{move:g} times the clipping bound"
    )
    observer = observer_in_words(claim)
    if observer is not None:
        yield f"notion: {statement.notion}; {observer}"
    if statement.epsilon_interval:
        yield f"the printed epsilon is rounded: the claim covers every epsilon up to {statement.threshold:g}"
    else:
        yield f"{statement.currency.name} is read as printed, not as a rounded number"
    if claim.may_change_phases:
        yield (
            f"replacing a {statement.unit}'s data may move it from one phase to another; every stated sensitivity or "
            f"bound also holds between data sets with and without one {statement.unit}"
        )
    if delta_is_large(claim):
        yield (
            f"WARNING: delta = {statement.delta:g} is about 1/population (1/{claim.population}) or above: a release "
            f"that publishes the data of one random {statement.unit} would satisfy the claim"
        )


def observer_in_words(claim: Claim) -> str | None:
    """Whom the verdict is about, and whether the claim says so; None for plain privacy, which names nobody."""
    statement = claim.statement
    if statement.notion == PrivacyNotion.DP and statement.observer is None:
        return None
    if statement.observer is None and statement.coalition_sees_participation is False:
        return "no attacker learns who takes part"
    pooled = "the attacker is all other clients together, who know which of them took part"
    if statement.observer is None:
        return pooled + ("" if statement.coalition_sees_participation else " (the default: the claim does not say)")
    named = {
        "coalition": f"the attacker is {statement.coalition_size} other clients, who know which of them took part",
        "client": "the attacker is one other client",
        "server": "the attacker is the server, which sees who takes part",
        "final-models": "the attacker sees the final models only",
        "outside": "the attacker is an outside reader of the billboard",
    }
    told = pooled if statement.observer == "coalition" and not statement.coalition_size else named[statement.observer]
    state = statement.clients or "stateful (the default: the claim does not say)"
    return f"{told}; clients are {state}"


def _about_phases(claim: Claim) -> Iterator[str]:
    told: set[str] = set()
    for phase in claim.phases_and_searched_runs:
        noise = (sentence for table in phase.tables for sentence in _about_noise(claim, table, phase))
        silent = _about_left_out(claim, phase)
        for sentence in (*noise, *silent, *_about_releases(phase), *_about_sampling(claim, phase)):
            if sentence not in told:
                told.add(sentence)
                yield sentence


def _about_left_out(claim: Claim, phase: Phase) -> Iterator[str]:
    unit, zeroed = claim.statement.unit, claim.statement.neighbouring == Relation.ZERO_OUT
    if zeroed and any(table.kind == "randomized-response" for table in phase.tables):
        yield f"a {unit} that is left out still answers, with a uniformly random category"


def _about_releases(phase: Phase) -> Iterator[str]:
    if not phase.is_single:
        yield "all releases of a round use the same sample: a unit is in all of them or in none"


_OF_SCORES = (ReportNoisyMax, SparseVector)
_OVER_SENSITIVITY = (*_OF_SCORES, Staircase, BoundedLaplace, ClampedGaussian, TruncatedGaussian)
"""Whose noise is stated over a sensitivity, not over a clipping bound."""


def _about_noise(claim: Claim, table: KindTable, phase: Phase) -> Iterator[str]:
    if isinstance(table, GaussianMeanTable | PerClientGaussianTable):
        base = table.ran(phase.sampling).upper
        if isinstance(base, Gaussian):
            yield (
                "the stated noise on the mean is a noise multiplier (noise on the weighted sum over the clipping "
                f"bound) of {base.noise_multiplier:.6g}"
            )
        present = "" if phase.sampling.scheme.draws_units_independently else ", or by the number of units present"
        yield f"the mean divides by a number that does not depend on the data{present}"
    if isinstance(table, CorrelatedTable) and phase.sampling.scheme == Scheme.NONE and phase.steps > 1:
        yield _participations(claim, table, phase)
    ran = table.ran(phase.sampling).lower if isinstance(table, MechanismTable) else None
    if isinstance(ran, _OVER_SENSITIVITY):
        yield f"{table.kind}: the stated sensitivity is between {claim.statement.neighbouring} neighbours"
    if getattr(ran, "monotone", isinstance(ran, ReportNoisyMax)):
        yield f"{table.kind}: if the formula for monotone scores was used, one unit moves all scores in one direction"
    if table.kind == "best-of-several":
        yield "the number of runs stays secret, and only the output of the best run is released"
    if table.kind in ("zcdp", "pure-dp", "approximate-dp", "renyi-dp"):
        yield f"each round satisfies the stated {table.kind} bound; nothing else is known, so no lower bound exists"
    if table.kind == "loss-distribution":
        yield "the stated distributions of the privacy loss bound the mechanism's, for both orders of the neighbours"
    if isinstance(table, GaussianMeanTable) and isinstance(table.weights, tuple):
        yield "the weights (sample counts) are the same under both neighbours"


def _participations(claim: Claim, table: CorrelatedTable, phase: Phase) -> str:
    """How often a unit takes part under correlated noise, on which its cost depends most."""
    times, separation = table.max_participations, table.min_separation
    apart = "" if times == 1 or separation == 1 else f", at least {separation} rounds apart"
    default = "" if table.states_participations else " (the default: the claim does not say)"
    return (
        f"each {claim.statement.unit} takes part in at most {times} of these {phase.steps} rounds{apart}{default}; "
        "which ones does not depend on the data"
    )


_DRAWN_BY_ITSELF = (
    "each unit draws its own rounds, which stay secret; sums are divided by a constant, never by the number of units "
    "that take part"
)
_SCHEMES = {
    Scheme.POISSON: "Poisson sampling: in every round each unit is included independently, with the same probability; "
    "sums are divided by a constant, never by the number of units drawn",
    Scheme.FIXED_SIZE: "fixed-size sampling: every round draws a new uniform cohort without replacement",
    Scheme.CYCLIC: "cyclic batches: every pass uses the same public batches in the same order, whatever the data are",
    Scheme.CYCLIC_POISSON: "cyclic Poisson cohorts: a public split into groups that does not depend on the data; in "
    "every round each unit of one group is included independently with the same probability; sums are divided by a "
    "constant",
    Scheme.BALLS_IN_BINS: _DRAWN_BY_ITSELF,
    Scheme.MIN_SEPARATED: _DRAWN_BY_ITSELF,
}
_SECRET = (
    "stay secret, and a unit's contribution depends on its own data and on public outputs only (clients keep no state)"
)


def _about_sampling(claim: Claim, phase: Phase) -> Iterator[str]:
    sampling, statement = phase.sampling, claim.statement
    scheme, nobody_named = sampling.scheme, statement.observer is None
    if scheme in _SCHEMES:
        yield _SCHEMES[scheme]
    if scheme in (Scheme.FIXED_SIZE, Scheme.SHUFFLE):
        hidden = statement.participation == Participation.HIDDEN or statement.notion == PrivacyNotion.DP
        if hidden and nobody_named:
            yield f"cohorts {_SECRET}"
    if scheme == Scheme.SHUFFLE:
        even = sampling.drop_last or not sampling.is_uneven
        sizes = "equal size" if even else "equal size except for a smaller last one, which has the same noise"
        yield f"shuffling: a new uniform order per epoch, batches of {sizes}, each unit in one batch per epoch"
        if sampling.drops_units:
            yield "each epoch leaves out the units of its incomplete last batch; no lower bound is known for that"
    if scheme == Scheme.RANDOM_ALLOCATION:
        yield (
            f"random allocation: each unit picks {sampling.per_block or 1} of the {sampling.block} rounds of each "
            "block independently and uniformly; sums are divided by a constant, never by the number of units that take "
            "part"
        )
        if nobody_named and statement.notion == PrivacyNotion.DP:
            yield f"the picks {_SECRET}"
