"""What is known to go wrong, said before it does."""

from __future__ import annotations

import warnings

from ..data import Federation
from .algorithm import Algorithm, StabilityWarning
from .batches import steps_in_a_round
from .settings import LocalSteps


def warn_beforehand(algorithm: Algorithm, local: LocalSteps, federation: Federation, sampling_rate: float) -> None:
    """Warn the caller's caller, by StabilityWarning, of what the algorithm predicts for this run."""
    steps = [steps_in_a_round(size, local) for size in federation.train_sizes().tolist()]
    advice = algorithm.advice(
        learning_rate=local.learning_rate, steps=round(sum(steps) / len(steps)), sampling_rate=sampling_rate
    )
    if advice:
        warnings.warn(advice, StabilityWarning, stacklevel=3)
