"""Hidden cohorts of a fixed size over many adaptive rounds: the control problem, solved from both sides.

What one round can reveal depends on what was released before, so the exact cost of a run is a dynamic programme
(docs/theory/fixed_cohorts.md). It replaces, for Gaussian noise under replace-one and zero-out, the composition of each
round's worst profile, which no federation attains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import numpy as np

from ...mechanisms import FixedSize, Gaussian, Mechanism, Participation, Relation, Repeat, Sequence, rounds_by_step
from ..bracket import Bracket
from ..pairs import Order
from ..quantity import Quantity
from ..question import RTOL, Question
from . import bracket_store
from . import renyi_end as renyi
from .grid_layout import Effort, Layout, Phase, Progress

METHOD = "cohorts"

QUICK = 0.02
"""Relative width of a first bracket: under a second for a thousand rounds."""

FINEST = 5e-4
"""Relative width below which covers, and rounds of work, would become too many."""

_LARGEST_SHIFT = 4.0
_MOST_ROUNDS = 1 << 20
_MOST_PHASES = 64
_LONGEST_BLOCK = 1500
_LONGEST_ATTAINED = 6000
"""Rounds beyond which the lower end is left to products of pairs: the adaptive one costs a convolution a round."""


def phases(run: Mechanism) -> tuple[Phase, ...] | None:
    """The run's rounds in their true order; None for runs that are not Gaussian cohorts of a fixed size throughout."""
    found: list[Phase] = []
    for part, rounds in _in_order(run, 1):
        if not isinstance(part, FixedSize) or not isinstance(part.mechanism, Gaussian) or part.sampling_rate == 1.0:
            return None
        shift = 1.0 / part.mechanism.noise_multiplier
        if shift > _LARGEST_SHIFT:
            return None
        if found and (found[-1].shift, found[-1].rate) == (shift, part.sampling_rate):
            rounds += found.pop().rounds
        found.append(Phase(shift, part.sampling_rate, rounds))
        if len(found) > _MOST_PHASES:
            return None
    whole = sum(rounds_by_step(run).values())  # long loops are not followed to their end
    if sum(phase.rounds for phase in found) != whole:
        return None
    return tuple(found) if 1 < whole <= _MOST_ROUNDS else None


def _in_order(run: Mechanism, times: int) -> Iterator[tuple[Mechanism, int]]:
    if isinstance(run, Repeat) and not isinstance(run.mechanism, Repeat | Sequence):
        yield run.mechanism, run.rounds * times
    elif isinstance(run, Repeat | Sequence):
        parts = (run.mechanism,) if isinstance(run, Repeat) else run.mechanisms
        repeats = run.rounds if isinstance(run, Repeat) else 1
        for _ in range(min(times * repeats, _MOST_PHASES + 1)) if len(parts) > 1 else range(1):
            for part in parts:
                yield from _in_order(part, 1 if len(parts) > 1 else times * repeats)
    else:
        yield run, times


_watching: ContextVar[Progress] = ContextVar("watching", default=lambda share: None)


@contextmanager
def watched(progress: Progress) -> Iterator[None]:
    """While this lasts, `progress` is told the share of the present recursion that is done."""
    token = _watching.set(progress)
    try:
        yield
    finally:
        _watching.reset(token)


_unequal: ContextVar[bool] = ContextVar("unequal", default=False)


@contextmanager
def unequal_weights() -> Iterator[None]:
    """While this lasts, clients may weigh differently: what needs one shift for everybody (Theorem 2 of
    docs/theory/fixed_cohorts.md) answers nothing, whatever number is asked for."""
    token = _unequal.set(True)
    try:
        yield
    finally:
        _unequal.reset(token)


