"""delta of two Poisson-sampled Gaussian rounds, remove or replace order, as a ball: one round's loss integrated over.

delta_2(eps) is the mean of delta_1(eps - L) over one round's loss L, delta_1 being the closed form. Arb's integrator is
rigorous; it shares nothing with dpcert.accounting.
"""

from __future__ import annotations

from itertools import pairwise

from flint import acb, arb, ctx

BITS = 160
TINY = 2.0**-80
COARSE = 2.0**-40
FAR = 16


def profile(shift: float, rate: float, epsilon: float, other: tuple[float, float] | None = None) -> arb:
    """delta at epsilon > 0. other: shift and rate of the other round, where it is not the same."""
    with ctx.workprec(BITS):
        s, p, odds = arb(shift), arb(rate), arb(epsilon).exp()
        s2, p2 = (arb(value) for value in other or (shift, rate))
        # Past the bend delta_1(e) is 1 - e^e, but for what Q gives to losses at most e, less than P(N(0, 1) < -FAR).
        bend = _crossing(s, p, odds / (1 - p2 + p2 * (-s2 * FAR - s2 * s2 / 2).exp()))
        total = (1 - p) * _above(bend) + p * _above(bend - s) - odds * _above(bend)

        def integrand(x: acb, _: bool) -> acb:
            mixture = 1 - p + p * (s * x - s * s / 2).exp()
            rest = odds / mixture
            y = ((rest - (1 - p2)) / p2).log() / s2 + s2 / 2
            alone = (1 - p2 - rest) * _above(y) + p2 * _above(y - s2)
            return (-x * x / 2).exp() / (2 * arb.pi()).sqrt() * mixture * alone

        ends = [arb(-16), arb(-4), arb(-1), arb(1), arb(4)]
        ends = [end for end in ends if end < bend] + [bend]
        size = p * _above(_crossing(s, p, odds) - s) + p2 * _above(_crossing(s2, p2, odds) - s2) + total
        for a, b in pairwise(ends):
            total += acb.integral(integrand, a, b, rel_tol=TINY, abs_tol=(size * TINY).mid()).real
        return total.union(total + _above(arb(16)) + _above(arb(FAR)))


def replaced(shift: float, rate: float, epsilon: float, other: tuple[float, float] | None = None) -> arb:
    """The same when a unit is replaced: mixtures with N(s, 1) and with N(-s, 1)."""
    with ctx.workprec(BITS):
        s, p, odds = arb(shift), arb(rate), arb(epsilon).exp()
        s2, p2 = (arb(value) for value in other or (shift, rate))

        def reached(rest: acb, s: arb, p: arb) -> acb:
            """The outcome at which the mixtures' ratio is rest: e^{s x} is the positive root of a quadratic."""
            k, half = p * (-s * s / 2).exp(), (1 - p) * (rest - 1) / 2
            root = (half * half + k * k * rest).sqrt()
            return ((half + root) / k if half.real.mid() > 0 else k * rest / (root - half)).log() / s

        def integrand(x: acb, _: bool) -> acb:
            up, down = (1 - p + p * (sign * s * x - s * s / 2).exp() for sign in (1, -1))
            rest = odds * down / up
            y = reached(rest, s2, p2)
            alone = (1 - p2) * (1 - rest) * _above(y) + p2 * (_above(y - s2) - rest * _above(y + s2))
            return (-x * x / 2).exp() / (2 * arb.pi()).sqrt() * up * alone

        bend = reached(acb(odds), s, p).real.mid()
        size = integrand(acb(0), False).real
        ends = sorted(
            arb(end) for end in (-FAR, -4, 0, 3, bend - 0.1, bend - 0.001, bend, bend + 0.001, bend + 0.1, FAR)
        )
        total = arb(0)
        for a, b in pairwise(ends):
            total += acb.integral(integrand, a, b, rel_tol=COARSE, abs_tol=(size * COARSE).mid()).real
        return total.union(total + 4 * _above(FAR - s))


def _crossing(s: arb, p: arb, mixture: arb) -> arb:
    """Where the mixture has that density ratio."""
    return ((mixture - (1 - p)) / p).log() / s + s / 2


def _above(x: arb | acb) -> arb | acb:
    """P(N(0, 1) > x), entire in x."""
    return (x / arb(2).sqrt()).erfc() / 2
