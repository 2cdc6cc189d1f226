"""Flower's PrivacyAccountant protocol (flwr 1.41 and later) with certified upper bounds."""

from __future__ import annotations

from typing import Any

from flwr.serverapp import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, PrivacySpent, SamplingMethod

from ...accounting import Bracket, delta
from ...accounting.ledger import RunningEpsilon
from ...mechanisms import (
    FixedSize,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    Relation,
    Repeat,
    Sequence,
    neighbouring_relation,
)
from ...mechanisms.no_noise import gaussian_or_none
from ...mechanisms.validate import count as whole
from ...mechanisms.validate import positive

METHOD = "dpcert"
SCHEMA_VERSION = 1

RELATIONS: dict[SamplingMethod, Relation] = {
    SamplingMethod.POISSON: Relation.ADD_REMOVE,
    SamplingMethod.WITHOUT_REPLACEMENT: Relation.REPLACE_ONE,
}
"""What the models that PrivacyConfig allows mean here; the third, without amplification, has to be said."""


class CertifiedAccountant:
    """Flower's PrivacyAccountant protocol with certified upper bounds.

    neighbouring: needed with SamplingMethod.NO_AMPLIFICATION, whose relation Flower calls add-or-remove-one though
    its cohorts have a fixed size: "replace-one" where a client that is not there is replaced by another (2 C),
    "zero-out" where it stays in the cohort and sends nothing (C). Raises InputError without it.
    """

    def __init__(self, config: PrivacyConfig, *, neighbouring: Neighbouring | None = None) -> None:
        self._config = config
        relation = neighbouring or RELATIONS.get(config.sampling_method)
        if relation is None:
            raise InputError(
                "neighbouring", None, '"replace-one" or "zero-out": cohorts of a fixed size fill the place of a client'
            )
        if config.sampling_method is SamplingMethod.NO_AMPLIFICATION and relation == Relation.ADD_REMOVE:
            raise InputError("neighbouring", relation, '"replace-one" or "zero-out" with cohorts of a fixed size')
        self._neighbouring = neighbouring_relation(relation)
        self._counts: dict[GaussianPrivacyEvent, int] = {}
        self._running: dict[float, RunningEpsilon] = {}

    @classmethod
    def poisson(cls, target_delta: float, population: int, max_epsilon: float | None = None) -> CertifiedAccountant:
        """For cohorts in which each of `population` clients takes part by its own coin, as PoissonFedAvg draws them."""
        relation, sampling = NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.POISSON
        return cls(PrivacyConfig(target_delta, population, relation, sampling, max_epsilon))

    @property
    def config(self) -> PrivacyConfig:
        return self._config

    @property
    def neighbouring(self) -> Relation:
        return self._neighbouring

    @property
    def num_releases(self) -> int:
        return sum(self._counts.values())

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        """Record `count` equal releases; InputError, and nothing recorded, for another population."""
        self._counts = self._with(event, count)
        for running in self._running.values():
            running.record(Repeat(self._round(event), count))

    def bracket(self, delta: float) -> Bracket:
        """The certified interval around the true epsilon of everything composed."""
        return self._cost(delta).epsilon()

    def get_epsilon(self, delta: float) -> float:
        """The upper end of `bracket`."""
        return self.bracket(delta).upper

    def get_delta(self, epsilon: float) -> float:
        """A certified upper bound on delta at this epsilon."""
        run = self._run(self._counts)
        return 0.0 if run is None else delta(run, epsilon, self._neighbouring).upper

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        share = self._config.target_delta if delta is None else delta
        return PrivacySpent(self.get_epsilon(share), share, self.num_releases, METHOD)

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Whether the upper bound would exceed max_epsilon (the config's by default) with `count` more releases."""
        limit = positive("max_epsilon", self._config.max_epsilon if max_epsilon is None else max_epsilon)
        self._with(event, count)
        return self._cost(self._config.target_delta).after(Repeat(self._round(event), count)).upper > limit

    def state_dict(self) -> dict[str, object]:
        """Everything composed, as JSON values."""
        return {
            "schema_version": SCHEMA_VERSION,
            "backend": METHOD,
            "neighbouring": self._neighbouring,
            "config": _plain(self._config),
            "compositions": [{"event": dict(vars(event)), "count": times} for event, times in self._counts.items()],
        }

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Replace what was composed by a `state_dict`; InputError, and no change, for another accountant's."""
        expected = {**self.state_dict(), "compositions": None}
        for key, value in expected.items():
            if key not in state or (value is not None and state[key] != value):
                raise InputError(key, state.get(key), str(value or "a list"))
        restored = CertifiedAccountant(self._config, neighbouring=self._neighbouring)
        for part in _entries(state["compositions"]):
            try:
                restored.compose(GaussianPrivacyEvent(**part["event"]), part["count"])
            except (KeyError, TypeError, ValueError) as error:
                raise InputError("compositions", part, f"an event and its count ({error})") from error
        self._counts, self._running = restored._counts, {}

    def _cost(self, delta: float) -> RunningEpsilon:
        """The running cost at this delta; one is kept, that which was asked for last."""
        if delta not in self._running:
            running = RunningEpsilon(delta, self._neighbouring)
            for event, times in self._counts.items():
                running.record(Repeat(self._round(event), times))
            self._running = {delta: running}
        return self._running[delta]

    def _with(self, event: GaussianPrivacyEvent, count: int) -> dict[GaussianPrivacyEvent, int]:
        if not isinstance(event, GaussianPrivacyEvent):
            raise InputError("event", event, "a GaussianPrivacyEvent")
        if event.population_size != self._config.population_size:
            raise InputError("population_size", event.population_size, f"the config's, {self._config.population_size}")
        return {**self._counts, event: self._counts.get(event, 0) + whole("count", count)}

    def _run(self, counts: dict[GaussianPrivacyEvent, int]) -> Mechanism | None:
        rounds = tuple(Repeat(self._round(event), times) for event, times in counts.items())
        return Sequence(rounds) if rounds else None

    def _round(self, event: GaussianPrivacyEvent) -> Mechanism:
        gaussian = gaussian_or_none(event.noise_multiplier)
        if self._config.sampling_method is SamplingMethod.POISSON:
            return Poisson(gaussian, event.sample_size / event.population_size)
        if self._config.sampling_method is SamplingMethod.WITHOUT_REPLACEMENT:
            return FixedSize(gaussian, event.population_size, event.sample_size)
        return gaussian


def _plain(config: PrivacyConfig) -> dict[str, object]:
    fields = dict(vars(config))
    names = {name: fields[name].value for name in ("neighboring_relation", "sampling_method")}
    return {**fields, **names}


def _entries(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise InputError("compositions", value, "a list of tables")
    return value
