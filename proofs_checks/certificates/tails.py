"""About what an inversion leaves out after so many terms (4.3 of docs/certificates.md), in double precision.

By this the search chooses how many terms there are to be. Nothing here is proved: the checker, whose contours and
cells these are, bounds the same in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from .checker import pairs, transforms
from .moments import log_moment_above, log_moments

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
