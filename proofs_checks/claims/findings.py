"""What a reader of a claim should be told beyond its verdict: findings, assumptions, and what was not checked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from ...accounting import Bracket
from ...mechanisms import Gaussian, sensitivity
from ...mechanisms.tables.fields import KindTable
from ...mechanisms.tables.noise import GaussianMeanTable, PerClientGaussianTable
from ...mechanisms.tables.norms import NormedTable
from ...mechanisms.tables.phase import Phase
from .claim import Claim, divides_by_who_is_there

NOT_CHECKED = (
    "that the noise is drawn as described: real-valued, from a sound and unpredictably seeded generator "
    "(floating-point samplers leak low-order bits)",
    "that every contribution is really clipped to the stated bound, before it is summed",
    "that the cohorts were really drawn as stated, and what logs, traffic or timing say about who took part",
    "data-dependent choices around the run: hyper-parameters, early stopping, initial models, released statistics",
    "that the source's parameters are those of the run that was released",
)
"""What no verdict covers; KNOWN_LIMITS.md says more on each."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that matters about a claim. severity: "info", "warning" or "error"."""

    id: str
    severity: Literal["info", "warning", "error"]
    text: str

    def __str__(self) -> str:
        return f"{'note' if self.severity == 'info' else self.severity} {self.id}: {self.text}"

    def to_json(self) -> dict[str, str]:
        """Plain data, under the names of the fields."""
        return asdict(self)


def delta_is_large(claim: Claim) -> bool:
    """delta at or above 1 / population, up to the rounding of a printed delta (1%)."""
    return claim.population is not None and (claim.statement.delta or 0.0) * claim.population >= 0.99


def assumptions(claim: Claim) -> tuple[str, ...]:
    """Everything that the verdict takes for granted, one sentence each."""
    return tuple([*_about_statement(claim), *_about_phases(claim), *claim.statement.assumed])


def _about_statement(claim: Claim) -> Iterator[str]:
    statement = claim.statement
    move = sensitivity(statement.neighbouring)
    yield (
        f"neighbours: {statement.neighbouring}, unit: {statement.unit}; "
        f"one unit's change moves the sum by up to {move:g} clip"
    )
    observer = observer_in_words(claim)
    if observer is not None:
        yield f"notion: {statement.notion}; {observer}"
    if statement.epsilon_interval:
        yield f"the printed epsilon is rounded: anything up to {statement.threshold:g} is covered by the claim"
    else:
        yield f"{statement.currency.name} is read as printed, not as a rounded number"
    if delta_is_large(claim):
        yield (
            f"WARNING: delta = {statement.delta:g} is about 1/population (1/{claim.population}) or above: publishing "
            f"one random {statement.unit}'s data outright would satisfy it"
        )


def observer_in_words(claim: Claim) -> str | None:
    """Whom the verdict is about, and whether the claim says so; None for plain privacy, which names nobody."""
    statement = claim.statement
    if statement.notion == "dp" and statement.observer is None:
        return None
    if statement.observer is None and statement.coalition_sees_participation is False:
        return "no observer learns who takes part"
    pooled = "judged against the coalition of all others, who pool who of them takes part"
    if statement.observer is None:
        return pooled + ("" if statement.coalition_sees_participation else " (the default: the claim does not say)")
    named = {
        "coalition": f"judged against {statement.coalition_size} others, who pool who of them takes part",
        "client": "judged against one other client",
        "server": "judged against the server, who sees who takes part",
        "final-models": "judged against whoever sees the final models only",
        "outside": "judged against an outside reader of the billboard",
    }
    told = pooled if statement.observer == "coalition" and not statement.coalition_size else named[statement.observer]
    state = statement.clients or "stateful (the default: the claim does not say)"
    return f"{told}; clients are {state}"


def _about_phases(claim: Claim) -> Iterator[str]:
    told: set[str] = set()
    for phase in claim.phases:
        noise = (sentence for table in phase.tables for sentence in _about_noise(table, phase))
        for sentence in (*noise, *_about_releases(phase), *_about_sampling(claim, phase)):
            if sentence not in told:
                told.add(sentence)
                yield sentence


def _about_releases(phase: Phase) -> Iterator[str]:
    if not phase.is_single:
        yield "all releases of a round are about the same sample: a unit is in all of them, or in none"


