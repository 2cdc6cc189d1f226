"""Our accountant for Flower (flwr 1.41 and later), and FedAvg with the cohorts that amplification needs.

    accountant = CertifiedAccountant.poisson(1e-5, population=1000)
    strategy = PoissonFedAvg(accountant, noise_multiplier=1.0, clipping_norm=1.0, expected_cohort=50)

Flower's own strategies draw cohorts of a fixed size: where one client is missing, another takes its place. Their
noise multiplier z is relative to one client's clipping bound C, so replacing a client moves the sum by up to 2 C,
as in every relation "replace-one" here.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterable
from logging import INFO, WARNING, getLogger
from math import isfinite
from time import sleep
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import (
    GaussianPrivacyEvent,
    Grid,
    NeighboringRelation,
    PrivacyConfig,
    PrivacySpent,
    SamplingMethod,
)
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from ..accounting import Bracket, delta
from ..accounting.ledger import RunningEpsilon
from ..mechanisms import (
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    Repeat,
    Sequence,
    neighbouring_relation,
)
from ..mechanisms.validate import count as whole
from ..mechanisms.validate import positive, rate

METHOD = "dpcert"
SCHEMA_VERSION = 1

RELATIONS: dict[SamplingMethod, Neighbouring] = {
    SamplingMethod.POISSON: "add-remove",
    SamplingMethod.WITHOUT_REPLACEMENT: "replace-one",
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
        if config.sampling_method is SamplingMethod.NO_AMPLIFICATION and relation == "add-remove":
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
    def neighbouring(self) -> Neighbouring:
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
        gaussian = Gaussian(event.noise_multiplier)
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


class NobodyAnswers(RuntimeError):
    """Several rounds in a row went to nobody: to go on would spend the budget on noise."""


LONGEST_SILENCE = 3
"""So many rounds in a row without an answer stop a run."""

BETWEEN_LOOKS = 1.0
"""Seconds between two looks at which nodes are there."""

logger = getLogger("flwr")

_COIN_BITS = 53


def poisson_cohort(node_ids: Iterable[int], sampling_rate: float) -> list[int]:
    """A cohort for which each node flips its own coin, from the operating system's secure generator.

    The coin's probability is sampling_rate rounded down to 53 bits, so never above it. May be empty.
    """
    heads = int(rate("sampling_rate", sampling_rate) * 2**_COIN_BITS)
    return [node for node in node_ids if secrets.randbits(_COIN_BITS) < heads]


class PoissonFedAvg(FedAvg):
    """FedAvg whose rounds are Poisson-sampled Gaussian releases, recorded with the accountant before they are seen.

    Each available node takes part by its own coin with probability expected_cohort / population. Updates are clipped
    to clipping_norm on the server, summed, divided by the constant expected_cohort (never by how many came), and
    Gaussian noise of standard deviation noise_multiplier * clipping_norm / expected_cohort is added, also when
    nobody came. A reply that is missing, wrong in shape or not finite counts as no update. Clients' metrics are not
    private, so they are not aggregated; nor is evaluation on clients, off by default, accounted for.

    Before the first round it waits until min_available_nodes nodes are there: by default the accountant's whole
    population, and at most that. A node that is lost later does not take part; the epsilon stays as it is, since it
    holds for every node's own coin. A round to which nobody answers is still a release of noise, paid for, and warns;
    before the third in a row is released the run stops with NobodyAnswers.
    fedavg: further arguments of FedAvg.
    Raises InputError unless the accountant's config is for Poisson sampling, PrivacyBudgetExhausted before a round
    that would exceed its max_epsilon.
    """

    def __init__(
        self,
        accountant: CertifiedAccountant,
        noise_multiplier: float,
        clipping_norm: float,
        expected_cohort: int,
        **fedavg: Any,
    ) -> None:
        population = accountant.config.population_size
        told = {"fraction_evaluate": 0.0, "min_available_nodes": population, **fedavg}
        whole("min_available_nodes", told["min_available_nodes"])
        if told["min_available_nodes"] > population:
            raise InputError(
                "min_available_nodes", told["min_available_nodes"], f"at most the population, {population}"
            )
        super().__init__(**told)
        if accountant.config.sampling_method is not SamplingMethod.POISSON:
            raise InputError("sampling_method", accountant.config.sampling_method.value, "poisson")
        self.accountant = accountant
        self.clipping_norm = positive("clipping_norm", clipping_norm)
        self.event = GaussianPrivacyEvent(positive("noise_multiplier", noise_multiplier), expected_cohort, population)
        self._noise = np.random.default_rng()
        self._sent: dict[int, tuple[ArrayRecord, frozenset[int]]] = {}
        self._begun, self._there, self._unanswered = False, False, 0

    def _nodes(self, grid: Grid) -> list[int]:
        """The nodes that are there, at the first round when enough of them are."""
        nodes = list(grid.get_node_ids())
        while not self._begun and len(nodes) < self.min_available_nodes:
            logger.log(INFO, "waiting for nodes: %d of %d are there", len(nodes), self.min_available_nodes)
            sleep(BETWEEN_LOOKS)
            nodes = list(grid.get_node_ids())
        self._begun = True
        if len(nodes) < self.min_available_nodes:
            logger.log(
                WARNING, "%d of %d nodes are there: the others do not take part", len(nodes), self.min_available_nodes
            )
        return nodes

    def _answered(self, server_round: int, asked: int, answers: int) -> None:
        """Warns of a round without an answer, before it is released. Raises NobodyAnswers at the third in a row.

        Where no coin fell on heads nobody was asked, though there were nodes: that is no failure.
        """
        if answers or (asked == 0 and self._there):
            self._unanswered = 0 if answers else self._unanswered
            return
        self._unanswered += 1
        told = (
            f"round {server_round}: none of {asked} clients answered"
            if asked
            else f"round {server_round}: no node is there"
        )
        if self._unanswered == LONGEST_SILENCE:
            raise NobodyAnswers(
                f"{told}, for the third time in a row; {self.accountant.num_releases} rounds were released"
            )
        warnings.warn(f"{told}: this round releases noise alone, and is paid for", stacklevel=3)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Draw this round's cohort; no messages at all where every coin said no."""
        if self.accountant.config.max_epsilon is not None and self.accountant.would_exceed(self.event):
            raise PrivacyBudgetExhausted(f"a further round would exceed {self.accountant.config.max_epsilon}")
        for name, array in arrays.items():
            if not np.issubdtype(array.numpy().dtype, np.floating):
                raise InputError(name, array.dtype, "an array of floats: noise is added to all of them")
        nodes = self._nodes(grid)
        self._there = bool(nodes)
        cohort = poisson_cohort(nodes, self.event.sample_size / self.event.population_size)
        self._sent[server_round] = (arrays, frozenset(cohort))
        config["server-round"] = server_round
        record = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: config})
        return list(self._construct_messages(record, cohort, MessageType.TRAIN))

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The noisy mean update on top of what was sent; a release, recorded first."""
        if server_round not in self._sent:
            raise InputError("server_round", server_round, "a round that was configured and not yet aggregated")
        sent, cohort = self._sent.pop(server_round)
        before = {name: array.numpy() for name, array in sent.items()}
        total = {name: np.zeros(value.shape) for name, value in before.items()}
        waiting, answers = set(cohort), 0
        for reply in replies:
            if reply.metadata.src_node_id in waiting:  # One update a node, whatever else it sends.
                waiting.remove(reply.metadata.src_node_id)
                update = self._clipped(reply, before)
                answers += bool(update)
                for name, value in update.items():
                    total[name] += value
        self._answered(server_round, len(cohort), answers)
        self.accountant.compose(self.event)
        return ArrayRecord({name: self._noisy(before[name], total[name]) for name in before}), None

    def _noisy(self, before: NDArray[Any], total: NDArray[Any]) -> Array:
        scale = self.event.noise_multiplier * self.clipping_norm
        noisy = total + self._noise.normal(0.0, scale, total.shape)
        return Array(np.asarray(before + noisy / self.event.sample_size, dtype=before.dtype))

    def _clipped(self, reply: Message, before: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The update of one reply with a norm over all arrays of at most clipping_norm; empty for an unusable one."""
        if reply.has_error() or len(reply.content.array_records) != 1:
            return {}
        after = {name: array.numpy() for name, array in next(iter(reply.content.array_records.values())).items()}
        if {name: value.shape for name, value in after.items()} != {k: value.shape for k, value in before.items()}:
            return {}
        update = {name: np.asarray(after[name], dtype=float) - before[name] for name in before}
        norm = float(np.sqrt(sum(np.sum(value**2) for value in update.values())))
        if not isfinite(norm):
            return {}
        # The last factor absorbs the rounding of norm and product.
        factor = min(1.0, self.clipping_norm / norm * (1 - 1e-12)) if norm > 0 else 1.0
        return {name: value * factor for name, value in update.items()}


__all__ = [
    "CertifiedAccountant",
    "GaussianPrivacyEvent",
    "NeighboringRelation",
    "NobodyAnswers",
    "PoissonFedAvg",
    "PrivacyConfig",
    "SamplingMethod",
    "poisson_cohort",
]
