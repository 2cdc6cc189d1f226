"""V_{k+1}(gamma) = max over boxes of E[V_k(gamma e^{-L})], from above: one convolution a box and round.

V is kept at gamma_j = e^{jh}. Its chords, from (0, 1) on and constant to the right, are a function
rho_inf + sum of rho_j (1 - gamma/gamma_j)_+ >= V with rho >= 0, so that one round adds at most sum_j rho_j bump(u - jh)
(docs/theory/fixed_cohorts.md, sections 2 and 6). Everything is rounded towards larger values: rho by the rounding of
its differences, the convolution by the Fourier transform's, in arrays tilted by e^{tilt u}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from ..rounding import UNIT
from .cover import Box, Family
from .profiles import Vector

Spectrum = NDArray[np.complex128]

SLACK = 1e-13
"""Relative allowance for the tilt's exponentials and a few operations on nonnegative numbers."""

_DEEPEST = 2.0**-8
"""Boxes are not split below this part of the whole range."""


@dataclass(frozen=True, slots=True)
class Window:
    """The losses first * step .. last * step, 0 among them; step has few enough bits for its multiples to be exact."""

    step: float
    first: int
    last: int

    @property
    def losses(self) -> Vector:
        return self.step * np.arange(self.first, self.last + 1)


def masses(values: Vector, window: Window) -> tuple[Vector, float]:
    """(rho, rho_inf) of the chords of `values`, rounded up; negative rho, from rounding, are set to 0 (section 6)."""
    falls = values[:-1] - values[1:]
    before, after = falls / -math.expm1(-window.step), falls / math.expm1(window.step)
    rho = np.empty(values.size)
    rho[1:-1] = before[:-1] - after[1:] + 12 * UNIT * (np.abs(before[:-1]) + np.abs(after[1:]))
    rho[0] = (1.0 - values[0]) - after[0] + 12 * UNIT * (1.0 + abs(after[0]))
    rho[-1] = before[-1] * (1 + 12 * UNIT)
    return np.maximum(rho, 0.0), float(values[-1])


@dataclass
class Rounds:
    """Rounds of one family on a window: spectra of the kernels, and how many bits their convolutions lose."""

    family: Family
    window: Window
    tilt: float
    _spectra: dict[Box, tuple[Spectrum, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        count, width = self.window.last - self.window.first + 1, self.family.width
        self._size = next_fast_len(count + width, real=True)
        self._wanted = slice(width, width + count)
        losses = self.window.losses
        self._forth, self._back = np.exp(self.tilt * losses), np.exp(-self.tilt * losses)
        stages = math.log2(self._size) + 1
        self._rounding = UNIT * (3 * (8 * stages + 32) + 16)

    def spectrum(self, box: Box) -> tuple[Spectrum, float]:
        """The transform of the tilted kernel, and its sum."""
        if box not in self._spectra:
            width = self.family.width
            tilted = self.family.kernel(box) * np.exp(self.tilt * self.window.step * np.arange(-width, width + 1))
            self._spectra[box] = rfft(tilted, self._size), float(tilted.sum())
        return self._spectra[box]

    def gains(self, rho: Vector, boxes: Sequence[Box]) -> Vector:
        """At least what one round adds to V, for the pairs of each box (a row each)."""
        tilted = rho * self._forth
        total = float(tilted.sum())
        kernels = [self.spectrum(box) for box in boxes]
        found = irfft(rfft(tilted, self._size) * np.array([values for values, _ in kernels]), self._size, axis=1)
        error = np.array([[total * weight * self._rounding * (1 + SLACK)] for _, weight in kernels])
        gains = np.maximum(found[:, self._wanted], 0.0) + error
        return np.asarray(gains * (self._back * (1 + SLACK)) + self.family.outside() * float(rho.sum()) * (1 + SLACK))

    def advance(self, values: Vector, boxes: Sequence[Box]) -> Vector:
        """One round more: at least the next V at the window's losses."""
        rho, _ = masses(values, self.window)
        gain = self.gains(rho, boxes).max(axis=0)
        return np.asarray(np.minimum((values + gain) * (1 + 4 * UNIT), 1.0))

    def cover(self, values: Vector, weights: Vector, goal: float, most: int) -> list[Box]:
        """Boxes that cover all pairs, split where their bound most exceeds the attained pairs' gain.

        weights: where V matters, adding up to 1; goal: the mean excess, relative to V, at which to stop. Any cover is
        valid: this one is only chosen to be small and good.
        """
        rho, _ = masses(values, self.window)
        floor = self.gains(rho, self.family.root.ends).max(axis=0)
        relative = weights / np.maximum(values, 1e-300)

        boxes: list[Box] = [self.family.root]
        excess = np.maximum(self.gains(rho, boxes) - floor, 0.0)
        while len(boxes) < most and float(relative @ excess.max(axis=0)) > goal:
            scores = np.where([box.size > _DEEPEST for box in boxes], excess @ relative, 0.0)
            worst = int(np.argmax(scores))
            if scores[worst] <= goal / 4:
                break
            parts = boxes.pop(worst).split()
            boxes += parts
            added = np.maximum(self.gains(rho, parts) - floor, 0.0)
            excess = np.concatenate([np.delete(excess, worst, axis=0), added])
        return boxes
