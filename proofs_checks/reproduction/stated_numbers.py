"""A claim that states several numbers, or one beside its place, as claims with one printed number each."""

from __future__ import annotations

from dataclasses import replace

from ..claims.claim import Claim
from ..claims.currency import Curve, RenyiAt, TprAtFpr


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
