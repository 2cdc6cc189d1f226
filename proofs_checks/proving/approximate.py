"""(epsilon, delta) of a function with Gaussian noise: a proof of rho, and what accountants make of it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...accounting import delta as least_delta
from ...accounting import epsilon as least_epsilon
from ...mechanisms import Gaussian
from .attempt import answer
from .checker.profile import delta_is_enough
from .checker.reals import written
from .proof import Proof, rounded_up
from .question import Progress, Question

ZERO = 1e-9
"""A noise multiplier for a function that Gaussian noise does not touch would be infinite: this rho is no more."""


def description(rho: float) -> Gaussian:
    """What accountants are handed: Gaussian noise on a sum that moves by 1, which tells as much as the function."""
    return Gaussian(math.nextafter(1 / math.sqrt(2 * max(rho, ZERO)), 0))


def approximate(question: Question, progress: Progress) -> Proof:
    """Of Gaussian noise alone by its profile; else by a proof of the claimed epsilon, which needs no delta."""
    claim, question.claim, question.notion = question.claim, None, "zcdp"
    found = answer(question, progress)
    if found.epsilon is None or found.certificate is None:
        question.claim, question.notion = claim, "dp"
        plain = answer(question, progress)
        return plain if plain.certificate is not None else replace(plain, reason=f"{plain.reason} ({_why(found)})")
    rho, delta = Fraction(found.certificate["rho"]), question.delta
    epsilon = claim
    if epsilon is None:
        epsilon = written(least_epsilon(description(found.epsilon), float(delta)).upper)
    stated: dict[str, Any] = {"notion": "dp", "claim": None if claim is None else float(claim), "delta": float(delta)}
    if not delta_is_enough(rho, epsilon, delta):
        needed = least_delta(description(found.epsilon), float(epsilon)).upper
        why = f"rho is {found.epsilon:.6g}, for which epsilon {float(epsilon):g} needs a delta of {needed:.6g}"
        return replace(found, verdict="not proved", reason=why, epsilon=None, certificate=None, dearest=None, **stated)
    certificate = found.certificate | {"epsilon": str(epsilon), "delta": str(delta)}
    return replace(found, epsilon=rounded_up(epsilon), certificate=certificate, dearest=None, **stated)


def _why(found: Proof) -> str:
    return f"and of Gaussian noise alone: {found.reason}"
