"""Quadrature paths in the complex plane on which E[e^{tL}] of a subsampled Gaussian pair is a short sum.

For t = c + is with s >= 0 the factor e^{isL(x)} oscillates on the real line; on a path with Im L >= 0 it is
damped instead, for every s at once. So a fixed set of nodes serves all frequencies, and the error of the
trapezoidal rule is bounded by real moments alone (docs/theory/inversion.md, sections 3 and 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, ndtr

from ....mechanisms.arrays import Complex, Floats
from ...pairs.order import Sampling
from ...pairs.pair import Pair
from .label import log_label

ORDERS = (Sampling.REMOVE, Sampling.ADD, Sampling.REPLACE, Sampling.HYBRID)


@dataclass(frozen=True)
class Path:
    """Nodes of one branch: E[e^{tL}] gains sum exp(log_weight + t * loss), or its mirror image.

    mirrored: the branch is conj(sum exp(log_weight - conj(t) * loss)): its losses are -loss, and the path is
    the reflection of this one in the real axis. Everywhere Im loss >= 0.
    x: the nodes' real parts. log_error, loss_error: bounds, in UNITs, on the absolute errors of log_weight and loss,
    the parameters' own uncertainty (PARAMETER) included.
    """

    log_weight: Complex
    loss: Complex
    mirrored: bool
    x: Floats
    log_error: Floats
    loss_error: Floats

    @cached_property
    def weight(self) -> Complex:
        """e^log_weight."""
        result: Complex = np.exp(self.log_weight)
        return result


@dataclass(frozen=True, slots=True)
class Sampled:
    """A subsampled Gaussian pair's parameters.

    cut: outcomes x above it have loss 0 (shortened.py); place, blur: of a label, those with which are left out
    (rare.py).
    """

    shift: float
    rate: float
    order: Sampling
    cut: float = math.inf
    place: float = math.inf
    blur: float = 1.0

    def lift(self, c: float, height: float) -> float:
        """log of how much larger the integrand's modulus may be at Im x = height than on the real line.

        For the mixture A + B: |A + B e^{i angle}| is at most A + B, at least (A + B) cos(angle/2), and at least
        A = 1 - rate for angles up to pi/2; only the remove order has no negative power of it.
        """
        lift, angle = 0.5 * height * height, self.shift * height
        if self.place < math.inf:
            lift += 0.5 * (height / self.blur) ** 2
        if self.order == Sampling.REMOVE:
            return lift
        by_cosine = -c * math.log(math.cos(0.5 * angle))
        if angle > 0.5 * math.pi:
            return lift + by_cosine
        return lift + min(by_cosine, math.log(2.0) - c * math.log1p(-self.rate))

    @property
    def widened(self) -> float:
        """Deviation of x and the label's blur together."""
        return math.hypot(1.0, self.blur)

    @property
    def apart(self) -> float:
        """Probability of the label."""
        none, moved = (float(ndtr((shift - self.place) / self.widened)) for shift in (0.0, self.shift))
        return (1.0 - self.rate) * none + self.rate * moved

    def log_unlabelled(self, x: Floats) -> Floats | float:
        """log of the chance that an outcome has no label."""
        return np.asarray(log_ndtr((self.place - x) / self.blur)) if self.place < math.inf else 0.0

    @property
    def atom(self) -> float:
        """Probability of a loss of exactly 0, rounded up; only the hybrid pair has one."""
        if self.order != Sampling.HYBRID:
            return 0.0
        return (1.0 - self.rate) * math.erf(self.shift / math.sqrt(8.0)) * (1.0 + 2.0**-40)


def sampled(pair: Pair) -> Sampled | None:
    """The parameters of a Gaussian pair behind a coin; None for one without. Raises TypeError for another pair."""
    noise = pair.gaussian()
    if noise is None:
        raise TypeError(f"Gaussian noise is needed, not {pair!r}")
    if noise.coin is None:
        return None
    ends = (getattr(pair, name, default) for name, default in (("cut", math.inf), ("place", math.inf), ("blur", 1.0)))
    return Sampled(noise.shift, noise.rate, noise.coin, *ends)


def mixture_log(real: Floats, imag: Floats | float, rate: float, error: Floats) -> tuple[Complex, Floats]:
    """log(1 - rate + rate e^y) for y = real + i imag, 0 <= imag < pi/2, and its error in UNITs.

    error: bound on y's own absolute error, in UNITs. Small results keep their relative accuracy.
    """
    sine, half = np.sin(imag), np.sin(0.5 * imag)
    if rate > 0.4 or np.max(real) > 300.0:
        return _mixture_log_of_sum(real, sine, half, rate, error)
    growth = np.expm1(real)
    grown = growth + 1.0
    change_real, change_imag = rate * (growth - (2.0 * half * half) * grown), (rate * sine) * grown
    square = change_real * change_real + change_imag * change_imag
    inner = 2.0 * change_real + square
    result = np.empty(real.shape, dtype=np.complex128)
    result.real = 0.5 * np.log1p(inner)
    result.imag = np.arctan2(change_imag, 1.0 + change_real)
    sensitivity = (rate * grown * error + 4.0 * np.sqrt(square)) / np.sqrt(1.0 + inner)
    return result, 96.0 * np.abs(result) + 1.01 * sensitivity


