"""Cells of Gaussian noise around a sum that moves by a random amount (docs/theory/dominating_pairs.md, "Groups")."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from flint import ctx

from ....mechanisms.arrays import Floats
from ...pairs.gaussian import gaussian_masses
from ...pairs.order import Order
from ...rounding import UNIT
from .cells import Cells

if TYPE_CHECKING:
    from ...pairs.mixed_gaussian import MixtureOfGaussiansPair

_BITS = 128
_LIGHTEST = 1e-280


def mixed_span(pair: MixtureOfGaussiansPair, tail: float) -> list[float]:
    """The first and the last edge, and 0 between them: outside, no centre of any weight has more than `tail` mass."""
    moves, _ = _law(pair)
    reach = max(1.0, math.sqrt(-2 * math.log(tail)))
    return [-reach, 0.0, float(moves[-1]) + reach]


def mixed_cells(pair: MixtureOfGaussiansPair, edges: Floats, tail: float) -> Cells:
    """The cells between consecutive edges; weights below the lightest are left out of P."""
    moves, weights = _law(pair)
    rounding = (8 + moves.size) * UNIT
    q, q_error = gaussian_masses(edges, 0.0)
    p, error = np.zeros(q.size), q_error
    apart, apart_error = np.zeros(q.size), np.zeros(q.size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for move, weight in zip(moves, weights, strict=True):
            mass, mass_error = gaussian_masses(edges, float(move))
            p, error = p + weight * mass, np.maximum(error, mass_error)
            if move > 0:  # log(p / q) from what moves away: it is tiny where the rate is
                apart += weight * (mass / q - 1.0)
                apart_error += weight * (1.0 + mass / q) * (mass_error + q_error + rounding)
        ratio, ratio_error = np.log1p(apart), 1.1 * (apart_error / (1.0 + apart) + rounding * np.abs(np.log1p(apart)))
    loss, slack = _losses(moves, weights, edges)
    known = np.isfinite(ratio) & np.isfinite(ratio_error) & (ratio_error < 0.05)
    cells = Cells(
        p,
        q,
        (loss - slack)[:-1],
        (loss + slack)[1:],
        error + rounding,
        stray=2 * tail + len(pair.moves()) * _LIGHTEST,
        ratio=np.where(known, ratio, 0.0),
        ratio_error=np.where(known, ratio_error, np.inf),
    )
    return cells if pair.order == Order.REMOVE else cells.mirrored()


def _losses(moves: Floats, weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """log of the likelihood ratio at each point, and a bound of its error: near 0 from what moves away from 1."""
    rounding = (8 + moves.size) * UNIT
    near, near_error = np.zeros(x.size), np.zeros(x.size)
    far, far_size = np.full(x.size, -np.inf), np.full(x.size, -np.inf)
    for move, weight in zip(moves.tolist(), weights, strict=True):
        exponent, size = move * (x - 0.5 * move), 1.0 + np.abs(move * x) + move * move
        far = np.logaddexp(far, math.log(weight) + exponent)
        far_size = np.logaddexp(far_size, math.log(weight) + exponent + np.log(size + abs(math.log(weight))))
        jump = np.expm1(np.minimum(exponent, 600.0))
        near += weight * jump
        near_error += weight * (np.abs(jump) + (1.0 + jump) * size) * rounding if move > 0 else 0.0
    far_error = 2 * rounding * (1.0 + np.exp(far_size - far) + np.abs(far))
    moderate = np.abs(near) < 0.5
    safe = np.where(moderate, near, 0.0)
    near_total = 2.2 * near_error + rounding * np.abs(safe)
    return np.where(moderate, np.log1p(safe), far), np.where(moderate, near_total, far_error)


def _law(pair: MixtureOfGaussiansPair) -> tuple[Floats, Floats]:
    """The moves and their probabilities, to nearest, but for probabilities below the lightest."""
    with ctx.workprec(_BITS):
        law = [
            (float(move.mid()), float(weight.mid())) for move, weight in zip(pair.moves(), pair.weights(), strict=True)
        ]
    kept = [(move, weight) for move, weight in law if weight >= _LIGHTEST]
    moves, weights = zip(*kept, strict=True)
    return np.array(moves), np.array(weights)
