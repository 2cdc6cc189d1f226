"""delta of one, two or three Poisson-sampled Gaussian rounds, remove order, to 50 digits: closed form and quadrature.

One round: the loss exceeds eps where x > x(eps), so delta = P(x > x(eps)) - e^eps Q(x > x(eps)). More rounds: the mean
of the delta of the others over one round's loss, by mpmath's tanh-sinh or Gauss-Legendre rule on pieces. It shares
nothing with dpcert.accounting.
"""

from __future__ import annotations

from mpmath import mp, mpf

DIGITS = 50


def profile(shift: float, rate: float, rounds: int, epsilon: float | mpf) -> mpf:
    """delta at epsilon, which may be negative."""
    s, p, eps = mpf(shift), mpf(rate), mpf(epsilon)
    if rounds == 1:
        return _one(s, p, eps)

    def integrand(x: mpf) -> mpf:
        mixture = 1 - p + p * mp.exp(s * x - s * s / 2)
        return mp.npdf(x) * mixture * profile(shift, rate, rounds - 1, eps - mp.log(mixture))

    return mp.quad(integrand, _pieces(s, p, rounds, eps))


def _one(s: mpf, p: mpf, eps: mpf) -> mpf:
    odds = (mp.exp(eps) - (1 - p)) / p
    if odds <= 0:
        return 1 - mp.exp(eps)
    x = mp.log(odds) / s + s / 2
    above, jumped = mp.erfc(x / mp.sqrt(2)) / 2, mp.erfc((x - s) / mp.sqrt(2)) / 2
    return (1 - p - mp.exp(eps)) * above + p * jumped


def _pieces(s: mpf, p: mpf, rounds: int, eps: mpf) -> list[mpf]:
    """Ends of intervals: fine about where the other rounds' delta bends, out to where nothing is left."""
    bend = (mp.exp(eps + (rounds - 1) * -mp.log(1 - p)) - (1 - p)) / p
    points = {mpf(k) for k in range(-14, 15)} | {s + k for k in range(-14, 15)}
    if bend > 0:
        at = mp.log(bend) / s + s / 2
        points |= {at, at - mpf(1) / 100, at + mpf(1) / 100, at - mpf(1) / 10, at + mpf(1) / 10}
    return sorted(points)
