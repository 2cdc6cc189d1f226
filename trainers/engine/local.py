"""The clients' side of a run: their samples, local SGD for a chunk of them, who is evaluated, and what may go wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ...mechanisms.arrays import Floats
from ..data import Federation
from ..models import build_model
from ..solvers import LocalSolver, Work, check_solver, choose_solver, pays_to_compile
from .algorithm import Algorithm, Clients, Solve, StabilityWarning
from .client_tensors import ClientTensors, batch_plan, kept_of, steps_in_a_round, to_tensors
from .contribution import Contribution
from .device import chunk_of, reproducible_kernels
from .evaluation import ClientScores, score
from .losses import Loss
from .parameters import FlatModule, check_fit
from .processes import Processes
from .settings import DTYPES, LocalSteps, Settings, rate_factor
from .streams import Streams

STREAMED_CHUNK = 16
"""At least so many clients go together where their models are never in memory at the same time."""

SHOWN = 32
"""Samples of each client that are predicted at once: a GPU holds less of a forward pass than of a training step."""


class LocalSide:
    """Everything that a client computes, for whichever clients are asked for.

    usual_solver: the name of the one that trains, unless an algorithm asks for what it cannot do.
    Raises InputError for a model that does not fit the features or labels, and a solver that cannot train it.
    """

    def __init__(
        self,
        federation: Federation,
        model: str | nn.Module,
        settings: Settings,
        streams: Streams,
        loss: Loss,
        processes: Processes,
    ) -> None:
        self.federation = federation
        self.settings = settings
        self.streams = streams
        self.loss = loss
        self._processes = processes
        self.device = settings.torch_device()
        self.dtype = DTYPES[settings.dtype]
        self.model_name = model if isinstance(model, str) else type(model).__name__
        if isinstance(model, str):
            with torch.random.fork_rng():
                streams.seed_torch("initial")
                model = build_model(model, federation)
        low = torch.bfloat16 if settings.dtype == "bfloat16" else None
        self.model = FlatModule(model, self.dtype, self.device, low)
        self.initial = self.model.vector.clone()
        self.together = settings.chunk or chunk_of(self.model.dimension, self.device, processes)
        self.kept = kept_of(federation, self.dtype, self.device)
        self._check()

    def _check(self) -> None:
        sample = self.train(0)
        check_fit(self.model, sample.rows(torch.tensor([0])), self.federation.outputs)
        nothing = Work([sample], [[]], self.loss, self.initial, self.settings.local.learning_rate)
        full = self.settings.sampling == "full"
        cohort = self.federation.population if full else self.settings.cohort
        self._compiled = pays_to_compile(self.model, min(cohort, self.together), self.settings.rounds * cohort)
        check_solver(self.settings.solver, self.model, nothing)
        usual = self.solver_for(nothing)
        self._usual, self.usual_solver, self._streams = usual, usual.name, usual.streams

    def solver_for(self, work: Work) -> LocalSolver:
        """The solver for this work: the one asked for, or the fastest where fine-tuning asks for what it cannot do."""
        return choose_solver(self.settings.solver, self.model, work, compiled=self._compiled)

    def train(self, client: int) -> ClientTensors:
        """The client's training samples."""
        return self._samples(client, test=False)

    def test(self, client: int) -> ClientTensors:
        """The client's test samples."""
        return self._samples(client, test=True)

    def _samples(self, client: int, *, test: bool) -> ClientTensors:
        def made() -> ClientTensors:
            own = self.federation.clients[client]
            return to_tensors(own.test if test else own.train, self.federation.task, self.dtype, self.device)

        return self.kept.get((client, test), made)

    def chunks(self, clients: Clients, algorithm: Algorithm | None = None) -> list[Clients]:
        """This process's clients of these, by shard, in pieces small enough to hold at once all that is made of them.

        The pieces are the same for every number of processes, as solvers' last bits depend on who is in one.
        """
        streamed = algorithm is not None and algorithm.streams and self._streams
        size = max(STREAMED_CHUNK if streamed else 1, self.together)
        shards = self.settings.shards
        owned = (clients[clients % shards == shard] for shard in range(shards) if self._processes.owns(shard))
        return [own[first : first + size] for own in owned for first in range(0, len(own), size)]

    def solver(self, clients: Clients, round_index: int) -> Solve:
        """Local SGD for these clients in this round."""
        return _ChunkSolve(self, clients, round_index)

    def predicted(self, models: Tensor, clients: Sequence[ClientTensors]) -> Tensor:
        """(n, outputs): of each client's model, (c, d), on its samples, one client after the other."""
        plans = [
            [np.arange(first, min(first + SHOWN, len(own))) for first in range(0, len(own), SHOWN)] for own in clients
        ]
        return self._usual.predict(Work(clients, plans, self.loss, models, 0.0))

    def scores(self, clients: Clients, models: Tensor, *, test: bool) -> Floats:
        """(2, c): accuracy and loss of each client's model, (c, d), on its own samples; NaN without samples."""
        samples = [self._samples(client, test=test) for client in clients.tolist()]
        if not any(map(len, samples)):
            return np.full((2, len(samples)), np.nan)
        return score(self.predicted(models, samples), samples, self.loss, self.federation.task)


