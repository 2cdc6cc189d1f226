"""epsilon against a given observer: which amplification it leaves, as a certified bracket with its reasons.

observer_epsilon describes, per phase, what the observer knows of the unit's participation (knowledge.py) and accounts
accordingly: exactly where everything is known (visible.py), by the hidden-cohort accountants where nothing is, and in
between by bounds (docs/theory/billboard.md, section "Coalitions of c").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from ...mechanisms import (
    Cyclic,
    FixedSize,
    Mechanism,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    TruncatedPoisson,
    VisibleParticipation,
    WithReplacement,
    rounds_by_step,
)
from ...mechanisms.aggregation import Aggregation
from ...mechanisms.client_noise import refuse_absent_shares
from ...mechanisms.neighbours import Neighbouring, Notion, Participation, PrivacyNotion, Relation, neighbouring_relation
from ...mechanisms.validate import InputError, delta_below_one
from ..answer import answer
from ..bracket import Bracket
from ..participation.colluders import less_revealing, more_revealing
from ..participation.hidden_bounds import total_statistic_lower
from ..participation.visible import epsilon_when_visible
from ..quantity import Quantity
from ..question import RTOL, Question
from .faced_noise import as_seen
from .guarantees import Guarantee, Observer, ObserverKind
from .knowledge import Clients, Knows, participation_known
from .known_reports import inside, without_known_reports
from .unproved import refuse_unproved

_SPENT = 1e-3
"""The share of delta that an upper bound against a coalition may spend on unlikely cohorts, and the probability of the
cohorts that the lower bound leaves out."""


@dataclass(frozen=True, slots=True)
class Observed:
    """epsilon: the bracket against that observer. reasons: what it knows and what was done about it, one a phase.

    knows: what the observer knows about who takes part, in each phase.

    >>> from dpcert import Gaussian
    >>> from dpcert.accounting.billboard import Observer, observer_epsilon
    >>> seen = observer_epsilon(Gaussian(8.0), Observer("outside"), 1e-5, "replace-one", clients="stateless")
    >>> isinstance(seen, Observed)
    True
    """

    epsilon: Bracket
    observer: Observer
    knows: tuple[Knows, ...]
    reasons: tuple[str, ...]

    @property
    def amplified(self) -> bool:
        """Whether any phase profits from sampling against this observer."""
        return any(known != Knows.EVERYTHING for known in self.knows)

    def guarantee(self, notion: Notion, unit: str, neighbouring: Neighbouring, delta: float) -> Guarantee:
        """The bracket as a guarantee of the given notion."""
        return Guarantee(
            notion,
            unit,
            neighbouring_relation(neighbouring),
            self.epsilon,
            delta,
            self.observer,
            "; ".join(self.reasons),
        )


def observer_epsilon(
    run: Mechanism,
    observer: Observer,
    delta: float,
    neighbouring: Neighbouring,
    *,
    clients: Clients | Literal["stateless", "stateful"] = Clients.STATEFUL,
    aggregation: Aggregation | None = None,
    rtol: float = RTOL,
) -> Observed:
    """The smallest epsilon for which the run is (epsilon, delta)-indistinguishable to the observer.

    run: its Gaussian noise multipliers are those of the released sum without colluders. clients: whether clients carry
    anything from round to round that depends on when they took part ("stateful", the cautious default). aggregation:
    where the noise is added; needed for the server; without it the noise is a trusted server's. rtol: the
    relative width that is asked of every bound.
    Raises InputError for a coalition larger than population - 1, for the server without an aggregation, for one that
    does not fit the run, for add-remove neighbours where participation is seen, for noise or reports that units bring
    themselves where one of them may be absent, and for cohorts that are drawn inside of another scheme.

    >>> from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE, OUTSIDE
    >>> from dpcert.mechanisms import FixedSize, Gaussian, Repeat
    >>> run = Repeat(FixedSize(Gaussian(8.0), population=205, cohort=100), rounds=10)
    >>> seen = {"clients": "stateless", "delta": 1e-5, "neighbouring": "replace-one"}
    >>> against = [observer_epsilon(run, who, **seen) for who in (OUTSIDE, EVERYBODY_ELSE)]
    >>> against[0].epsilon.upper < against[1].epsilon.lower  # who knows the cohorts learns more
    True
    """
    delta_below_one("delta", delta)
    relation = neighbouring_relation(neighbouring)
    clients = Clients.named("clients", clients)
    refuse_unproved(run, relation)
    asked, observer = observer, _meaningful(run, observer)
    pooled = observer.kind == ObserverKind.COALITION and any(map(_counted, rounds_by_step(run)))
    if pooled and relation == Relation.ADD_REMOVE:
        raise InputError("neighbouring", relation, _COUNTED)
    run = without_known_reports(run, observer)
    for step in rounds_by_step(run):
        refuse_absent_shares(step, relation)
    most, least = as_seen(run, observer, aggregation, relation)
    known = {step: participation_known(step, observer, clients) for step in rounds_by_step(run)}
    knows = tuple(knowledge for knowledge, _ in known.values())
    reasons = tuple(dict.fromkeys(reason for _, reason in known.values()))
    if most is not None and most != run:
        reasons += ("clients add the noise: whoever sees uploads, or knows a share of it, faces what is left",)
    if most is None or least is None:
        return Observed(_raw(run, delta), asked, knows, ("the server sees the updates without noise", *reasons))
    asking = partial(Question.about, rtol=rtol)
    upper = _upper(most, observer, delta, relation, clients, asking)
    lower = _lower(least, observer, delta, relation, asking)
    if lower.lower > upper.upper:
        raise ArithmeticError(f"the bounds contradict each other: {lower} and {upper}")
    bracket = Bracket(lower.lower, upper.upper, upper.certified and lower.certified, upper.method)
    return Observed(bracket, asked, knows, reasons)


Asking = Callable[..., Question]
"""Question.about with the caller's tolerance."""

