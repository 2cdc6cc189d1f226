"""What rounds reveal by themselves: about the sum of their own profiles, where searches start when jumps are rare."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ....mechanisms.arrays import Floats
from ...pairs import Composition
from .densities import phases
from .paths import Sampled

_SCALES = np.geomspace(1e-14, 1e3, 400)


@dataclass(frozen=True, slots=True)
class RoundsAlone:
    """About the sum of the rounds' own profiles: log delta at many eps."""

    logs: Floats

    @classmethod
    def of(cls, composition: Composition) -> RoundsAlone:
        """Of the sampled rounds."""
        total = np.zeros(_SCALES.shape)
        for pair, rounds in phases(composition)[0]:
            x = outcome(pair, _SCALES)
            odds = np.expm1(np.minimum(_SCALES, 600.0)) + pair.rate
            total += rounds * np.maximum(0.0, pair.rate * ndtr(pair.shift - x) - odds * ndtr(-x))
        return cls(np.log(np.maximum(total, 1e-300)))

    def epsilon(self, log_delta: float) -> float:
        """Where it is e^log_delta."""
        return float(np.exp(np.interp(-log_delta, -self.logs, np.log(_SCALES))))

    def log_delta(self, epsilon: float) -> float:
        """At one epsilon."""
        return float(np.interp(math.log(epsilon), np.log(_SCALES), self.logs))


def outcome(pair: Sampled, loss: Floats) -> Floats:
    """The x at which a round's loss is that, at most 30."""
    x = np.log1p(np.expm1(np.minimum(loss, 600.0)) / pair.rate) / pair.shift + 0.5 * pair.shift
    return np.asarray(np.minimum(x, 30.0))
