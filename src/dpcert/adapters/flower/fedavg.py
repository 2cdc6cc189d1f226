"""FedAvg whose rounds are Poisson-sampled Gaussian releases."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import GaussianPrivacyEvent, Grid, SamplingMethod
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.validate import count as whole
from ...mechanisms.validate import positive
from .accountant import CertifiedAccountant
from .attendance import Attendance, poisson_cohort


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
        self._attendance = Attendance(self.min_available_nodes)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Draw this round's cohort; no messages at all where every coin said no."""
        if self.accountant.config.max_epsilon is not None and self.accountant.would_exceed(self.event):
            raise PrivacyBudgetExhausted(f"a further round would exceed {self.accountant.config.max_epsilon}")
        for name, array in arrays.items():
            if not np.issubdtype(array.numpy().dtype, np.floating):
                raise InputError(name, array.dtype, "an array of floats: noise is added to all of them")
        cohort = poisson_cohort(self._attendance.nodes(grid), self.event.sample_size / self.event.population_size)
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
                update = clipped(reply, before, self.clipping_norm)
                answers += bool(update)
                for name, value in update.items():
                    total[name] += value
        self._attendance.answered(server_round, len(cohort), answers, self.accountant.num_releases)
        self.accountant.compose(self.event)
        return ArrayRecord({name: self._noisy(before[name], total[name]) for name in before}), None

    def _noisy(self, before: NDArray[Any], total: NDArray[Any]) -> Array:
        scale = self.event.noise_multiplier * self.clipping_norm
        noisy = total + self._noise.normal(0.0, scale, total.shape)
        return Array(np.asarray(before + noisy / self.event.sample_size, dtype=before.dtype))


def clipped(reply: Message, before: dict[str, NDArray[Any]], clipping_norm: float) -> dict[str, NDArray[Any]]:
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
    factor = min(1.0, clipping_norm / norm * (1 - 1e-12)) if norm > 0 else 1.0
    return {name: value * factor for name, value in update.items()}