def narrowed(question: Question, known: Bracket, at: float) -> Bracket:
    """The known answer to the question, made narrower where it is about hidden cohorts of a fixed size.

    As narrow as the question's rtol, or as FINEST where that is finer. Where nobody named a width (RTOL), a first
    bracket, QUICK, is all that is sought: narrower ones take up to minutes. What was computed once for a setting is
    kept (bracket_store.py).

    >>> from dpcert.mechanisms import FixedSize, Gaussian, Repeat
    >>> run = Repeat(FixedSize(Gaussian(8.0), population=400, cohort=100), 60)
    >>> question = Question.about(run, "epsilon", "replace-one")
    >>> found = narrowed(question, Bracket(1.9, 2.4, True, "known"), at=1e-5)
    >>> 1.9 <= found.lower <= found.upper < 2.2
    True
    """
    rtol = QUICK if question.rtol == RTOL else max(question.rtol, FINEST)
    if not _applies(question, known) or known.narrower_than(rtol):
        return known
    known = _quick(known, question, at)
    parts = phases(question.run)
    if parts is None or known.narrower_than(rtol):
        return known
    key = bracket_store.key(parts, question.neighbouring, question.quantity, at)
    best = start = bracket_store.read(key, known)
    for accuracy in _accuracies(rtol):
        if best.narrower_than(rtol):
            break
        found = _attempt(best, parts, question, at, accuracy)
        best = Bracket(max(best.lower, found.lower), min(best.upper, found.upper), True, METHOD)
    if best != start:
        bracket_store.write(key, best)
    return replace(best, reached=best.narrower_than(question.rtol))


def _applies(question: Question, known: Bracket) -> bool:
    asked = question.asks_all and question.participation == Participation.HIDDEN and not _unequal.get()
    two_sided = question.neighbouring in (Relation.REPLACE_ONE, Relation.ZERO_OUT)
    return asked and two_sided and known.certified and known.lower > 0.0 and known.upper < math.inf


def _quick(known: Bracket, question: Question, at: float) -> Bracket:
    """The known answer, its upper end at most that of the Renyi divergences (renyi.py)."""
    curve = renyi.cohorts_curve(question.run) if question.neighbouring == Relation.REPLACE_ONE else None
    if curve is None:
        return known
    upper = (renyi.epsilon_above if question.quantity == Quantity.EPSILON else renyi.delta_above)(curve, at)
    return known if upper >= known.upper else Bracket(known.lower, upper, True, METHOD)


def _accuracies(rtol: float) -> list[float]:
    wanted = max(rtol, FINEST)
    return [QUICK] if wanted >= QUICK else [QUICK, wanted, max(wanted / 3.0, FINEST / 2.0)]


def _attempt(known: Bracket, parts: tuple[Phase, ...], question: Question, at: float, accuracy: float) -> Bracket:
    """A bracket by the recursion at one accuracy; one that says nothing where its floating point breaks down."""
    from .solve import SolvedAbove, below  # here, since scipy.fft makes the import of the accountants longer

    relation, for_epsilon, progress = question.neighbouring, question.quantity == Quantity.EPSILON, _watching.get()
    epsilon, delta = (known.lower, at) if for_epsilon else (at, math.sqrt(known.lower * known.upper))
    lower, uppers = 0.0, []
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            layout = Layout.of(parts, relation, epsilon, delta)
            effort = _effort(known.width / known.lower, accuracy)
            for order in Order if relation == Relation.ZERO_OUT else (Order.REMOVE,):
                curve = SolvedAbove(layout, relation, order, effort, progress).curve()
                uppers.append(curve.epsilon_above(at) if for_epsilon else curve.delta_above(at))
            if layout.rounds <= _LONGEST_ATTAINED:
                curve = below(layout, relation, 0.35 * effort.step, progress)
                lower = curve.epsilon_below(at) if for_epsilon else curve.delta_below(at)
    except (ArithmeticError, MemoryError, ValueError):
        return Bracket(0.0, math.inf, True, METHOD)
    return Bracket(lower, max(uppers), True, METHOD)


def _effort(width: float, accuracy: float) -> Effort:
    """Measured: of what the composed one-round profile is too large, blocks of b rounds leave about 6/b."""
    return Effort(
        step=min(0.1, 0.078 * math.sqrt(accuracy / 0.003)),
        excess=min(accuracy / 4.0, 0.003),
        boxes=round(min(256.0, 48.0 * (QUICK / accuracy) ** 0.4)),
        block=round(min(max(60.0, 25.0 * width / accuracy), _LONGEST_BLOCK)) if accuracy >= 0.01 else _LONGEST_BLOCK,
    )
