"""How tasks are related, as a choice: each kind of Omega with the parameters that it has, and no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import meant
from ..data.task_files import MATRICES, read_clusters, read_covariance, read_graph
from .relationships import clustered, fixed_identity, graph_laplacian, known_covariance, mean_regularised


class Omega(Protocol):
    """learned: whether Omega-steps follow, from this matrix on."""

    learned: ClassVar[bool]

    def matrix(self, tasks: int, made_by: Floats | None) -> Floats:
        """(m, m). made_by: the covariance of synthetic tasks, known without a file.

        Raises InputError for files that are no such matrix of so many tasks.
        """


@dataclass(frozen=True)
class FixedIdentity:
    """Separate tasks."""

    learned: ClassVar[bool] = False

    def matrix(self, tasks: int, made_by: Floats | None) -> Floats:
        return fixed_identity(tasks)


@dataclass(frozen=True)
class Learned(FixedIdentity):
    """Separate tasks at first."""

    learned: ClassVar[bool] = True


@dataclass(frozen=True)
class MeanRegularised:
    """Models pulled to their mean; ridge is added to the Laplacian, as in the next two."""

    ridge: float
    learned: ClassVar[bool] = False

    def matrix(self, tasks: int, made_by: Floats | None) -> Floats:
        return mean_regularised(tasks, self.ridge)


@dataclass(frozen=True)
class Clustered:
    """clusters: a number (task t is in cluster t mod it), or a JSON file with each task's cluster."""

    clusters: str
    ridge: float
    learned: ClassVar[bool] = False

    def matrix(self, tasks: int, made_by: Floats | None) -> Floats:
        return clustered(read_clusters(self.clusters, tasks), self.ridge)


@dataclass(frozen=True)
class GraphLaplacian:
    """graph: a file for task_files.read_graph."""

    graph: Path
    ridge: float
    learned: ClassVar[bool] = False

    def matrix(self, tasks: int, made_by: Floats | None) -> Floats:
        return graph_laplacian(read_graph(self.graph, tasks), self.ridge)


@dataclass(frozen=True)
class Known:
    """The inverse of a covariance: a file's, or the one that made synthetic tasks. field: what the file is given as."""

    covariance: Path | None
    field: str = "covariance"
    learned: ClassVar[bool] = False

    def matrix(self, tasks: int, made_by: Floats | None) -> Floats:
        if self.covariance is not None:
            made_by = read_covariance(self.covariance, tasks, self.field)
        if made_by is None:
            raise InputError("covariance", None, "a file, with omega known, except for synthetic data")
        return known_covariance(made_by)


@dataclass(frozen=True)
class Given:
    """What users say beside an Omega's name."""

    clusters: str
    ridge: float
    graph: Path | None
    covariance: Path | None


def _graph(given: Given) -> Omega:
    if given.graph is None:
        raise InputError("graph", None, "a file, with omega graph-laplacian")
    return GraphLaplacian(given.graph, given.ridge)


OMEGAS: dict[str, Callable[[Given], Omega]] = {
    "fixed-identity": lambda given: FixedIdentity(),
    "mean-regularised": lambda given: MeanRegularised(given.ridge),
    "clustered": lambda given: Clustered(given.clusters, given.ridge),
    "graph-laplacian": _graph,
    "known": lambda given: Known(given.covariance),
    "learned": lambda given: Learned(),
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
        return Known(Path(name), "omega")
    expected = "one of " + ", ".join(OMEGAS) + ", or a .npy or .csv file of a covariance"
    raise InputError("omega", name, expected + meant(name, OMEGAS))
