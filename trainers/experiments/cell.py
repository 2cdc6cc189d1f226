"""One cell of an experiment: a run described by plain values, and what came of it as plain values."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ...accounting.epsilon import epsilon
from ...mechanisms import Gaussian, Poisson, PrivacyNotion, Relation, Repeat
from ..algorithms.finetune import FineTuning, fine_tune
from ..build import Parameters, build_algorithm
from ..data import Federation
from ..dpfedmtl import SharedLayers
from ..dpfedmtl.claimed import claimed_epsilon
from ..engine.algorithm import Algorithm, StabilityWarning
from ..engine.observers import against_observers
from ..engine.outcome import Outcome
from ..engine.privacy import PrivacyGoal
from ..engine.settings import LocalSteps, Settings
from ..engine.trainer import Trainer
from ..stated_noise import stated_noise


@dataclass(frozen=True, slots=True)
class Cell:
    """What to run. Plain values only, so that its key is stable. finetune: "" or one of finetune.PENALTIES.

    sigma, head_layers, aggregation_interval: DPFedMTL's; sigma in place of the noise multiplier.
    target_epsilon: in place of either, above 0: the least noise for which the run certifiably costs at most this.
    device, dtype, solver: as in Settings.
    """

    algorithm: str
    data: str
    seed: int
    model: str = "logistic"
    strength: float = 1.0
    alpha: float = 1.0
    rounds: int = 100
    cohort: int = 100
    sampling: str = "poisson"
    noise_multiplier: float = 0.0
    clip_norm: float | None = None
    learning_rate: float = 0.1
    local_epochs: int = 1
    batch_size: int = 10
    delta: float = 1e-5
    neighbouring: str = Relation.REPLACE_ONE
    evaluate_every: int = 0
    finetune: str = ""
    finetune_strength: float = 1.0
    finetune_epochs: int = 5
    sigma: float = 0.0
    head_layers: int = 1
    aggregation_interval: int = 1
    target_epsilon: float = 0.0
    device: str = "auto"
    dtype: str = "float32"
    solver: str = "auto"

    @property
    def training(self) -> Cell:
        """The cell without its fine-tuning."""
        return replace(self, finetune="", finetune_strength=1.0, finetune_epochs=5)

    @property
    def key(self) -> str:
        """A digest of all fields: the name under which the result is kept."""
        told = {name: value for name, value in asdict(self).items() if (name, value) not in LATER}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:20]


LATER = (("target_epsilon", 0.0), ("device", "auto"), ("dtype", "float32"), ("solver", "auto"))
"""Fields that cells of version 0.2.0 had not, as such cells ran: their results are found again."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained cell, before any fine-tuning; cells that differ in their fine-tuning alone share it."""

    trainer: Trainer
    outcome: Outcome


def run_settings(cell: Cell, population: int) -> tuple[Algorithm, Settings, PrivacyGoal]:
    """The cell's algorithm, settings and privacy goal for so many clients; InputError for values out of range.

    The noise is the cell's noise_multiplier, which `train_cell` replaces where the cell states an epsilon or sigma.
    """
    parameters = Parameters(
        cell.strength, cell.alpha, head_layers=cell.head_layers, aggregation_interval=cell.aggregation_interval
    )
    shared = {field.name: getattr(cell, field.name) for field in fields(Settings) if hasattr(cell, field.name)}
    steps = LocalSteps(cell.learning_rate, cell.local_epochs, None, cell.batch_size)
    told = {"cohort": min(cell.cohort, population), "local": steps}
    goal = PrivacyGoal(cell.delta, cell.neighbouring)  # type: ignore[arg-type] # PrivacyGoal checks it
    return build_algorithm(cell.algorithm, parameters, population), Settings(**shared | told), goal


def tuning_of(cell: Cell) -> FineTuning | None:
    """The cell's fine-tuning. Raises InputError as `run_settings` does."""
    steps = LocalSteps(cell.learning_rate, cell.finetune_epochs, None, cell.batch_size)
    return FineTuning(cell.finetune, steps, cell.finetune_strength) if cell.finetune else None  # type: ignore[arg-type]