def _about_noise(table: KindTable, phase: Phase) -> Iterator[str]:
    if isinstance(table, GaussianMeanTable | PerClientGaussianTable):
        base = table.described(phase.sampling).upper
        if isinstance(base, Gaussian):
            yield f"the noise on the mean is z = {base.noise_multiplier:.6g} times clip_norm on the weighted sum"
        yield "the mean divides by a number that does not depend on the data, or by how many units there are"
    if table.kind in ("zcdp", "pure-dp", "approximate-dp", "renyi-dp"):
        yield f"each round satisfies the stated {table.kind} bound; nothing else is known, so no lower bound exists"
    if table.kind == "loss-distribution":
        yield "the stated distributions of the privacy loss bound the mechanism's, for both orders of the neighbours"
    if isinstance(table, GaussianMeanTable) and isinstance(table.weights, tuple):
        yield "the weights (sample counts) are the same under both neighbours"


def _about_sampling(claim: Claim, phase: Phase) -> Iterator[str]:
    scheme = phase.sampling.scheme
    if scheme == "poisson":
        yield "Poisson sampling: independent coins, and sums divided by a constant, never by the realised cohort"
    if scheme == "fixed-size":
        yield "fixed-size sampling: a fresh uniform cohort without replacement in every round"
    if scheme in ("fixed-size", "shuffle"):
        hidden = claim.statement.participation == "hidden" or claim.statement.notion == "dp"
        if hidden and claim.statement.observer is None:
            yield "cohorts stay secret, and contributions depend on own data and public outputs only (no client state)"
    if scheme == "shuffle":
        even = phase.sampling.drop_last or not phase.sampling.is_uneven
        sizes = "equal size" if even else "one size but for the smaller last one, with the same noise"
        yield f"shuffling: a fresh uniform order in every epoch, batches of {sizes}, one participation an epoch"
        if phase.sampling.drops_units:
            yield "each epoch leaves out the units of the last batch, drawn anew: no lower bound is known for that"
    if scheme == "cyclic":
        yield "cyclic batches: the same public partition and order in every pass, whatever the data are"
    if scheme == "cyclic-poisson":
        yield (
            "cyclic Poisson cohorts: units are split into groups beforehand and publicly, whatever the data are; in "
            "every round the units of one group flip independent coins, and sums are divided by a constant"
        )
    if scheme in ("balls-in-bins", "min-separated"):
        yield (
            "rounds are drawn by every unit for itself and stay secret; sums are divided by a constant, never by the "
            "realised cohort"
        )
    if scheme == "random-allocation":
        yield (
            f"random allocation: every unit picks {phase.sampling.per_block or 1} of the {phase.sampling.block} rounds "
            "of each block by itself, uniformly; sums divided by a constant, never by the realised cohort"
        )
        if claim.statement.observer is None and claim.statement.notion == "dp":
            yield "the picks stay secret; contributions depend on own data and public outputs only (no client state)"


def findings(claim: Claim, bracket: Bracket, verdict: str, reproduced_by: tuple[str, ...]) -> tuple[Finding, ...]:
    """What to tell about this claim, the most severe first."""
    told: dict[str, Finding] = {}
    for phase in claim.phases:
        noise = (finding for table in phase.tables for finding in _noise_findings(claim, table, phase))
        for finding in (*_sampling_findings(claim, phase), *noise):
            told.setdefault(finding.id, finding)
    for finding in _verdict_findings(claim, bracket, verdict, reproduced_by):
        told.setdefault(finding.id, finding)
    order = ("error", "warning", "info")
    return tuple(sorted(told.values(), key=lambda finding: order.index(finding.severity)))


def _sampling_findings(claim: Claim, phase: Phase) -> Iterator[Finding]:
    sampling, statement = phase.sampling, claim.statement
    coalition = statement.notion != "dp" and statement.participation is None
    coalition = coalition and statement.observer in (None, "coalition") and statement.coalition_size is None
    if sampling.scheme == "fixed-size" and sampling.rate < 1 and coalition:
        yield Finding(
            "no-amplification-against-coalition",
            "error",
            f"With cohorts of exactly {sampling.cohort} of {sampling.population} the other members know together "
            "whether the last one took part: subsampling amplifies nothing against them.",
        )
    if sampling.scheme == "shuffle":
        yield Finding(
            "shuffled-not-poisson",
            "warning",
            "Batches are shuffled: the amplification of Poisson sampling does not apply, and may not be claimed.",
        )
    if sampling.scheme == "cyclic":
        yield Finding(
            "cyclic-not-sampled",
            "warning",
            "Batches follow a fixed schedule: nothing is sampled, and no amplification may be claimed.",
        )


