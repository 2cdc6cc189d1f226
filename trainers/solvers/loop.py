"""One client after the other, or one a thread. Works for every module; the fastest for convolutional nets on a CPU."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..engine.parameters import FlatModule
from .work import Work, per_client

LARGEST_TWIN = 2**22
"""Numbers of a model of which each core has its own copy; of a larger one all cores work at the same products."""


class LoopSolver:
    """Parameters and gradients are views of two flat vectors, so that a step is two or three vector operations.

    With several of torch's threads each trains a client of its own, on one thread: batches are too small to be shared,
    and a client's model has the same bits for every number of them.
    """

    name = "loop"
    streams = True

    def __init__(self, model: FlatModule) -> None:
        self.model = model

    def refuses(self, work: Work) -> str | None:
        return None

    def solve(self, work: Work) -> Tensor:
        result = work.start.new_empty(len(work.clients), self.model.dimension)
        for place, vector in enumerate(self._vectors(work)):
            result[place] = vector
        return result

    def changes(self, work: Work) -> Iterator[Tensor]:
        start = per_client(work.start, len(work.clients))
        for place, vector in enumerate(self._vectors(work)):
            yield vector - start[place]

    @torch.no_grad()
    def predict(self, work: Work) -> Tensor:
        self.model.module.eval()
        shown = []
        for client, vector in zip(work.clients, per_client(work.start, len(work.clients)), strict=True):
            if len(client):  # not every module takes no samples
                self.model.vector.copy_(vector)
                shown.append(self.model.module(client.rows(slice(None))))
        return torch.cat(shown)

    def _vectors(self, work: Work) -> Iterator[Tensor]:
        """Each client's model after its last step, which the next one may overwrite."""
        clients, threads = len(work.clients), min(torch.get_num_threads(), len(work.clients))
        if threads > 1 and self._has_twins():
            yield from self._beside_each_other(work, threads)
            return
        for place in range(clients):
            _train(self.model, work, place)
            yield self.model.vector

    def _has_twins(self) -> bool:
        """Whether copies of the model may train at the same time: torch's random numbers are common to all threads."""
        model = self.model
        return model.vector.device.type == "cpu" and not model.is_random and model.dimension <= LARGEST_TWIN

    def _beside_each_other(self, work: Work, threads: int) -> Iterator[Tensor]:
        twins = self.model.derived.setdefault("loop", [])
        twins += [self.model.twin() for _ in range(threads - len(twins))]
        free: SimpleQueue[FlatModule] = SimpleQueue()
        for twin in twins[:threads]:
            free.put(twin)

        def trained(place: int) -> Tensor:
            twin = free.get()
            try:
                _train(twin, work, place)
                return twin.vector.clone()
            finally:
                free.put(twin)

        asked = torch.get_num_threads()
        torch.set_num_threads(1)  # here, too: a second thread of this one's would wait for work on a core that has some
        pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        try:
            yield from pool.map(trained, range(len(work.clients)))
        finally:
            pool.shutdown(cancel_futures=True)
            torch.set_num_threads(asked)


def _train(model: FlatModule, work: Work, place: int) -> None:
    """Leave the client's model in model.vector."""
    client = work.clients[place]
    vector, gradient = model.vector, model.gradient
    vector.copy_(per_client(work.start, len(work.clients))[place])
    anchor = None if work.anchor is None else per_client(work.anchor, len(work.clients))[place]
    model.module.train()
    with torch.random.fork_rng(enabled=model.is_random):
        if model.is_random:
            torch.manual_seed(work.module_seeds[place])
        for batch in work.batches[place]:
            rows = rows_of(batch, len(client), vector.device)
            gradient.zero_()
            with model.arithmetic():
                outputs = model.module(client.rows(rows))
                loss = work.loss(outputs, *(target[rows] for target in client.targets)).mean()
            torch.autograd.backward(loss)
            if work.strength and anchor is not None:
                pull = vector - anchor
                if work.curvature is not None:
                    pull *= work.curvature[place]
                gradient.add_(pull, alpha=work.strength)
            if work.weight_decay:
                gradient.add_(vector, alpha=work.weight_decay)
            vector.add_(gradient, alpha=-work.learning_rate)


def rows_of(batch: npt.NDArray[np.int64], samples: int, device: torch.device) -> Tensor | slice:
    """The batch as an index; a slice where it holds all samples in order, which copies nothing."""
    if len(batch) == samples and batch[0] == 0 and bool((np.diff(batch) == 1).all()):
        return slice(None)
    return torch.from_numpy(batch).to(device)
