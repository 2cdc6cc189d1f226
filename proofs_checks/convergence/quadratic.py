"""Least squares without noise: federations whose smoothness, strong convexity and optimum are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.arrays import Floats

if TYPE_CHECKING:
    from ...trainers.data import Federation


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """l_k(w) = (1/2) (w - c_k)^T H_k (w - c_k) + constant, over the clients' training samples.

    hessians: (m, d, d), X_k^T X_k / n_k; centres: (m, d). Their extreme eigenvalues are the smoothness L and the
    strong convexity mu.
    """

    federation: Federation
    hessians: Floats
    centres: Floats

    @classmethod
    def of(cls, federation: Federation) -> Quadratic:
        """From its samples alone, whose labels are noiseless."""
        samples = [(client.train.dense(), client.train.labels[:, 0]) for client in federation.clients]
        hessians = np.stack([x.T @ x / len(x) for x, _ in samples])
        centres = np.stack([np.linalg.lstsq(x, y, rcond=None)[0] for x, y in samples])
        return cls(federation, hessians, centres)

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


def mean_estimation(**sizes: Any) -> Quadratic:
    """That of trainers.data.known."""
    from ...trainers.data import known  # here: torch takes seconds

    return Quadratic.of(known.mean_estimation(**sizes))


def ridge_regression(**sizes: Any) -> Quadratic:
    """That of trainers.data.known."""
    from ...trainers.data import known

    return Quadratic.of(known.ridge_regression(**sizes))
