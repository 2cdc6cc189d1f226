"""From below: federations that choose each round's pair by what was released before, on a grid of losses.

A pair of normal mixtures on the line is merged to outcomes whose losses are multiples of the grid's step: neighbouring
outcomes are put together until the mean of dP/dQ is e^{jh} (a postprocessing, so the merged pair is dominated). With
merged pairs only, V at grid points needs V at grid points only: nothing is interpolated
(docs/theory/fixed_cohorts.md, section 6). Everything is rounded towards smaller values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from ...mechanisms.arrays import Complex, Floats
from ..losses.crossing import Excess, crossing
from ..pairs.gaussian import gaussian_masses
from ..rounding import UNIT
from .grid_layout import Window
from .recursion import SLACK

Places = NDArray[np.int64]

OFF_GRID = 1e-7
"""How far, in steps, a merged loss may be from its grid point: the bound moves by that much a round."""

_UNKNOWN = 1e-3
"""A relative error of a cell's masses above which it is left out."""

_FARTHEST = 9.0
_NOWHERE = -60.0


@dataclass(frozen=True, slots=True)
class Mixtures:
    """P and Q on the line: weights of N(centre, 1) in each. dP/dQ rises from `turn` on, and falls before it."""

    centres: tuple[float, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]
    turn: float = -math.inf

    def ratio(self, x: float) -> float:
        """dP/dQ at x."""
        exponents = [centre * x - 0.5 * centre * centre for centre in self.centres]
        largest = max(exponents)
        parts = [math.exp(exponent - largest) for exponent in exponents]
        over = sum(w * part for w, part in zip(self.p, parts, strict=True))
        return over / sum(w * part for w, part in zip(self.q, parts, strict=True))

    def partner(self, x: float) -> float:
        """About the place before the turn with the same ratio as at x; -inf where there is none."""
        if math.isinf(self.turn) or (short := 1.0 - self.ratio(x)) <= 0.0:
            return -math.inf
        move = self.centres[1]  # the two roots of a quadratic equation in e^{move x}: their product is known
        product = self.p[0] / self.p[2] * short * math.exp(2.0 * move * move)
        return min(math.log(product) / move - x, self.turn)


@dataclass(frozen=True, slots=True)
class Merged:
    """Outcomes of a merged pair: places and least P-masses for (P, Q); the same for (Q, P)."""

    forward: tuple[Places, Floats]
    backward: tuple[Places, Floats]


def remove_mixtures(rate: float, move: float) -> Mixtures:
    """((1-r) N(0) + r N(move), N(0))."""
    return Mixtures((0.0, move), (1.0 - rate, rate), (1.0, 0.0))


def opposed_mixtures(rate: float, move: float) -> Mixtures:
    """((1-r) N(0) + r N(2 move), (1-r) N(0) + r N(move)): the turn is where the ratio has slope 0, a quadratic."""
    odds = rate * math.exp(-move * move) / (1.0 - rate)
    turn = math.log((math.sqrt(1.0 + odds) - 1.0) / odds) / move + 0.5 * move
    return Mixtures((0.0, move, 2.0 * move), (1.0 - rate, 0.0, rate), (1.0 - rate, rate, 0.0), turn)


def merged(pair: Mixtures, step: float) -> Merged:
    """The pair merged on to multiples of step."""
    right = np.array(list(_edges(pair, step)))
    (p, p_error), (q, q_error) = (_masses(right, pair, weights) for weights in (pair.p, pair.q))
    error = np.maximum(p_error, q_error)
    if math.isfinite(pair.turn):
        left = np.array([pair.turn, *(pair.partner(x) for x in right[1:-1]), -math.inf])
        left = np.maximum(np.minimum.accumulate(left), _NOWHERE)[::-1]
        (p_left, p_error), (q_left, q_error) = (_masses(left, pair, weights) for weights in (pair.p, pair.q))
        p, q, error = p + p_left[::-1], q + q_left[::-1], np.maximum(error, np.maximum(p_error, q_error)[::-1])
    kept = (p > 1e-250) & (q > 1e-250) & (error < _UNKNOWN)
    error = error[kept]
    place, unsure = np.log(p[kept] / q[kept]) / step, OFF_GRID / 2 - 3 * error / step
    return Merged(
        (np.floor(place + unsure).astype(np.int64), p[kept] * (1 - 2 * error)),
        (np.floor(-place + unsure).astype(np.int64), q[kept] * (1 - 2 * error)),
    )


def _edges(pair: Mixtures, step: float) -> Iterator[float]:
    """Edges, from the turn on, such that the mean ratio of each cell is a grid point; the last cell is what is left."""
    limit = max(pair.centres) + _FARTHEST
    at, width = pair.turn, 0.1
    yield at
    lowest = pair.ratio(at) if math.isfinite(at) else pair.p[0] / pair.q[0]
    place = math.floor(math.log(lowest) / step + 1e-9) + 1
    if math.isinf(at):  # a first cell with next to no mass is none
        while _excess(pair, math.exp(place * step), at, -_FARTHEST) > 0.0:
            place += 1
    while (found := _next_edge(pair, math.exp(place * step), at, width, limit)) is not None:
        width = 0.5 * (found - at) if math.isfinite(at) else 0.1
        at = found
        yield at
        place = max(place + 1, math.floor(math.log(pair.ratio(at)) / step + 1e-9) + 1)
    yield math.inf


