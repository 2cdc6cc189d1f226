"""epsilon against a given observer: which amplification it leaves, as a certified bracket with its reasons.

observer_epsilon describes, per phase, what the observer knows of the unit's participation (knowledge.py) and accounts
accordingly: exactly where everything is known (visible.py), by the hidden-cohort accountants where nothing is, and in
between by bounds (docs/theory/billboard.md, section "Coalitions of c").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ...mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Notion,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    VisibleParticipation,
    WithReplacement,
    neighbouring_relation,
    rounds_by_step,
)
from ...mechanisms.aggregation import Aggregation, PerClientNoise, SecureAggregation
from ...mechanisms.validate import choice, delta_below_one
from ..bracket import Bracket
from ..epsilon import epsilon
from ..participation.colluders import less_revealing, more_revealing
from ..participation.hidden_bounds import total_statistic_lower
from ..participation.visible import epsilon_when_visible
from .guarantees import Guarantee, Observer
from .knowledge import CLIENTS, Clients, Knows, participation_known

_SPENT = 1e-3
"""The share of delta that an upper bound against a coalition may spend on unlikely cohorts, and the probability of the
cohorts that the lower bound leaves out."""


@dataclass(frozen=True, slots=True)
class Observed:
    """epsilon: the bracket against that observer. reasons: what it knows and what was done about it, one a phase."""

    epsilon: Bracket
    observer: Observer
    knows: tuple[Knows, ...]
    reasons: tuple[str, ...]

    @property
    def amplified(self) -> bool:
        """Whether any phase profits from sampling against this observer."""
        return any(known != "everything" for known in self.knows)

    def guarantee(self, notion: Notion, unit: str, neighbouring: Neighbouring, delta: float) -> Guarantee:
        """The bracket as a guarantee of the given notion."""
        return Guarantee(notion, unit, neighbouring, self.epsilon, delta, self.observer, "; ".join(self.reasons))


def observer_epsilon(
    run: Mechanism,
    observer: Observer,
    delta: float,
    neighbouring: Neighbouring,
    *,
    clients: Clients = "stateful",
    aggregation: Aggregation | None = None,
) -> Observed:
    """The smallest epsilon for which the run is (epsilon, delta)-indistinguishable to the observer.

    run: its Gaussian noise multipliers are those of the released sum without colluders. clients: whether clients carry
    anything from round to round that depends on when they took part ("stateful", the cautious default). aggregation:
    where the noise is added; needed for the server; without it the noise is a trusted server's.
    Raises InputError for a coalition larger than population - 1, for the server without an aggregation, for one that
    does not fit the run, and for add-remove neighbours where participation is seen.

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
    choice("clients", clients, CLIENTS)
    asked, observer = observer, _meaningful(run, observer)
    most, least = _as_seen(run, observer, aggregation, relation)
    known = {step: participation_known(step, observer, clients) for step in rounds_by_step(run)}
    knows = tuple(knowledge for knowledge, _ in known.values())
    reasons = tuple(dict.fromkeys(reason for _, reason in known.values()))
    if most is not None and most != run:
        reasons += ("clients add the noise: whoever sees uploads, or knows a share of it, faces what is left",)
    if most is None:
        return Observed(_raw(run, delta), asked, knows, ("the server sees the updates without noise", *reasons))
    upper = _upper(most, observer, delta, relation, clients)
    lower = _lower(least or most, observer, delta, relation)
    if lower.lower > upper.upper:
        raise ArithmeticError(f"the bounds contradict each other: {lower} and {upper}")
    bracket = Bracket(lower.lower, upper.upper, upper.certified and lower.certified, upper.method)
    return Observed(bracket, asked, knows, reasons)


def _meaningful(run: Mechanism, observer: Observer) -> Observer:
    """The observer, checked against the population; a coalition of population - 1 is that of all others."""
    populations = [step.population for step in rounds_by_step(run) if isinstance(step, FixedSize | WithReplacement)]
    if not populations or observer.kind in ("server", "outside"):
        return observer
    others = min(populations) - 1
    if others == 0:
        raise InputError(
            "observer", str(observer), "the server or an outside reader: with one client there are no others"
        )
    if observer.size is not None and observer.size > others:
        raise InputError("observer.size", observer.size, f"at most population - 1 = {others} other clients")
    return replace(observer, size=None) if observer.size == others == max(populations) - 1 else observer


def _as_seen(
    run: Mechanism, observer: Observer, aggregation: Aggregation | None, relation: Neighbouring
) -> tuple[Mechanism | None, Mechanism | None]:
    """The run with the noise that the observer faces, at most and at least revealing; None without any noise."""
    if aggregation is None:
        if observer.kind == "server":
            raise InputError("aggregation", None, "where the noise is added, to say what the server sees")
        return run, None
    stated = aggregation.clients_noise_multiplier()
    aggregation.sensitivity(relation)  # refuses add-remove where who is there changes more than one contribution
    for step in rounds_by_step(run):
        if isinstance(step, VisibleParticipation):
            expected = "nothing, with rounds that show who took part: their noise is what everybody faces"
            raise InputError("aggregation", aggregation, expected)
        base = getattr(step, "mechanism", step)
        if not isinstance(base, Gaussian) or abs(base.noise_multiplier / stated - 1) > 1e-9:
            raise InputError("aggregation", aggregation, f"one that gives the run's noise multiplier, not {stated}")
        _noise_of_random_cohorts(step, observer, aggregation)
    if observer.kind == "server":
        faced = aggregation.server_noise_multiplier()
        return (_with_noise(run, faced) if faced else None), None
    if observer.kind != "coalition":
        return run, None
    everybody = 10**9 if observer.size is None else observer.size
    most = _with_noise(run, aggregation.clients_noise_multiplier(everybody))
    return most, (None if observer.size is None else run)


