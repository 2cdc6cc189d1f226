"""Every client's own vector: in memory where they fit, else in a memory-mapped file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Clients = npt.NDArray[np.int64]
Vectors = npt.NDArray[Any]

LARGEST_IN_MEMORY = 2**30
"""Bytes; beyond it, or beside a checkpoint, the vectors live in a file."""


class PersonalModels:
    """(population, d) vectors that all start as `initial`. Only vectors that were set take up space.

    file: where to keep them; its rows change in `apply` alone. Missing or short files are extended by zeros.
    """

    def __init__(self, population: int, initial: Tensor, file: Path | None = None) -> None:
        self.initial = initial
        self.written = np.zeros(population, dtype=bool)
        self._staged: dict[int, Vectors] = {}
        shape = (population, initial.numel())
        dtype = np.float64 if initial.dtype == torch.float64 else np.float32
        self._rows: Vectors
        if file is not None:
            with file.open("ab") as handle:
                handle.truncate(shape[0] * shape[1] * np.dtype(dtype).itemsize)
            self._rows = np.memmap(file, dtype=dtype, mode="r+", shape=shape)
        elif shape[0] * shape[1] * np.dtype(dtype).itemsize > LARGEST_IN_MEMORY:
            # The mapping keeps the file alive; it has no name to be left behind.
            with tempfile.TemporaryFile() as holder:
                self._rows = np.memmap(holder, dtype=dtype, mode="w+", shape=shape)
        else:
            self._rows = np.zeros(shape, dtype=dtype)

    def get(self, clients: Clients) -> Tensor:
        """The (c, d) vectors of these clients, in new memory on the training device."""
        rows = torch.from_numpy(np.asarray(self._rows[clients])).to(self.initial.device)
        for place, client in enumerate(clients):
            if int(client) in self._staged:
                rows[place] = torch.from_numpy(self._staged[int(client)])
            elif not self.written[client]:
                rows[place] = self.initial
        return rows

    def stage(self, clients: Clients, vectors: Vectors) -> None:
        """Set the (c, d) vectors of these clients, without touching the file yet."""
        self._staged.update(zip(clients.tolist(), vectors, strict=True))

    def apply(self) -> None:
        """Move what was staged into the rows, and the rows to disk where they have a file."""
        for client, vector in self._staged.items():
            self._rows[client] = vector
            self.written[client] = True
        self._staged.clear()
        if isinstance(self._rows, np.memmap):
            self._rows.flush()
