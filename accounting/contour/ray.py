"""G(t) = E[e^{tu}] at geometrically spaced t on a ray from c, and bounds along the side of a sector around it.

Near c, G is a polynomial in t - c. Farther out, e^{tau u} - 1 at twice tau follows from the one at tau by
(1 + E)^2 - 1 = E (E + 2), so that nearly no exponentials are taken; nodes with small tau u are summed as a polynomial,
and where tau u is large e^{tau u} vanishes (docs/theory/contour.md, section 12).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..rounding import UNIT
from .moments import expm1
from .paths import Complex, Real
from .rotated import U_ERROR, Fan, Rotated

Numbers = TypeVar("Numbers", Real, Complex)

PER_OCTAVE, CELLS_PER_OCTAVE = 20, 6

ORDERS = 14
"""Of the polynomial near c."""

_SMALL = 0.5
"""|tau u| up to which the first ORDERS + 1 powers are enough: the rest is below 2^-56 of the second."""

_GONE = 42.0
"""-Re(tau u) from where e^{tau u} is left out: below 2^-60."""

_CHUNK = 3
"""Octaves from one change of the nodes in use to the next."""

SERIES = _SMALL * 2.0**-_CHUNK
"""|tau u| below which a node is certainly summed as a polynomial."""

_BLUR = 1e-12
"""Far above the rounding of sums of e^{tau u} on the sector's inner side, where arg(tau u) is at least 91.5 degrees."""

SUMMED = 32.0
"""Bound, in UNITs, on the rounding of a product and of numpy's pairwise sum of at most 6,000 of them."""


def _doublings(octaves: int) -> Real:
    """1, 2, 4 and so on: what takes the first octave to the others."""
    return np.asarray(2.0 ** np.arange(octaves), dtype=np.float64)


@cache
def _base(fan: Fan, per_octave: int) -> Complex:
    """One octave of the ray, then one of the sector's inner side."""
    octave: Complex = np.concatenate(
        [
            fan.direction * 2.0 ** (np.arange(per_octave) / per_octave),
            fan.inner * 2.0 ** (np.arange(CELLS_PER_OCTAVE) / CELLS_PER_OCTAVE),
        ]
    ).astype(np.complex128)
    return octave


def _times_powers(first: Numbers, factor: Numbers) -> Numbers:
    """first times factor^k, k from 0 to ORDERS + 1, by rows."""
    rows: Numbers = np.empty((ORDERS + 2, first.size), dtype=first.dtype)
    rows[0], known = first, 1
    while known < rows.shape[0]:
        rows[known : 2 * known] = rows[: min(known, rows.shape[0] - known)] * factor
        factor, known = factor * factor, 2 * known
    return rows


@lru_cache(maxsize=16)
def _powers_below(direction: complex, octaves: int, per_octave: int) -> tuple[Complex, Real]:
    """tau^k, k from 1 to ORDERS, for tau on the octaves of the ray below 1, and |tau|^k, k to ORDERS + 1."""
    r = 2.0 ** (np.arange(-octaves * per_octave, 0.0) / per_octave)
    powers: Complex = np.multiply.accumulate(np.tile((direction * r)[:, None], ORDERS), axis=1)
    sizes: Real = np.multiply.accumulate(np.tile(r[:, None], ORDERS + 1), axis=1)
    return powers, sizes


@dataclass(frozen=True, slots=True)
class Near:
    """G(c + tau) - G(c) as a polynomial in tau, good to the last digits in the sector for |tau| <= reach.

    Of powers 0 to ORDERS + 1: the coefficients, the sums of their terms' moduli, and those sums' rounding in UNITs.
    powers: tilted u^k of all nodes, by rows of k.
    """

    direction: complex
    powers: Complex
    coefficients: Complex
    absolute: Real
    rounding: Real
    reach: float

    @classmethod
    def of(cls, nodes: Rotated, most: float) -> Near:
        """reach: at most `most`."""
        orders = np.arange(ORDERS + 2.0)
        scale = 1.0 / np.cumprod(np.maximum(orders, 1.0))
        powers, sizes = _times_powers(nodes.tilted, nodes.u), _times_powers(nodes.size, nodes.length)
        absolute: Real = sizes.sum(axis=1) * scale  # matrix products of this size would start BLAS threads
        reach = min(most, (2.0**-54 * absolute[1] / absolute[-1]) ** (1.0 / ORDERS))
        reach = 2.0 ** math.floor(math.log2(reach))  # a power of two scales the nodes exactly
        units = nodes.relative + 2.0 * U_ERROR * nodes.c * nodes.length + SUMMED
        rounding = (sizes * units).sum(axis=1) * scale + (U_ERROR + 8.0) * (orders + 1.0) * absolute
        return cls(nodes.fan.direction, powers, powers.sum(axis=1) * scale, absolute, rounding, reach)

    def values(
        self, octaves: int, start: float, start_error: float, per_octave: int = PER_OCTAVE
    ) -> tuple[Complex, Complex, Real]:
        """tau, G(c + tau) - 1 and its error, on the octaves below reach."""
        directions, sizes = _powers_below(self.direction, octaves, per_octave)
        scale = self.reach ** np.arange(1.0, ORDERS + 2.0)
        change = directions @ (self.coefficients[1:-1] * scale[:-1])
        slack = sizes @ (np.append(1.01 * UNIT * self.rounding[1:-1], self.absolute[-1]) * scale)
        tau: Complex = self.reach * directions[:, 0]
        return tau, start + change, start_error + slack

    def growth_above(self, distance: float, start: float, start_error: float, farthest: float) -> float:
        """At least G(c + distance) - 1 for real -reach <= distance <= reach; farthest: at least every |u|."""
        value, powers = start + start_error, distance ** np.arange(ORDERS + 2.0)
        sizes = np.abs(powers)
        value += float((self.coefficients.real[1:-1] * powers[1:-1]).sum())
        value += 1.01 * UNIT * float((self.rounding[1:-1] * sizes[1:-1]).sum())
        return value + float(self.absolute[-1] * sizes[-1]) * math.exp(min(700.0, abs(distance) * farthest)) * 1.001


