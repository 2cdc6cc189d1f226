"""Conventions behind a printed pure epsilon, rho, mu, divergence or attack's rate: fewer than of other epsilons.

Such numbers add up in one way only; what publications differ in is whom they take for neighbours, whether they count on
the sampling, and, of mu, whether they take its limit for many rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...mechanisms import (
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Poisson,
    Repeat,
    Sequence,
    Shuffled,
    rounds_by_step,
)
from ..claims.claim import Claim
from ..claims.currency import Against, Currency, Curve, Mu
from .matches import Convention
from .printed import Printed, printed

_RELATIONS = ("add-remove", "zero-out", "replace-one")


def explained_elsewhere(claim: Claim) -> tuple[Convention, ...]:
    """Every convention for a claim in another currency, those that give its printed number first.

    Raises InputError for a curve, which is several numbers (stated_numbers.py takes it apart).
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
            against = Against(relation, statement.notion, statement.participation, currency.rtol)  # type: ignore[arg-type]
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
