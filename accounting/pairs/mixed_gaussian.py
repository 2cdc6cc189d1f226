"""Gaussian noise around a sum that moves by a random amount: of a group's units that are drawn, or as it is stated."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from flint import arb, ctx, fmpz

from ...mechanisms.arrays import Floats
from ..losses.atoms import edges, laws
from ..losses.atoms.cells import Cells
from ..losses.crossing import Excess, crossing
from ..rounding import UNIT, float_above, float_below
from .gaussian import gaussian_masses
from .order import Order, order_of
from .pair import Pair
from .tails import normal_tail, positive

MOST_UNITS = 1000

_BITS = 128
_LIGHTEST = 1e-280


class MixtureOfGaussiansPair(Pair):
    """P = sum over i of weights[i] N(moves[i], 1) against Q = N(0, 1); order "add": Q against P. Moves are at least 0.

    Subclasses are frozen dataclasses with an `order` and a `rate`, about how often something moves.
    """

    __slots__ = ()

    order: Order
    rate: float

    @abstractmethod
    def moves(self) -> list[arb]:
        """In standard deviations of the noise, from the smallest to the largest, 0 first."""

    @abstractmethod
    def weights(self) -> list[arb]:
        """The probability of each; together 1."""

    def losses(self) -> laws.Losses | None:

        def cells(resolution: edges.Resolution) -> Cells:
            tail, forced = resolution.tail, mixed_span(self, resolution.tail)
            line = edges.graded(lambda line: [mixed_cells(self, line, tail)], forced, resolution)
            return mixed_cells(self, line, tail)

        return laws.of_cells(cells, self.rate)

    def supremum(self) -> arb | None:
        """Of the order "add": where nothing was moved; None where something always is, and of the other order."""
        still = self.weights()[0]
        return None if self.order == Order.REMOVE or still.is_zero() else -still.log()

    def profile(self, epsilon: arb) -> arb | None:
        """The likelihood ratio grows with x: P(x > t) - odds Q(x > t) where it is odds, or the complement's."""
        if len(self.moves()) > MOST_UNITS + 1:
            return None
        weights, moves, odds = self.weights(), self.moves(), epsilon.exp()
        level = odds if self.order == Order.REMOVE else 1 / odds
        if not level > weights[0]:
            return 1 - odds if self.order == Order.REMOVE else arb(0)  # P exceeds odds Q everywhere; nowhere
        left, right = _root(weights, moves, level)
        return positive(self._beyond(weights, moves, odds, left, right))

    def _beyond(self, weights: list[arb], moves: list[arb], odds: arb, left: arb, right: arb) -> arb:
        """A ball that holds the largest P(E) - odds Q(E): at any t at most that, and within t's interval at least."""

        def mixture(t: arb) -> arb:
            return sum((w * normal_tail(t - move) for w, move in zip(weights, moves, strict=True)), arb(0))

        def between(start: arb, end: arb) -> arb:
            if self.order == Order.REMOVE:
                return mixture(start) - odds * normal_tail(end)
            return normal_tail(-end) - odds * (1 - mixture(start))

        return between(left, left).union(between(left, right))


def _root(weights: list[arb], moves: list[arb], level: arb) -> tuple[arb, arb]:
    """Two points, close to each other: for certain, the likelihood ratio is at most `level` at the first, which is
    above weights[0], and at least that at the second."""
    parts = [(w, m) for w, m in zip(weights[1:], moves[1:], strict=True) if w > 0]
    # below 0 the ratio is at most weights[0] + (1 - weights[0]) e^(moves[1] x), everywhere at least each of its parts
    first = min(0.0, float_below(((level - weights[0]) / (1 - weights[0])).log() / moves[1]))
    last = min(float_above(((level / w).log() + m**2 / 2) / m) for w, m in parts)

    def excess(past: float, rounded: Callable[[arb], float]) -> Excess:
        x = arb(first) + past
        sizes = [w * (m * x - m**2 / 2).exp() for w, m in parts]
        ratio = sum(sizes, weights[0])
        steep = sum((m * size for (_, m), size in zip(parts, sizes, strict=True)), arb(0)) / ratio
        return Excess(rounded((level / ratio).log()), -float(steep.mid()))

    left, _ = crossing(lambda past: excess(past, float_below), last - first)
    _, right = crossing(lambda past: excess(past, float_above), left)
    return arb(first) + left, arb(first) + right


@dataclass(frozen=True, slots=True)
class MixedGaussianPair(MixtureOfGaussiansPair):
    """A Poisson round in which each of several units takes part by a coin of its own: moves 0, shift, 2 shift, ...,
    binomial weights. That it dominates a group's round: Ganesh 2024 (arXiv 2401.10294), and
    docs/theory/dominating_pairs.md.
    """

    shift: float
    rate: float
    units: int
    order: Order

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def mirrored(self) -> Self:
        return replace(self, order=self.order.exchanged)

    def moved(self, factor: float) -> Self:
        return replace(self, shift=self.shift * factor, rate=min(self.rate * factor, 1 - UNIT))

    def words(self) -> str:
        mixture = f"N({self.shift:.6g} J, 1), J binomial of {self.units} with probability {self.rate:.6g}"
        return f"{mixture}; against N(0, 1)" if self.order == Order.REMOVE else f"N(0, 1) against: {mixture}"

    def moves(self) -> list[arb]:
        """So many times the shift."""
        return [j * arb(self.shift) for j in range(self.units + 1)]

    def weights(self) -> list[arb]:
        """The law of the number of units that take part."""
        q, n = arb(self.rate), self.units
        return [arb(fmpz(math.comb(n, j))) * q**j * (1 - q) ** (n - j) for j in range(n + 1)]


@dataclass(frozen=True, slots=True)
class StatedMixturePair(MixtureOfGaussiansPair):
    """One unit, whose moves are stated: steps, above 0 and ascending, with the probabilities `shares`, and none at all
    with the probability `still`. The probabilities are divided by their sum.
    """

    steps: tuple[float, ...]
    shares: tuple[float, ...]
    still: float
    order: Order
    rate: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))
        object.__setattr__(self, "rate", 1 - self.still)

    def mirrored(self) -> Self:
        return replace(self, order=self.order.exchanged)

    def moved(self, factor: float) -> Self:
        """In its steps: less noise dominates."""
        return replace(self, steps=tuple(step * factor for step in self.steps))

    def words(self) -> str:
        parts = ", ".join(
            f"{step:.6g} with probability {p:.6g}" for step, p in zip(self.steps, self.shares, strict=True)
        )
        mixture = f"N(M, 1), M = {parts}, else 0"
        return f"{mixture}; against N(0, 1)" if self.order == Order.REMOVE else f"N(0, 1) against: {mixture}"

    def moves(self) -> list[arb]:
        """None, then the steps."""
        return [arb(0), *map(arb, self.steps)]

    def weights(self) -> list[arb]:
        """As stated, divided by their sum."""
        given = [arb(self.still), *map(arb, self.shares)]
        total = sum(given, arb(0))
        return [share / total for share in given]


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
