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
    return tuple(_walked(question, at, shared.get(at), SOURCES) for at in points)


def answer(question: Question, at: float) -> Bracket:
    """The bracket at one point."""
    return _walked(question, at, None, SOURCES)


def lower_end(question: Question, at: float) -> Bracket:
    """What is known from below, as both ends: sources that know upper ends only are not asked."""
    found = _walked(question, at, None, [source for source in SOURCES if source.knows_below])
    return replace(found, upper=found.lower)


def _walked(question: Question, at: float, found: Bracket | None, asked: Sequence[Source]) -> Bracket:
    """What is known, narrowed by one source after the other."""
    for source in asked:
        if source.serves(question, at) and (found is None or source.adds(question, at, found)):
            found = source.bracket(question, at, found)
    assert found is not None  # product pairs serve every run, or say why not
    reached = found.narrower_than(question.rtol)
    return found if found.reached is reached else replace(found, reached=reached)


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
