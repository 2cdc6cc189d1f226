"""A federation: named clients, each with its own training and test samples, checked once; and how samples are split."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...mechanisms import InputError
from ...mechanisms.validate import choice, count, number

Features: TypeAlias = Any
"""A numpy array of floats, or a scipy.sparse csr_matrix (scipy has no types)."""
Labels: TypeAlias = npt.NDArray[Any]

Task = Literal["classes", "tags", "regression"]
"""What a label is: one class index, a multi-hot vector of tags, or real targets."""
TASKS: tuple[Task, ...] = ("classes", "tags", "regression")
LARGEST_OUTPUTS = 2**20
"""A larger class number is a slip, such as an identifier in the label column."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """n samples. features: (n, ...) floats, or a sparse (n, p) matrix for bags of words.

    labels: (n,) class indices, (n, tags) zeros and ones, or (n,) / (n, outputs) real targets.
    """

    features: Features
    labels: Labels

    def __len__(self) -> int:
        return int(self.features.shape[0])

    def dense(self) -> npt.NDArray[np.floating]:
        """The features as an array."""
        if sparse.issparse(self.features):
            return cast("npt.NDArray[np.floating]", self.features.toarray())
        return cast("npt.NDArray[np.floating]", self.features)

    def take(self, rows: npt.NDArray[np.int64]) -> Samples:
        """The samples at these rows, in this order.

        rows: indices of the samples to keep.
        """
        return Samples(self.features[rows], self.labels[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Client:
    """One client: the unit that the privacy guarantee protects.

    train, test: its samples for training and for evaluation.
    """

    name: str
    train: Samples
    test: Samples


class LazyClients(Sequence[Client]):
    """Clients that exist only while they are used."""

    def made(self, place: int) -> Client:
        """The client at this place, from 0."""
        raise NotImplementedError

    @overload
    def __getitem__(self, place: int) -> Client: ...
    @overload
    def __getitem__(self, place: slice) -> list[Client]: ...
    def __getitem__(self, place: int | slice) -> Client | list[Client]:
        if isinstance(place, slice):
            return [self.made(one) for one in range(len(self))[place]]
        return self.made(range(len(self))[place])


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Federation:
    """The clients of one learning problem.

    clients: each one's data, at least two. task: one of TASKS.
    outputs: the number of classes, tags or regression targets, hence the width of a model's output.
    Raises InputError for a client without training samples, features that are not finite or differ in shape
    between clients, labels out of range, and fewer than two clients.
    """

    name: str
    clients: tuple[Client, ...]
    task: Task
    outputs: int

    def __post_init__(self) -> None:
        choice("task", self.task, TASKS)
        object.__setattr__(self, "outputs", count("outputs", self.outputs))
        if self.outputs > LARGEST_OUTPUTS:
            expected = f"at most {LARGEST_OUTPUTS} classes, tags or targets (classes are numbered from 0)"
            raise InputError("outputs", self.outputs, expected)
        if len(self.clients) < 2:
            raise InputError("clients", len(self.clients), "at least two clients")
        for client in self.clients:
            if not len(client.train):
                raise InputError(f"clients[{client.name}].train", 0, "at least one training sample")
            for part, samples in (("train", client.train), ("test", client.test)):
                _check(f"clients[{client.name}].{part}", samples, self.shape, self.task, self.outputs)

    @property
    def population(self) -> int:
        """The number of clients, m."""
        return len(self.clients)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample's features."""
        return tuple(self.clients[0].train.features.shape[1:])

    def train_sizes(self) -> npt.NDArray[np.int64]:
        """(m,): how many training samples each client has."""
        return np.array([len(client.train) for client in self.clients], dtype=np.int64)

    def fingerprint(self) -> str:
        """A digest of all data, by which a checkpoint recognises the federation it belongs to."""
        digest = hashlib.sha256(repr((self.name, self.task, self.outputs, self.shape)).encode())
        for client in self.clients:
            digest.update(client.name.encode())
            for samples in (client.train, client.test):
                for array in _arrays(samples):
                    digest.update(repr((array.shape, str(array.dtype))).encode())
                    digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _arrays(samples: Samples) -> tuple[npt.NDArray[np.generic], ...]:
    if sparse.issparse(samples.features):
        matrix = samples.features
        return (matrix.data, matrix.indices, matrix.indptr, samples.labels)
    return (cast("npt.NDArray[np.generic]", samples.features), samples.labels)


def _check(field: str, samples: Samples, shape: tuple[int, ...], task: Task, outputs: int) -> None:
    features, labels = samples.features, samples.labels
    if tuple(features.shape[1:]) != shape:
        raise InputError(f"{field}.features", tuple(features.shape[1:]), f"the shape of the first client's, {shape}")
    values = features.data if sparse.issparse(features) else features
    if not np.isfinite(np.asarray(values)).all():
        raise InputError(f"{field}.features", "NaN or infinity", "finite numbers")
    if labels.shape[0] != len(samples):
        raise InputError(f"{field}.labels", labels.shape[0], f"as many labels as samples, {len(samples)}")
    if task == "classes":
        if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
            raise InputError(f"{field}.labels", str(labels.dtype), "one whole number for each sample")
        if len(labels) and (labels.min() < 0 or labels.max() >= outputs):
            worst = labels.max() if labels.max() >= outputs else labels.min()
            raise InputError(f"{field}.labels", int(worst), f"a class from 0 to {outputs - 1}")
        return
    if not np.isfinite(labels).all():
        raise InputError(f"{field}.labels", "NaN or infinity", "finite numbers")
    if labels.ndim != 2 or labels.shape[1] != outputs:
        raise InputError(f"{field}.labels", labels.shape, f"{outputs} numbers for each sample")
    if task == "tags" and not np.isin(labels, (0, 1)).all():
        raise InputError(f"{field}.labels", "other values", "zeros and ones")


def split_clients(samples: dict[str, Samples], test_fraction: float = 0.2, seed: int = 0) -> tuple[Client, ...]:
    """Each client's samples, split at random; at least one sample stays for training.

    The split of a client depends on the seed and its place in the order only.
    Raises InputError for a fraction outside [0, 1), a negative seed, and a client without samples.

    samples: of each client, by name. test_fraction: share of the samples kept for the test, in [0, 1).
    """
    if not 0 <= number("test_fraction", test_fraction) < 1:
        raise InputError("test_fraction", test_fraction, "a number of at least 0 and below 1")
    seed = count("seed", seed, least=0)
    return tuple(
        _split(name, own, test_fraction, np.random.default_rng((seed, place)))
        for place, (name, own) in enumerate(samples.items())
    )


def hold_out(federation: Federation, fraction: float, seed: int = 0) -> Federation:
    """The same clients, with a share of each one's training samples in place of its test samples: for validation.

    At least one sample stays for training. The share depends on the seed and the client's place only; the test samples
    are in neither part.
    """
    clients = tuple(
        _split(client.name, client.train, fraction, np.random.default_rng((seed, 1, place)))
        for place, client in enumerate(federation.clients)
    )
    return Federation(federation.name, clients, federation.task, federation.outputs)


def _split(name: str, own: Samples, test_fraction: float, rng: np.random.Generator) -> Client:
    if not len(own):
        raise InputError(f"clients[{name}]", 0, "at least one sample")
    wanted = round(test_fraction * len(own))
    held_out = min(len(own) - 1, max(wanted, 1 if test_fraction else 0))
    order = rng.permutation(len(own))
    return Client(name, own.take(np.sort(order[held_out:])), own.take(np.sort(order[:held_out])))
