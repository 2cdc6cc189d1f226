"""Smoothness, strong convexity and optimum of federations whose losses are known, from their samples alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Quadratic:
    """Least squares without noise, l_k(w) = (1/2) (w - c_k)^T H_k (w - c_k) over the clients' training samples.

    hessians: (m, d, d), X_k^T X_k / n_k; centres: (m, d). Their extreme eigenvalues are the smoothness L and the
    strong convexity mu.
    """

    federation: object
    hessians: np.ndarray
    centres: np.ndarray

    @classmethod
    def of(cls, federation):
        samples = [(client.train.dense(), client.train.labels[:, 0]) for client in federation.clients]
        hessians = np.stack([x.T @ x / len(x) for x, _ in samples])
        centres = np.stack([np.linalg.lstsq(x, y, rcond=None)[0] for x, y in samples])
        return cls(federation, hessians, centres)

    @property
    def smoothness(self):
        return np.linalg.eigvalsh(self.hessians).max()

    @property
    def strong_convexity(self):
        return np.linalg.eigvalsh(self.hessians).min()

    def optimum(self, strength):
        """The (m, d) minimiser of sum_k l_k(w_k) + (strength/2) ||w_k - w_bar||^2 (PMTL, TMLR, eq. (2)).

        Stationarity in w_k is H_k (w_k - c_k) + strength (w_k - w_bar) = 0, so w_k = A_k (H_k c_k + strength w_bar)
        with A_k = (H_k + strength I)^-1, and averaging over k gives a linear system for w_bar.
        """
        dimension = self.centres.shape[1]
        inverse = np.linalg.inv(self.hessians + strength * np.eye(dimension))
        pull = np.einsum("kij,kjl,kl->ki", inverse, self.hessians, self.centres)
        system = np.eye(dimension) - strength * inverse.mean(axis=0)
        mean = np.linalg.solve(system, pull.mean(axis=0))
        return pull + strength * inverse @ mean

    def objective(self, models, strength):
        """(1/m) sum_k l_k(w_k) + (strength/2) ||w_k - w_bar||^2."""
        gaps = models - self.centres
        losses = 0.5 * np.einsum("ki,kij,kj->k", gaps, self.hessians, gaps)
        spread = 0.5 * strength * ((models - models.mean(axis=0)) ** 2).sum(axis=1)
        return float((losses + spread).mean())


@dataclass(frozen=True)
class SoftmaxRegression:
    """Softmax regression without bias; l_k is the mean cross-entropy, which is not strongly convex.

    smoothness: R^2 / 2 with R the largest norm of features, because the Hessian of the cross-entropy in the logits,
    diag(p) - p p^T, has eigenvalues of at most 1/2.
    """

    federation: object

    @property
    def smoothness(self):
        norms = [np.linalg.norm(client.train.dense(), axis=1).max() for client in self.federation.clients]
        return max(norms) ** 2 / 2

    def gradients(self, models):
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

    def optimum(self, strength, weight_decay, tolerance=1e-11):
        """The minimiser of sum_k l_k(w_k) + (weight_decay/2) ||w_k||^2 + (strength/2) ||w_k - w_bar||^2.

        Gradient descent with the step 2/(L + mu) until the gradient's norm is below `tolerance`; by strong convexity
        the models are then within tolerance / weight_decay of the minimiser.
        """
        models = np.zeros((self.federation.population, self.federation.outputs, self.federation.shape[0]))
        step = 2 / (self.smoothness + strength + 2 * weight_decay)
        while True:
            gradient = self.gradients(models) + weight_decay * models
            gradient += strength * (models - models.mean(axis=0))
            if np.linalg.norm(gradient) < tolerance:
                return models
            models = models - step * gradient
