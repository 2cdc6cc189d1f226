"""The search for a claim: its numbers one by one, its run and sizes, and the readings that its source allows.

Of a pure epsilon, rho, mu, divergence or attack's rate there are fewer conventions than of other epsilons: such numbers
add up in one way only. What publications differ in is whom they take for neighbours, whether they count on the
sampling, and, of mu, whether they take its limit for many rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from ...accounting import Bracket
from ...mechanisms import (
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Poisson,
    Relation,
    Repeat,
    Sequence,
    Shuffled,
    rounds_by_step,
)
from ...mechanisms.client_noise import as_central
from ...mechanisms.tables.kinds import together
from ...mechanisms.tables.noise import GaussianMeanTable, PerClientGaussianTable
from ...mechanisms.tables.phase import Phase, has_weights, run_of
from ...mechanisms.tables.scheme import Scheme
from ..claims.claim import Claim
from ..claims.currency import Against, Currency, Curve, EpsilonAt, Mu, RenyiAt, TprAtFpr
from .explain import common, explain
from .printed import Convention, Printed, printed
from .run_variants import AS_POISSON, Reading, Sizes


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
            found.append(Reading(f"sensitivity {assumed:.6g}, as the source takes it", run, Relation.ZERO_OUT))
    return tuple(found)


def _of_uneven_batches(claim: Claim) -> list[Reading]:
    """Shuffled batches with a smaller last one, as Poisson's: with the stated cohort's rate, rounds by either rule."""
    if len(claim.phases) > 1:
        return []
    phase, sampling = claim.phases[0], claim.phases[0].sampling
    if sampling.scheme != Scheme.SHUFFLE or not sampling.population or not sampling.cohort:
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


def stated_numbers(claim: Claim) -> tuple[Claim, ...]:
    """Of a curve its points, epsilon at delta; of a table the number that is claimed; any other claim as it is.

    Claim.printed writes tables as "order 8, epsilon 0.5" and points as "(1.0, 1e-5); (2.0, 1e-6)".
    """
    stated = claim.statement.currency
    if isinstance(stated, RenyiAt | TprAtFpr):
        written = dict(part.split(" ", 1) for part in claim.printed.split(", "))
        return (replace(claim, printed=written["epsilon" if isinstance(stated, RenyiAt) else "tpr"]),)
    if not isinstance(stated, Curve):
        return (claim,)
    epsilons = [point.strip("()").split(", ")[0] for point in claim.printed.split("; ")]
    return tuple(
        replace(claim, statement=claim.statement.model_copy(update={"curve": None} | where), printed=number)
        for where, number in zip(
            ({"epsilon": epsilon, "delta": delta} for epsilon, delta in stated.points), epsilons, strict=True
        )
    )


_RELATIONS = (Relation.ADD_REMOVE, Relation.ZERO_OUT, Relation.REPLACE_ONE)


def explained_elsewhere(claim: Claim) -> tuple[Convention, ...]:
    """Every convention for a claim in another currency, those that give its printed number first.

    Raises InputError for a curve, which is several numbers (`stated_numbers` takes it apart).
    """
    currency = claim.statement.currency
    if isinstance(currency, Curve):
        raise InputError(f"claim.{currency.name}", claim.printed, "one number, to be explained")
    target = printed(claim.printed)
    found = {value.name: value for value in _tried(claim, currency, target)}
    return tuple(sorted(found.values(), key=lambda each: (not each.reproduces, len(each.changes), each.name)))


def _tried(claim: Claim, currency: Currency, target: Printed) -> Iterator[Convention]:
    statement, whole = claim.statement, currency.without_range()
    runs: list[tuple[str, Mechanism]] = [("", claim.run)]
    unsampled = _unsampled(claim.run)
    if unsampled != claim.run:
        runs.append(("without amplification by sampling", unsampled))
    for relation in _RELATIONS:
        for change, run in runs:
            changes = tuple(part for part in (relation if relation != statement.neighbouring else "", change) if part)
            against = Against(relation, statement.notion, statement.participation, currency.rtol)
            yield from _one(currency.words, currency, run, against, changes, target)
            if whole is not None:
                yield from _one(whole.words, whole, run, against, (*changes, "without the range"), target)
    limit = _limit(claim.run) if isinstance(currency, Mu) else None
    if limit is not None:
        yield _convention("mu in the limit of many rounds", limit, "central limit theorem, an estimate", (), target)


def _one(
    name: str, currency: Currency, run: Mechanism, against: Against, changes: tuple[str, ...], target: Printed
) -> Iterator[Convention]:
    """The run's own number; nothing where there is none."""
    try:
        found = currency.bracket(run, against)
    except (InputError, ArithmeticError):
        return
    if math.isfinite(found.upper):
        yield _convention(name, found.upper, f"from {found.lower:.6g} to {found.upper:.6g}", changes, target)


def _convention(name: str, value: float, detail: str, changes: tuple[str, ...], target: Printed) -> Convention:
    rounding = target.rounding_of(value)
    told = ", ".join((name, *changes))
    return Convention(told, value, rounding is not None, detail, target.covered_by(value), changes, rounding)


def _unsampled(run: Mechanism) -> Mechanism:
    """Every round with everybody in it; of a shuffled epoch one round."""
    parts = [
        Repeat(part.mechanism if isinstance(part, Poisson | FixedSize | Shuffled) else part, rounds)
        for part, rounds in rounds_by_step(run).items()
    ]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _limit(run: Mechanism) -> float | None:
    """q sqrt(T (e^(1/z^2) - 1)) for Poisson-sampled Gaussian noise (Bu, Dong, Long, Su 2020, arXiv 1911.11607)."""
    steps = rounds_by_step(run)
    if len(steps) != 1:
        return None
    ((part, rounds),) = steps.items()
    if not isinstance(part, Poisson) or not isinstance(part.mechanism, Gaussian):
        return None
    noise = part.mechanism.noise_multiplier
    return part.sampling_rate * math.sqrt(rounds * math.expm1(noise**-2)) if noise > 0.05 else None
