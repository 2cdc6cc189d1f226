"""Do the low-order bits of floating-point outputs give the data away? A warning, which refutes nothing.

Noise that is added in floating point fails this, textbook-correct or not (Mironov 2012, CCS), so that a test that is to
fail there has to ask for it: method = "low-bits".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .against_curve import most_violated
from .evaluation import Found
from .evidence import Evidence
from .low_bits import LowBits
from .outputs import Outputs
from .rules import candidates

WARNING = (
    "the low-order bits of {mechanism}'s floating-point outputs tell neighbouring data sets apart, although the claim "
    "was not refuted by their values. Draw noise for a release with an exact sampler (dpcert.mechanisms.samplers); "
    "method='low-bits' makes this fail."
)


@dataclass(frozen=True, slots=True)
class RoundingWarning:
    """Tests the claim by the lowest set bit of the outputs alone."""

    at_any_time: bool = False

    def __call__(self, samples: Evidence, error: float) -> Found:
        mine, other = samples.explored()
        if samples.claim is None or min(len(mine), len(other)) < 16 or not _fractions(mine):
            return Found()
        score = LowBits().fit(mine, other, samples.question.seed)
        attack = most_violated(candidates(score(mine), score(other)), samples.claim)
        if attack is None or attack.promise <= 0:
            return Found()
        drawn = samples.samples.dataset, samples.samples.neighbour
        fresh = [side.part(cut, len(side)) for side, cut in zip(drawn, samples.cut, strict=True)]
        counts = attack.rule.counts(score(fresh[0]), score(fresh[1]))
        if attack.p_value(*counts, samples.fresh_trials, error) > error:
            return Found()
        return Found(warning=WARNING.format(mechanism=samples.question.mechanism))


def _fractions(outputs: Outputs) -> bool:
    """Whether there are numbers in them that are not whole."""
    finite = outputs.rows[np.isfinite(outputs.rows)]
    return bool(np.any(finite != np.round(finite)))
