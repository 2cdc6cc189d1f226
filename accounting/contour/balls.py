"""The same inversion in ball arithmetic, for the settings where doubles lose too much to cancellation.

Where jumps are rare and delta is tiny, no vertical line has terms as small as delta: the sum cancels by e^20 and
more. The bounds on discretisation, periodicity and truncation are those of inversion.py; rounding is left
to Arb. Parameters are taken as exact here: the profile increases in every shift and rate, so the caller evaluates
it at both ends of their intervals (docs/theory/contour.md, section 8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import acb, acb_mat, arb, ctx

from ..bracket import OutOfReach
from ..rounding import float_above, float_below
from .inversion import Frame, Plan, frame
from .moments import Quadrature
from .paths import Sampled
from .rounds import Rounds

MOST_PRODUCTS, FEW_PRODUCTS = 24_000_000, 6_000_000
"""Frequencies times nodes, a million of which take about 0.15 s at either end of the parameters' intervals: where the
narrowest brackets are promised, and where other accountants' are narrow enough."""


@dataclass(frozen=True, slots=True)
class BallInversion:
    """phi(t) / (t (t+1)) * h / pi at the frame's frequencies, halved at the first."""

    bits: int
    frame: Frame
    terms: tuple[acb, ...]

    @property
    def c(self) -> float:
        """Re t."""
        return self.frame.c

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        with ctx.workprec(self.bits):
            turn = acb(0, -arb(epsilon) * arb(self.frame.step)).exp()
            scale = (-arb(epsilon) * arb(self.c)).exp()
            products = [a * b for a, b in zip(self.terms, _powers(turn, len(self.terms)), strict=True)]
            total = scale * sum((product.real for product in products), arb(0))
            moved = scale * sum((k * product.imag for k, product in enumerate(products)), arb(0))
            high = (total + (arb(self.frame.log_tail) - arb(epsilon) * arb(self.c)).exp()).upper()
            low = (2 * total - high - arb(self.frame.log_excess(epsilon)).exp()).lower()
            slope = self.frame.step * moved / total - self.c
            return (
                float_below(low.log()) if low > 0 else -math.inf,
                float_above(high.log()) if high > 0 else math.inf,
                float(slope.mid()) if slope.is_finite() else -self.c,
            )


def invert_in_balls(
    rounds: Rounds, exact: list[Sampled], square: float, plan: Plan, accuracy: float, most_products: int
) -> BallInversion:
    """The moments on Re t = c for phases with exactly the parameters of `exact` and exactly that Gaussian square.

    rounds: quadratures of phases whose parameters agree with these within PARAMETER, serving every point of the
    plan; their geometry and their bounds on discretisation are used. Raises OutOfReach beyond that many products.
    """
    tilts = [part.tilted(plan.c) for part, _ in rounds.sampled]
    found = frame(rounds, tilts, plan, accuracy)
    nodes = sum(path.loss.size for part, _ in rounds.sampled for path in part.paths)
    if found.size * nodes > most_products:
        raise OutOfReach(f"{found.size} frequencies with {nodes} nodes are too many for ball arithmetic")
    most = max((count for _, count in rounds.sampled), default=1)
    bits = 96 + math.ceil(1.5 * (accuracy + plan.cancellation) + math.log2(most))
    with ctx.workprec(bits):
        values = _gaussian(square, found)
        for (part, count), pair, tilt in zip(rounds.sampled, exact, tilts, strict=True):
            moments = _moments(part, pair, tilt.log_moment_above(), found)
            values = [value * moment**count for value, moment in zip(values, moments, strict=True)]
        values[0] /= 2
        return BallInversion(bits, found, tuple(values))


def _gaussian(square: float, found: Frame) -> list[acb]:
    """e^{square t (t+1) / 2} / (t (t+1)) * h / pi at every frequency."""
    values = []
    for k in range(found.size):
        t = acb(arb(found.c), k * arb(found.step))
        product = t * (t + 1)
        values.append((arb(square) * product / 2).exp() / product * (arb(found.step) / arb.pi()))
    return values


def _moments(part: Quadrature, pair: Sampled, log_moment: float, found: Frame) -> list[acb]:
    """Balls that hold E[e^{tL}] = 1 + sum_n w_n (e^{tL} - 1) at every frequency.

    With v = w e^{cL} and g = e^{ihL}, sum_n v_n g_n^k for all k = q inner + j is a matrix product.
    """
    inner = max(1, math.isqrt(found.size))
    outer = -(-found.size // inner)
    total = [acb(1)] * (inner * outer)
    for nodes, mirrored in _branches(part, pair):
        c = -arb(found.c) if mirrored else arb(found.c)
        weights = [weight * (c * loss).exp() for weight, loss in nodes]
        turns = [(acb(0, 1) * arb(found.step) * loss).exp() for _, loss in nodes]
        fine = [_powers(turn, inner + 1) for turn in turns]
        coarse = [[w * g for g in _powers(row[inner], outer)] for w, row in zip(weights, fine, strict=True)]
        product = acb_mat(coarse).transpose() * acb_mat([row[:inner] for row in fine])
        base = sum((weight for weight, _ in nodes), acb(0))
        sums = [product[q, j] - base for q in range(outer) for j in range(inner)]
        total = [a + (b.conjugate() if mirrored else b) for a, b in zip(total, sums, strict=True)]
    fixed = arb(part.relative_error(found.c)) * (arb(log_moment).exp() + 1)
    slope = arb(part.corner_tail)
    moments = []
    for k in range(found.size):
        radius = arb(0, 1) * (fixed + slope * (arb(found.c) + k * arb(found.step)))
        moments.append(total[k] + acb(radius, radius))
    return moments


def _powers(base: acb, count: int) -> list[acb]:
    """base^0 .. base^(count-1), each from halves: k factors one by one would grow a complex ball by 2^(k/2)."""
    powers = [acb(1), base]
    for k in range(2, count):
        powers.append(powers[k // 2] * powers[k - k // 2])
    return powers[:count]


def _branches(part: Quadrature, pair: Sampled) -> list[tuple[list[tuple[acb, acb]], bool]]:
    """(weight, loss) at every node of every branch, on the paths of paths.py, and whether it is mirrored."""
    step, first, last = part.grid
    shift, rate, height = arb(pair.shift), arb(pair.rate), arb(part.height)
    unit = arb(step) / (2 * arb.pi()).sqrt()

    def log_mixture(y: acb) -> acb:
        return (1 - rate + rate * y.exp()).log()

    plain, sampled = [], []
    for n in range(first, last + 1):
        if pair.order == "hybrid":
            root = acb(0, (n * arb(step)).exp() / 2).sqrt()
            inverse = (1 + 1 / (root * root)).sqrt()
            zeta = 4 * height / arb.pi() * (root.log() + (1 + inverse).log())
            speed = 2 * height / arb.pi() / inverse
            x, log = shift / 2 + zeta, log_mixture(shift * zeta)
        else:
            speed, x = acb(1), acb(n * arb(step), height)
            log = log_mixture(shift * x - shift * shift / 2)
        weight = speed * (-x * x / 2).exp() * unit
        loss = log if pair.order != "replace" else log - log_mixture(-shift * x - shift * shift / 2)
        plain.append((weight, loss))
        sampled.append((weight * log.exp(), loss))
    if pair.order == "add":
        return [(plain, True)]
    return [(sampled, False), (plain, True)] if pair.order == "hybrid" else [(sampled, False)]
