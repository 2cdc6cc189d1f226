"""How many calls an audit needs to refute a claim at all, and the most that so many calls can show."""

from __future__ import annotations

import math

from .curve import ClaimedCurve

STRONGEST = ((0.85, 0.225), (1.0, 0.08))
"""Of the curve's test and of repeated outputs: the part of the calls that is counted, and of the error probability."""


def too_few(calls: int, claim: ClaimedCurve | None, alpha: float) -> str:
    """That so many calls could not refute the claim, whatever they returned; empty where they could."""
    least = 0 if claim is None else least_calls(claim, alpha)
    if calls >= least:
        return ""
    return (
        f"{calls} calls cannot refute {claim.text if claim is not None else 'this'} at error probability {alpha:.1g}, "
        f"whatever they return: at least {least} are needed, both data sets together."
    )


def least_calls(claim: ClaimedCurve, alpha: float) -> int:
    """Calls, both sides together, below which no test here refutes the claim even if all guesses are right.

    All of n guesses are right with probability r^n where the claim just holds, r = (e^epsilon + delta)/(1 + e^epsilon).
    """
    rate = min((1 + delta * math.exp(-eps)) / (1 + math.exp(-eps)) for eps, delta in _lines(claim))
    if rate >= 1.0:
        return 2**62
    return math.ceil(min(math.log(share * alpha) / math.log(rate) / counted for counted, share in STRONGEST))


def most_shown(calls: int, delta: float, alpha: float) -> float:
    """The largest lower bound on epsilon at delta that so many calls can give."""
    if calls <= 0:
        return 0.0
    rate = min(math.exp(math.log(share * alpha) / (counted * calls)) for counted, share in STRONGEST)
    return max(0.0, math.log(max(rate - delta, 1e-300)) - math.log1p(-rate)) if rate < 1 else math.inf


def _lines(claim: ClaimedCurve) -> list[tuple[float, float]]:
    return list(zip(claim.epsilons, claim.deltas, strict=True))
