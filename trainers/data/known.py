"""Problems with known smoothness, strong convexity and optimum, for checking solvers and theorems against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, nonnegative, positive
from .federation import Client, Federation, Samples


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """Local losses l_k(w) = (1/2) (w - c_k)^T H_k (w - c_k) + constant, over the clients' training samples.

    hessians: (m, d, d); centres: (m, d); smoothness L and strong_convexity mu are the extreme eigenvalues of all H_k.
    """

    federation: Federation
    hessians: Floats
    centres: Floats

    @property
    def smoothness(self) -> float:
        return float(np.linalg.eigvalsh(self.hessians).max())

    @property
    def strong_convexity(self) -> float:
        return float(np.linalg.eigvalsh(self.hessians).min())

    def optimum(self, strength: float) -> Floats:
        """The (m, d) minimiser of sum_k l_k(w_k) + (strength/2) ||w_k - w_bar||^2 (PMTL, TMLR, eq. (2)).

        Stationarity in w_k is H_k (w_k - c_k) + strength (w_k - w_bar) = 0, so w_k = A_k (H_k c_k + strength w_bar)
        with A_k = (H_k + strength I)^-1, and averaging over k gives a linear system for w_bar.
        """
        strength = nonnegative("strength", strength)
        dimension = self.centres.shape[1]
        inverse = np.linalg.inv(self.hessians + strength * np.eye(dimension))
        pull = np.einsum("kij,kjl,kl->ki", inverse, self.hessians, self.centres)
        system = np.eye(dimension) - strength * inverse.mean(axis=0)
        mean = np.linalg.solve(system, pull.mean(axis=0))
        return np.asarray(pull + strength * inverse @ mean)

    def objective(self, models: Floats, strength: float) -> float:
        """(1/m) sum_k l_k(w_k) + (strength/2) ||w_k - w_bar||^2, up to the losses' constants."""
        gaps = models - self.centres
        losses = 0.5 * np.einsum("ki,kij,kj->k", gaps, self.hessians, gaps)
        spread = 0.5 * strength * ((models - models.mean(axis=0)) ** 2).sum(axis=1)
        return float((losses + spread).mean())


def mean_estimation(
    *, population: int = 20, dimension: int = 3, curvature: float = 1.0, spread: float = 1.0, seed: int = 0
) -> Quadratic:
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
) -> Quadratic:
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


def _least_squares(name: str, features: Floats, centres: Floats) -> Quadratic:
    """Noiseless targets: the mean over samples of (x^T w - y)^2 / 2 has H = X^T X / n and its minimum at the centre."""
    targets = np.einsum("knd,kd->kn", features, centres)[:, :, None]
    hessians = np.einsum("kni,knj->kij", features, features) / features.shape[1]
    clients = []
    for place in range(len(features)):
        own = Samples(features[place], targets[place])
        clients.append(Client(f"{place:05d}", own, own))
    return Quadratic(Federation(name, tuple(clients), "regression", 1), hessians, centres)


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """Softmax regression without bias on features of norm at most `radius`; l_k is the mean cross-entropy.

    smoothness: radius^2 / 2, because the Hessian of the cross-entropy in the logits, diag(p) - p p^T, has
    eigenvalues of at most 1/2. strong_convexity: 0 (add a weight decay to have one).
    """

    federation: Federation
    radius: float

    @property
    def smoothness(self) -> float:
        return self.radius**2 / 2

    @property
    def strong_convexity(self) -> float:
        return 0.0

    def gradients(self, models: Floats) -> Floats:
        """(m, classes, features) gradients of the l_k at the (m, classes, features) models."""
        result = np.empty_like(models)
        for place, client in enumerate(self.federation.clients):
            x, labels = client.train.dense().astype(np.float64), client.train.labels
            logits = x @ models[place].T
            logits -= logits.max(axis=1, keepdims=True)
            residual = np.exp(logits)
            residual /= residual.sum(axis=1, keepdims=True)
            residual[np.arange(len(labels)), labels.astype(np.int64)] -= 1
            result[place] = residual.T @ x / len(labels)
        return result

    def optimum(self, strength: float, weight_decay: float, tolerance: float = 1e-11) -> Floats:
        """The minimiser of sum_k l_k(w_k) + (weight_decay/2) ||w_k||^2 + (strength/2) ||w_k - w_bar||^2.

        Gradient descent with the step 2/(L + mu) until the gradient's norm is below `tolerance`; by strong convexity
        the models are then within tolerance / weight_decay of the minimiser.
        """
        decay, strength = positive("weight_decay", weight_decay), nonnegative("strength", strength)
        models = np.zeros((self.federation.population, self.federation.outputs, self.federation.shape[0]))
        step = 2 / (self.smoothness + strength + 2 * decay)
        while True:
            gradient = self.gradients(models) + decay * models + strength * (models - models.mean(axis=0))
            if np.linalg.norm(gradient) < tolerance:
                return models
            models = models - step * gradient


def logistic_regression(
    *, population: int = 10, dimension: int = 4, classes: int = 3, samples: int = 12, radius: float = 1.0, seed: int = 0
) -> Logistic:
    """A softmax regression with a known smoothness; labels are drawn from a softmax model of the client's own."""
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
    return Logistic(Federation("synthetic:logistic", tuple(clients), "classes", classes), radius)
