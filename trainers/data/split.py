"""A seeded training/test split within every client."""

from __future__ import annotations

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.validate import count, number
from .federation import Client, Federation, Samples


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
