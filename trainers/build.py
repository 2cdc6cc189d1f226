"""An algorithm by name, with the parameters that the command line knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..mechanisms import InputError
from ..mechanisms.arrays import Floats
from ..mechanisms.validate import choice
from .algorithms import baselines, fixed_omega, pmtl
from .data.task_files import MATRICES, read_clusters, read_covariance
from .dpfedmtl import forms
from .dpfedmtl.shared_layers import LabelSets
from .engine.algorithm import Algorithm


@dataclass(frozen=True, slots=True)
class Parameters:
    """strength: lambda. alpha: PP-SGD's. clusters: how many (client k is in k mod clusters), or a JSON file with one
    number a client. omega: "mean-regularised", or a .npy or .csv file with an (m, m) matrix. head_layers, label_sets,
    aggregation_interval: DPFedMTL's."""

    strength: float = 1.0
    alpha: float = 1.0
    clusters: str = "1"
    omega: str = "mean-regularised"
    head_layers: int = 1
    label_sets: LabelSets = "all"
    aggregation_interval: int = 1

    @property
    def cut(self) -> tuple[int, LabelSets, int]:
        """DPFedMTL's."""
        return self.head_layers, self.label_sets, self.aggregation_interval


ALGORITHMS: dict[str, Callable[[Parameters, int], Algorithm]] = {
    "pmtl": lambda told, population: pmtl.Pmtl(told.strength),
    "pmtl-as-printed": lambda told, population: pmtl.PmtlAsPrinted(told.strength),
    "pmtl-increments": lambda told, population: pmtl.PmtlIncrements(told.strength),
    "dp-fedavg": lambda told, population: baselines.DpFedAvg(),
    "dp-fedprox": lambda told, population: baselines.DpFedProx(told.strength),
    "local": lambda told, population: baselines.LocalOnly(),
    "naive-joint": lambda told, population: baselines.NaiveJoint(told.strength),
    "ditto": lambda told, population: baselines.Ditto(told.strength),
    "pp-sgd": lambda told, population: baselines.PpSgd(told.alpha),
    "clustered-pmtl": lambda told, population: pmtl.ClusteredPmtl(
        read_clusters(told.clusters, population, "clients"), told.strength
    ),
    "fixed-omega": lambda told, population: fixed_omega.FixedOmega(_omega(told.omega, population), told.strength),
    "dpfedmtl": lambda told, population: forms.DpFedMtl(*told.cut),
    "dpfedmtl-local-noise": lambda told, population: forms.DpFedMtlLocalNoise(*told.cut),
    "dpfedmtl-clipped": lambda told, population: forms.DpFedMtlClipped(*told.cut),
    "dpfedmtl-as-printed": lambda told, population: forms.DpFedMtlAsPrinted(*told.cut),
}


def build_algorithm(name: str, parameters: Parameters, population: int) -> Algorithm:
    """The named algorithm for so many clients. Raises InputError for unknown names and unreadable files."""
    return ALGORITHMS[choice("algorithm", name, ALGORITHMS)](parameters, population)


def usual_model(algorithm: str) -> str:
    """The model of a run that names none."""
    return "mlp" if algorithm.startswith("dpfedmtl") else "logistic"


def cohort_of(asked: int | None, population: int) -> int:
    """The cohort as asked for, or 100 clients, or all where there are fewer. InputError for more than there are."""
    if asked is None:
        return min(100, population)
    if asked > population:
        raise InputError("cohort", asked, f"at most the number of clients, {population}")
    return asked


def _omega(told: str, population: int) -> Floats:
    if told == "mean-regularised":
        return np.eye(population) - 1 / population
    if Path(told).suffix not in MATRICES:
        raise InputError("omega", told, "mean-regularised, or a .npy or .csv file with a matrix")
    return read_covariance(told, population, "omega")
