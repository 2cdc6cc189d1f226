"""Problems whose smoothness, strong convexity and optimum are known, for checking solvers and theorems against."""

from __future__ import annotations

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, positive
from .federation import Client, Federation, Samples


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