def _noise_of_random_cohorts(step: Mechanism, observer: Observer, aggregation: Aggregation) -> None:
    """Refuse cohorts of random size whose clients bring the noise: who comes decides how much there is.

    A coalition that subtracts what it sent is left with nothing at all where the unit stayed away, so a secret coin
    amplifies nothing; and shares of noise add up to what was planned only when exactly so many clients come. The
    server's view of single uploads does not depend on the others.
    """
    if not isinstance(step, Poisson | RandomAllocation) or getattr(step, "sampling_rate", None) == 1.0:
        return
    if isinstance(step, RandomAllocation) and step.participations == step.rounds:
        return
    uploads = isinstance(aggregation, PerClientNoise) and observer.kind == "server"
    if isinstance(aggregation, PerClientNoise | SecureAggregation) and not uploads:
        expected = "a server's noise: with cohorts of random size the noise that clients bring depends on who comes"
        raise InputError("aggregation", aggregation, expected)


def _with_noise(run: Mechanism, noise_multiplier: float) -> Mechanism:
    if isinstance(run, Sequence):
        return Sequence(tuple(_with_noise(part, noise_multiplier) for part in run.mechanisms))
    if isinstance(run, Gaussian):
        return replace(run, noise_multiplier=noise_multiplier)
    if isinstance(run, Repeat | Poisson | FixedSize | Shuffled | WithReplacement | Cyclic | RandomAllocation):
        return replace(run, mechanism=_with_noise(run.mechanism, noise_multiplier))
    raise InputError("run", run, "Gaussian rounds")


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


def _upper(run: Mechanism, observer: Observer, delta: float, relation: Neighbouring, clients: Clients) -> Bracket:
    """The least of the upper bounds that apply."""
    steps = rounds_by_step(run)
    knows = {step: participation_known(step, observer, clients)[0] for step in steps}
    found: list[Bracket] = []
    if all(known == "everything" for known in knows.values()):
        return _visible(run, delta, relation)
    if relation != "add-remove":
        found += _attempt(lambda: _visible(run, delta, relation))
    colluders = observer.size if observer.kind == "coalition" else None
    partly = sum(known == "partly" for known in knows.values())
    spent = delta * _SPENT if partly and colluders else 0.0
    parts: list[Mechanism] = []
    for step, rounds in steps.items():
        if isinstance(step, FixedSize) and knows[step] == "partly" and colluders:
            parts.append(more_revealing(step, colluders, rounds, spent / partly))
        else:
            parts.append(Repeat(step if knows[step] == "nothing" else _unhidden(step), rounds))
    seen: Notion = (
        "joint" if any(known == "everything" and isinstance(s, FixedSize) for s, known in knows.items()) else "dp"
    )
    whole = Sequence(tuple(parts))
    left = (delta - spent) * (1 - 1e-15) if spent else delta
    found += _attempt(lambda: epsilon(whole, left, relation, notion=seen))
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


def _visible(run: Mechanism, delta: float, relation: Neighbouring) -> Bracket:
    exact = epsilon_when_visible(run, delta, relation)
    if exact is not None:
        return exact
    steps = rounds_by_step(run)
    parts = Sequence(tuple(Repeat(_unhidden(step), rounds) for step, rounds in steps.items()))
    plain = all(not hasattr(step, "mechanism") for step in steps)  # everybody takes part: there is nothing to see
    return epsilon(parts, delta, relation, participation=None if plain else "visible")


def _lower(run: Mechanism, observer: Observer, delta: float, relation: Neighbouring) -> Bracket:
    """The largest of the lower bounds that apply. Whoever sees more learns no less: those of hidden participation do,
    and so do those of one phase alone.
    """
    steps = rounds_by_step(run)
    if all(_truly_known(step, observer) for step in steps):
        return _visible(run, delta, relation)
    alone = [Repeat(step.mechanism if isinstance(step, Cyclic) else step, rounds) for step, rounds in steps.items()]
    found = [Bracket(0.0, math.inf, True, "none")]
    for part in [Sequence(tuple(alone)), *alone] if len(alone) > 1 else alone:
        found += _attempt(lambda part=part: epsilon(part, delta, relation))  # type: ignore[misc]
    for step, rounds in steps.items():
        found.append(Bracket(total_statistic_lower(step, rounds, delta, relation), math.inf, True, "total"))
        if isinstance(step, FixedSize) and observer.kind == "coalition" and observer.size:
            partly = less_revealing(step, observer.size, rounds, _SPENT, relation)
            if partly is not None and delta < 1 - _SPENT:
                reached = delta / (1 - _SPENT) * (1 + 1e-15)
                found += _attempt(lambda run=partly, at=reached: epsilon(run, at, "zero-out"))  # type: ignore[misc]
    return max((bracket for bracket in found if bracket.certified), key=lambda bracket: bracket.lower)


def _truly_known(step: Mechanism, observer: Observer) -> bool:
    """Whether the observer does know the participation, rather than being assumed to for want of a better bound."""
    if not isinstance(step, Poisson | FixedSize | Shuffled | WithReplacement | RandomAllocation):
        return True
    if observer.kind == "server" or getattr(step, "sampling_rate", None) == 1.0:
        return True
    if isinstance(step, Poisson | RandomAllocation) or observer.kind != "coalition":
        return False
    return observer.size is None or observer.size == getattr(step, "population", 0) - 1


def _attempt(compute: Callable[[], Bracket]) -> list[Bracket]:
    """The bracket, or nothing where no accountant serves the run."""
    try:
        return [compute()]
    except InputError as problem:
        if problem.field not in ("accountant", "mechanism"):
            raise
        return []
