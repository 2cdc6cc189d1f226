"""Omega, the relationship between tasks: regulariser lambda/2 tr(W Omega W^T), W of shape (d, m).

`covariance` = Omega^{-1} is what the dual method uses; every structure here is positive definite.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import positive


def fixed_identity(tasks: int) -> Floats:
    """Omega^{-1} = I / m: separate tasks, the starting point of the reference implementation. Returns Omega."""
    return np.eye(tasks) * tasks


def mean_regularised(tasks: int, ridge: float) -> Floats:
    """Omega = (I - 11^T/m)^2 + ridge I: models pulled to their mean (Evgeniou, Pontil 2004; MOCHA eq. (2))."""
    omega: Floats = np.eye(tasks) - np.ones((tasks, tasks)) / tasks + positive("ridge", ridge) * np.eye(tasks)
    return omega


def clustered(assignment: list[int], ridge: float) -> Floats:
    """Models pulled to the mean of their cluster: block-diagonal mean regularisation plus ridge I."""
    groups = np.asarray(assignment)
    same = (groups[:, None] == groups[None, :]).astype(float)
    omega: Floats = (
        np.eye(len(groups)) - same / same.sum(axis=1, keepdims=True) + positive("ridge", ridge) * np.eye(len(groups))
    )
    return omega


def graph_laplacian(adjacency: Floats, ridge: float) -> Floats:
    """Omega = L + ridge I with L the Laplacian of a weighted undirected graph of tasks."""
    weights = np.asarray(adjacency, dtype=float)
    if weights.ndim != 2 or not np.array_equal(weights, weights.T) or (weights < 0).any():
        raise InputError("adjacency", weights.shape, "a symmetric matrix of weights of at least 0")
    omega: Floats = np.diag(weights.sum(axis=1)) - weights + positive("ridge", ridge) * np.eye(len(weights))
    return omega


def mean_covariance(tasks: int, correlation: float) -> Floats:
    """The covariance of tasks of variance 1 that all have this correlation with each other."""
    covariance: Floats = np.full((tasks, tasks), correlation) + (1 - correlation) * np.eye(tasks)
    return covariance


def clustered_covariance(tasks: int, correlation: float) -> Floats:
    """Tasks of variance 1 in two halves: correlated within a half, independent across."""
    half = np.arange(tasks) < (tasks + 1) // 2
    return np.where(half[:, None] == half[None, :], mean_covariance(tasks, correlation), 0.0)


def known_covariance(covariance: Floats) -> Floats:
    """Omega for a known positive definite covariance of the tasks."""
    return inverse(covariance, "covariance")


def inverse(matrix: Floats, field: str) -> Floats:
    """The inverse of a symmetric positive definite matrix, symmetric to the last bit."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise InputError(field, np.shape(matrix), "a symmetric positive definite matrix") from error
    result = np.linalg.inv(matrix)
    return (result + result.T) / 2


def learned_covariance(weights: Floats, smoothing: float) -> Floats:
    """The trace-norm Omega-step.

    argmin over Sigma >= 0, tr Sigma = 1 of tr(W Sigma^{-1} W^T) + smoothing tr Sigma^{-1}.
    Closed form (Zhang, Yeung 2010, eq. (11)): (W^T W + smoothing I)^{1/2} over its trace.
    weights: (d, m); smoothing > 0 keeps Sigma invertible where W has rank below m.
    """
    gram = weights.T @ weights
    values, vectors = np.linalg.eigh(gram)
    roots = np.sqrt(np.maximum(values, 0.0) + positive("smoothing", smoothing))
    root = (vectors * roots) @ vectors.T
    covariance: Floats = (root + root.T) / (2 * roots.sum())
    return covariance


def safe_sigma(covariance: Floats) -> float:
    """sigma' of Lemma 9 as the reference code computes it: max_t sum_t' |Sigma_tt'| / Sigma_tt.

    It suffices for the sum of the local subproblems to bound the dual, since |<u_s, u_t>| is at most
    (|u_s|^2 + |u_t|^2)/2; m always suffices as well.
    """
    return float(np.max(np.abs(covariance).sum(axis=1) / np.diag(covariance)))


def tight_sigma(covariance: Floats) -> float:
    """The least sigma' that serves all data: the largest eigenvalue of the correlations D^{-1/2} Sigma D^{-1/2}.

    It is at most Lemma 9's value, a norm of the similar matrix D^{-1} Sigma, and at most m. Rounded up, since a
    sigma' too small may lose the ascent.
    """
    spread = np.sqrt(np.diag(covariance))
    largest = float(np.linalg.eigvalsh(covariance / np.outer(spread, spread))[-1])
    return min(safe_sigma(covariance), max(1.0, largest) * (1 + 1e-10))
