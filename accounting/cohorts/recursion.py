"""V_{k+1}(gamma) = max over boxes of E[V_k(gamma e^{-L})], from above: one convolution a box and round.

V is kept at gamma_j = e^{jh}. Its chords, from (0, 1) on and constant to the right, are a function
rho_inf + sum of rho_j (1 - gamma/gamma_j)_+ >= V with rho >= 0, so that one round adds at most sum_j rho_j bump(u - jh)
(docs/theory/fixed_cohorts.md, sections 2 and 5). Everything is rounded towards larger values: rho by the rounding of
its differences, the convolution by the Fourier transform's, in arrays tilted by e^{tilt u}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from ...mechanisms.arrays import Complex, Floats
from ..rounding import UNIT
from .cover import Box, Kernels
from .grid_layout import Window

SLACK = 1e-13
"""Relative allowance for the tilt's exponentials and a few operations on nonnegative numbers."""

_AT_ONCE = 8

_LIGHT, _LOOKED_AT = 1e-4, 150
"""Covers are chosen by their bounds at about so many losses, those whose weight is not light."""

_DEEPEST = 2.0**-8
"""Boxes are not split below this part of the whole range."""


def masses(values: Floats, window: Window) -> tuple[Floats, float]:
    """(rho, rho_inf) of the chords of `values`, rounded up; negative rho, from rounding, are set to 0 (section 5)."""
    falls = values[:-1] - values[1:]
    before, after = falls / -math.expm1(-window.step), falls / math.expm1(window.step)
    rho = np.empty(values.size)
    rho[1:-1] = before[:-1] - after[1:] + 12 * UNIT * (np.abs(before[:-1]) + np.abs(after[1:]))
    rho[0] = (1.0 - values[0]) - after[0] + 12 * UNIT * (1.0 + abs(after[0]))
    rho[-1] = before[-1] * (1 + 12 * UNIT)
    return np.asarray(np.maximum(rho, 0.0)), float(values[-1])


@dataclass
class Rounds:
    """Rounds of one family on a window: spectra of the kernels, and how many bits their convolutions lose."""

    family: Kernels
    window: Window
    tilt: float
    _spectra: dict[Box, tuple[Complex, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        count, width = self.window.last - self.window.first + 1, self.family.width
        self.size = next_fast_len(count + width, real=True)
        self._wanted = slice(width, width + count)
        losses = self.window.losses
        self._forth, self._back = np.exp(self.tilt * losses), np.exp(-self.tilt * losses)
        stages = math.log2(self.size) + 1
        self._rounding = UNIT * (3 * (8 * stages + 32) + 16)
        self._last: tuple[tuple[Box, ...], Complex, Floats] = (), np.empty((0, 0), complex), np.empty((0, 1))

    def spectrum(self, box: Box) -> tuple[Complex, float]:
        """The transform of the tilted kernel, and its sum."""
        if box not in self._spectra:
            width = self.family.width
            tilted = self.family.kernel(box) * np.exp(self.tilt * self.window.step * np.arange(-width, width + 1))
            self._spectra[box] = rfft(tilted, self.size), float(tilted.sum())
        return self._spectra[box]

    def gains(self, rho: Floats, boxes: Sequence[Box]) -> Floats:
        """At least what one round adds to V, for the pairs of each box (a row each)."""
        spectra, weights = self._together(tuple(boxes))
        tilted = rho * self._forth
        found = irfft(rfft(tilted, self.size) * spectra, self.size, axis=1)[:, self._wanted]
        found += float(tilted.sum()) * (1 + SLACK) * weights
        return self._untilted(found, rho)

    def advance(self, values: Floats, boxes: Sequence[Box]) -> Floats:
        """One round more: at least the next V at the window's losses."""
        rho, _ = masses(values, self.window)
        spectra, weights = self._together(tuple(boxes))
        tilted = rho * self._forth
        transform, largest = rfft(tilted, self.size), np.full(values.size, -math.inf)
        for start in range(0, len(spectra), _AT_ONCE):
            found = irfft(transform * spectra[start : start + _AT_ONCE], self.size, axis=1)
            np.maximum(largest, found[:, self._wanted].max(axis=0), out=largest)
        largest += float(tilted.sum()) * (1 + SLACK) * float(weights.max())
        return np.asarray(np.minimum((values + self._untilted(largest, rho)) * (1 + 4 * UNIT), 1.0))

    def _untilted(self, tilted: Floats, rho: Floats) -> Floats:
        level, _ = self.family.outside(self.tilt)
        gain = np.maximum(tilted, 0.0) * (self._back * (1 + SLACK))
        return np.asarray(gain + level * float(rho.sum()) * (1 + SLACK))

    def _together(self, boxes: tuple[Box, ...]) -> tuple[Complex, Floats]:
        """The spectra, and what to add to a convolution, relative to the sum of rho: rounding, and what is outside."""
        if boxes != self._last[0]:
            kernels = [self.spectrum(box) for box in boxes]
            _, slope = self.family.outside(self.tilt)
            added = np.array([[weight * self._rounding + slope] for _, weight in kernels])
            self._last = boxes, np.array([values for values, _ in kernels]), added
        return self._last[1:]

    def cover(self, values: Floats, weights: Floats, goal: float, most: int) -> list[Box]:
        """Boxes that cover all pairs, split where their bound most exceeds the attained pairs' gain.

        weights: where V matters, adding up to 1; goal: the mean excess, relative to V, at which to stop. Any cover is
        valid: this one is only chosen to be small and good.
        """
        rho, _ = masses(values, self.window)
        heavy = np.flatnonzero(weights > _LIGHT * weights.max())
        heavy = heavy[:: max(1, heavy.size // _LOOKED_AT)]
        relative = weights[heavy] / np.maximum(values[heavy], 1e-300)
        relative *= weights.sum() / weights[heavy].sum()
        floor = self.gains(rho, self.family.root.ends)[:, heavy].max(axis=0)

        def excess(boxes: Sequence[Box]) -> Floats:
            return np.asarray(np.maximum(self.gains(rho, boxes)[:, heavy] - floor, 0.0))

        boxes: list[Box] = [self.family.root]
        found = list(excess(boxes))
        scores = [float(found[0] @ relative)]
        while len(boxes) < most and float(np.max(found, axis=0) @ relative) > goal:
            worst = int(np.argmax(scores))
            if scores[worst] <= goal / 4:
                break
            parts = boxes.pop(worst).split()
            del found[worst], scores[worst]
            boxes += parts
            for box, added in zip(parts, excess(parts), strict=True):
                found.append(added)
                scores.append(float(added @ relative) if box.size > _DEEPEST else 0.0)
        return boxes
