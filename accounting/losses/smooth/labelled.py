"""The rounds that jump: outcomes x of a subsampled Gaussian pair that have a label at one place, and none further out.

By one coin, the chance is Phi((x - at) / blur) - Phi((x - far) / blur). It is as smooth as the noise, so that its
moments j(t) = integral of phi(x) m(x)^(1 + t) m(-x)^-t times the chance (the last power in the replace order only) are
a short sum for every t = c + is, and fall quickly as s grows. On a path at height y the chance is at most
e^{y^2 / 2 blur^2} times what it is on the real line (docs/theory/inversion.md, section 13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs.order import Sampling
from ...rounding import UNIT
from .integrand import log_growth, log_mixture
from .label import log_between
from .paths import Path, Sampled, line
from .quadrature import BLOCK, MOST_NODES, Branch, Tilted, short

_GROWTH = 2.0
"""log by which the weights on the path may exceed those on the real line."""

_CELLS, _HEIGHTS = 160, 12


@dataclass(frozen=True)
class Labelled:
    """Jumps of one pair in the remove order or the replace order.

    pair: outcomes with a label at its place, and those beyond its cut, are left out; its blur is that of the label at
    `at`, too. budget: -log of the accuracy of j, relative to j(0), about.
    """

    pair: Sampled
    at: float
    budget: float

    @cached_property
    def widened(self) -> float:
        """Deviation of x and the label's blur together."""
        return math.hypot(1.0, self.pair.blur)

    @cached_property
    def stretch(self) -> float:
        """y^2 times it is the log of how much larger phi times the chance is at Im x = y."""
        return 0.5 + 0.5 / self.pair.blur**2

    def lightest(self, c: float) -> float:
        """At least log of |m(-x - iy)|^-c in the replace order, up to an angle of pi/2."""
        return -c * math.log1p(-self.pair.rate) * (1.0 + 2.0**-40) if self.pair.order == Sampling.REPLACE else 0.0

    @cached_property
    def height(self) -> float:
        """Of the path: twice as high the mixture's angle is still at most pi/2."""
        tallest = min(0.25 * math.pi / self.pair.shift, math.sqrt(_GROWTH / self.stretch))
        return min(tallest, math.sqrt(0.25 * self.budget / self.stretch))

    @cached_property
    def left(self) -> float:
        """Below it phi times the chance is below e^{-budget} of e^{-at^2 / 2 (1 + blur^2)}, and falls on."""
        return self.at / self.widened**2 - self.pair.blur / self.widened * math.sqrt(2.0 * self.budget)

    @cached_property
    def grid(self) -> tuple[float, int, int]:
        """The path's step, a double of few bits, and its first and last node: half a step beyond it is at most the
        pair's cut, and at most the blur below it."""
        step = 2.0 * math.pi * self.height / (self.budget + 4.0 * self.stretch * self.height**2)
        step = short(min(step, self.pair.blur))
        first, last = math.floor(self.left / step), math.floor(self.pair.cut / step - 0.5)
        first -= -(last + 1 - first) % BLOCK
        if last - first > MOST_NODES:
            raise OutOfReach("too many nodes for the jumps")
        return step, first, last

    @cached_property
    def end(self) -> float:
        """Outcomes above it are left out."""
        step, _, last = self.grid
        return (last + 0.5) * step

    @cached_property
    def path(self) -> Path:
        """The nodes."""
        step, first, last = self.grid
        (path,) = line(replace(self.pair, place=math.inf), self.height, step, first, last)
        label, error = log_between(path.x, self.height, (self.at, self.pair.place), self.pair.blur)
        return replace(path, log_weight=path.log_weight + label, log_error=path.log_error + error)

    def outside(self, c: float) -> float:
        """At least the integral of phi m^(1 + c) times the chance left of the range, and its sum over nodes at most 1
        apart, in units of e^{stretch y^2} on a path at height y."""
        plain = 2.0 * math.exp(-0.5 * (self.at / self.widened) ** 2 - self.budget)
        steepest = (1.0 + c) * float(log_mixture(self.pair, np.array([self.left]))[0])
        return plain * math.exp(max(0.0, steepest)) * (1.0 + 1e-9)

    def side(self, c: float) -> float:
        """At least the real integrand at the right end."""
        return math.exp(log_growth(self.pair, c, self.end) - 0.5 * self.end**2)

    def error(self, c: float, moment: float) -> float:
        """Bound on what discretisation and range change j(c + is), for every s >= 0; moment: about j(c)."""
        step, _, _ = self.grid
        light, square = math.exp(self.lightest(c)), self.stretch * self.height**2
        outside = light * math.exp(square) * self.outside(c)
        # Below -shift/2 the mixture m(-x) is above 1, and its powers are not what is bounded by 1.
        below = float(ndtr((-0.5 * self.pair.shift - self.at) / self.pair.blur)) if light > 1.0 else 0.0
        growth = light * math.exp(4.0 * square)
        strip = (1.0 + growth) / math.expm1(2.0 * math.pi * self.height / step * (1.0 - 1e-12))
        if not strip <= 1e-3:
            raise OutOfReach("too coarse a path for the jumps")
        closing = 4.0 * self.height * growth * self.side(c)
        return 1.01 * ((1.01 * (moment + outside + closing) + below) * strip + outside + closing)

    def tilted(self, c: float) -> Tilted:
        """j on the line Re t = c, in units of 1."""
        path = self.path
        weight = np.exp(path.log_weight + c * path.loss)
        size, size_of_loss = np.abs(weight), np.abs(path.loss)
        unit = path.log_error + c * path.loss_error + 48.0
        sums = 6.0 * (BLOCK + path.x.size / BLOCK) + 24.0
        moment = math.fsum(weight.real.tolist())
        fixed = self.error(c, abs(moment))
        error = 1.01 * (UNIT * float((size * unit).sum()) + fixed)
        slope_error = 1.01 * UNIT * float((size * (size_of_loss * (unit + sums) + path.loss_error)).sum())
        log_moment = math.log(moment) if moment > 0.0 else -math.inf
        branch = Branch(weight, size, path.loss, False)
        return Tilted(c, 0.0, moment, log_moment, error, (branch,), 2.0 * fixed, slope_error)

    @property
    def fall(self) -> float:
        """About a number with log |j(c + is)| = log j(c) - fall s^2: the label's blur in units of the loss."""
        loss = self.pair.rate * math.exp(self.pair.shift * self.at - 0.5 * self.pair.shift**2)
        return 0.5 * (self.pair.shift * loss * self.pair.blur) ** 2

    def log_bound(self, c: float, frequency: float) -> float:
        """At least log |j(c + is)| for every s >= frequency: on a path at height y the integrand's modulus falls in s.

        |m(x)|^(1 + c) is at most that on the real line; its angle, which damps, increases in x: each cell at its worst
        ends. In the replace order that of m(-x) damps, too.
        """
        mass, log, heights, damping = self._cells
        damped = np.exp(-frequency * damping) @ (mass * np.exp((1.0 + c) * log[1:]))
        damped += self.outside(c) + heights * self.side(c)
        return float(np.min(np.log(damped) + self.stretch * heights**2)) + self.lightest(c) + 1e-9

    @cached_property
    def _cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Bounds on the mass of phi times the chance in each cell, log m at the cells' ends, heights of paths, and for
        each of them the mixture's angle at each cell's left end."""
        pair, ends = self.pair, np.linspace(self.left, self.end, _CELLS + 1)
        nearest = np.where(ends[:-1] > 0.0, ends[:-1], np.minimum(0.0, ends[1:]))
        density = np.exp(-0.5 * nearest * nearest) / math.sqrt(2.0 * math.pi)
        chance = np.minimum(ndtr((ends[1:] - self.at) / pair.blur), ndtr((pair.place - ends[:-1]) / pair.blur))
        mass = np.diff(ends) * density * chance * (1.0 + 1e-9)
        odds = pair.rate / (1.0 - pair.rate) * np.exp(pair.shift * ends[:-1] - 0.5 * pair.shift**2)
        share = odds / (1.0 + odds) * (1.0 - 1e-12)
        heights = np.linspace(0.15, 1.0, _HEIGHTS) * min(0.5 * math.pi / pair.shift, 7.0 / math.sqrt(self.stretch))
        turn = (pair.shift * heights)[:, None]
        angle = np.arctan2(share * np.sin(turn), 1.0 - share + share * np.cos(turn)) * (1.0 - 1e-12)
        return mass, log_mixture(pair, ends), heights, angle
