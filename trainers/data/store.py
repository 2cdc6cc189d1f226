"""A federation on disk, of which a process reads only the clients that it trains.

A folder with the arrays of all clients, one after the other (features.npy and labels.npy, or the three arrays of a
sparse matrix for bags of words), and index.json. The arrays are memory-mapped: nothing of a client is read before it
is used, so that under torchrun every process reads the clients of its own shards, and memory holds what it uses.

    python -m dpcert.trainers.data leaf:femnist.zip,features=inverted FOLDER
    torchrun --nproc-per-node 4 -m dpcert train pmtl --data store:FOLDER
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...mechanisms import InputError
from .federation import Client, Federation, LazyClients, Samples

INDEX = "index.json"
DENSE, SPARSE = ("features",), ("data", "indices", "indptr")


class StoredClients(LazyClients):
    """The clients of a store; one exists only while it is used. rows: (2 m + 1,) where each client's training samples
    begin, then its test samples."""

    def __init__(self, names: Sequence[str], rows: npt.NDArray[np.int64], features: Any, labels: Any) -> None:
        self._names, self.rows, self._features, self._labels = names, rows, features, labels

    def __len__(self) -> int:
        return len(self._names)

    def made(self, place: int) -> Client:
        first, second, third = (int(row) for row in self.rows[2 * place : 2 * place + 3])
        return Client(self._names[place], self._samples(first, second), self._samples(second, third))

    def _samples(self, first: int, last: int) -> Samples:
        labels = np.array(self._labels[first:last])
        if isinstance(self._features, dict):
            data, indices, indptr = (self._features[name] for name in SPARSE)
            begin, end = int(indptr[first]), int(indptr[last])
            parts = (np.array(data[begin:end]), np.array(indices[begin:end]), indptr[first : last + 1] - begin)
            width = self._features["width"]
            return Samples(sparse.csr_matrix(parts, shape=(last - first, width)), labels)
        return Samples(np.array(self._features[first:last]), labels)


@dataclass(frozen=True, slots=True, eq=False)
class StoredFederation(Federation):
    """Checked when it was written, not again. digest: the fingerprint of what was written."""

    clients: StoredClients  # type: ignore[assignment] # a sequence that makes its clients when asked
    digest: str = ""

    def __post_init__(self) -> None:
        """Nothing to check: that would read everything."""

    def fingerprint(self) -> str:
        return self.digest

    def train_sizes(self) -> npt.NDArray[np.int64]:
        return np.diff(self.clients.rows)[::2]


def save_store(federation: Federation, folder: str | Path) -> None:
    """Write a federation into a new folder. Raises InputError for a folder that is not empty."""
    place = Path(folder)
    if place.exists() and any(place.iterdir()):
        raise InputError("store", str(place), "a new or empty folder")
    place.mkdir(parents=True, exist_ok=True)
    parts = [part for client in federation.clients for part in (client.train, client.test)]
    if sparse.issparse(parts[0].features):
        matrix = sparse.vstack([part.features for part in parts], format="csr")
        arrays = {name: getattr(matrix, name) for name in SPARSE}
        width = int(matrix.shape[1])
    else:
        arrays, width = {"features": np.concatenate([part.features for part in parts])}, 0
    for name, array in {**arrays, "labels": np.concatenate([part.labels for part in parts])}.items():
        np.save(place / f"{name}.npy", array, allow_pickle=False)
    index = {
        "name": federation.name,
        "task": federation.task,
        "outputs": federation.outputs,
        "width": width,
        "clients": [client.name for client in federation.clients],
        "rows": [0, *np.cumsum([len(part) for part in parts]).tolist()],
        "digest": federation.fingerprint(),
    }
    (place / INDEX).write_text(json.dumps(index))


def load_store(path: str | Path, *, seed: int = 0) -> StoredFederation:
    """The federation of a store. seed: not used, since the split was made when the store was written.

    Raises InputError for a folder that is no complete store.
    """
    place = Path(path)
    try:
        index = json.loads((place / INDEX).read_text())
        rows, width = np.array(index["rows"], dtype=np.int64), int(index["width"])
        names = SPARSE if width else DENSE
        arrays = {name: np.load(place / f"{name}.npy", mmap_mode="r") for name in (*names, "labels")}
        labels = arrays.pop("labels")
        features: Any = {**arrays, "width": width} if width else arrays["features"]
        clients = StoredClients(index["clients"], rows, features, labels)
        complete = len(rows) == 2 * len(clients) + 1 and rows[-1] == len(labels)
        federation = StoredFederation(index["name"], clients, index["task"], index["outputs"], index["digest"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("path", str(place), f"a folder that save_store wrote ({error})") from error
    held = len(arrays["indptr"]) - 1 if width else len(arrays["features"])
    if not complete or held != len(labels):
        raise InputError("path", str(place), "a complete store: its arrays have other lengths than its index says")
    return federation
