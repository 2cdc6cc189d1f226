"""The public names of federated training, in one place.

from dpcert.trainers.federated import Pmtl, PrivacyGoal, Settings, Trainer, load_federation
"""

from __future__ import annotations

from .algorithms.baselines import Ditto, DpFedAvg, DpFedProx, LocalOnly, NaiveJoint, PpSgd
from .algorithms.finetune import FineTuning, fine_tune
from .algorithms.fixed_omega import FixedOmega
from .algorithms.pmtl import ClusteredPmtl, Pmtl, PmtlAsPrinted, PmtlIncrements
from .algorithms.stability import growth_factor, growth_matrix
from .data import Client, Federation, Samples, load_federation, split_clients
from .dpfedmtl import DpFedMtl, DpFedMtlAsPrinted, DpFedMtlClipped, DpFedMtlLocalNoise
from .engine.algorithm import Algorithm, StabilityWarning
from .engine.outcome import Outcome
from .engine.privacy import PrivacyGoal
from .engine.settings import AdaptiveClip, LocalSteps, Settings
from .engine.trainer import Trainer
from .models import MODELS, build_model
from .training import ReplayableTrainer, Training, train

__all__ = [
    "MODELS",
    "AdaptiveClip",
    "Algorithm",
    "Client",
    "ClusteredPmtl",
    "Ditto",
    "DpFedAvg",
    "DpFedMtl",
    "DpFedMtlAsPrinted",
    "DpFedMtlClipped",
    "DpFedMtlLocalNoise",
    "DpFedProx",
    "Federation",
    "FineTuning",
    "FixedOmega",
    "LocalOnly",
    "LocalSteps",
    "NaiveJoint",
    "Outcome",
    "Pmtl",
    "PmtlAsPrinted",
    "PmtlIncrements",
    "PpSgd",
    "PrivacyGoal",
    "ReplayableTrainer",
    "Samples",
    "Settings",
    "StabilityWarning",
    "Trainer",
    "Training",
    "build_model",
    "fine_tune",
    "growth_factor",
    "growth_matrix",
    "load_federation",
    "split_clients",
    "train",
]
