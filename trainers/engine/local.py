"""The clients' side of a run: their samples on the device, and local SGD for a chunk of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor, nn

from ..data import Federation
from ..models import build_model
from ..solvers import LocalSolver, Work, choose_solver, pays_to_compile
from .algorithm import Algorithm, Clients, Solve
from .client_tensors import ClientTensors, Kept, batch_plan, to_tensors
from .contribution import Contribution
from .device import chunk_of, reproducible_kernels
from .evaluation import ClientScores, score
from .losses import Loss
from .parameters import FlatModule, check_fit
from .processes import Processes
from .settings import DTYPES, Settings, rate_factor
from .streams import Streams

STREAMED_CHUNK = 16
"""At least so many clients go together where their models are never in memory at the same time."""


class LocalSide:
    """Everything that a client computes, for whichever clients are asked for.

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
        self.kept = Kept()
        self._check()

    def _check(self) -> None:
        sample = self.train(0)
        check_fit(self.model, sample.rows(torch.tensor([0])), self.federation.outputs)
        nothing = Work([sample], [[]], self.loss, self.initial, self.settings.local.learning_rate)
        full = self.settings.sampling == "full"
        cohort = self.federation.population if full else self.settings.cohort
        self._compiled = pays_to_compile(self.model, min(cohort, self.together), self.settings.rounds * cohort)
        self._usual_solver = self.solver_for(nothing)

    def solver_for(self, work: Work) -> LocalSolver:
        """The solver for this work."""
        return choose_solver(self.settings.solver, self.model, work, compiled=self._compiled)

    def train(self, client: int) -> ClientTensors:
        """The client's training samples."""
        return self._tensors(client, test=False)

    def test(self, client: int) -> ClientTensors:
        """The client's test samples."""
        return self._tensors(client, test=True)

    def _tensors(self, client: int, *, test: bool) -> ClientTensors:
        return self.kept.get((client, test), lambda: self._made(client, test=test))

    def _made(self, client: int, *, test: bool) -> ClientTensors:
        own = self.federation.clients[client]
        return to_tensors(own.test if test else own.train, self.federation.task, self.dtype, self.device)

    @property
    def usual_solver(self) -> str:
        """The name of the solver that trains, unless an algorithm asks for what it cannot do."""
        return self._usual_solver.name

    def chunks(self, clients: Clients, algorithm: Algorithm) -> list[Clients]:
        """The clients, in order, in pieces small enough to hold at once all that the algorithm makes of them."""
        least = STREAMED_CHUNK if algorithm.streams and self._usual_solver.streams else 1
        size = max(least, self.together)
        return [clients[first : first + size] for first in range(0, len(clients), size)]

    def solver(self, clients: Clients, round_index: int) -> Solve:
        """Local SGD for these clients in this round."""
        return _ChunkSolve(self, clients, round_index)

    def work(
        self,
        clients: Clients,
        round_index: int,
        start: Tensor,
        anchor: Tensor | None,
        strength: float,
        learning_rate_factor: float,
        stream: int,
    ) -> Work:
        """The local problems of these clients in this round."""
        local = self.settings.local
        samples = [self.train(client) for client in clients.tolist()]
        streams = self.streams.generators("batches", round_index, clients.tolist(), stream)
        plans = [batch_plan(len(own), local, rng) for own, rng in zip(samples, streams, strict=True)]
        seeds: list[int] = []
        if self.model.is_random:
            seeds = [self.streams.torch_seed("module", round_index, client, stream) for client in clients.tolist()]
        return Work(
            samples,
            plans,
            self.loss,
            start,
            local.learning_rate * learning_rate_factor * rate_factor(self.settings.schedule, round_index),
            anchor,
            strength,
            weight_decay=local.weight_decay,
            module_seeds=seeds,
        )

    def scores(self, client: int, vector: Tensor, *, test: bool) -> Tensor:
        """(2,): accuracy and loss of a model on the client's samples, on the device; NaN without samples."""
        samples = self._tensors(client, test=test)
        return score(self.model, vector, samples, self.loss, self.federation.task)


class _ChunkSolve:
    """The `solve` that an algorithm's client_round is given."""

    def __init__(self, side: LocalSide, clients: Clients, round_index: int) -> None:
        self._side = side
        self._clients = clients
        self._round = round_index

    def __call__(
        self,
        start: Tensor,
        anchor: Tensor | None = None,
        strength: float = 0.0,
        *,
        learning_rate_factor: float = 1.0,
        stream: int = 0,
    ) -> Tensor:
        work = self._side.work(self._clients, self._round, start, anchor, strength, learning_rate_factor, stream)
        return self._side.solver_for(work).solve(work)

    def change(self, start: Tensor, anchor: Tensor | None = None, strength: float = 0.0) -> Iterable[Contribution]:
        work = self._side.work(self._clients, self._round, start, anchor, strength, 1.0, 0)
        return self._side.solver_for(work).changes(work)


class Evaluated:
    """clients: Settings.evaluate_clients of them, ascending; which ones depends on the seed alone."""

    def __init__(self, local: LocalSide, settings: Settings, streams: Streams, processes: Processes) -> None:
        self._local, self._processes, self._shards = local, processes, settings.shards
        population, asked = local.federation.population, settings.evaluate_clients
        self.clients: Clients = np.arange(population)
        if asked is not None and asked < population:
            self.clients = np.sort(streams.generator("evaluation").choice(population, size=asked, replace=False))

    def scores(self, model_of: Callable[[int], Tensor], *, test: bool) -> ClientScores:
        """Of every client's (d,) model on its own samples, the same in every process. The device is asked once."""
        here = [place for place, k in enumerate(self.clients) if self._processes.owns(int(k) % self._shards)]
        own = self.clients[here].tolist()
        found = torch.zeros(3, len(self.clients), dtype=torch.float64)
        with reproducible_kernels(self._local.device):
            each = [self._local.scores(client, model_of(client), test=test) for client in own]
        if each:
            found[:2, here] = torch.stack(each, dim=1).cpu()
        samples = self._local.test if test else self._local.train
        found[2, here] = torch.tensor([len(samples(client)) for client in own], dtype=torch.float64)
        everything = self._processes.total(found).numpy()
        return ClientScores(everything[0], everything[1], everything[2].astype(np.int64))
