"""Every client's own vector: in memory where they fit, else in a memory-mapped file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .device import on_device

Clients = npt.NDArray[np.int64]
Vectors = npt.NDArray[Any]

LARGEST_IN_MEMORY = 2**30
"""Bytes; beyond it, or beside a checkpoint, the vectors live in a file."""
NOWHERE = -1


class PersonalModels:
    """(population, d) vectors that all start as `initial`. Only vectors that were set take up space.

    file: where to keep them; its rows change in `apply` alone. Missing or short files are extended by zeros.
    """

    def __init__(self, population: int, initial: Tensor, file: Path | None = None) -> None:
        self.initial = initial
        self.written = np.zeros(population, dtype=bool)
        self._staged: list[Vectors] = []
        self._whose: list[Clients] = []
        self._place = np.full(population, NOWHERE, dtype=np.int64)
        shape = (population, initial.numel())
        dtype = np.float64 if initial.dtype == torch.float64 else np.float32
        self._first = initial.cpu().numpy()
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
        rows = np.asarray(self._rows[clients])
        rows[~self.written[clients]] = self._first
        self._with_staged(clients, rows)
        return on_device(rows, self.initial.device)

    def stage(self, clients: Clients, vectors: Vectors) -> None:
        """Set the (c, d) vectors of these clients, without touching the file yet."""
        self._place[clients] = sum(map(len, self._staged)) + np.arange(len(clients))
        self._staged.append(vectors)
        self._whose.append(clients)

    def apply(self) -> None:
        """Move what was staged into the rows, and the rows to disk where they have a file."""
        for clients, vectors in zip(self._whose, self._staged, strict=True):  # of a client staged twice the later one
            self._rows[clients] = vectors
            self.written[clients] = True
            self._place[clients] = NOWHERE
        self._staged.clear()
        self._whose.clear()
        if isinstance(self._rows, np.memmap):
            self._rows.flush()

    def _with_staged(self, clients: Clients, rows: Vectors) -> None:
        """Put in what is staged of them."""
        first, places = 0, self._place[clients]
        for vectors in self._staged:
            there = (places >= first) & (places < first + len(vectors))
            rows[there] = vectors[places[there] - first]
            first += len(vectors)