def _noise_findings(claim: Claim, table: KindTable, phase: Phase) -> Iterator[Finding]:
    sampling = phase.sampling
    if isinstance(table, GaussianMeanTable) and claim.statement.neighbouring == "add-remove":
        yield from _divisor_findings(claim, phase)
    if claim.statement.neighbouring == "replace-one" and table.kind != "randomized-response":
        yield Finding(
            "replace-one-sensitivity",
            "info",
            "Replacing a unit's data moves a clipped sum by up to 2 clip, twice what adding or removing it does.",
        )
    if isinstance(table, NormedTable) and table.asks_norm() and table.norm is None and table.dimension is None:
        yield _norm_not_stated(table.kind)
    if isinstance(table, GaussianMeanTable) and table.weights != "uniform":
        base = table.described(sampling).upper
        if isinstance(base, Gaussian):
            factor = table.noise_std * sampling.divisor() / (table.clip_norm * base.noise_multiplier)
            factor /= math.sqrt(table.coordinates)
            yield Finding(
                "weighted-mean",
                "warning",
                f"The heaviest client weighs up to {factor:.3g} / cohort: its noise multiplier is that much smaller.",
            )
    if isinstance(table, PerClientGaussianTable):
        yield from _per_client_findings(claim, table, sampling.divisor())


def _norm_not_stated(kind: str) -> Finding:
    ranged = kind in ("staircase", "truncated-laplace", "bounded-laplace")
    taken = "one number" if ranged else "one number, or several whose absolute values it bounds together (l1)"
    several = (
        "up to sqrt(d) times that if they are d numbers of which the Euclidean norm was clipped (l2), up to d times if "
        "each was clipped by itself (linf)"
    )
    costs = "d times that if they are d numbers" if kind == "staircase" else several
    return Finding(
        "norm-not-stated",
        "warning",
        f"The claim does not say what the bound on a contribution is of. The verdict takes it for {taken}; epsilon is "
        f"{costs}. State norm, and dimension, in [mechanism].",
    )


def _divisor_findings(claim: Claim, phase: Phase) -> Iterator[Finding]:
    """Of a mean over everybody, under add-remove: by what the source must divide for the verdict to be about it."""
    if phase.sampling.come_by_themselves and phase.sampling.rate == 1:
        yield Finding(
            "divisor-is-constant",
            "warning",
            f"The verdict takes the mean to divide by the constant {phase.sampling.divisor():.10g}, even when a unit "
            "leaves. If the mean divides by the number of units that are there, one unit that leaves moves it up to "
            "twice as far: state scheme = 'none' with the population.",
        )
    elif divides_by_who_is_there(claim.statement, (phase,)):
        yield Finding(
            "divisor-is-who-is-there",
            "info",
            "A mean over the units that are there divides by one less when a unit leaves, so that unit moves it by up "
            "to 2 clip / population. If the divisor is a constant, the lower end of the interval is the cost: state "
            "the noise on the sum (kind = 'gaussian').",
        )


def _per_client_findings(claim: Claim, table: PerClientGaussianTable, cohort: float) -> Iterator[Finding]:
    alone = table.noise_std / table.clip_norm
    yield Finding(
        "noise-before-averaging",
        "warning",
        f"Every client's noise is averaged too: the average carries z = {alone * math.sqrt(cohort):.4g}; whoever sees "
        f"one client's upload (the server) faces z = {alone:.4g} without amplification. This verdict is for those who "
        "see the average only.",
    )
    if table.assumed_sensitivity is None:
        return
    actual = sensitivity(claim.statement.neighbouring) * table.clip_norm / cohort
    if table.assumed_sensitivity < actual * (1 - 1e-9):
        yield Finding(
            "sensitivity-too-small",
            "error",
            f"The source scales its noise by S = {table.assumed_sensitivity:.6g}; the average moves by up to "
            f"{actual:.6g}, {actual / table.assumed_sensitivity:.4g} times as much.",
        )


def _verdict_findings(
    claim: Claim, bracket: Bracket, verdict: str, reproduced_by: tuple[str, ...]
) -> Iterator[Finding]:
    if delta_is_large(claim):
        yield Finding(
            "delta-not-small",
            "warning",
            f"delta = {claim.statement.delta:g} is about 1/population (1/{claim.population}) or above: it permits to "
            f"publish one random {claim.statement.unit}'s data outright.",
        )
    if verdict == "refuted" and any("clt" in name.lower() for name in reproduced_by):
        yield Finding(
            "clt-is-no-bound",
            "error",
            "The printed number is a central-limit estimate; the true epsilon is above it.",
        )
    currency = claim.statement.currency
    stated = claim.statement.epsilon if claim.statement.epsilon is not None else currency.threshold
    if verdict == "holds" and bracket.upper < 0.8 * stated:
        yield Finding(
            "claim-is-loose",
            "info",
            f"The claim could be lowered: {currency.words} is at most {_rounded_up(bracket.upper)}.",
        )


def _rounded_up(value: float) -> str:
    """Four significant digits, rounded up: still a valid upper bound."""
    if value == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.ceil(value / step) * step:.4g}"
