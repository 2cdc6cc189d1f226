"""(epsilon, delta) of a function with Gaussian noise: a proof of rho, and what accountants make of it; and mu."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ...accounting import delta as least_delta
from ...accounting import epsilon as least_epsilon
from .accounted import composed, gaussian
from .checker.exact_numbers import written
from .checker.rounding import delta_is_enough
from .proof import Proof, rounded_up
from .question import Progress, Question
from .strategy import answer


@dataclass(frozen=True)
class Over:
    """How often the function runs, each time on a Poisson sample of the data."""

    rounds: int = 1
    sampling_rate: float = 1.0

    @property
    def once(self) -> bool:
        """Once, on all data."""
        return self == Over()

    def fields(self) -> dict[str, Any]:
        """Of a Proof."""
        return {"rounds": self.rounds, "sampling_rate": self.sampling_rate}


def approximate(question: Question, progress: Progress, over: Over) -> Proof:
    """Of Gaussian noise alone by its profile; else by a proof of epsilon, which needs no delta where it runs once."""
    claim = question.claim
    question.asks("zcdp", None)
    found = answer(question, progress)
    if found.epsilon is None or found.certificate is None:
        question.asks("dp", claim if over.once else None)
        plain = answer(question, progress)
        if plain.certificate is None:
            why = f"{plain.reason} (and of Gaussian noise alone: {found.reason})"
            return replace(plain, reason=why, **_stated(claim, question.delta), **over.fields())
        return plain if over.once else _accounted(plain, claim, question.delta, over)
    return _of_rho(found, claim, question.delta) if over.once else _accounted(found, claim, question.delta, over)


def _of_rho(found: Proof, claim: Fraction | None, delta: Fraction) -> Proof:
    """By the exact profile, which the checker evaluates."""
    assert found.certificate is not None
    rho = Fraction(found.certificate["rho"])
    epsilon = claim
    if epsilon is None:
        epsilon = written(least_epsilon(gaussian(rho), float(delta)).upper)
    stated = _stated(claim, delta)
    if not delta_is_enough(rho, epsilon, delta):
        needed = least_delta(gaussian(rho), float(epsilon)).upper
        why = f"rho is {found.epsilon:.6g}, for which epsilon {float(epsilon):g} needs a delta of {needed:.6g}"
        return replace(found, verdict="not proved", reason=why, epsilon=None, certificate=None, dearest=None, **stated)
    certificate = found.certificate | {"epsilon": str(epsilon), "delta": str(delta)}
    return replace(found, epsilon=rounded_up(epsilon), certificate=certificate, dearest=None, **stated)


def _accounted(found: Proof, claim: Fraction | None, delta: Fraction, over: Over) -> Proof:
    """Of many rounds, by the accountants. The certificate is that of one step. Raises InputError."""
    run = composed(found, rounds=over.rounds, sampling_rate=over.sampling_rate)
    least = written(run.epsilon(float(delta)).upper)
    stated = _stated(claim, delta) | over.fields() | {"dearest": None}
    if claim is not None and least > claim:
        why = f"the accountants say ({float(least):.6g}, {float(delta):g})-DP of {run.run}"
        return replace(found, verdict="not proved", reason=why, epsilon=None, certificate=None, **stated)
    reason = f"of one step: {found.reason}; rounds by the accountants, as {run.run}"
    return replace(found, epsilon=rounded_up(least if claim is None else claim), reason=reason, **stated)


def _stated(claim: Fraction | None, delta: Fraction) -> dict[str, Any]:
    return {"notion": "dp", "claim": None if claim is None else float(claim), "delta": float(delta)}


def gaussian_dp(question: Question, progress: Progress) -> Proof:
    """mu-GDP: Gaussian noise alone is shifted, by mu of its scale in all: rho = mu^2 / 2."""
    claim = question.claim
    question.asks("zcdp", None if claim is None else claim**2 / 2)
    found = answer(question, progress)
    stated: dict[str, Any] = {"notion": "gdp", "claim": None if claim is None else float(claim)}
    if found.epsilon is None or found.certificate is None:
        return replace(found, epsilon=None, **stated)
    mu = claim if claim is not None else written(gaussian_mu(Fraction(found.certificate["rho"])))
    certificate = found.certificate | {"mu": str(mu)}
    return replace(found, epsilon=rounded_up(mu), certificate=certificate, **stated)


def gaussian_mu(rho: Fraction) -> float:
    """The square root of 2 rho, rounded up."""
    value = math.sqrt(2 * rho)
    while Fraction(value) ** 2 < 2 * rho or written(value) ** 2 < 2 * rho:
        value = math.nextafter(value, math.inf)
    return value
