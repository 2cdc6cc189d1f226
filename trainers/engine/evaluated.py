"""Who is evaluated, and how well their models do: each process looks at its own clients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from .algorithm import Clients
from .device import reproducible_kernels
from .evaluation import ClientScores
from .local import LocalSide
from .processes import Processes
from .settings import Settings
from .streams import Streams


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
