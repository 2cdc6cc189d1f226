"""Whom a claim is judged against, and what its run costs against each observer that matters.

A billboard or joint claim that names no observer is judged against the coalition of all other clients, which is who
those notions are about. Which amplification that leaves: dpcert.accounting.billboard.observers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from ...accounting import Bracket
from ...accounting.billboard.guarantees import EVERYBODY_ELSE, OUTSIDE, Observer, ObserverKind
from ...accounting.billboard.knowledge import Clients
from ...accounting.billboard.observers import observer_epsilon
from ...accounting.cohorts.hidden_cohorts import unequal_weights
from ...accounting.quantity import Quantity
from ...accounting.question import RTOL, Question
from ...mechanisms import (
    Gaussian,
    InputError,
    Mechanism,
    PrivacyNotion,
    Relation,
    Repeat,
    Sequence,
    Shuffled,
    rounds_by_step,
)
from ...mechanisms.aggregation import Aggregation, FixedDenominatorMean, PerClientNoise
from ...mechanisms.tables.noise import PerClientGaussianTable
from ...mechanisms.tables.phase import has_uneven_cohorts
from .claim import Claim
from .currency import Against, EpsilonAt
from .findings import Finding


@dataclass(frozen=True, slots=True)
class ObservedInterval:
    """The interval that holds the run's true epsilon against one observer, at the claim's delta and neighbours."""

    observer: str
    clients: Clients
    epsilon: Bracket

    def to_json(self) -> dict[str, object]:
        """Plain data; infinities stay floats here."""
        return {
            "observer": self.observer,
            "clients": self.clients,
            "epsilon_lower": self.epsilon.lower,
            "epsilon_upper": self.epsilon.upper,
        }


def judged_against(claim: Claim) -> Observer | None:
    """The observer of the verdict; None for plain dp claims that name nobody (whoever reads the output).

    Also None for billboard and joint claims that say that nobody learns who takes part: participation is hidden then.
    Noise that clients add themselves is no secret from them, so such a claim is judged against the coalition anyway.
    """
    statement = claim.statement
    if statement.observer is not None:
        return Observer("coalition" if statement.observer == "client" else statement.observer, statement.colluders)
    if statement.notion == PrivacyNotion.DP:
        return None
    if statement.coalition_sees_participation is False and _client_noise(claim) is None:
        return OUTSIDE if statement.clients else None
    return EVERYBODY_ELSE


def against(claim: Claim, rtol: float) -> Against:
    """Whom plain accounting is about here. rtol: the relative width that is asked for."""
    statement = claim.statement
    return Against(statement.neighbouring, statement.notion, statement.participation, rtol)


def weighing(claim: Claim) -> AbstractContextManager[None]:
    """While the claim's numbers are computed: whether its clients may weigh differently in hidden cohorts."""
    return unequal_weights() if any(map(has_uneven_cohorts, claim.phases)) else nullcontext()


def interval(claim: Claim, run: Mechanism, rtol: float) -> Bracket:
    """The certified interval of `run` (the claim's, at most or at least as revealing) that the verdict uses."""
    with weighing(claim):
        return _interval(claim, run, rtol)


def _interval(claim: Claim, run: Mechanism, rtol: float) -> Bracket:
    statement, observer = claim.statement, judged_against(claim)
    currency, named = statement.currency, observer is not None
    if not isinstance(currency, EpsilonAt):
        if not certifiable(claim):
            expected = "no observer but the notion's own, and noise that no observer adds, beside " + currency.name
            raise InputError("claim.observer", statement.observer, expected)
        named = False
    if observer is None or not named:
        return currency.bracket(run, against(claim, rtol))
    return _observed(claim, run, observer, Clients(statement.clients or "stateful"), rtol)


def _observed(claim: Claim, run: Mechanism, observer: Observer, clients: Clients, rtol: float) -> Bracket:
    statement = claim.statement
    noise = _client_noise(claim)
    if observer.kind == ObserverKind.SERVER and noise is None:
        if all(table.is_without_noise for phase in claim.phases for table in phase.tables):
            observer = EVERYBODY_ELSE  # who see every upload, too, once they subtract their own from the sum
        else:
            noise = _server_noise(run)
    assert statement.delta is not None  # an epsilon is claimed
    about = run, observer, statement.delta, statement.neighbouring
    return observer_epsilon(*about, clients=clients, aggregation=noise, rtol=rtol).epsilon


def priced(claim: Claim) -> None:
    """Raises InputError where what ran has no meaning, or no known bound, for whom the claim is about."""
    about = against(claim, RTOL)
    asked = Question.about(claim.run, Quantity.EPSILON, about.neighbouring, about.notion, about.participation)
    if judged_against(claim) is None:
        asked.pairs()
    else:
        interval(claim, claim.run, 0.1)


