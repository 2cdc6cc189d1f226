"""Claims in other currencies as the (epsilon, delta) points that they come to: what certificates are about.

A curve is all of its points. An advantage is delta at epsilon = 0. A true-positive rate t at a false-positive rate a
is at most e^eps a + delta(eps), whatever eps is (Dong, Roth, Su 2022, arXiv 1905.02383, Proposition 2.12): one point
proves it. What rho, mu and a Renyi divergence are at most is no number of points.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ...accounting import risk
from ...accounting.rounding import down, up
from ..claims.claim import Claim
from ..claims.currency import Advantage, Against, Currency, Curve, EpsilonAt, TprAtFpr
from .restated import NoCertificate


def points(claim: Claim, against: Against) -> list[Claim]:
    """The claim itself where it is an epsilon at a delta, else what it comes to.

    Raises NoCertificate for currencies that are no number of points, and for what one point does not prove.
    """
    stated = claim.statement.currency
    if isinstance(stated, EpsilonAt):
        return [claim]
    if isinstance(stated, Curve):
        every = len(stated.points)
        return [
            _at(claim, epsilon, delta, f"point {place} of the {every} of a curve")
            for place, (epsilon, delta) in enumerate(stated.points, 1)
        ]
    if isinstance(stated, Advantage):
        return [_at(claim, 0.0, stated.threshold, "an advantage is delta at epsilon = 0")]
    if isinstance(stated, TprAtFpr):
        return [_of_rate(claim, stated, against)]
    raise NoCertificate(f"{_article(stated)} is about all of the curve, and a certificate about points of it")


def _article(stated: Currency) -> str:
    return f"a claim in {stated.name}"


def _of_rate(claim: Claim, stated: TprAtFpr, against: Against) -> Claim:
    """The point at which the bound on the true-positive rate is least, with all the delta that the claim leaves it."""
    curve = risk(claim.run, false_positive_rates=(stated.fpr,), **against.options()).curve
    knots = [(up(math.exp(epsilon) * stated.fpr, 8), epsilon, found) for epsilon, found in curve.knots if epsilon < 700]
    odds, epsilon, found = min(knots, key=lambda knot: knot[0] + knot[2].upper)
    left = down(stated.threshold - odds, 2)
    if not 0.0 < left < 1.0 or found.upper > left:
        raise NoCertificate("no single point of the curve proves the true-positive rate, and none refutes it")
    note = f"e^epsilon times {stated.fpr!r}, plus delta, is at most the true-positive rate {stated.threshold!r}"
    return _at(claim, epsilon, left, note)


def _at(claim: Claim, epsilon: float, delta: float, note: str) -> Claim:
    """The claim with a point in place of what it states."""
    absent: dict[str, Any] = dict.fromkeys(("curve", "advantage", "tpr_at_fpr"))
    source = f"{claim.statement.source} [{note}]"
    update = absent | {"epsilon": epsilon, "delta": delta, "source": source}
    return replace(claim, statement=claim.statement.model_copy(update=update))
