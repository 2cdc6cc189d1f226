"""The claim whose run's upper bounds cover a claim: another relation where that of the claim has no pairs."""

from __future__ import annotations

from dataclasses import replace

from ..claims.claim import Claim, divides_by_who_is_there, hidden_and_uneven


def covering(claim: Claim) -> Claim:
    """The claim itself; about replace-one, which is worse, where who leaves changes the others' weights or divisor."""
    if hidden_and_uneven(claim.statement, claim.phases) or divides_by_who_is_there(claim.statement, claim.phases):
        return replace(claim, statement=claim.statement.model_copy(update={"neighbouring": "replace-one"}))
    return claim
