"""What a run costs against each observer: the server, the coalition of all other clients, one other client."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...accounting.billboard.guarantees import EVERYBODY_ELSE, ONE_OTHER_CLIENT, SERVER, Observer
from ...accounting.billboard.observers import observer_epsilon
from ...accounting.bracket import Bracket
from ...mechanisms import Gaussian, Repeat
from ...mechanisms.aggregation import Aggregation, FixedDenominatorMean, PerClientNoise
from .trainer import Trainer

OBSERVERS: dict[str, Observer] = {
    "server": SERVER,
    "all-other-clients": EVERYBODY_ELSE,
    "one-other-client": ONE_OTHER_CLIENT,
}

Told: TypeAlias = tuple[Bracket, tuple[str, ...]]
"""An epsilon, and why."""


@dataclass(frozen=True, slots=True)
class Against:
    """epsilon at the run's delta against one observer, named as in OBSERVERS, and why."""

    observer: str
    epsilon: Bracket
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Plain data; infinities stay floats here."""
        return {
            "observer": self.observer,
            "epsilon_lower": self.epsilon.lower,
            "epsilon_upper": self.epsilon.upper,
            "reasons": list(self.reasons),
        }


def against_observers(trainer: Trainer, releases: int, whole: int | None = None) -> tuple[Against, ...]:
    """The cost of so many of the trainer's releases. Where only an upper bound is known, the lower end is 0.

    releases: the sampler's drawings (paid_round.Paid); whole: how many of them were released whole, by default all.

    Raises InputError as observer_epsilon does, for add-remove neighbours where participation is seen.
    """
    found = [Against(name, *_against(trainer, observer, releases)) for name, observer in OBSERVERS.items()]
    if whole is None or whole == releases:
        return tuple(found)
    least = against_observers(trainer, whole)
    return tuple(
        replace(most, epsilon=replace(most.epsilon, lower=min(less.epsilon.lower, most.epsilon.lower)))
        for most, less in zip(found, least, strict=True)
    )


def _against(trainer: Trainer, observer: Observer, releases: int) -> Told:
    algorithm, settings = trainer.algorithm, trainer.settings
    if not algorithm.releases or not releases:
        return Bracket(0.0, 0.0, True, "nothing released"), ("nothing is released",)
    if not algorithm.clips or not settings.noise_multiplier or settings.clip_norm is None:
        told = "no noise" if algorithm.clips else "nothing bounds what one client contributes"
        return Bracket(math.inf, math.inf, True, "unbounded"), (told,)
    members, noise_std = trainer.sampler.denominator, settings.noise_multiplier * settings.clip_norm
    if algorithm.noise_at == "clients":
        return _under_clients_noise(trainer, observer, releases, PerClientNoise(settings.clip_norm, noise_std, members))
    mean = FixedDenominatorMean(settings.clip_norm, noise_std / members, members)
    return _observed(trainer, observer, releases, settings.noise_multiplier, mean)


def _under_clients_noise(trainer: Trainer, observer: Observer, releases: int, noise: PerClientNoise) -> Told:
    """The server sees each upload; the coalition of all others subtracts everything but the client's own."""
    alone = trainer.cost.spent(releases)
    assert alone is not None  # there is noise
    if observer == SERVER:
        return alone, ("the server sees each upload under its own noise alone, and who sent it",)
    if observer == EVERYBODY_ELSE:
        return alone, ("the others subtract what they sent: what is left is one upload, or nothing",)
    if trainer.sampler.sampling == "poisson":
        told = "bounded by what the coalition of all others learns: how much noise others add depends on how many came"
        return Bracket(0.0, alone.upper, alone.certified, alone.method), (told,)
    whole = trainer.settings.noise_multiplier * math.sqrt(trainer.sampler.denominator)
    return _observed(trainer, observer, releases, whole, noise)


def _observed(trainer: Trainer, observer: Observer, releases: int, multiplier: float, how: Aggregation) -> Told:
    """multiplier: of the noise on the whole sum."""
    found = observer_epsilon(
        Repeat(trainer.sampler.describe(Gaussian(multiplier)), releases),
        observer,
        trainer.cost.goal.delta,
        trainer.cost.relation,
        clients="stateful" if trainer.algorithm.personal else "stateless",
        aggregation=how,
    )
    return found.epsilon, found.reasons
