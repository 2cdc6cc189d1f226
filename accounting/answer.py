"""How a question is answered: every way that serves it is asked, until what they know together is narrow."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from ..mechanisms import Notion
from . import products, sources
from .bracket import Bracket
from .bracket_report import BracketReport
from .quantity import Quantity
from .question import Question
from .source import Source, known_together


def answers(question: Question, points: Sequence[float]) -> tuple[Bracket, ...]:
    """A bracket at each delta (of epsilon) or epsilon (of delta); the run is taken apart once."""
    shared = products.together(question, points) if sources.serves_many(question) else {}
    return tuple(answer(question, at, shared.get(at)) for at in points)


def answer(question: Question, at: float, found: Bracket | None = None) -> Bracket:
    """The bracket at one point, from what is found already."""
    found = known_together(_sources(question, at), question, question.quantity, at, question.rtol, found)
    assert found is not None  # product pairs serve every run, or say why not
    reached = found.narrower_than(question.rtol)
    return found if found.reached is reached else replace(found, reached=reached)


def answer_with_report(question: Question, at: float, notion: Notion) -> Bracket:
    """The bracket at one point, which says what it answers."""
    started = time.perf_counter()
    found = answer(question, at)
    return replace(found, about=BracketReport(question, at, notion, time.perf_counter() - started))


def lower_end(question: Question, at: float) -> Bracket:
    """What is known from below, as both ends: sources that know upper ends only are not asked."""
    asked = [source for source in _sources(question, at) if source.knows_below]
    found = known_together(asked, question, question.quantity, at, question.rtol)
    assert found is not None
    return replace(found, upper=found.lower)


def _sources(question: Question, at: float) -> Sequence[Source[Question]]:
    return AT_ZERO if question.quantity == Quantity.EPSILON and at == 0.0 else SOURCES


_LARGEST_LOSS, _SEARCHES = sources.LargestLoss(), sources.Searches(answer)
SOURCES: tuple[Source[Question], ...] = (
    _LARGEST_LOSS,
    sources.Uncut(answer),
    sources.OneRelease(),
    sources.Products(),
    sources.Amplified(),
    sources.Epochs(),
    _SEARCHES,
    sources.Cohorts(),
)
"""In the order of fineness: what is exact, or settles a question by itself, first."""

AT_ZERO: tuple[Source[Question], ...] = (_LARGEST_LOSS, _SEARCHES)
"""Those that know pure DP, epsilon at delta = 0."""