def _mixture_log_of_sum(
    real: Floats, sine: Floats | float, half: Floats | float, rate: float, error: Floats
) -> tuple[Complex, Floats]:
    """The same for every rate and real: where the result is not small, from 1 - rate and rate e^y themselves.

    sine, half: of imag and of its half.
    """
    shrink = np.exp(-np.abs(real))
    positive = real > 0.0
    rest = np.where(positive, (1.0 - rate) * shrink, 1.0 - rate)
    jump = np.where(positive, rate, rate * shrink)
    cosine = 1.0 - 2.0 * half * half
    modulus = np.hypot(rest + jump * cosine, jump * sine)
    growth = np.expm1(np.minimum(real, 300.0))
    change_real = rate * (growth - 2.0 * half * half * (growth + 1.0))
    change_imag = rate * sine * (growth + 1.0)
    square = change_real * change_real + change_imag * change_imag
    small = square < 0.25
    result = np.empty(real.shape, dtype=np.complex128)
    result.real = np.where(
        small,
        0.5 * np.log1p(np.where(small, 2.0 * change_real + square, 0.0)),
        np.maximum(real, 0.0) + np.log(modulus),
    )
    result.imag = np.arctan2(jump * sine, rest + jump * cosine)
    share = jump / modulus
    by_rate = np.where(small, 2.0 * np.sqrt(square), share + rate * np.where(positive, shrink, 1.0) / modulus)
    return result, 96.0 * np.abs(result) + share * error + 4.0 * by_rate


def line(pair: Sampled, height: float, step: float, first: int, last: int) -> tuple[Path, ...]:
    """The nodes x = n step + i height, first <= n <= last, of a pair other than the hybrid one.

    step must have few significant bits, so that every n * step is exact.
    """
    x = np.arange(first, last + 1, dtype=np.float64) * step
    shift, angle = pair.shift, pair.shift * height
    slope, offset = shift * x, 0.5 * shift * shift
    error = 8.0 * (np.abs(slope) + shift * shift + angle)
    log_weight = np.empty(x.shape, dtype=np.complex128)
    log_weight.real = 0.5 * (height * height - x * x) + math.log(step / math.sqrt(2.0 * math.pi))
    log_weight.imag = -height * x
    log_error = 2.0 * x * x + 2.0 * height * np.abs(x) + 16.0 + np.abs(math.log(step))
    if pair.place < math.inf:
        unlabelled, label_error = log_label(x, height, pair.place, -pair.blur)
        log_weight, log_error = log_weight + unlabelled, log_error + label_error
    log, log_unit = mixture_log(slope - offset, angle, pair.rate, error)
    if pair.order == Sampling.REMOVE:
        return (Path(log_weight + log, log, False, x, log_error + log_unit, log_unit),)
    if pair.order == Sampling.ADD:
        return (Path(log_weight, log, True, x, log_error, log_unit),)
    other, other_unit = mixture_log(-slope - offset, angle, pair.rate, error)
    return (Path(log_weight + log, log - np.conj(other), False, x, log_error + log_unit, log_unit + other_unit),)


def corner(pair: Sampled, height: float, step: float, first: int, last: int) -> tuple[Path, ...]:
    """The nodes of the hybrid pair: from x = shift/2, where the loss is 0, up to Im x = height, then to the right.

    x = shift/2 + (2 height/pi) acosh(1 + i e^w), w = n step, acosh(1 + W) = 2 asinh(sqrt(W/2)): the image of the
    middle of a strip of half-width pi/2 under the conformal map onto Re x > shift/2, 0 < Im x < 2 height.
    """
    w = step * np.arange(first, last + 1)
    root = 0.5 * np.exp(0.5 * np.minimum(w, 2.0)) * (1.0 + 1.0j)
    hypotenuse = np.sqrt(1.0 + root * root)
    away = root + root * root / (1.0 + hypotenuse)
    inverse = np.sqrt(1.0 - 2.0j * np.exp(-np.maximum(w, 2.0)))
    beyond = 1.0 + inverse
    far = w > 2.0
    zeta = np.empty(w.shape, dtype=np.complex128)
    zeta.real = np.where(
        far,
        0.5 * w - 0.5 * math.log(2.0) + np.log(np.abs(beyond)),
        0.5 * np.log1p(2.0 * away.real + np.abs(away) ** 2),
    )
    zeta.imag = np.where(
        far, 0.25 * math.pi + np.arctan2(beyond.imag, beyond.real), np.arctan2(away.imag, 1.0 + away.real)
    )
    zeta *= 4.0 * height / math.pi
    x = 0.5 * pair.shift + zeta
    size = np.abs(x)
    scale = 2.0 * height / math.pi * step / math.sqrt(2.0 * math.pi)
    log_weight = -0.5 * x * x + np.log(np.where(far, 1.0 / inverse, root / hypotenuse) * scale)
    log_error = 80.0 * size * size + 200.0 + 8.0 * np.abs(log_weight)
    y = pair.shift * zeta
    log, log_unit = mixture_log(y.real, y.imag, pair.rate, 80.0 * np.abs(y))
    return (
        Path(log_weight + log, log, False, x.real, log_error + log_unit, log_unit),
        Path(log_weight, log, True, x.real, log_error, log_unit),
    )