class _ChunkSolve:
    """The `solve` that an algorithm's client_round is given."""

    def __init__(self, side: LocalSide, clients: Clients, round_index: int) -> None:
        self._side, self._clients, self._round = side, clients, round_index

    def __call__(
        self,
        start: Tensor,
        anchor: Tensor | None = None,
        strength: float = 0.0,
        *,
        learning_rate_factor: float = 1.0,
        stream: int = 0,
    ) -> Tensor:
        work = self._work(start, anchor, strength, learning_rate_factor, stream)
        return self._side.solver_for(work).solve(work)

    def change(self, start: Tensor, anchor: Tensor | None = None, strength: float = 0.0) -> Iterable[Contribution]:
        work = self._work(start, anchor, strength, 1.0, 0)
        return self._side.solver_for(work).changes(work)

    def _work(self, start: Tensor, anchor: Tensor | None, strength: float, factor: float, stream: int) -> Work:
        """The local problems of these clients in this round."""
        side, at, clients = self._side, self._round, self._clients.tolist()
        local = side.settings.local
        samples = [side.train(client) for client in clients]
        generators = side.streams.generators("batches", at, clients, stream)
        plans = [batch_plan(len(own), local, rng) for own, rng in zip(samples, generators, strict=True)]
        seeds: list[int] = []
        if side.model.is_random:
            seeds = [side.streams.torch_seed("module", at, client, stream) for client in clients]
        rate = local.learning_rate * factor * rate_factor(side.settings.schedule, at)
        return Work(samples, plans, side.loss, start, rate, anchor, strength, None, local.weight_decay, seeds)


class Evaluated:
    """clients: Settings.evaluate_clients of them, ascending; which ones depends on the seed alone."""

    def __init__(self, local: LocalSide, settings: Settings, streams: Streams, processes: Processes) -> None:
        self._local, self._processes = local, processes
        population, asked = local.federation.population, settings.evaluate_clients
        self.clients: Clients = np.arange(population)
        if asked is not None and asked < population:
            self.clients = np.sort(streams.generator("evaluation").choice(population, size=asked, replace=False))

    def scores(self, models_of: Callable[[Clients], Tensor], *, test: bool) -> ClientScores:
        """Of every client's model on its own samples, the same in every process.

        models_of: these clients' models, (c, d); asked for as many as train together.
        """
        chunks = self._local.chunks(self.clients)
        own = [client for chunk in chunks for client in chunk.tolist()]
        here = np.searchsorted(self.clients, own)
        found = torch.zeros(3, len(self.clients), dtype=torch.float64)
        with reproducible_kernels(self._local.device):
            each = [self._local.scores(chunk, models_of(chunk), test=test) for chunk in chunks]
        if each:
            found[:2, here] = torch.from_numpy(np.concatenate(each, axis=1))
        samples = self._local.test if test else self._local.train
        found[2, here] = torch.tensor([len(samples(client)) for client in own], dtype=torch.float64)
        everything = self._processes.total(found).numpy()
        return ClientScores(everything[0], everything[1], everything[2].astype(np.int64))


TRIED = 5
"""Clients on which local training is tried."""

TRIAL_PASSES = 5
"""Rounds of local training in the trial."""


def warn_beforehand(algorithm: Algorithm, local: LocalSteps, federation: Federation, sampling_rate: float) -> None:
    """Warn the caller's caller, by StabilityWarning, of what the algorithm predicts for this run."""
    sizes, clients = np.unique(federation.train_sizes(), return_counts=True)
    steps = sum(
        steps_in_a_round(size, local) * times for size, times in zip(sizes.tolist(), clients.tolist(), strict=True)
    )
    advice = algorithm.advice(
        learning_rate=local.learning_rate, steps=round(steps / federation.population), sampling_rate=sampling_rate
    )
    if advice:
        warnings.warn(advice, StabilityWarning, stacklevel=3)


def warn_of_long_steps(local: LocalSide) -> None:
    """Warn where a few clients, each training alone from the initial model, end above the loss they began with.

    Then the learning rate is too large for these features, whatever is trained together. Nothing is released.
    """
    clients = np.arange(min(TRIED, local.federation.population))
    start = local.initial.unsqueeze(0).expand(len(clients), -1)
    with reproducible_kernels(local.device):
        models = start
        for trial in range(TRIAL_PASSES):
            models = local.solver(clients, trial)(models)
        before, after = (local.scores(clients, of, test=False)[1].mean() for of in (start, models))
    if not after <= before:
        warnings.warn(
            f"the learning rate {local.settings.local.learning_rate:g} is too large for these features: "
            f"{len(clients)} clients training alone come from loss {before:.3g} to {after:.3g}. Lower it or scale "
            "the features (FEMNIST as LEAF writes it: features=inverted).",
            StabilityWarning,
            stacklevel=2,
        )
