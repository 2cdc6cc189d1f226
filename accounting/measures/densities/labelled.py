"""The rounds that jump: outcomes x of a subsampled Gaussian pair, each called a jump with chance Phi((x - at) / blur).

The label is as smooth as the noise, so that its moments j(t) = integral of phi(x) m(x)^-t Phi((x - at) / blur) dx,
those of the loss -log m under Q, are a short sum for every t = c + is, and fall quickly as s grows
(docs/theory/inversion.md, section 13). |Phi(z + iy)| <= e^{y^2 / 2} Phi(z): the label costs a path at height h a factor
e^{h^2 / 2 blur^2}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...rounding import UNIT
from .label import log_label
from .paths import Sampled, mixture_log
from .quadrature import BLOCK, MOST_NODES, Branch, Tilted, short
from .range import log_mixture

_GROWTH = 2.0
"""log by which the weights on the path may exceed those on the real line."""

_CELLS, _HEIGHTS = 160, 12


@dataclass(frozen=True)
class Labelled:
    """Jumps of one pair in the add order or the remove order, and the label's place and blur.

    budget: -log of the accuracy of j, relative to j(0), about; top: largest Re t in use, in the remove order.
    """

    pair: Sampled
    at: float
    blur: float
    budget: float
    top: float = 0.0

    def power(self, c: float) -> float:
        """The integrand on the real line is phi m^power times the label."""
        return -c if self.pair.order == "add" else 1.0 + c

    @cached_property
    def lightest(self) -> float:
        """At most -log m: what e^{-cL} gains at most, per unit of c."""
        return -math.log1p(-self.pair.rate) * (1.0 + 2.0**-40)

    @cached_property
    def widened(self) -> float:
        """Deviation of x and the label's blur together."""
        return math.hypot(1.0, self.blur)

    @cached_property
    def log_none(self) -> float:
        """At least log j(0), the mass under Q."""
        return math.log(ndtr(-self.at / self.widened)) + 1e-9

    @cached_property
    def stretch(self) -> float:
        """y^2 times it is the log of how much larger phi times the label is at Im x = y."""
        return 0.5 + 0.5 / self.blur**2

    @cached_property
    def height(self) -> float:
        """Of the path: twice as high the mixture's angle is still at most pi/2."""
        tallest = min(0.25 * math.pi / self.pair.shift, math.sqrt(_GROWTH / self.stretch))
        return min(tallest, math.sqrt(0.25 * self.budget / self.stretch))

    @cached_property
    def range(self) -> tuple[float, float]:
        """Outside it phi times the label is below e^{-budget} of e^{-at^2 / 2 (1 + blur^2)}, and falls on."""
        away = math.sqrt(2.0 * self.budget)
        left = self.at / self.widened**2 - self.blur / self.widened * away
        right = math.hypot(self.at / self.widened, away)
        return left, right if self.pair.order == "add" else self._far(right)

    def _far(self, nearest: float) -> float:
        """In the remove order, where phi m^power has fallen by e^-budget from its height, and falls on."""
        power = self.power(self.top)
        x = np.linspace(self.at, max(nearest, self.pair.shift * power) + math.sqrt(2.0 * self.budget) + 2.0, _CELLS)
        log = power * log_mixture(self.pair, x) - 0.5 * x * x
        near = np.flatnonzero((log > log.max() - self.budget) | (x < self.pair.shift * power + 1.0) | (x < nearest))
        return float(x[min(int(near[-1]) + 1, x.size - 1)])

    @cached_property
    def nodes(self) -> tuple[Floats, float]:
        """Real parts of the path's nodes, and their step, a double of few bits."""
        step = short(2.0 * math.pi * self.height / (self.budget + 4.0 * self.stretch * self.height**2))
        first, last = math.floor(self.range[0] / step), math.ceil(self.range[1] / step)
        last += -(last + 1 - first) % BLOCK
        if last - first > MOST_NODES:
            raise OutOfReach("too many nodes for the jumps")
        return np.arange(first, last + 1, dtype=np.float64) * step, step

    def outside(self, c: float) -> float:
        """At least the integral of the integrand outside the range, and its sum over nodes at most 1 apart, in
        units of e^{stretch y^2} on a path at height y."""
        plain = 2.0 * math.exp(-0.5 * (self.at / self.widened) ** 2 - self.budget)
        if self.pair.order == "add":
            return plain * math.exp(c * self.lightest)
        power, ends = self.power(c), np.array(self.range)
        if not ends[1] >= self.pair.shift * power + 1.0:
            raise OutOfReach("jumps reach too far out")
        left, right = power * log_mixture(self.pair, ends)
        beyond = 2.0 * math.exp(right - 0.5 * ends[1] ** 2)
        return (plain * math.exp(max(0.0, left)) + beyond) * (1.0 + 1e-9)

    def error(self, c: float, moment: float) -> float:
        """Bound on what discretisation and range change j(c + is), for every s >= 0; moment: about j(c)."""
        _, step = self.nodes
        outside = math.exp(self.stretch * self.height**2) * self.outside(c)
        most = math.exp(self.log_none + c * self.lightest) if self.pair.order == "add" else 1.01 * (moment + outside)
        strip = (1.0 + math.exp(4.0 * self.stretch * self.height**2)) / math.expm1(
            2.0 * math.pi * self.height / step * (1.0 - 1e-12)
        )
        if not strip <= 1e-3:
            raise OutOfReach("too coarse a path for the jumps")
        return 1.001 * (most * strip + outside)

    def tilted(self, c: float) -> Tilted:
        """j on the line Re t = c, in units of 1."""
        (x, step), pair, height = self.nodes, self.pair, self.height
        slope = pair.shift * x
        unit = 8.0 * (np.abs(slope) + pair.shift**2 + pair.shift * height)
        loss, loss_error = mixture_log(slope - 0.5 * pair.shift**2, pair.shift * height, pair.rate, unit)
        label, label_error = log_label(x, height, self.at, self.blur)
        exponent = label + self.power(c) * loss
        exponent.real += 0.5 * (height * height - x * x) + math.log(step / math.sqrt(2.0 * math.pi))
        exponent.imag -= height * x
        weight = np.exp(exponent)
        size, size_of_loss = np.abs(weight), np.abs(loss)
        unit = 2.0 * x * x + 2.0 * height * np.abs(x) + 16.0 + abs(math.log(step)) + label_error + 48.0
        sums = 6.0 * (BLOCK + x.size / BLOCK) + 24.0
        moment = math.fsum(weight.real.tolist())
        fixed = self.error(c, abs(moment))
        error = 1.01 * (UNIT * float((size * (unit + abs(self.power(c)) * loss_error)).sum()) + fixed)
        spread = size_of_loss * (unit + abs(self.power(c)) * loss_error + sums) + loss_error
        slope_error = 1.01 * UNIT * float((size * spread).sum())
        log_moment = math.log(moment) if moment > 0.0 else -math.inf
        branch = Branch(weight, size, loss, self.pair.order == "add")
        return Tilted(c, 0.0, moment, log_moment, error, (branch,), 2.0 * fixed, slope_error)

    @property
    def fall(self) -> float:
        """About a number with log |j(c + is)| = log j(c) - fall s^2: the label's blur in units of the loss."""
        loss = self.pair.rate * math.exp(self.pair.shift * self.at - 0.5 * self.pair.shift**2)
        return 0.5 * (self.pair.shift * loss * self.blur) ** 2

    def log_bound(self, c: float, frequency: float) -> float:
        """At least log |j(c + is)| for every s >= frequency: on a path at height y the integrand's modulus falls in s.

        |m|^(1 + c) is at most that on the real line, and |m|^-c at most (1 - rate)^-c there; the angle of m, which
        damps, increases in x: each cell at its worst ends.
        """
        mass, log, growth, damping = self._cells
        heaviest = c * self.lightest if self.pair.order == "add" else self.power(c) * log[1:]
        damped = np.exp(-frequency * damping) @ (mass * np.exp(heaviest)) + self.outside(c)
        return float(np.min(np.log(damped) + growth)) + 1e-9

    @cached_property
    def _cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Bounds on the mass of phi times the label in each cell, log m at the cells' ends, and for each height y the
        log of the growth, stretch y^2, and the mixture's angle at each cell's left end."""
        ends = np.linspace(*self.range, _CELLS + 1)
        nearest = np.where(ends[:-1] > 0.0, ends[:-1], np.minimum(0.0, ends[1:]))
        density = np.exp(-0.5 * nearest * nearest) / math.sqrt(2.0 * math.pi)
        mass = np.diff(ends) * density * ndtr((ends[1:] - self.at) / self.blur) * (1.0 + 1e-9)
        odds = self.pair.rate / (1.0 - self.pair.rate) * np.exp(self.pair.shift * ends[:-1] - 0.5 * self.pair.shift**2)
        share = odds / (1.0 + odds) * (1.0 - 1e-12)
        heights = np.linspace(0.15, 1.0, _HEIGHTS) * min(0.5 * math.pi / self.pair.shift, 7.0 / math.sqrt(self.stretch))
        turn = (self.pair.shift * heights)[:, None]
        angle = np.arctan2(share * np.sin(turn), 1.0 - share + share * np.cos(turn)) * (1.0 - 1e-12)
        return mass, log_mixture(self.pair, ends), self.stretch * heights**2, angle
