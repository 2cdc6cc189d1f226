"""About log E_P[e^{cL}] of one round, in double precision: what the search for evidence weighs abscissas by.

Nothing here is proved, and nothing that is proved rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from .checker import pairs
from .checker.transforms import place

_REACH = {"hybrid": 1, "zeroed remove": 3, "zeroed add": 3}
"""Up to how many halves of mu on the far side L is taken to be 0."""


def log_moments(pair: pairs.Pair) -> Callable[[float], float]:
    """c to about log E_P[e^{cL}]: a search asks for it hundreds of times."""
    if pair.parts:
        parts = [(float(weight.log()), log_moments(part)) for weight, part in pair.parts]
        return lambda c: float(np.logaddexp.reduce([log + moment(c) for log, moment in parts]))
    if not pair.law:
        return partial(_log_moment, pair)
    p, g, k = float(pair.p), float(pair.g), np.array(list(pair.law), float)
    weights = np.array([float(weight.log()) if weight > 0 else -math.inf for weight in pair.law.values()])
    without = math.log1p(-p) if p < 1 else -math.inf
    return lambda c: float(np.logaddexp(without, math.log(p) + np.logaddexp.reduce(weights + c * g * k)))


def _log_moment(pair: pairs.Pair, c: float) -> float:
    mu, p = float(pair.mu), float(pair.p)
    if pair.order in ("both", "zcdp", "visible"):
        exponent = mu**2 * c * (c + 1) / 2
        return float(np.logaddexp(math.log1p(-p), math.log(p) + exponent)) if p < 1 else exponent
    near, far = _ends(pair)
    end = far if pair.order == "opposed" else near
    low, high = max(-2 * c * mu - 13, -end), min((2 + 4 * c) * mu + 13, end)
    # Equal steps take next to nothing away from what is smooth; what begins at mu/2 or 3 mu/2 begins between nodes.
    finest = (high - low) / 20_000
    aim = max(finest, min(mu / 50, 0.01) if pair.order in _REACH else min(0.1, 0.5 / mu))
    step = mu / math.ceil(mu / aim) if mu > aim else aim
    x = mu / 2 + step * (np.arange((low - mu / 2) // step, (high - mu / 2) // step + 1) + 0.5)
    logs = _logs(pair.order, x, mu, p, c, far)
    atom = -math.inf
    if pair.order in _REACH:
        rest = math.erf(mu / math.sqrt(8)) + math.erf(_REACH[pair.order] * mu / math.sqrt(8))
        atom = math.log((1 - p) * rest / 2)
    top = float((logs := logs - x**2 / 2).max())
    whole = top + math.log(np.exp(logs - top).sum()) + math.log(step / math.sqrt(2 * math.pi))
    return float(np.logaddexp(whole, atom))


def log_moment_above(pair: pairs.Pair, c: float, start: float) -> float:
    """About log E_P[e^{cL}; x > start] of "remove", of which the loss is the same there as that of "hybrid"."""
    mu, p = float(pair.mu), float(pair.p)
    end = max(start, (2 + 4 * c) * mu) + 13
    x, step = np.linspace(start, min(end, max(start, _ends(pair)[0])), 20_001, retstep=True)
    logs = _logs("remove", x, mu, p, c) - x**2 / 2
    return float(np.logaddexp.reduce(logs) + math.log(step / math.sqrt(2 * math.pi)))


def _ends(pair: pairs.Pair) -> tuple[float, float]:
    """Up to where x is within reach, in what has the shift mu, and what has 2 mu."""
    if pair.reach is None:
        return math.inf, math.inf
    near, far = (float(place(shift, pair.p, pair.reach)) for shift in (pair.mu, 2 * pair.mu))
    return near, far


def _logs(order: str, x: np.ndarray, mu: float, p: float, c: float, far_end: float = math.inf) -> np.ndarray:
    """Of the integrand, but for the normal density; what has the shift 2 mu only up to an end."""

    def density(shift: float) -> np.ndarray:
        return np.logaddexp(math.log1p(-p), math.log(p) + shift * x - shift**2 / 2)

    def beyond(start: float) -> np.ndarray:
        return np.where(x > start, 0.0, -np.inf)

    forward = density(mu)
    if order == "remove":
        return (1 + c) * forward
    if order == "add":
        return -c * forward
    if order == "replace":
        return (1 + c) * forward - c * density(-mu)
    if order == "hybrid":
        return beyond(mu / 2) + np.logaddexp((1 + c) * forward, -c * forward)
    twice = density(2 * mu)
    if order == "opposed":
        return (1 + c) * twice - c * forward
    far, near = ((twice, forward), -c * forward) if order == "zeroed remove" else ((forward, twice), (1 + c) * forward)
    ended = np.where(x < far_end, beyond(1.5 * mu), -np.inf)
    return np.logaddexp(ended + (1 + c) * far[0] - c * far[1], beyond(mu / 2) + near)