def by_observer(claim: Claim, rtol: float) -> tuple[ObservedInterval, ...]:
    """For billboard and joint claims with sampled cohorts: hidden cohorts against cohorts that the coalition knows.

    Entries that no accountant can give are left out, zero-out in hidden cohorts with unequal weights among them.
    """
    if (
        claim.statement.notion == PrivacyNotion.DP
        or claim.statement.epsilon is None
        or all(phase.sampling.rate == 1.0 for phase in claim.phases)
    ):
        return ()
    views: tuple[tuple[Observer, Clients], ...] = ((OUTSIDE, Clients.STATELESS), (EVERYBODY_ELSE, Clients.STATEFUL))
    if claim.statement.neighbouring == Relation.ZERO_OUT and any(map(has_uneven_cohorts, claim.phases)):
        views = views[1:]
    with weighing(claim):
        return tuple(entry for observer, clients in views for entry in _entries(claim, observer, clients, rtol))


def observer_findings(observed: tuple[ObservedInterval, ...], claim: Claim) -> tuple[Finding, ...]:
    """The numbers side by side: as printed, if cohorts stay hidden, and against the coalition."""
    if not observed:
        return ()
    told = [f"claimed {claim.statement.epsilon:g}"]
    for entry in observed:
        ends = f"{_rounded(entry.epsilon.lower, ROUND_FLOOR)} to {_rounded(entry.epsilon.upper, ROUND_CEILING)}"
        told.append(f"against {entry.observer} ({entry.clients} clients): {ends}")
    return (Finding("who-sees-what", "info", "epsilon " + "; ".join(told) + "."),)


def _rounded(end: float, direction: str) -> str:
    """Five digits, outwards: the interval that is told holds the certified one."""
    return f"{float(Context(prec=5, rounding=direction).plus(Decimal(end))):.5g}"


def witnessed_run(claim: Claim) -> Mechanism | None:
    """The attained run as the witness may describe it, or None where its words would not fit the observer.

    The coalition knows which shuffled batch holds the unit, so that an epoch is one plain round to it.
    """
    run = claim.attained_run
    if run is None or not observer_is_the_notion_s_own(claim):
        return None
    if judged_against(claim) is None:
        return run
    seen = [
        Repeat(step.mechanism if isinstance(step, Shuffled) else step, rounds)
        for step, rounds in rounds_by_step(run).items()
    ]
    return seen[0] if len(seen) == 1 else Sequence(tuple(seen))


def observer_is_the_notion_s_own(claim: Claim) -> bool:
    """Whether the verdict is against whom the notion alone implies, with noise that this observer knows nothing of.

    That is what a certificate can state: plain dp, or billboard and joint with pooled or with hidden participation.
    """
    statement, observer = claim.statement, judged_against(claim)
    if observer is None:
        return True
    return statement.notion != PrivacyNotion.DP and observer == EVERYBODY_ELSE and not _client_noise_matters(claim)


def certifiable(claim: Claim) -> bool:
    """Whether a certificate, which knows no observers but the notion's own, can speak of this claim."""
    default = judged_against(claim) in (None, EVERYBODY_ELSE) and (
        claim.statement.notion != PrivacyNotion.DP or not claim.statement.observer
    )
    return default and not _client_noise_matters(claim)


def _client_noise_matters(claim: Claim) -> bool:
    return judged_against(claim) is not None and _client_noise(claim) is not None


def _entries(claim: Claim, observer: Observer, clients: Clients, rtol: float) -> Iterator[ObservedInterval]:
    run, attained = claim.run, claim.attained_run
    try:
        upper = _observed(claim, run, observer, clients, rtol)
        lower = upper
        if attained != run:
            lower = Bracket(0.0, upper.upper, True, "none")
            lower = _observed(claim, attained, observer, clients, rtol) if attained is not None else lower
        bracket = Bracket(lower.lower, upper.upper, upper.certified and lower.certified, upper.method)
    except (InputError, ArithmeticError):
        return
    yield ObservedInterval(str(observer), clients, bracket)


def _client_noise(claim: Claim) -> Aggregation | None:
    """The aggregation, when every phase has the clients add the noise; all phases must then be alike."""
    alike = {table for phase in claim.phases for table in phase.tables if not table.is_without_noise}
    if not any(isinstance(table, PerClientGaussianTable) for table in alike):
        return None
    phase = claim.phases[0]
    if len({(phase.mechanism, phase.sampling.divisor()) for phase in claim.phases}) > 1 or not isinstance(
        phase.mechanism, PerClientGaussianTable
    ):
        raise InputError("phase", len(claim.phases), "one kind of noise for an observer who knows a part of it")
    if not phase.is_single:
        expected = "one release a round, for an observer who knows a part of its noise"
        raise InputError("mechanism.releases", phase.mechanism.releases, expected)
    return PerClientNoise(phase.mechanism.clip_norm, phase.mechanism.noise_std, int(phase.sampling.divisor()))


def _server_noise(run: Mechanism) -> Aggregation:
    """A trusted server's noise: what matters here is only that the server sees the updates without it."""
    bases = {getattr(step, "mechanism", step) for step in rounds_by_step(run)}
    base = bases.pop()
    if bases or not isinstance(base, Gaussian):
        raise InputError("claim.observer", "server", "the same Gaussian noise in all phases, to say where it is added")
    return FixedDenominatorMean(clip_norm=1.0, noise_std=base.noise_multiplier, expected_cohort=1.0)
