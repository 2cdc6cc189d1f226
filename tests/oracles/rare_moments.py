"""E[e^{tu}] of one Poisson-sampled Gaussian round, remove order, u = loss - log(1 - rate): by Arb's integrator.

The path climbs so steeply that e^{tu} does not grow along it, whatever t with an argument of 50 degrees or more. It
shares nothing with dpcert.accounting.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from flint import acb, arb


def _segment(integrand: Callable[[acb], acb], start: acb, end: acb) -> acb:
    """The integral along a straight line."""

    def along(share: acb, _: bool) -> acb:
        return integrand(start + (end - start) * share) * (end - start)

    return acb.integral(along, 0, 1, rel_tol=arb(2) ** -100, abs_tol=arb(2) ** -100)


def moment(shift: float, rate: float, t: acb) -> acb:
    """E[e^{tu}] by Arb's rigorous integrator: along the real line near c, along a climbing polygon elsewhere."""
    s, p = arb(shift), arb(rate)
    middle = ((1 - p) / p).log() / s + s / 2
    root = (2 * arb.pi()).sqrt()

    def integrand(x: acb) -> acb:
        z = s * (x - middle)  # beyond the density's zeros the logarithm is continued, hence the two forms
        u = z + (1 + (-z).exp()).log() if x.real > middle else (1 + z.exp()).log()
        return (-x * x / 2).exp() / root * (1 - p) * ((1 + t) * u).exp()

    reach = 60.0 + 9.0 * shift * (1.0 + float(t.real.mid()))
    corner = acb(middle, arb(1.0) / s)
    corners = [acb(arb(-16), arb(1.0) / s), corner, corner + acb(reach, 0.88 * reach)]
    return sum((_segment(integrand, a, b) for a, b in pairwise(corners)), acb(0))
