"""Outcomes too far out to matter: their losses are set to 0, and their probability is added to delta.

For tiny rates E e^{cL} explodes at tilts c that epsilon asks for, because of outcomes x that are less likely than delta
can tell. Lowering their losses to 0 lowers the profile, by at most their probability (docs/theory/inversion.md, section
12). The integrand has a valley between the outcomes that matter and those (integrand.py).

Why it is here: without it three times as many settings of tiny rates, one phase, have no narrow bracket by densities
(26 of 32 instead of 9; benchmarks/regimes.py), and more of small rates, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr

from ...pairs import Composition, GaussianPair, Sampling, SubsampledPair
from .integrand import beyond
from .paths import sampled as parameters

ORDERS = (Sampling.REMOVE, Sampling.REPLACE)
"""Orders whose losses grow without end in one direction of x."""


@dataclass(frozen=True, slots=True)
class ShortenedPair(SubsampledPair):
    """A subsampled Gaussian pair of which outcomes x above some place, at least `cut`, have loss 0.

    place, blur: those with a label Phi((x - place) / blur) are left out (rare.py).
    """

    cut: float = math.inf
    place: float = math.inf
    blur: float = 1.0


def cut(composition: Composition, log_mass: float) -> tuple[Composition, float]:
    """The composition with as many outcomes left out as a probability e^log_mass allows, and at least theirs."""
    sampled = sum(parameters(pair) is not None for pair, _ in composition)
    parts, mass = [], 0.0
    for pair, rounds in composition:
        part = parameters(pair)
        if part is not None and part.order in ORDERS:
            at = beyond(part, log_mass - math.log(rounds * sampled))
            mass += rounds * (float(ndtr(-at)) + part.rate * float(ndtr(part.shift - at)))
            pair = ShortenedPair(GaussianPair(part.shift), part.rate, part.order, at)
        parts.append((pair, rounds))
    return tuple(parts), mass * (1.0 + 1e-9)
