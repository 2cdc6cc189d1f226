"""Counterexamples to a claim: pairs of distributions that some two neighbours have, and that need more."""

from __future__ import annotations

from collections.abc import Sequence

from ...mechanisms import Neighbouring, Notion, PrivacyNotion, Run, Visibility
from ..accountants import composed, composed_together
from ..answer import answers
from ..bracket import Bracket
from ..pairs import Composition
from ..products import reveals_less
from ..quantity import Quantity
from ..question import RTOL, Question


def counterexample(
    run: Run,
    epsilon: float,
    delta: float,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    rtol: float = RTOL,
) -> tuple[Composition, Bracket] | None:
    """An attained product pair that needs more than delta at epsilon, and its delta; None where none is known.

    Such a pair is a counterexample to (epsilon, delta): some two neighbours give exactly these distributions, of all
    the run's outputs or of those of its steps that have an attained pair (`dominating.Dominating`).

    >>> from dpcert.mechanisms import Gaussian
    >>> product, found = counterexample(Gaussian(1.0), epsilon=1.0, delta=1e-5)
    >>> product, found.exceeds(1e-5)
    (((GaussianPair(shift=1.0), 1),), True)
    """
    question = Question.about(run, Quantity.DELTA, neighbouring, notion, participation, "best", rtol)
    for product in sorted(question.pairs().lower, key=reveals_less):
        found = composed(product, "best", Quantity.DELTA, float(epsilon), rtol)
        if found.exceeds(delta):
            return product, found
    return None


def profiles_at(question: Question, epsilons: Sequence[float]) -> list[tuple[Bracket, Bracket | None]]:
    """At each epsilon: delta over all neighbours and both orders, and that of one attained order alone, the same one.

    The second is what a single attacker sees, who knows both neighbours; None where no attained order is known.
    """
    whole = answers(question, epsilons)
    known = () if question.is_cut else question.pairs().lower
    if not known:
        return [(bracket, None) for bracket in whole]
    first = min(known, key=reveals_less)
    if known == (first,):
        return [(bracket, bracket) for bracket in whole]
    asked = first, question.accountant, question.quantity
    together = composed_together(*asked, epsilons, question.rtol)
    return [
        (bracket, alone if alone is not None else composed(*asked, at, question.rtol))
        for bracket, alone, at in zip(whole, together, epsilons, strict=True)
    ]
