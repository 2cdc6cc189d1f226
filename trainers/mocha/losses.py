"""Losses with the conjugates and exact coordinate steps that dual coordinate ascent needs.

Conventions of MOCHA, eq. (3): alpha is one number a sample; the dual function has l*(-alpha), and
`step` solves  min over a of  l*(-a) + (a - alpha) prediction + curvature/2 (a - alpha)^2  exactly
(Shalev-Shwartz and Zhang 2013, section 6).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Loss(Protocol):
    """A convex loss of a prediction and a target; all arguments broadcast."""

    name: str
    smoothness: float
    """The loss has a (this)-Lipschitz gradient in the prediction; inf for a non-smooth one."""

    def value(self, prediction: Array, target: Array) -> Array: ...

    def conjugate(self, alpha: Array, target: Array) -> Array:
        """l*(-alpha); inf outside its domain."""

    def step(self, alpha: Array, prediction: Array, target: Array, curvature: Array) -> Array:
        """The minimiser above; never worse than staying at alpha."""


def _ratio(numerator: Array, denominator: Array) -> Array:
    """numerator / denominator with signed infinities for a zero denominator (a sample whose features are 0)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(numerator / denominator, nan=0.0, posinf=np.inf, neginf=-np.inf)


class Hinge:
    """max(0, 1 - y prediction), y in {-1, 1}; 1-Lipschitz. The paper's experiments use it."""

    name = "hinge"
    smoothness = np.inf

    def value(self, prediction: Array, target: Array) -> Array:
        return np.maximum(0.0, 1.0 - target * prediction)

    def conjugate(self, alpha: Array, target: Array) -> Array:
        scaled = alpha * target
        return np.where((scaled < 0) | (scaled > 1), np.inf, -scaled)

    def step(self, alpha: Array, prediction: Array, target: Array, curvature: Array) -> Array:
        moved = alpha * target + _ratio(1.0 - target * prediction, curvature)
        return target * np.clip(moved, 0.0, 1.0)


class SquaredHinge:
    """max(0, 1 - y prediction)^2 / 2, y in {-1, 1}; 1-smooth."""

    name = "squared-hinge"
    smoothness = 1.0

    def value(self, prediction: Array, target: Array) -> Array:
        return np.maximum(0.0, 1.0 - target * prediction) ** 2 / 2

    def conjugate(self, alpha: Array, target: Array) -> Array:
        scaled = alpha * target
        return np.where(scaled < 0, np.inf, scaled**2 / 2 - scaled)

    def step(self, alpha: Array, prediction: Array, target: Array, curvature: Array) -> Array:
        moved = (1.0 - target * prediction + curvature * alpha * target) / (1.0 + curvature)
        return target * np.maximum(moved, 0.0)


class Squared:
    """(prediction - y)^2 / 2 for any real y; 1-smooth."""

    name = "squared"
    smoothness = 1.0

    def value(self, prediction: Array, target: Array) -> Array:
        return (prediction - target) ** 2 / 2

    def conjugate(self, alpha: Array, target: Array) -> Array:
        return alpha**2 / 2 - alpha * target

    def step(self, alpha: Array, prediction: Array, target: Array, curvature: Array) -> Array:
        return (target - prediction + curvature * alpha) / (1.0 + curvature)


class Logistic:
    """log(1 + exp(-y prediction)), y in {-1, 1}; 1/4-smooth."""

    name = "logistic"
    smoothness = 0.25

    def value(self, prediction: Array, target: Array) -> Array:
        return np.logaddexp(0.0, -target * prediction)

    def conjugate(self, alpha: Array, target: Array) -> Array:
        scaled = alpha * target
        inside = np.clip(scaled, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.where(inside > 0, inside * np.log(inside), 0.0)
            entropy = entropy + np.where(inside < 1, (1 - inside) * np.log1p(-inside), 0.0)
        return np.where((scaled < 0) | (scaled > 1), np.inf, entropy)

    def step(self, alpha: Array, prediction: Array, target: Array, curvature: Array) -> Array:
        """Bisection to the last bit on the increasing function log(b/(1-b)) + margin + curvature (b - a) = 0."""
        start, margin = alpha * target, target * prediction
        low, high = np.zeros_like(start + margin), np.ones_like(start + margin)
        for _ in range(60):
            middle = (low + high) / 2
            with np.errstate(divide="ignore"):
                above = np.log(middle) - np.log1p(-middle) + margin + curvature * (middle - start) > 0
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return target * (low + high) / 2


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Squared(), Logistic())}
