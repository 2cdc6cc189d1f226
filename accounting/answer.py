"""How a question is answered: every way that serves it is asked, until what they know together is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import products, sources, sources_below
from .bracket import Bracket
from .question import Question
from .sources import Source


def answers(question: Question, points: Sequence[float]) -> tuple[Bracket, ...]:
    """A bracket at each delta (of epsilon) or epsilon (of delta); the run is taken apart once."""
    shared = products.together(question, points) if PRODUCTS.serves_any(question) else {}
    return tuple(answer(question, at, shared.get(at)) for at in points)


def answer(
    question: Question, at: float, found: Bracket | None = None, asked: Sequence[Source] | None = None
) -> Bracket:
    """The bracket at one point: what is found already, narrowed by one source after the other.

    asked: the sources; all of them where that is None.
    """
    for source in SOURCES if asked is None else asked:
        if source.serves(question, at) and (found is None or source.adds(question, at, found)):
            found = source.bracket(question, at, found)
    assert found is not None  # product pairs serve every run, or say why not
    reached = found.narrower_than(question.rtol)
    return found if found.reached is reached else replace(found, reached=reached)


def lower_end(question: Question, at: float) -> Bracket:
    """What is known from below, as both ends: sources that know upper ends only are not asked."""
    found = answer(question, at, asked=[source for source in SOURCES if source.knows_below])
    return replace(found, upper=found.lower)


PRODUCTS = sources.Products()
SOURCES: tuple[Source, ...] = (
    sources.LargestLoss(),
    sources.Uncut(answer),
    sources.OneRelease(),
    PRODUCTS,
    sources.Amplified(),
    sources_below.Epochs(),
    sources_below.Searches(answer),
    sources.Cohorts(),
)
"""In the order of fineness: what is exact, or settles a question by itself, first."""