def _next_edge(pair: Mixtures, ratio: float, start: float, width: float, limit: float) -> float | None:
    """About the x where the mean ratio of the cell from start on is `ratio`; None where that is beyond the limit.

    The cell's excess mass falls while dP/dQ < ratio and rises from there on, past 0.
    """
    low = start + 1e-6 * width if math.isfinite(start) else -_FARTHEST
    high = max(start, -_FARTHEST) + width
    while pair.ratio(high) <= ratio or _excess(pair, ratio, start, high) <= 0.0:
        low, high, width = high, high + width, 1.5 * width
        if high > limit:
            return None
    if _excess(pair, ratio, start, low) >= 0.0:
        return low
    back, _ = crossing(lambda at: Excess(_excess(pair, ratio, start, max(low, high - at))), 0.5 * (high - low))
    return high - back


def _excess(pair: Mixtures, ratio: float, start: float, x: float) -> float:
    """P - ratio Q of the cell from start to x, and of its partner before the turn."""
    total = _mass(pair, 1.0, -ratio, start, x)
    if math.isfinite(pair.turn):
        total += _mass(pair, 1.0, -ratio, pair.partner(x), pair.partner(start))
    return total


def _mass(pair: Mixtures, of_p: float, of_q: float, low: float, high: float) -> float:
    total = 0.0
    for centre, p, q in zip(pair.centres, pair.p, pair.q, strict=True):
        weight = of_p * p + of_q * q
        if weight:
            total += weight * _between(low - centre, high - centre)
    return total


def _between(low: float, high: float) -> float:
    """N(0,1) of the interval."""
    if low > 0.0:
        low, high = -high, -low
    return 0.5 * (math.erfc(-high * math.sqrt(0.5)) - math.erfc(-low * math.sqrt(0.5)))


def _masses(edges: Floats, pair: Mixtures, weights: Sequence[float]) -> tuple[Floats, Floats]:
    """Masses of the cells between the edges, and their relative errors."""
    total, error = np.zeros(edges.size - 1), np.zeros(edges.size - 1)
    for centre, weight in zip(pair.centres, weights, strict=True):
        if weight:
            mass, unsure = gaussian_masses(edges, centre)
            total += weight * mass
            error = np.maximum(error, unsure + 8 * UNIT)
    return total, error


class Attained:
    """V from below on a window, a round at a time; `kernels` are (places, masses) of the pairs to choose among."""

    def __init__(self, window: Window, tilt: float) -> None:
        self._window, self._tilt = window, tilt
        self._losses = window.losses
        self.values: Floats = np.maximum(-np.expm1(self._losses), 0.0) * (1 - 8 * UNIT)
        self._back = np.exp(-tilt * self._losses) * (1 - SLACK)
        self._spectra: dict[int, tuple[tuple[Places, Floats], int, Complex, float]] = {}

    def advance(self, kernels: Sequence[tuple[Places, Floats]]) -> None:
        """One round more: at most the next V, at the window's losses moved by OFF_GRID steps."""
        reach = max(int(np.abs(places).max()) for places, _ in kernels)
        count = self._losses.size
        size = next_fast_len(count + 3 * reach + 1, real=True)
        ahead = self._window.step * np.arange(self._window.first - reach, self._window.first)
        everything = np.concatenate([-np.expm1(ahead) * (1 - 8 * UNIT), self.values])
        tilted = everything * np.exp(self._tilt * np.concatenate([ahead, self._losses]))
        transform, total = rfft(tilted, size), float(tilted.sum())
        rounding = UNIT * (3 * (8 * (math.log2(size) + 1) + 32) + 16) * (1 + SLACK)
        for kernel in kernels:
            spectrum, weight = self._spectrum(kernel, size)
            found = irfft(transform * spectrum, size)[reach : reach + count]
            gained = np.maximum(found - total * weight * rounding, 0.0) * self._back
            self.values = np.maximum(self.values, gained)

    def _spectrum(self, kernel: tuple[Places, Floats], size: int) -> tuple[Complex, float]:
        key = id(kernel)
        if key not in self._spectra:
            places, weights = kernel
            tilted = weights * np.exp(self._tilt * self._window.step * places)
            array = np.bincount(np.mod(places, size), weights=tilted, minlength=size)
            self._spectra[key] = kernel, size, rfft(array), float(tilted.sum())
        _, made_for, spectrum, weight = self._spectra[key]
        if made_for != size:
            raise ValueError("kernels of one round must be the same at every round")
        return spectrum, weight