_COUNTED = "zero-out or replace-one: how often they are drawn tells clients how many there are to draw from"


def _counted(step: Mechanism) -> bool:
    """Whether how often the others take part depends on how many clients there are."""
    return isinstance(step, FixedSize | WithReplacement) and getattr(step, "sampling_rate", 0.0) < 1.0


def _meaningful(run: Mechanism, observer: Observer) -> Observer:
    """The observer, checked against the population; a coalition of population - 1 is that of all others."""
    populations = [step.population for step in rounds_by_step(run) if isinstance(step, FixedSize | WithReplacement)]
    if not populations or observer.kind in (ObserverKind.SERVER, ObserverKind.OUTSIDE):
        return observer
    others = min(populations) - 1
    if others == 0:
        raise InputError(
            "observer", str(observer), "the server or an outside reader: with one client there are no others"
        )
    if observer.size is not None and observer.size > others:
        raise InputError("observer.size", observer.size, f"at most population - 1 = {others} other clients")
    return replace(observer, size=None) if observer.size == others == max(populations) - 1 else observer


def _raw(run: Mechanism, delta: float) -> Bracket:
    """Against somebody who sees raw updates: infinite, unless the unit takes part at all with probability <= delta."""
    absent = 0.0
    for step, rounds in rounds_by_step(run).items():
        if isinstance(step, Poisson | FixedSize) and step.sampling_rate < 1:
            absent += rounds * math.log1p(-step.sampling_rate)
        elif isinstance(step, WithReplacement) and step.population > 1:
            absent += rounds * step.draws * math.log1p(-1 / step.population)
        else:
            absent = -math.inf
    taken = -math.expm1(absent)
    if taken * (1 + 1e-9) <= delta:
        return Bracket(0.0, 0.0, True, "raw")
    return Bracket(0.0 if taken * (1 - 1e-9) <= delta else math.inf, math.inf, True, "raw")


def _upper(
    run: Mechanism, observer: Observer, delta: float, relation: Relation, clients: Clients, asking: Asking
) -> Bracket:
    """The least of the upper bounds that apply."""
    steps = rounds_by_step(run)
    knows = {step: participation_known(step, observer, clients)[0] for step in steps}
    found: list[Bracket] = []
    if all(known == Knows.EVERYTHING for known in knows.values()):
        return _visible(run, delta, relation, asking)
    if relation != Relation.ADD_REMOVE:
        found += _attempt(lambda: _visible(run, delta, relation, asking))
    colluders = observer.size if observer.kind == ObserverKind.COALITION else None
    partly = sum(known == Knows.PARTLY for known in knows.values())
    spent = delta * _SPENT if partly and colluders else 0.0
    parts: list[Mechanism] = []
    for step, rounds in steps.items():
        if isinstance(step, FixedSize) and knows[step] == Knows.PARTLY and colluders:
            parts.append(more_revealing(step, colluders, rounds, spent / partly))
        else:
            parts.append(Repeat(step if knows[step] == Knows.NOTHING else _unhidden(step), rounds))
    seen: Notion = (
        PrivacyNotion.JOINT
        if any(known == Knows.EVERYTHING and isinstance(s, FixedSize) for s, known in knows.items())
        else PrivacyNotion.DP
    )
    whole = Sequence(tuple(parts))
    left = (delta - spent) * (1 - 1e-15) if spent else delta
    found += _attempt(lambda: answer(asking(whole, Quantity.EPSILON, relation, seen), left))
    if not found:
        raise InputError("run", run, "rounds for which a bound against this observer is known")
    return min(found, key=lambda bracket: bracket.upper)


