"""The noise that an observer faces, given where it is added: runs at most, and at least, as revealing as the truth.

Proofs: docs/theory/billboard.md, "Sensitivity" and "Noise, weights and cohorts".
"""

from __future__ import annotations

import math
from dataclasses import replace

from ...mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Poisson,
    RandomAllocation,
    Relation,
    Repeat,
    Sequence,
    Shuffled,
    TruncatedPoisson,
    VisibleParticipation,
    WithReplacement,
    rounds_by_step,
)
from ...mechanisms.aggregation import (
    Aggregation,
    FixedDenominatorMean,
    PerClientNoise,
    SampleCountMean,
    SecureAggregation,
)
from ...mechanisms.client_noise import refuse_known_shares
from ...mechanisms.cohorts import among_idle_others
from ...mechanisms.composition import has_step
from .guarantees import Observer, ObserverKind

Faced = tuple[Mechanism | None, Mechanism | None]


def as_seen(run: Mechanism, observer: Observer, aggregation: Aggregation | None, relation: Relation) -> Faced:
    """The run with the noise that the observer faces, at most and at least revealing; None without any noise.

    Raises InputError for an aggregation that does not fit the run.
    """
    if aggregation is None:
        if observer.kind == ObserverKind.SERVER:
            raise InputError("aggregation", None, "where the noise is added, to say what the server sees")
        if observer.kind == ObserverKind.COALITION:
            refuse_known_shares(run)
        return run, run
    aggregation.sensitivity(relation)  # refuses add-remove where who is there changes more than one contribution
    stated = aggregation.clients_noise_multiplier()
    for step in rounds_by_step(run):
        base = getattr(step, "mechanism", step)
        if isinstance(step, VisibleParticipation):
            expected = "nothing, with rounds that show who took part: their noise is what everybody faces"
            raise InputError("aggregation", aggregation, expected)
        if not isinstance(base, Gaussian) or abs(base.noise_multiplier / stated - 1) > 1e-9:
            raise InputError("aggregation", aggregation, f"one that gives the run's noise multiplier, not {stated}")
        _fits(step, observer, aggregation)
    if observer.kind == ObserverKind.SERVER:
        faced = aggregation.server_noise_multiplier()
        both = _with_noise(run, faced) if faced else None
        single = _drawn_at_all(both) if both and isinstance(aggregation, PerClientNoise) else both
        return both, (_lightest(single, aggregation) if single else None)
    most = least = run
    if observer.kind == ObserverKind.COALITION:
        most = _with_noise(run, aggregation.clients_noise_multiplier(_everybody(observer)))
        repeated = has_step(run, WithReplacement)  # the unit may bring as many shares of noise as it is drawn
        least = run if repeated or observer.size is not None else most
    if _depends_on_the_others(aggregation):
        most = _shown(most)
    return most, _lightest(least, aggregation)


def _everybody(observer: Observer) -> int:
    return 10**9 if observer.size is None else observer.size


def _fits(step: Mechanism, observer: Observer, aggregation: Aggregation) -> None:
    """Refuse cohorts that are not as the aggregation says: of a random size, drawn with repeats, or of another size.

    A mean over "exactly so many" updates is none over a Poisson cohort, where a client may find itself alone, nor do
    shares of noise add up there to what was planned; a coalition that subtracts what it sent is left with nothing where
    the unit stayed away, so a secret coin amplifies nothing. Beside a light client that is drawn twice the unit weighs
    more than its largest weight. The server's view of single uploads does not depend on the others.
    """
    if isinstance(aggregation, FixedDenominatorMean):
        return
    if _random_size(step) and not (isinstance(aggregation, PerClientNoise) and observer.kind == ObserverKind.SERVER):
        expected = "a server's noise and a constant denominator: in cohorts of random size, who comes decides both"
        raise InputError("aggregation", aggregation, expected)
    uneven = isinstance(aggregation, SampleCountMean) and len(set(aggregation.counts)) > 1
    if isinstance(step, WithReplacement) and (uneven or _depends_on_the_others(aggregation)):
        expected = "equal weights and no drop-outs, where one client may be drawn several times"
        raise InputError("aggregation", aggregation, expected)
    cohort = getattr(step, "cohort", getattr(step, "draws", None))
    stated = getattr(aggregation, "cohort", None)
    if cohort is not None and cohort != stated:
        raise InputError("aggregation.cohort", stated, f"the cohort of the run, {cohort}")


def _random_size(step: Mechanism) -> bool:
    if isinstance(step, RandomAllocation):
        return step.participations < step.rounds
    return isinstance(step, TruncatedPoisson) or (isinstance(step, Poisson) and step.sampling_rate < 1.0)


def _depends_on_the_others(aggregation: Aggregation) -> bool:
    """Whether who else is in a cohort, or drops out of it, changes some unit's weight or the amount of noise.

    Hidden cohorts are then charged as seen: given the cohort (and who drops out), weights and noise are the same under
    both neighbours; without it two laws of different scales are mixed, which no pair here covers.
    """
    if isinstance(aggregation, SampleCountMean):
        return aggregation.cohort < len(aggregation.counts) and len(set(aggregation.counts)) > 1
    return isinstance(aggregation, SecureAggregation) and aggregation.dropouts > 0


def _shown(run: Mechanism) -> Mechanism:
    return Sequence(tuple(Repeat(_seen(step), rounds) for step, rounds in rounds_by_step(run).items()))


def _seen(step: Mechanism) -> Mechanism:
    """Whoever sees the order of a shuffled epoch sees one round of each unit."""
    if isinstance(step, Shuffled):
        return step.mechanism
    return VisibleParticipation(step) if isinstance(step, FixedSize) else step


def _lightest(run: Mechanism, aggregation: Aggregation) -> Mechanism:
    """The run with the heaviest client at its least weight, all other contributions at zero: attained at the least."""
    if not isinstance(aggregation, SampleCountMean) or aggregation.least_weight == aggregation.largest_weight:
        return run
    light = aggregation.largest_weight / aggregation.least_weight * (1 + 1e-15)
    parts: list[Mechanism] = []
    for step, rounds in rounds_by_step(run).items():
        base = getattr(step, "mechanism", step)
        assert isinstance(base, Gaussian)  # _fits has asked
        parts.append(Repeat(_with_noise(among_idle_others(step), base.noise_multiplier * light), rounds))
    return Sequence(tuple(parts))


def _drawn_at_all(run: Mechanism) -> Mechanism:
    """The run with one upload of whoever is drawn in a round, however often: an upload a draw reveals no less."""
    parts: list[Mechanism] = []
    for step, rounds in rounds_by_step(run).items():
        if isinstance(step, WithReplacement) and step.population > 1:
            drawn = -math.expm1(step.draws * math.log1p(-1 / step.population)) * (1 - 1e-14)
            parts.append(Repeat(Poisson(step.mechanism, drawn), rounds))
        else:
            parts.append(Repeat(step.mechanism if isinstance(step, WithReplacement) else step, rounds))
    return Sequence(tuple(parts))


def _with_noise(run: Mechanism, noise_multiplier: float) -> Mechanism:
    if isinstance(run, Sequence):
        return Sequence(tuple(_with_noise(part, noise_multiplier) for part in run.mechanisms))
    if isinstance(run, Gaussian):
        return replace(run, noise_multiplier=noise_multiplier)
    sampled = Poisson | TruncatedPoisson | FixedSize | Shuffled | WithReplacement | Cyclic | RandomAllocation
    if isinstance(run, Repeat | sampled):
        return replace(run, mechanism=_with_noise(run.mechanism, noise_multiplier))
    raise InputError("run", run, "Gaussian rounds")