@dataclass(frozen=True, slots=True)
class Side:
    """The sector's inner side, in cells: at each start t, G, log |G|, the first and second order terms of G's relative
    change to the cell's end, a bound on the rest of it, and the cell's complex length.

    whole: at least that change. log_length: log |move / t^2|.
    """

    t: Complex
    moment: Complex
    log_size: Real
    linear: Complex
    square: Complex
    rest: Real
    move: Complex
    whole: Real
    log_length: Real

    def grown(self, rounds: int, drop: Real) -> Real:
        """At least by how much log |G^rounds e^{-x drop}| exceeds its value at the start, 0 <= x <= 1.

        fall x + bend x^2 plus the rest, fall and bend the real parts of the first and second order terms of the log.
        """
        fall, bend = rounds * self.linear.real - drop, rounds * self.square.real
        inside = (bend < 0.0) & (fall > 0.0) & (fall < -2.0 * bend)
        steep = np.where(inside, fall, 0.0)
        peak = np.where(inside, -0.25 * steep * (steep / np.where(inside, bend, -1.0)), np.maximum(0.0, fall + bend))
        near = rounds * (self.rest + 0.5 * self.whole * self.whole) + peak
        result: Real = np.minimum(near, rounds * np.log1p(self.whole))
        return result


@dataclass(frozen=True, slots=True)
class Far:
    """tau, G - 1 and its error on the ray, and the sector's inner side, from reach on.

    bend: G - G(c) - tau G'(c), without the cancellation that this has where tau u is small. per_octave: tau's number.
    """

    tau: Complex
    growth: Complex
    error: Real
    bend: Complex
    side: Side
    per_octave: int


def far_out(
    nodes: Rotated, near: Near, start: float, start_error: float, octaves: int, per_octave: int = PER_OCTAVE
) -> Far:
    """start: G(c) - 1, within start_error."""
    growth, bend, slopes, thirds = _sums(nodes, near, octaves, per_octave)
    growth += start
    tau: Complex = near.reach * _base(nodes.fan, per_octave) * _doublings(octaves)[:, None]
    ray, inner = tau[:, :per_octave].ravel(), tau[:, per_octave:].ravel()
    at = 1.0 + growth[:, per_octave:].ravel()
    at = np.where(np.abs(at) < 1e-300, 1e-300, at)
    move = inner * (2.0 ** (1.0 / CELLS_PER_OCTAVE) - 1.0) * (1.0 + 1e-12)
    far: Real = np.abs(move)
    linear: Complex = slopes.reshape(-1, 2) / at[:, None]
    blur = _BLUR * near.absolute
    rest = far**3 / 6.0 * (thirds.ravel() + 6.0 * blur[3]) + far * blur[1] + 2.0 * far * far * blur[2]
    rest += _error(nodes, nodes.fan.inner, start_error, np.abs(inner))
    modulus, t = np.abs(at), nodes.c + inner
    first, second, rest = linear[:, 0] * move, 0.5 * linear[:, 1] * move * move, 1.001 * rest / modulus
    whole = np.minimum(np.abs(first) + np.abs(second) + rest, 1e100)
    log_length = np.log(far) - 2.0 * np.log(np.abs(t))
    side = Side(t, at, np.log(modulus), first, second, rest, move, whole, log_length)
    error = _error(nodes, nodes.fan.direction, start_error, np.abs(ray))
    return Far(ray, growth[:, :per_octave].ravel(), error, bend[:, :per_octave].ravel(), side, per_octave)


