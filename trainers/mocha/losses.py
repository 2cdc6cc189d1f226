"""Losses with the conjugates and exact coordinate steps that dual coordinate ascent needs.

Conventions of MOCHA, eq. (3): alpha is one number a sample; the dual function has l*(-alpha), and
`step` solves  min over a of  l*(-a) + (a - alpha) prediction + curvature/2 (a - alpha)^2  exactly
(Shalev-Shwartz and Zhang 2013, section 6).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...mechanisms.arrays import Floats

LOGISTIC_ITERATIONS = 60
"""Newton usually ends after eight; rounding may keep it from noticing."""


class Loss(Protocol):
    """A convex loss of a prediction and a target; all arguments broadcast."""

    name: str
    smoothness: float
    """The loss has a (this)-Lipschitz gradient in the prediction; inf for a non-smooth one."""

    def value(self, prediction: Floats, target: Floats) -> Floats: ...

    def conjugate(self, alpha: Floats, target: Floats) -> Floats:
        """l*(-alpha); inf outside its domain."""

    def step(self, alpha: Floats, prediction: Floats, target: Floats, curvature: Floats) -> Floats:
        """The minimiser above; never worse than staying at alpha."""

    def descent(self, prediction: Floats, target: Floats) -> Floats:
        """-l'(prediction), a negative subgradient: the alpha at which Fenchel's inequality is tight."""


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """numerator / denominator with signed infinities for a zero denominator (a sample whose features are 0)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = numerator / denominator
    return np.where(np.isnan(quotient), 0.0, quotient)


class Hinge:
    """max(0, 1 - y prediction), y in {-1, 1}; 1-Lipschitz. The paper's experiments use it."""

    name = "hinge"
    smoothness = np.inf

    def value(self, prediction: Floats, target: Floats) -> Floats:
        return np.maximum(0.0, 1.0 - target * prediction)

    def conjugate(self, alpha: Floats, target: Floats) -> Floats:
        scaled = alpha * target
        return np.where((scaled < 0) | (scaled > 1), np.inf, -scaled)

    def step(self, alpha: Floats, prediction: Floats, target: Floats, curvature: Floats) -> Floats:
        moved = alpha * target + _ratio(1.0 - target * prediction, curvature)
        return target * np.clip(moved, 0.0, 1.0)

    def descent(self, prediction: Floats, target: Floats) -> Floats:
        return np.where(target * prediction < 1, target, 0.0)


class SquaredHinge:
    """max(0, 1 - y prediction)^2 / 2, y in {-1, 1}; 1-smooth."""

    name = "squared-hinge"
    smoothness = 1.0

    def value(self, prediction: Floats, target: Floats) -> Floats:
        return np.maximum(0.0, 1.0 - target * prediction) ** 2 / 2

    def conjugate(self, alpha: Floats, target: Floats) -> Floats:
        scaled = alpha * target
        return np.where(scaled < 0, np.inf, scaled**2 / 2 - scaled)

    def step(self, alpha: Floats, prediction: Floats, target: Floats, curvature: Floats) -> Floats:
        moved = (1.0 - target * prediction + curvature * alpha * target) / (1.0 + curvature)
        return target * np.maximum(moved, 0.0)

    def descent(self, prediction: Floats, target: Floats) -> Floats:
        return target * np.maximum(0.0, 1.0 - target * prediction)


class Squared:
    """(prediction - y)^2 / 2 for any real y; 1-smooth."""

    name = "squared"
    smoothness = 1.0

    def value(self, prediction: Floats, target: Floats) -> Floats:
        return (prediction - target) ** 2 / 2

    def conjugate(self, alpha: Floats, target: Floats) -> Floats:
        return alpha**2 / 2 - alpha * target

    def step(self, alpha: Floats, prediction: Floats, target: Floats, curvature: Floats) -> Floats:
        return (target - prediction + curvature * alpha) / (1.0 + curvature)

    def descent(self, prediction: Floats, target: Floats) -> Floats:
        return target - prediction


class Logistic:
    """log(1 + exp(-y prediction)), y in {-1, 1}; 1/4-smooth."""

    name = "logistic"
    smoothness = 0.25

    def value(self, prediction: Floats, target: Floats) -> Floats:
        return np.logaddexp(0.0, -target * prediction)

    def conjugate(self, alpha: Floats, target: Floats) -> Floats:
        scaled = alpha * target
        inside = np.clip(scaled, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.where(inside > 0, inside * np.log(inside), 0.0)
            entropy = entropy + np.where(inside < 1, (1 - inside) * np.log1p(-inside), 0.0)
        return np.where((scaled < 0) | (scaled > 1), np.inf, entropy)

    def step(self, alpha: Floats, prediction: Floats, target: Floats, curvature: Floats) -> Floats:
        """With b = 1 / (1 + e^{-u}): Newton from 0 on f(u) = u + margin + curvature (b - a).

        f increases, and is convex where the root is below 0 and concave where it is above: no step overshoots.
        """
        start, margin = alpha * target, target * prediction
        logit = np.zeros_like(start + margin)
        for _ in range(LOGISTIC_ITERATIONS):
            share = np.exp(-np.logaddexp(0.0, -logit))
            step = (logit + margin + curvature * (share - start)) / (1 + curvature * share * (1 - share))
            logit = logit - step
            if (np.abs(step) <= 1e-14 * (1 + np.abs(logit))).all():
                break
        return target * np.exp(-np.logaddexp(0.0, -logit))

    def descent(self, prediction: Floats, target: Floats) -> Floats:
        return target * np.exp(-np.logaddexp(0.0, target * prediction))


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Squared(), Logistic())}
