"""What is known to go wrong, said before it does."""

from __future__ import annotations

import warnings

import numpy as np

from ..data import Federation
from .algorithm import Algorithm, StabilityWarning
from .client_tensors import steps_in_a_round
from .device import reproducible_kernels
from .local import LocalSide
from .settings import LocalSteps

TRIED = 5
"""Clients on which local training is tried."""

TRIAL_PASSES = 5
"""Rounds of local training in the trial."""


def warn_beforehand(algorithm: Algorithm, local: LocalSteps, federation: Federation, sampling_rate: float) -> None:
    """Warn the caller's caller, by StabilityWarning, of what the algorithm predicts for this run."""
    sizes, clients = np.unique(federation.train_sizes(), return_counts=True)
    steps = sum(
        steps_in_a_round(size, local) * times for size, times in zip(sizes.tolist(), clients.tolist(), strict=True)
    )
    advice = algorithm.advice(
        learning_rate=local.learning_rate, steps=round(steps / federation.population), sampling_rate=sampling_rate
    )
    if advice:
        warnings.warn(advice, StabilityWarning, stacklevel=3)


def warn_of_long_steps(local: LocalSide) -> None:
    """Warn where a few clients, each training alone from the initial model, end above the loss they began with.

    Then the learning rate is too large for these features, whatever is trained together. Nothing is released.
    """
    clients = np.arange(min(TRIED, local.federation.population))
    start = local.initial.unsqueeze(0).expand(len(clients), -1)
    with reproducible_kernels(local.device):
        models = start
        for trial in range(TRIAL_PASSES):
            models = local.solver(clients, trial)(models)
        before, after = (
            np.mean([float(local.scores(client, of[client], test=False)[1]) for client in clients.tolist()])
            for of in (start, models)
        )
    if not after <= before:
        warnings.warn(
            f"the learning rate {local.settings.local.learning_rate:g} is too large for these features: "
            f"{len(clients)} clients training alone come from loss {before:.3g} to {after:.3g}. Lower it or scale "
            "the features (FEMNIST as LEAF writes it: features=inverted).",
            StabilityWarning,
            stacklevel=2,
        )
