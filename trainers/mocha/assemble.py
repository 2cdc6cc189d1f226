"""From the names that users give to settings and methods."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, meant, rate
from .mb_sgd import StepRule
from .methods import Alternating, BatchSdca, BatchSgd, Joint, Method, Setting, ThetaSteps, WeightStep
from .mocha import resolve_loss
from .node_work import NodeWork
from .omega_files import MATRICES, read_covariance, read_graph
from .private import PrivateRounds
from .relationships import clustered, fixed_identity, graph_laplacian, known_covariance, mean_regularised
from .sigma_prime import resolve_sigma_prime
from .tasks import Tasks
from .theta import FixedTheta

OMEGAS = ("fixed-identity", "mean-regularised", "clustered", "graph-laplacian", "known", "learned")
ALGORITHMS = ("mocha", "mocha-alternating", "cocoa", "mb-sdca", "mb-sgd")

OMEGA_EVERY = 10
"""Rounds between the Omega-steps of private MOCHA with a learned Omega."""


@dataclass(frozen=True)
class Choices:
    """omega: one of OMEGAS, or a .npy or .csv file, short for known with that covariance.

    clusters: a number (task t is in cluster t mod it), or a JSON file with each task's cluster. graph: a file for
    omega_files.read_graph. covariance: one with Omega^{-1}, the tasks' known covariance; not needed for synthetic
    tasks. ridge: added to Omega's Laplacian.
    """

    omega: str
    clusters: str
    ridge: float
    loss: str
    strength: float
    graph: Path | None = None
    covariance: Path | None = None

    def __post_init__(self) -> None:
        for field, name in (("graph", "graph-laplacian"), ("covariance", "known")):
            given = getattr(self, field)
            if given is not None and self.omega != name:
                raise InputError(field, str(given), f"none with omega {self.omega}: it belongs to {name}")


def setting_of(tasks: Tasks, choices: Choices, made_by: Floats | None = None) -> Setting:
    """The problem that the choices describe. made_by: the covariance of synthetic tasks, known without a file.

    Raises InputError for an unknown name, and for labels that a classification loss cannot have.
    """
    loss = resolve_loss(choices.loss)
    if loss.name != "squared" and not all(np.isin(y, (-1.0, 1.0)).all() for y in tasks.labels):
        raise InputError("labels", "other values", f"-1 and 1, with the {loss.name} loss")
    return Setting(tasks, loss, _omega(tasks.count, choices, made_by), choices.strength)


def _omega(tasks: int, choices: Choices, made_by: Floats | None) -> Floats:
    name = choices.omega
    if name in ("fixed-identity", "learned"):
        return fixed_identity(tasks)
    if name == "mean-regularised":
        return mean_regularised(tasks, choices.ridge)
    if name == "clustered":
        return clustered(_clusters(tasks, choices.clusters), choices.ridge)
    if name == "graph-laplacian":
        if choices.graph is None:
            raise InputError("graph", None, "a file, with omega graph-laplacian")
        return graph_laplacian(read_graph(choices.graph, tasks), choices.ridge)
    if name == "known":
        if choices.covariance is not None:
            made_by = read_covariance(choices.covariance, tasks)
        if made_by is None:
            raise InputError("covariance", None, "a file, with omega known, except for synthetic data")
        return known_covariance(made_by)
    if Path(name).suffix in MATRICES:
        return known_covariance(read_covariance(name, tasks, "omega"))
    expected = "one of " + ", ".join(OMEGAS) + ", or a .npy or .csv file of a covariance"
    raise InputError("omega", name, expected + meant(name, OMEGAS))


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


def method_of(
    algorithm: str,
    omega: str,
    setting: Setting,
    *,
    theta: float = 0.5,
    work: NodeWork,
    sigma_prime: str | None = None,
    scaling: float = 1.0,
    step_rule: str = "decreasing",
) -> Method:
    """The method of this name. `mocha` with a learned omega is the certified joint optimum (joint.py).

    theta: cocoa's. work: how much each node does, but for cocoa and the joint optimum. sigma_prime: one of SIGMA_PRIMES
    (None: reference) of the methods with subproblems (4). scaling, step_rule: of mini-batches. Raises InputError for a
    choice that the method does not have.
    """
    choice("algorithm", algorithm, ALGORITHMS)
    if (omega == "learned") != (algorithm == "mocha-alternating") and algorithm != "mocha":
        expected = "learned" if algorithm == "mocha-alternating" else "a fixed one"
        raise InputError("omega", omega, f"{expected}, with {algorithm}")
    joint = algorithm == "mocha" and omega == "learned"
    if sigma_prime is not None and (joint or algorithm.startswith("mb-")):
        raise InputError("sigma_prime", sigma_prime, f"none: {algorithm} with omega {omega} has no subproblems (4)")
    if not work.plain and (joint or algorithm == "cocoa"):
        raise InputError("work", work.text, f"full, without dropped nodes, with {algorithm} and omega {omega}")
    if algorithm.startswith("mb-") and work.kind == "passes" and work.low > 1:
        raise InputError("work", work.text, "at most passes=1: a batch holds a sample once")
    sigma = resolve_sigma_prime(sigma_prime or "reference")
    if joint:
        return Joint(setting)
    if algorithm == "mocha":
        targets = work.targets()
        if targets is not None:
            return ThetaSteps(setting, targets=targets, sigma_prime=sigma, name="mocha")
        return WeightStep(setting, work.steps(), sigma_prime=sigma)
    if algorithm == "mocha-alternating":
        return Alternating(setting, work.steps(), sigma_prime=sigma)
    if algorithm == "cocoa":
        return ThetaSteps(setting, targets=FixedTheta(rate("theta", theta)), sigma_prime=sigma)
    if algorithm == "mb-sdca":
        return BatchSdca(setting, work.steps(), scaling=scaling)
    rule: StepRule = choice("step_rule", step_rule, get_args(StepRule))  # type: ignore[assignment] # one of them
    return BatchSgd(setting, work.steps(), scaling=scaling, rule=rule)


def private_of(
    setting: Setting, omega: str, clip_norm: float, noise_multiplier: float, sigma_prime: str | None = None
) -> PrivateRounds:
    """Private MOCHA; with a learned omega everything is published and Omega learned from that.

    Raises InputError for the sigma_prime `lemma`, which would tell of everybody's data.
    """
    if sigma_prime == "lemma":
        raise InputError("sigma_prime", "lemma", "reference or tight with privacy: lemma reads all clients' data")
    every = OMEGA_EVERY if omega == "learned" else 0
    sigma = resolve_sigma_prime(sigma_prime or "reference")
    return PrivateRounds(setting, clip_norm, noise_multiplier, omega_every=every, sigma_prime=sigma)
