"""From the names that users give to settings and methods."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.validate import choice, rate
from .methods import Alternating, BatchSdca, BatchSgd, Joint, Method, Setting, ThetaSteps, WeightStep
from .mocha import resolve_loss
from .private import PrivateRounds
from .relationships import clustered, fixed_identity, known_covariance, mean_regularised
from .tasks import Tasks
from .theta import FixedTheta

Array = NDArray[np.float64]

FIXED = ("fixed-identity", "mean-regularised", "clustered")
OMEGAS = (*FIXED, "learned")
ALGORITHMS = ("mocha", "mocha-alternating", "cocoa", "mb-sdca", "mb-sgd")

OMEGA_EVERY = 10
"""Rounds between the Omega-steps of private MOCHA with a learned Omega."""

BATCH_SCALING = 1.0
"""Averaging: the scaling of mini-batch SDCA that is safe whatever the data."""


@dataclass(frozen=True)
class Choices:
    """omega: a name, or a .npy or .csv file with Omega^{-1}, the tasks' known covariance. clusters: a number (task t
    is in cluster t mod it), or a JSON file with each task's cluster. ridge: added to Omega's Laplacian."""

    omega: str
    clusters: str
    ridge: float
    loss: str
    strength: float


def setting_of(tasks: Tasks, choices: Choices) -> Setting:
    """The problem that the choices describe. Raises InputError for an unknown name, and for labels that a
    classification loss cannot have."""
    loss = resolve_loss(choices.loss)
    if loss.name != "squared" and not all(np.isin(y, (-1.0, 1.0)).all() for y in tasks.labels):
        raise InputError("labels", "other values", f"-1 and 1, with the {loss.name} loss")
    return Setting(tasks, loss, _omega(tasks.count, choices), choices.strength)


def _omega(tasks: int, choices: Choices) -> Array:
    name = choices.omega
    if name in ("fixed-identity", "learned"):
        return fixed_identity(tasks)
    if name == "mean-regularised":
        return mean_regularised(tasks, choices.ridge)
    if name == "clustered":
        return clustered(_clusters(tasks, choices.clusters), choices.ridge)
    if Path(name).suffix not in (".npy", ".csv"):
        raise InputError("omega", name, "one of " + ", ".join(OMEGAS) + ", or a .npy or .csv file of a covariance")
    try:
        known = np.load(name, allow_pickle=False) if name.endswith(".npy") else np.loadtxt(name, delimiter=",", ndmin=2)
        matrix = np.asarray(known, dtype=float)
    except (OSError, ValueError) as error:
        raise InputError("omega", name, f"a readable matrix ({error})") from error
    if matrix.shape != (tasks, tasks) or not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise InputError("omega", name, f"a symmetric ({tasks}, {tasks}) matrix of finite numbers, one row a task")
    return known_covariance(matrix)


def _clusters(tasks: int, text: str) -> list[int]:
    if text.isdigit():
        if not 1 <= int(text) <= tasks:
            raise InputError("clusters", text, f"1 to {tasks} clusters")
        return [task % int(text) for task in range(tasks)]
    try:
        found = json.loads(Path(text).read_text())
    except (OSError, ValueError) as error:
        raise InputError("clusters", text, f"a number, or a JSON file of cluster numbers ({error})") from error
    whole = isinstance(found, list) and all(type(number) is int for number in found)
    if not whole or len(found) != tasks:
        raise InputError("clusters", text, f"a list of {tasks} whole numbers")
    return list(found)


def method_of(algorithm: str, omega: str, setting: Setting, theta: float) -> Method:
    """The method of this name. `mocha` with a learned omega is the certified joint optimum (joint.py)."""
    choice("algorithm", algorithm, ALGORITHMS)
    if algorithm == "mocha-alternating":
        if omega != "learned":
            raise InputError("omega", omega, "learned, with mocha-alternating")
        return Alternating(setting)
    if omega == "learned" and algorithm != "mocha":
        raise InputError("omega", omega, f"a fixed one, with {algorithm}")
    if algorithm == "mocha":
        return Joint(setting) if omega == "learned" else WeightStep(setting)
    if algorithm == "cocoa":
        return ThetaSteps(setting, targets=FixedTheta(rate("theta", theta)))
    return BatchSdca(setting, scaling=BATCH_SCALING) if algorithm == "mb-sdca" else BatchSgd(setting)


def private_of(setting: Setting, omega: str, clip_norm: float, noise_multiplier: float) -> PrivateRounds:
    """Private MOCHA; with a learned omega everything is published and Omega learned from that."""
    every = OMEGA_EVERY if omega == "learned" else 0
    return PrivateRounds(setting, clip_norm, noise_multiplier, omega_every=every)
