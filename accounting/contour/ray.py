"""G(t) = E[e^{tu}] at geometrically spaced t on a ray from c, and bounds along the side of a sector around it.

Near c, G is a polynomial in t - c. Farther out, e^{tau u} - 1 at twice tau follows from the one at tau by
(1 + E)^2 - 1 = E (E + 2), so that nearly no exponentials are taken; nodes with small tau u are summed as a polynomial,
and where tau u is large e^{tau u} vanishes (docs/theory/contour.md, section 12).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..rounding import UNIT
from .moments import expm1
from .paths import Complex, Real
from .rotated import U_ERROR, Fan, Rotated

PER_OCTAVE, CELLS_PER_OCTAVE = 20, 6
STEP = math.log(2.0) / PER_OCTAVE

ORDERS = 12
"""Of the polynomial near c."""

_FEW_ORDERS = 15
_SMALL = 0.5
"""|tau u| up to which the first _FEW_ORDERS powers are enough: the rest is below 2^-56 of the second."""

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


@dataclass(frozen=True, slots=True)
class Near:
    """G(c + tau) - G(c) as a polynomial in tau, good to the last digits in the sector for |tau| <= reach.

    Of powers 0 to ORDERS + 1: the coefficients, the sums of their terms' moduli, and those sums' rounding in UNITs.
    """

    direction: complex
    coefficients: Complex
    absolute: Real
    rounding: Real
    reach: float

    @classmethod
    def of(cls, nodes: Rotated, most: float) -> Near:
        """reach: at most `most`."""
        scale = np.concatenate([[1.0], 1.0 / np.cumprod(np.arange(1.0, ORDERS + 2.0))])
        powers = np.ones((ORDERS + 2, nodes.u.size), dtype=np.complex128)
        powers[1:] = nodes.u
        np.cumprod(powers, axis=0, out=powers)
        sizes, tilted = np.abs(powers), np.abs(nodes.tilted)
        units = nodes.relative + 2.0 * U_ERROR * nodes.c * sizes[1] + (U_ERROR + 8.0) * (ORDERS + 1.0)
        units += SUMMED
        absolute: Real = (sizes * tilted).sum(axis=1) * scale  # matrix products of this size would start BLAS threads
        reach = min(most, (2.0**-54 * absolute[1] / absolute[-1]) ** (1.0 / ORDERS))
        reach = 2.0 ** math.floor(math.log2(reach))  # a power of two scales the nodes exactly
        rounding = (sizes * (tilted * units)).sum(axis=1) * scale
        return cls(nodes.fan.direction, (powers * nodes.tilted).sum(axis=1) * scale, absolute, rounding, reach)

    def values(
        self, octaves: int, start: float, start_error: float, per_octave: int = PER_OCTAVE
    ) -> tuple[Complex, Complex, Real]:
        """tau, G(c + tau) - 1 and its error, on the octaves below reach."""
        r = self.reach * 2.0 ** (np.arange(-octaves * per_octave, 0.0) / per_octave)
        tau: Complex = (self.direction * r).astype(np.complex128)
        change, slack = np.zeros(r.size, dtype=np.complex128), self.absolute[-1] * r
        for k in range(ORDERS, 0, -1):
            change = (change + self.coefficients[k]) * tau
            slack = (slack + 1.01 * UNIT * self.rounding[k]) * r
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
    change to the cell's end, a bound on the rest of it, and the cell's complex length."""

    t: Complex
    moment: Complex
    log_size: Real
    linear: Complex
    square: Complex
    rest: Real
    move: Complex


@dataclass(frozen=True, slots=True)
class Far:
    """tau, G - 1 and its error on the ray, and the sector's inner side, from reach on.

    bend: G - G(c) - tau G'(c), without the cancellation that this has where tau u is small.
    """

    tau: Complex
    growth: Complex
    error: Real
    bend: Complex
    side: Side


def far_out(
    nodes: Rotated, start: float, start_error: float, reach: float, octaves: int, per_octave: int = PER_OCTAVE
) -> Far:
    """start: G(c) - 1, within start_error; reach: where the ray begins."""
    growth, bend, slopes, thirds = _sums(nodes, reach, octaves, per_octave)
    growth += start
    tau: Complex = (reach * _base(nodes.fan, per_octave) * 2.0 ** np.arange(octaves)[:, None]).astype(np.complex128)
    ray, inner = tau[:, :per_octave].ravel(), tau[:, per_octave:].ravel()
    at = 1.0 + growth[:, per_octave:].ravel()
    at = np.where(np.abs(at) < 1e-300, 1e-300, at)
    move = inner * (2.0 ** (1.0 / CELLS_PER_OCTAVE) - 1.0) * (1.0 + 1e-12)
    far: Real = np.abs(move)
    linear: Complex = slopes.reshape(-1, 2) / at[:, None]
    size, length = np.abs(nodes.tilted), np.abs(nodes.u)
    moments = [float((size * length**k).sum()) for k in (1, 2, 3)]
    rest = far**3 / 6.0 * (thirds.ravel() + _BLUR * moments[2]) + _error(
        nodes, nodes.fan.inner, start_error, np.abs(inner)
    )
    rest += _BLUR * (far * moments[0] + far * far * moments[1])
    side = Side(
        nodes.c + inner,
        at,
        np.log(np.abs(at)),
        (linear[:, 0] * move).astype(np.complex128),
        (0.5 * linear[:, 1] * move * move).astype(np.complex128),
        1.001 * rest / np.abs(at),
        move,
    )
    error = _error(nodes, nodes.fan.direction, start_error, np.abs(ray))
    return Far(ray, growth[:, :per_octave].ravel(), error, bend[:, :per_octave].ravel(), side)


