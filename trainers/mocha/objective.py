"""Primal, dual and duality gap of the W-step, MOCHA eqs. (1) and (3), with R = lambda/2 tr(W Omega W^T).

The empirical risk is the sum over tasks of the mean loss, as in the reference implementation.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.arrays import Floats
from .losses import Loss
from .tasks import Tasks


def task_means(tasks: Tasks, values: Floats) -> Floats:
    """(m,) means over each task's own samples of padded (m, max n_t) values."""
    return np.asarray(np.where(tasks.present, values, 0.0).sum(axis=1) / tasks.sizes)


def predictions(tasks: Tasks, weights: Floats) -> Floats:
    """(m, max n_t) inner products of each sample with its task's weights (d, m)."""
    return np.asarray(np.einsum("tnd,dt->tn", tasks.padded[0], weights))


def images(tasks: Tasks, alpha: Floats) -> Floats:
    """v (m, d): X_t^T alpha_t / n_t for each task, all that the server knows of the dual variables."""
    result: Floats = np.einsum("tnd,tn->td", tasks.padded[0], np.where(tasks.present, alpha, 0.0))
    return result / tasks.sizes[:, None]


def weights_of(v: Floats, covariance: Floats, regularisation: float) -> Floats:
    """w(alpha) = grad R*(v): (d, m) weights V^T Omega^{-1} / lambda."""
    return np.asarray(v.T @ covariance / regularisation)


def risk(tasks: Tasks, loss: Loss, weights: Floats) -> float:
    """Sum over tasks of the mean loss."""
    return float(task_means(tasks, loss.value(predictions(tasks, weights), tasks.padded[1])).sum())


def regulariser(weights: Floats, omega: Floats, regularisation: float) -> float:
    """lambda/2 tr(W Omega W^T)."""
    return float(regularisation / 2 * np.einsum("dt,ts,ds->", weights, omega, weights))


def dual_value(tasks: Tasks, loss: Loss, alpha: Floats, v: Floats, covariance: Floats, regularisation: float) -> float:
    """The dual objective, maximised: -sum of mean l*(-alpha) - tr(V^T Omega^{-1} V) / (2 lambda)."""
    conjugates = task_means(tasks, loss.conjugate(alpha, tasks.padded[1])).sum()
    return float(-conjugates - np.einsum("td,ts,sd->", v, covariance, v) / (2 * regularisation))


def fenchel_excess(tasks: Tasks, loss: Loss, alpha: Floats, weights: Floats) -> float:
    """Sum over tasks of the mean of l(p) + l*(-alpha) + alpha p, each term at least 0 (Fenchel, Young)."""
    prediction, target = predictions(tasks, weights), tasks.padded[1]
    terms = loss.value(prediction, target) + loss.conjugate(alpha, target) + alpha * prediction
    return float(task_means(tasks, np.maximum(terms, 0.0)).sum())


def duality_gap(
    tasks: Tasks, loss: Loss, alpha: Floats, weights: Floats, omega: Floats, covariance: Floats, regularisation: float
) -> float:
    """primal(W) - dual(alpha) for any W and alpha, as a sum of terms that cannot be negative.

    = fenchel_excess + lambda/2 ||W - w(alpha)||^2_Omega, by completing the square.
    """
    apart = weights - weights_of(images(tasks, alpha), covariance, regularisation)
    return fenchel_excess(tasks, loss, alpha, weights) + max(0.0, regulariser(apart, omega, regularisation))
