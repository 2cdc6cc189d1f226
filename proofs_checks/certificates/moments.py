"""About log E_P[e^{cL}] of one round, and what an inversion leaves out after some terms (docs/certificates.md, 4.3).

In double precision: by these the search for evidence weighs abscissas and chooses how many terms there are to be.
Nothing here is proved, and nothing that is proved rests on it: the checker bounds the same in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from .checker import pairs, transforms
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
    if order not in _REACH:
        raise ValueError(f"no density is known of the order {order!r}")
    far, near = ((twice, forward), -c * forward) if order == "zeroed remove" else ((forward, twice), (1 + c) * forward)
    ended = np.where(x < far_end, beyond(1.5 * mu), -np.inf)
    return np.logaddexp(ended + (1 + c) * far[0] - c * far[1], beyond(mu / 2) + near)


Log = Callable[[float], float]
_NOTHING = -math.inf


class Round(NamedTuple):
    """Logarithms, of n rounds' transform each: M(c), what of it does not matter, and what does beyond an s."""

    n: int
    whole: float
    part: float
    beyond: Log


def rounds(product: pairs.Product, moments: list[tuple[Log, int]], c: float, split: float | None) -> list[Round]:
    """Of each phase's round; raises ValueError where the checker's contour would take too many nodes."""
    return [_round(pair, n, moment(c), c, split) for (pair, n), (moment, _) in zip(product, moments, strict=True)]


def left_out(of: list[Round], start: float) -> float:
    """The log of about |prod M^n - prod (M - what matters)^n| for all s >= start."""
    parts = math.fsum(each.n * each.part for each in of)
    found = []
    firsts = [(each, each.beyond(start)) for each in of]
    grown = math.fsum(each.n * _plus(each.part, b) for each, b in firsts)
    share = math.fsum(each.n * (_log1p_exp(b - each.part) if each.part > _NOTHING else math.inf) for each, b in firsts)
    found.append(grown + (math.log(-math.expm1(-share)) if share > 0 else _NOTHING))
    for k in (4.0**j for j in range(12)):
        shrunk = math.fsum(each.n * _shrunk(each, each.beyond(start * k), k) for each in of)
        found.append(_plus(shrunk, parts))
    return min(found)


def _shrunk(of: Round, beyond: float, k: float) -> float:
    """log of M sqrt(1 - (1 - beta^2)/(1 + k)^2)."""
    beta = min(_plus(of.part, beyond) - of.whole, 0.0)
    return of.whole + math.log1p(math.expm1(2 * beta) / (1 + k) ** 2) / 2


def _plus(first: float, second: float) -> float:
    high, low = max(first, second), min(first, second)
    return high if low == _NOTHING else high + math.log1p(math.exp(low - high))


def _log1p_exp(x: float) -> float:
    return x + math.exp(-x) if x > 30 else math.log1p(math.exp(x))


def _round(pair: pairs.Pair, n: int, whole: float, c: float, split: float | None) -> Round:
    if pair.parts:
        mixed = [(float(w.log()), _round(part, n, log_moments(part)(c), c, split)) for w, part in pair.parts]
        logs = [log + each.part for log, each in mixed]
        return Round(n, whole, _together(logs), lambda s: _together([log + each.beyond(s) for log, each in mixed]))
    p, half = float(pair.p), float(pair.mu) ** 2 / 2
    if pair.order in ("both", "visible"):
        part = math.log1p(-p) if p < 1 else _NOTHING
        matters = whole + (math.log(-math.expm1(part - whole)) if part > _NOTHING else 0.0)
        return Round(n, whole, part, lambda s: matters - half * s**2)
    if pair.order in ("zcdp", "epoch"):
        raise ValueError(f"nothing is known of {pair.order} off the real axis")
    atom, halves = transforms.parts(pair)
    if split is None or pair.order not in ("remove", "hybrid"):
        part = math.log(float(atom)) if atom > 0 else _NOTHING
        return Round(n, whole, part, _sum([_cells(half, pair.p, c) for half in halves]))
    mattering = transforms.above(pair, arb(split))
    share = math.exp(log_moment_above(pair, c, float(mattering.start or 0)) - whole)
    part = whole + math.log1p(-share) if share < 1 else _NOTHING
    return Round(n, whole, part, _sum([_cells(mattering, pair.p, c)]))


def _together(logs: list[float]) -> float:
    return float(np.logaddexp.reduce(logs))


class _Cells(NamedTuple):
    """The logs of the largest |f| on the checker's cells, the least Im L there, and the log of what is cut."""

    weights: np.ndarray
    turns: np.ndarray
    cut: float


def _sum(cells: list[_Cells]) -> Log:
    def beyond(s: float) -> float:
        logs = np.concatenate([each.weights - s * each.turns for each in cells])
        return float(np.logaddexp.reduce([np.logaddexp.reduce(logs), *(each.cut for each in cells)]))

    return beyond


def _cells(half: transforms.Half, p: arb, c: float) -> _Cells:
    """The checker's own cells, for balls of their size widen what they hold by more than a double would show."""
    path = transforms.contour(half, arb(c))
    cells = transforms.cells(half, path, p, arb(c))
    weights = np.array([float(weight.log()) for weight, _ in cells])
    turns = np.array([-float(turn) for _, turn in cells])
    k, h, growth = float(path.k), float(path.h), float(path.growth.log())
    ends = (transforms.node(half, path, p, arb(c), acb(path.h * path.places[j]))[0] for j in (0, -1))
    cut = math.log(12 * (1 + 1 / k) / h) + growth + max(float(end.abs_upper().log()) for end in ends)
    small = float(weights.max()) - transforms.BITS * math.log(2) + math.log(len(weights))
    return _Cells(weights, turns, float(np.logaddexp(cut, small)))