def _sums(nodes: Rotated, reach: float, octaves: int, per_octave: int) -> tuple[Complex, Complex, Complex, Real]:
    """Rows of octaves: sum tilted (e^{tau u} - 1); sum tilted (e^{tau u} - 1 - tau u); on the inner side also
    sum tilted u^k e^{tau u} for k = 1, 2, and sum |tilted u^3 e^{tau u}|."""
    u, tilted, directions = nodes.u, nodes.tilted, _base(nodes.fan, per_octave)
    length = np.abs(u)
    moved = np.stack([tilted * u, tilted * u * u], axis=1)
    third = np.abs(tilted) * length**3
    fall = np.minimum.accumulate(-(nodes.fan.inner * u).real[::-1])[::-1]
    orders = np.arange(1.0, _FEW_ORDERS + 1.0)
    powers = np.cumprod(np.tile(u, (_FEW_ORDERS, 1)), axis=0) * tilted / np.cumprod(orders)[:, None]
    early_third = np.concatenate([[0.0], np.cumsum(third)])
    base = np.cumprod(np.tile(directions[:, None], (1, _FEW_ORDERS)), axis=1)
    once = np.concatenate([np.ones((CELLS_PER_OCTAVE, 1)), base[per_octave:, :-1]], axis=1) * orders
    twice = np.concatenate([np.zeros((CELLS_PER_OCTAVE, 1)), once[:, :-1]], axis=1) * orders
    growth = np.zeros((octaves, directions.size), dtype=np.complex128)
    bend = np.zeros_like(growth)
    slopes = np.zeros((octaves, CELLS_PER_OCTAVE, 2), dtype=np.complex128)
    thirds = np.zeros((octaves, CELLS_PER_OCTAVE))
    early, gone, late = np.zeros(_FEW_ORDERS, dtype=np.complex128), 0.0j, 0.0j
    power, begin, end = np.zeros((directions.size, 0), dtype=np.complex128), u.size, u.size
    for octave in range(octaves):
        scale = reach * 2.0**octave
        if octave % _CHUNK == 0:
            first = int(np.searchsorted(length, _SMALL / (scale * 2.0**_CHUNK)))
            last = int(np.searchsorted(fall, _GONE / scale))
            turned_nodes: Complex = (scale * directions)[:, None] * u[first : min(begin, last)]
            fresh = expm1(turned_nodes)
            if power.size:
                power *= power + 2.0
            power = np.concatenate([fresh, power[:, : max(0, last - begin)]], axis=1)
            begin, end = first, max(last, first)
            early, gone, late = powers[:, :begin].sum(axis=1), tilted[end:].sum(), powers[0, begin:].sum()
        else:
            power *= power + 2.0
        scaled = early * scale**orders
        sums = (power * tilted[begin:end]).sum(axis=1) - gone
        growth[octave] = sums + base @ scaled
        bend[octave] = (sums - base[:, 0] * (late * scale)) + base[:, 1:] @ scaled[1:]
        turned = power[per_octave:] + 1.0
        slopes[octave] = turned @ moved[begin:end]
        slopes[octave, :, 0] += once @ scaled / scale
        slopes[octave, :, 1] += twice @ scaled / scale**2
        thirds[octave] = np.abs(turned) @ third[begin:end] + early_third[begin]
    return growth, bend, slopes, thirds


def _error(nodes: Rotated, direction: complex, start_error: float, distance: Real) -> Real:
    """Of G at c + tau: |e^{tau u} - 1| <= min(2, |tau u|), known to 72 UNITs times min(|tau u|, 1 / fall)."""
    size, length = np.abs(nodes.tilted), np.abs(nodes.u)
    fall = np.maximum(-(direction * nodes.u).real / length, 1e-3)
    units = nodes.relative + 2.0 * U_ERROR * nodes.c * length + SUMMED + 72.0 / fall
    steep = float((size * units * length).sum())
    error: Real = start_error + 1.01 * UNIT * np.minimum(2.0 * float((size * units).sum()), distance * steep)
    return error
