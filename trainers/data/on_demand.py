"""A synthetic federation of any size, whose clients are made when they are asked for.

Nothing of a client exists before it is used, so that a million clients take as much memory as those that train. Client
k is a function of the seed, the options and k alone: it has a generator of its own, Philox4x64-10 from the counter
(0, 0, k, 1) on, whatever the population and the order in which clients are asked for.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, nonnegative, number
from .federation import Client, Federation, LazyClients, Samples

COMMON, OWN = 0, 1
"""Of which a stream is: what all tasks have in common, or one client."""


@dataclass(frozen=True, slots=True, eq=False)
class MadeClients(LazyClients):
    """Related tasks (synthetic.related_tasks): W_k = common + spread N(0, 1), x ~ N(0, I), y = argmax W_k x.

    common: (classes, features). training, testing: samples of each client. key: (2,) words, of Philox.
    """

    population: int
    training: int
    testing: int
    spread: float
    common: Floats
    key: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return self.population

    def made(self, place: int) -> Client:
        rng = stream(self.key, OWN, place)
        weights = self.common + self.spread * rng.standard_normal(self.common.shape)
        x = rng.standard_normal((self.training + self.testing, self.common.shape[1]))
        everything = Samples(x.astype(np.float32), np.argmax(x @ weights.T, axis=1).astype(np.int64))
        # The samples are alike and independent: the first are as good a training part as any.
        rows = np.arange(len(everything))
        parts = everything.take(rows[: self.training]), everything.take(rows[self.training :])
        return Client(f"{place:07d}", *parts)


def stream(key: npt.NDArray[np.uint64], kind: int, place: int = 0) -> np.random.Generator:
    """The random numbers of this kind and place."""
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, place, kind]))


@dataclass(frozen=True, slots=True, eq=False)
class FederationOnDemand(Federation):
    """Right as it is made, so nothing is checked: that would make everybody. options: what decides the data."""

    clients: MadeClients  # type: ignore[assignment] # a sequence that makes its clients when asked
    options: str = ""

    def __post_init__(self) -> None:
        """Nothing to check."""

    def fingerprint(self) -> str:
        """Of the options and the first client, by which another version's generator shows."""
        first = self.clients[0]
        digest = hashlib.sha256(f"{self.name} {self.options}".encode())
        for samples in (first.train, first.test):
            digest.update(samples.features.tobytes() + samples.labels.tobytes())
        return digest.hexdigest()

    def train_sizes(self) -> npt.NDArray[np.int64]:
        return np.full(len(self.clients), self.clients.training)


def related_tasks_on_demand(
    *,
    population: int = 1_000_000,
    features: int = 20,
    classes: int = 5,
    samples: int = 50,
    spread: float = 0.25,
    test_fraction: float = 0.5,
    seed: int = 0,
) -> FederationOnDemand:
    """The law of related_tasks, other numbers: no client exists before it is asked for.

    samples: of each client, of which test_fraction are for testing, and at least one for training.
    Raises InputError for values out of range.

    >>> federation = related_tasks_on_demand()
    >>> federation.population, federation.clients[999_999].train.features.shape
    (1000000, (25, 20))
    """
    shape = count("classes", classes, least=2), count("features", features)
    size, population = count("samples", samples, least=2), count("population", population, least=2)
    spread = nonnegative("spread", spread)
    if not 0 <= number("test_fraction", test_fraction) < 1:
        raise InputError("test_fraction", test_fraction, "a number of at least 0 and below 1")
    testing = min(size - 1, max(round(test_fraction * size), 1 if test_fraction else 0))
    key = np.random.SeedSequence(count("seed", seed, least=0)).generate_state(2, np.uint64).astype(np.uint64)
    common = stream(key, COMMON).standard_normal(shape)
    clients = MadeClients(population, size - testing, testing, spread, common, key)
    options = f"{population} {shape} {size} {testing} {spread} {key.tolist()}"
    return FederationOnDemand(f"synthetic:on-demand,spread={spread}", clients, "classes", shape[0], options)
