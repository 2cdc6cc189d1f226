"""How far out outcomes matter: the valley of the log integrand between those that do and those that may be left out.

For tiny rates E e^{cL} explodes at tilts c that epsilon asks for, because of outcomes x that are less likely than delta
can tell (shortened.py; docs/theory/inversion.md, section 12). The quadrature ends in the valley.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri_exp

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs.order import Sampling
from .integrand import log_mixture
from .paths import Sampled

_VALLEY = 40.0
_PLACES = 400
"""How far beyond the first place that is allowed the valley is looked for, and at how many places."""


def beyond(pair: Sampled, log_mass: float) -> float:
    """About a place above which x is with a probability of at most e^log_mass."""
    share = log_mass - math.log(2.0)
    jump = pair.shift - float(ndtri_exp(min(-0.1, share - math.log(pair.rate))))
    return max(-float(ndtri_exp(min(-0.1, share))), jump)


def farthest(pair: Sampled, budget: float) -> float:
    """About the largest c at which the valley is e^-budget deep, as `valley` finds it."""
    if pair.cut == math.inf:
        return math.inf
    x = _places(pair)
    loss, base = _loss(pair, x), log_mixture(pair, x) - 0.5 * x * x + pair.log_unlabelled(x)
    flat = np.minimum.accumulate((base[0] - base[1:]) / (loss[1:] - loss[0]))  # no outcome before it matters more
    deep = (-budget - base) / loss
    return max(0.0, float(np.max(np.minimum(deep, np.concatenate([deep[:1], flat])))))


def valley(pair: Sampled, top: float, budget: float) -> float:
    """A place from pair.cut on where the log integrand at c = top is about -budget or less, or least.

    Raises OutOfReach where what is left out could make moments smaller than 1.
    """
    x = _places(pair)
    height = log_mixture(pair, x) + top * _loss(pair, x) - 0.5 * x * x + pair.log_unlabelled(x)
    height = height[: int(np.argmax(height > height[0])) or None]  # beyond, outcomes matter that are to be left out
    deep = np.flatnonzero(height <= -budget)
    best = int(deep[0]) if deep.size else int(np.argmin(height))
    at, shift = float(x[best]), pair.shift
    out = [float(ndtr(mean - at) + ndtr((mean - pair.place) / pair.widened)) for mean in (0.0, shift, 2.0 * shift)]
    missing = pair.rate * (2.0 * out[0] + out[1] + pair.rate * math.exp(shift * shift) * out[2])
    if not top * missing + pair.apart <= SMALLER:
        raise OutOfReach("outcomes that matter would be left out")
    return at


SMALLER = 0.25
"""At most by how much the moments of what is kept are below 1."""


def _places(pair: Sampled) -> Floats:
    return pair.cut + _VALLEY * np.linspace(0.0, 1.0, _PLACES) ** 2


def _loss(pair: Sampled, x: Floats) -> Floats:
    other = log_mixture(pair, -x) if pair.order == Sampling.REPLACE else 0.0
    return np.asarray(log_mixture(pair, x) - other)