def trainer_of(cell: Cell, federation: Federation) -> Trainer:
    """What trains the cell, before its first round. Raises InputError for whatever keeps it from training."""
    population = federation.population
    algorithm, settings, goal = run_settings(cell, population)
    told = {"noise_multiplier": cell.noise_multiplier}
    if cell.target_epsilon and algorithm.releases:
        told = {"target_epsilon": cell.target_epsilon}
    elif cell.sigma and isinstance(algorithm, SharedLayers):
        told = {"sigma": cell.sigma}
    settings = replace(settings, noise_multiplier=stated_noise(algorithm, settings, population, goal, **told))
    with warnings.catch_warnings():
        # An experiment runs the printed form on purpose.
        warnings.simplefilter("ignore", StabilityWarning)
        return Trainer(federation, algorithm, cell.model, settings, goal)


def train_cell(cell: Cell, federation: Federation) -> Trained:
    """Train the cell's algorithm."""
    trainer = trainer_of(cell, federation)
    return Trained(trainer, trainer.run())


def result_of(cell: Cell, trained: Trained) -> dict[str, Any]:
    """The cell's fields and its results, JSON-able.

    epsilon_lower, epsilon_upper: the certified bracket under the cell's neighbouring relation and the algorithm's own
    notion. epsilon_printed: what the PMTL paper's convention gives for the same run: Poisson sampling, add-remove
    neighbours, plain DP at delta = 1/m, whatever the sampling was (claims register, PMTL-FIG2, PCODE-2). For DPFedMTL
    what its Theorems 4.1 and 4.2 claim at the cell's delta. observers: DPFedMTL's brackets against each observer.
    device, solver: those that were used.
    """
    trainer, outcome = trained.trainer, trained.outcome
    result: dict[str, Any] = {**asdict(cell), **outcome.final, "history": watched(trainer, outcome)}
    result["noise_multiplier"] = trainer.settings.noise_multiplier
    result["device"], result["solver"] = trainer.local.device.type, trainer.local.usual_solver
    tuning = tuning_of(cell)
    result |= fine_tune(trainer, tuning).tested() if tuning else {}
    bracket = outcome.privacy
    result["epsilon_lower"] = None if bracket is None else bracket.lower
    result["epsilon_upper"] = None if bracket is None else bracket.upper
    releases, population = trainer.algorithm.releases, trainer.federation.population
    result["epsilon_printed"] = _printed(cell, trainer.settings.noise_multiplier, population) if releases else 0.0
    if isinstance(trainer.algorithm, SharedLayers):
        per_sigma = trainer.algorithm.noise_multiplier(1.0, trainer.settings.cohort, population)
        sigma = cell.sigma or trainer.settings.noise_multiplier / per_sigma  # noise may be calibrated to an epsilon
        result["epsilon_printed"] = claimed_epsilon(sigma, min(1.0, cell.cohort / population), cell.rounds, cell.delta)
        result["observers"] = {
            against.observer: [against.epsilon.lower, against.epsilon.upper]
            for against in against_observers(trainer, outcome.spent, trainer.paid.whole)
        }
    result["seconds"] = outcome.seconds
    return result


def watched(trainer: Trainer, outcome: Outcome) -> list[dict[str, Any]]:
    """The evaluations on the way, each with the certified epsilon of the releases so far."""
    entries = []
    for entry in outcome.history:
        drawings = trainer.sampler.drawings(filter(trainer.algorithm.releases_in, range(entry["round"])))
        bracket = trainer.cost.spent(drawings)
        entries.append({**entry, "epsilon_upper": None if bracket is None else bracket.upper})
    return entries


def _printed(cell: Cell, noise_multiplier: float, population: int) -> float | None:
    if not noise_multiplier:
        return None
    sampled = Poisson(Gaussian(noise_multiplier), min(1.0, cell.cohort / population))
    return epsilon(Repeat(sampled, cell.rounds), 1 / population, Relation.ADD_REMOVE, notion=PrivacyNotion.DP).upper
