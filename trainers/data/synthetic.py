"""Synthetic classification federations, one function each, all seeded.

`related_tasks` is the one to compare methods on: FedProx's synthetic(alpha, beta) shifts all classes' weights of
a client by the same scalar, which leaves its argmax unchanged.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, nonnegative
from .federation import Federation, Samples
from .split import split_clients


def related_tasks(
    *,
    population: int = 100,
    features: int = 20,
    classes: int = 5,
    samples: int = 50,
    spread: float = 0.25,
    test_fraction: float = 0.5,
    seed: int = 0,
) -> Federation:
    """W_k = W_bar + spread N(0, 1), x ~ N(0, I), y = argmax W_k x.

    spread = 0 makes all tasks equal; with a large one they have nothing in common.
    """
    population, features, classes, samples = _sizes(population, features, classes, samples)
    nonnegative("spread", spread)
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((classes, features))
    own = {
        f"{client:05d}": _labelled(
            rng.standard_normal((samples, features)),
            common + spread * rng.standard_normal((classes, features)),
        )
        for client in range(population)
    }
    return Federation(f"synthetic:spread={spread}", split_clients(own, test_fraction, seed), "classes", classes)


def clustered_tasks(
    *,
    population: int = 90,
    clusters: int = 3,
    features: int = 20,
    classes: int = 5,
    samples: int = 50,
    spread: float = 0.1,
    test_fraction: float = 0.5,
    seed: int = 0,
) -> Federation:
    """Tasks around one centre for each cluster: client k is in cluster k mod clusters."""
    population, features, classes, samples = _sizes(population, features, classes, samples)
    clusters = count("clusters", clusters)
    if clusters > population:
        raise InputError("clusters", clusters, f"at most the population, {population}")
    nonnegative("spread", spread)
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((clusters, classes, features))
    own = {
        f"{client:05d}": _labelled(
            rng.standard_normal((samples, features)),
            centres[client % clusters] + spread * rng.standard_normal((classes, features)),
        )
        for client in range(population)
    }
    name = f"synthetic:clusters={clusters}"
    return Federation(name, split_clients(own, test_fraction, seed), "classes", classes)


def fedprox_synthetic(
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    population: int = 30,
    features: int = 60,
    classes: int = 10,
    largest: int = 1000,
    test_fraction: float = 0.2,
    seed: int = 0,
) -> Federation:
    """synthetic(alpha, beta) of Li et al. 2020 (FedProx, arXiv 1812.06127v5, section 5.1).

    u_k ~ N(0, alpha), entries of W_k and b_k ~ N(u_k, 1); B_k ~ N(0, beta), v_k ~ N(B_k, 1), x ~ N(v_k, diag(j^-1.2));
    y = argmax(W_k x + b_k); n_k = 50 + lognormal(4, 2), here at most `largest`.
    """
    population, features, classes, largest = _sizes(population, features, classes, largest)
    nonnegative("alpha", alpha)
    nonnegative("beta", beta)
    rng = np.random.default_rng(seed)
    deviations = np.arange(1, features + 1) ** -0.6
    own = {}
    for client in range(population):
        shift = rng.normal(0, np.sqrt(alpha))
        weights = rng.normal(shift, 1, (classes, features))
        bias = rng.normal(shift, 1, classes)
        centre = rng.normal(rng.normal(0, np.sqrt(beta)), 1, features)
        size = min(largest, 50 + int(rng.lognormal(4, 2)))
        x = centre + deviations * rng.standard_normal((size, features))
        own[f"{client:05d}"] = _labelled(x, weights, bias)
    name = f"synthetic:fedprox,alpha={alpha},beta={beta}"
    return Federation(name, split_clients(own, test_fraction, seed), "classes", classes)


def _labelled(x: Floats, weights: Floats, bias: Floats | float = 0.0) -> Samples:
    labels = np.argmax(x @ weights.T + bias, axis=1).astype(np.int64)
    return Samples(x.astype(np.float32), labels)


def _sizes(population: int, features: int, classes: int, samples: int) -> tuple[int, int, int, int]:
    return (
        count("population", population, least=2),
        count("features", features),
        count("classes", classes, least=2),
        count("samples", samples, least=2),
    )
