"""Synthetic federations, one function each, all seeded; of the last three smoothness, convexity and optimum are known.

`related_tasks` is the one to compare methods on: FedProx's synthetic(alpha, beta) shifts all classes' weights of
a client by the same scalar, which leaves its argmax unchanged.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, nonnegative, positive
from .federation import Client, Federation, Samples, split_clients


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
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((classes, features))
    own = _around(common[None], population, samples, nonnegative("spread", spread), rng)
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
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((clusters, classes, features))
    own = _around(centres, population, samples, nonnegative("spread", spread), rng)
    name = f"synthetic:clusters={clusters}"
    return Federation(name, split_clients(own, test_fraction, seed), "classes", classes)


def _around(
    centres: Floats, population: int, samples: int, spread: float, rng: np.random.Generator
) -> dict[str, Samples]:
    """Tasks around these centres (n, classes, features), client k around the (k mod n)-th."""
    own = {}
    for client in range(population):
        x = rng.standard_normal((samples, centres.shape[2]))
        weights = centres[client % len(centres)] + spread * rng.standard_normal(centres.shape[1:])
        own[f"{client:05d}"] = _labelled(x, weights)
    return own


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


def mean_estimation(
    *, population: int = 20, dimension: int = 3, curvature: float = 1.0, spread: float = 1.0, seed: int = 0
) -> Federation:
    """l_k(w) = (curvature/2) ||w - x_k||^2, as least squares on the rows sqrt(curvature d) e_j.

    L = mu = curvature, the optimum is w_k = (curvature x_k + strength x_bar) / (curvature + strength).
    """
    population = count("population", population, least=2)
    dimension = count("dimension", dimension)
    positive("curvature", curvature)
    rng = np.random.default_rng(seed)
    rows = np.sqrt(curvature * dimension) * np.eye(dimension)
    centres = spread * rng.standard_normal((population, dimension))
    return _least_squares("synthetic:mean", np.repeat(rows[None], population, axis=0), centres)


def ridge_regression(
    *,
    population: int = 20,
    dimension: int = 5,
    samples: int = 10,
    strong_convexity: float = 0.1,
    smoothness: float = 1.0,
    spread: float = 1.0,
    seed: int = 0,
) -> Federation:
    """Least squares in which every client's H_k = X_k^T X_k / n has eigenvalues spaced from mu to L, exactly.

    samples: at least `dimension`. The eigenvectors differ between clients.
    """
    population = count("population", population, least=2)
    dimension = count("dimension", dimension)
    samples = count("samples", samples, least=dimension)
    spectrum = np.linspace(
        positive("strong_convexity", strong_convexity), positive("smoothness", smoothness), dimension
    )
    rng = np.random.default_rng(seed)
    features = np.empty((population, samples, dimension))
    for client in range(population):
        left = np.linalg.qr(rng.standard_normal((samples, dimension)))[0]
        right = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
        features[client] = (left * np.sqrt(samples * spectrum)) @ right.T
    centres = rng.standard_normal(dimension) + spread * rng.standard_normal((population, dimension))
    return _least_squares("synthetic:ridge", features, centres)


def _least_squares(name: str, features: Floats, centres: Floats) -> Federation:
    """Noiseless targets: the mean over samples of (x^T w - y)^2 / 2 has H = X^T X / n and its minimum at the centre."""
    targets = np.einsum("knd,kd->kn", features, centres)[:, :, None]
    clients = []
    for place in range(len(features)):
        own = Samples(features[place], targets[place])
        clients.append(Client(f"{place:05d}", own, own))
    return Federation(name, tuple(clients), "regression", 1)


def logistic_regression(
    *, population: int = 10, dimension: int = 4, classes: int = 3, samples: int = 12, radius: float = 1.0, seed: int = 0
) -> Federation:
    """Softmax regression without bias on features of norm `radius`: radius^2 / 2 is its smoothness, as the Hessian of
    the cross-entropy in the logits has eigenvalues of at most 1/2. Labels are drawn from a model of the client's own.
    """
    population = count("population", population, least=2)
    rng = np.random.default_rng(seed)
    clients = []
    for place in range(population):
        x = rng.standard_normal((count("samples", samples), count("dimension", dimension)))
        x *= positive("radius", radius) / np.linalg.norm(x, axis=1, keepdims=True)
        logits = 3 * x @ rng.standard_normal((dimension, count("classes", classes, least=2)))
        labels = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1).astype(np.int64)
        own = Samples(x, labels)
        clients.append(Client(f"{place:05d}", own, own))
    return Federation("synthetic:logistic", tuple(clients), "classes", classes)