def _unhidden(step: Mechanism) -> Mechanism:
    """Schemes that the plain accountants do not know or would amplify, as if participation were seen."""
    if isinstance(step, Shuffled | Cyclic):
        return step.mechanism
    if isinstance(step, RandomAllocation):
        return Repeat(step.mechanism, step.participations)
    return step


def _visible(run: Mechanism, delta: float, relation: Relation, asking: Asking) -> Bracket:
    steps = rounds_by_step(run)
    cut = any(isinstance(step, TruncatedPoisson) for step in steps)  # their law is bounded, not known
    exact = None if cut else epsilon_when_visible(run, delta, relation)
    if exact is not None:
        return exact
    parts = Sequence(tuple(Repeat(_unhidden(step), rounds) for step, rounds in steps.items()))
    plain = all(not hasattr(step, "mechanism") for step in steps)  # everybody takes part: there is nothing to see
    return answer(
        asking(parts, Quantity.EPSILON, relation, participation=None if plain else Participation.VISIBLE), delta
    )


def _lower(run: Mechanism, observer: Observer, delta: float, relation: Relation, asking: Asking) -> Bracket:
    """The largest of the lower bounds that apply. Whoever sees more learns no less: those of hidden participation do,
    and so do those of one phase alone.
    """
    steps = rounds_by_step(run)
    if all(_truly_known(step, observer) for step in steps):
        return _visible(run, delta, relation, asking)
    alone = [Repeat(step.mechanism if isinstance(step, Cyclic) else step, rounds) for step, rounds in steps.items()]
    found = [Bracket(0.0, math.inf, True, "none")]
    for part in [Sequence(tuple(alone)), *alone] if len(alone) > 1 else alone:
        found += _attempt(lambda part=part: _by_pairs(part, delta, relation, asking))  # type: ignore[misc]
    for step, rounds in steps.items():
        found.append(Bracket(total_statistic_lower(step, rounds, delta, relation), math.inf, True, "total"))
        if isinstance(step, FixedSize) and observer.kind == ObserverKind.COALITION and observer.size:
            partly = less_revealing(step, observer.size, rounds, _SPENT, relation)
            if partly is not None and delta < 1 - _SPENT:
                reached = delta / (1 - _SPENT) * (1 + 1e-15)
                found += _attempt(lambda run=partly, at=reached: _by_pairs(run, at, Relation.ZERO_OUT, asking))  # type: ignore[misc]
    return max((bracket for bracket in found if bracket.certified), key=lambda bracket: bracket.lower)


def _truly_known(step: Mechanism, observer: Observer) -> bool:
    """Whether the observer does know the participation, rather than being assumed to for want of a better bound."""
    if isinstance(step, VisibleParticipation):
        return True
    if isinstance(step, TruncatedPoisson):
        return False
    if not isinstance(step, Poisson | FixedSize | Shuffled | WithReplacement | RandomAllocation):
        return not inside(step, Poisson | Shuffled)  # cyclic, disjoint: those who do not draw lots do not see them
    if observer.kind == ObserverKind.SERVER or getattr(step, "sampling_rate", None) == 1.0:
        return True
    if isinstance(step, Poisson | RandomAllocation) or observer.kind != ObserverKind.COALITION:
        return False
    return observer.size is None or observer.size == getattr(step, "population", 0) - 1


def _by_pairs(run: Mechanism, delta: float, relation: Relation, asking: Asking) -> Bracket:
    """By the pairs alone, and what is narrower for hidden cohorts of a fixed size."""
    return answer(asking(run, Quantity.EPSILON, relation), delta)


def _attempt(compute: Callable[[], Bracket]) -> list[Bracket]:
    """The bracket, or nothing where no accountant serves the run."""
    try:
        return [compute()]
    except InputError as problem:
        if problem.field not in ("accountant", "mechanism"):
            raise
        return []
