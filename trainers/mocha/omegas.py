"""Omega, the relationship between tasks: regulariser lambda/2 tr(W Omega W^T), W of shape (d, m).

`covariance` = Omega^{-1} is what the dual method uses; every structure here is positive definite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import meant, positive
from ..data.task_files import MATRICES, read_clusters, read_covariance, read_graph


def fixed_identity(tasks: int) -> Floats:
    """Omega^{-1} = I / m: separate tasks, the starting point of the reference implementation. Returns Omega."""
    return np.eye(tasks) * tasks


def mean_regularised(tasks: int, ridge: float) -> Floats:
    """Omega = (I - 11^T/m)^2 + ridge I: models pulled to their mean (Evgeniou, Pontil 2004; MOCHA eq. (2))."""
    return np.asarray(np.eye(tasks) - np.ones((tasks, tasks)) / tasks + positive("ridge", ridge) * np.eye(tasks))


def clustered(assignment: list[int], ridge: float) -> Floats:
    """Models pulled to the mean of their cluster: block-diagonal mean regularisation plus ridge I."""
    groups = np.asarray(assignment)
    same, own = (groups[:, None] == groups[None, :]).astype(float), np.eye(len(groups))
    return np.asarray(own - same / same.sum(axis=1, keepdims=True) + positive("ridge", ridge) * own)


def graph_laplacian(adjacency: Floats, ridge: float) -> Floats:
    """Omega = L + ridge I with L the Laplacian of a weighted undirected graph of tasks."""
    weights = np.asarray(adjacency, dtype=float)
    if weights.ndim != 2 or not np.array_equal(weights, weights.T) or (weights < 0).any():
        raise InputError("adjacency", weights.shape, "a symmetric matrix of weights of at least 0")
    return np.asarray(np.diag(weights.sum(axis=1)) - weights + positive("ridge", ridge) * np.eye(len(weights)))


def mean_covariance(tasks: int, correlation: float) -> Floats:
    """The covariance of tasks of variance 1 that all have this correlation with each other."""
    return np.asarray(np.full((tasks, tasks), correlation) + (1 - correlation) * np.eye(tasks))


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
    values, vectors = np.linalg.eigh(weights.T @ weights)
    roots = np.sqrt(np.maximum(values, 0.0) + positive("smoothing", smoothing))
    root = (vectors * roots) @ vectors.T
    return np.asarray((root + root.T) / (2 * roots.sum()))


@dataclass(frozen=True)
class Omega:
    """A choice of it. learned: whether Omega-steps follow, from this matrix on.

    matrix: of so many tasks and, of synthetic tasks, the covariance that made them; raises InputError for files that
    are no such matrix.
    """

    matrix: Callable[[int, Floats | None], Floats]
    learned: bool = False


@dataclass(frozen=True)
class Given:
    """What users say beside an Omega's name: clusters as for read_clusters, ridge of the three that have one."""

    clusters: str
    ridge: float
    graph: Path | None
    covariance: Path | None


def _separate(tasks: int, made_by: Floats | None) -> Floats:
    return fixed_identity(tasks)


def _graph(given: Given) -> Omega:
    if (graph := given.graph) is None:
        raise InputError("graph", None, "a file, with omega graph-laplacian")
    return Omega(lambda tasks, _: graph_laplacian(read_graph(graph, tasks), given.ridge))


def _known(file: Path | None, field: str, tasks: int, made_by: Floats | None) -> Floats:
    """The inverse of a covariance: a file's, given as this field, or the one that made synthetic tasks."""
    if file is not None:
        made_by = read_covariance(file, tasks, field)
    if made_by is None:
        raise InputError("covariance", None, "a file, with omega known, except for synthetic data")
    return known_covariance(made_by)


OMEGAS: dict[str, Callable[[Given], Omega]] = {
    "fixed-identity": lambda given: Omega(_separate),
    "mean-regularised": lambda given: Omega(lambda tasks, _: mean_regularised(tasks, given.ridge)),
    "clustered": lambda given: Omega(lambda tasks, _: clustered(read_clusters(given.clusters, tasks), given.ridge)),
    "graph-laplacian": _graph,
    "known": lambda given: Omega(partial(_known, given.covariance, "covariance")),
    "learned": lambda given: Omega(_separate, learned=True),
}


def omega_of(name: str, given: Given) -> Omega:
    """The Omega of this name: one of OMEGAS, or a .npy or .csv file, short for known with that covariance.

    Raises InputError for another name, and for a file that belongs to another Omega.
    """
    for field, owner in (("graph", "graph-laplacian"), ("covariance", "known")):
        file = getattr(given, field)
        if file is not None and name != owner:
            raise InputError(field, str(file), f"none with omega {name}: it belongs to {owner}")
    if name in OMEGAS:
        return OMEGAS[name](given)
    if Path(name).suffix in MATRICES:
        return Omega(partial(_known, Path(name), "omega"))
    expected = "one of " + ", ".join(OMEGAS) + ", or a .npy or .csv file of a covariance"
    raise InputError("omega", name, expected + meant(name, OMEGAS))