def _sums(nodes: Rotated, near: Near, octaves: int, per_octave: int) -> tuple[Complex, Complex, Complex, Real]:
    """Rows of octaves: sum tilted (e^{tau u} - 1); sum tilted (e^{tau u} - 1 - tau u); on the inner side also
    sum tilted u^k e^{tau u} for k = 1, 2, and sum |tilted u^3 e^{tau u}|."""
    u, tilted, directions = nodes.u, nodes.tilted, _base(nodes.fan, per_octave)
    moved, third = near.powers[1:3].T.copy(), nodes.size * nodes.length**3
    fall = np.minimum.accumulate(-(nodes.fan.inner * u).real[::-1])[::-1]
    scales = near.reach * _doublings(octaves)
    firsts = np.searchsorted(nodes.length, _SMALL / (scales[::_CHUNK] * 2.0**_CHUNK))
    lasts = np.maximum(firsts, np.searchsorted(fall, _GONE / scales[::_CHUNK]))
    growth, bend, slopes = _small(near, scales, firsts, _powers(nodes.fan, per_octave))
    thirds = np.empty((octaves, CELLS_PER_OCTAVE))
    fresh = _fresh(nodes, directions, scales[::_CHUNK], firsts)
    power, begin = fresh[:, :0], u.size
    for chunk, (first, last) in enumerate(zip(firsts.tolist(), lasts.tolist(), strict=True)):
        rows = slice(chunk * _CHUNK, (chunk + 1) * _CHUNK)
        scale = scales[rows]
        powers = np.empty((scale.size, directions.size, last - first), dtype=np.complex128)
        powers[0, :, : begin - first] = fresh[:, first - firsts[-1] : min(begin, last) - firsts[-1]]
        powers[0, :, begin - first :] = _doubled(power[:, : max(0, last - begin)])
        for k in range(1, scale.size):
            powers[k] = _doubled(powers[k - 1])
        begin, power, turned = first, powers[-1], powers[:, per_octave:] + 1.0
        sums = (powers * tilted[first:last]).sum(axis=2) - tilted[last:].sum()
        growth[rows] += sums
        bend[rows] += sums - np.multiply.outer(scale * moved[first:, 0].sum(), directions)
        slopes[rows] += turned @ moved[first:last]
        thirds[rows] = np.abs(turned) @ third[first:last] + third[:first].sum()
    return growth, bend, slopes, thirds


def _fresh(nodes: Rotated, directions: Complex, scales: Real, firsts: NDArray[np.intp]) -> Complex:
    """e^z - 1 of the nodes from the last of firsts on, z = tau u where each comes into use; scales: of every chunk."""
    counts = np.diff(firsts[::-1], append=nodes.u.size)
    return expm1(np.multiply.outer(directions, nodes.u[firsts[-1] :] * scales[::-1].repeat(counts)))


def _doubled(power: Complex) -> Complex:
    """e^{2z} - 1 from e^z - 1."""
    return power * (power + 2.0)


def _small(
    near: Near, scales: Real, firsts: NDArray[np.intp], directions: tuple[Complex, Complex, Complex]
) -> tuple[Complex, Complex, Complex]:
    """What the nodes before the first in use add to the first three of _sums, as polynomials.

    firsts: of every chunk of octaves; directions: _powers."""
    orders = np.arange(1.0, ORDERS + 2.0)
    sums = np.stack([near.powers[1:, :first].sum(axis=1) for first in firsts]).repeat(_CHUNK, axis=0)[: scales.size]
    scaled = sums * (scales[:, None] ** orders / np.cumprod(orders))
    power, once, twice = directions
    slopes = np.stack([scaled @ once / scales[:, None], scaled @ twice / scales[:, None] ** 2], axis=2)
    return scaled @ power, scaled[:, 1:] @ power[1:], slopes


@cache
def _powers(fan: Fan, per_octave: int) -> tuple[Complex, Complex, Complex]:
    """d^k of every direction d in _base, and on the inner side their first and second derivatives, by rows of k."""
    directions, orders = _base(fan, per_octave), np.arange(1.0, ORDERS + 2.0)[:, None]
    powers: Complex = np.multiply.accumulate(np.tile(directions, (ORDERS + 1, 1)), axis=0)
    once = np.concatenate([np.ones((1, CELLS_PER_OCTAVE)), powers[:-1, per_octave:]]) * orders
    twice = np.concatenate([np.zeros((1, CELLS_PER_OCTAVE)), once[:-1]]) * orders
    return powers, once, twice


def _error(nodes: Rotated, direction: complex, start_error: float, distance: Real) -> Real:
    """Of G at c + tau: |e^{tau u} - 1| <= min(2, |tau u|), known to 72 UNITs times min(|tau u|, 1 / fall)."""
    size, length = nodes.size, nodes.length
    fall = np.maximum(-(direction * nodes.u).real / length, 1e-3)
    units = nodes.relative + 2.0 * U_ERROR * nodes.c * length + SUMMED + 72.0 / fall
    steep = float((size * units * length).sum())
    error: Real = start_error + 1.01 * UNIT * np.minimum(2.0 * float((size * units).sum()), distance * steep)
    return error
