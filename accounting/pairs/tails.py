"""Tails of distributions in ball arithmetic."""

from __future__ import annotations

from flint import arb


def normal_tail(x: arb) -> arb:
    """P(N(0,1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def normal_quantile(share: arb) -> arb:
    """The x beyond which N(0,1) has this share: P(N(0,1) > x) = share."""
    return arb(2).sqrt() * (2 * share).erfcinv()


def binomial_tail(n: int, rate: arb, least: int) -> arb:
    """P(Bin(n, rate) >= least), the regularised incomplete beta function."""
    if least <= 0:
        return arb(1)
    return arb(0) if least > n else rate.beta_lower(least, n - least + 1, regularized=True)


def positive(x: arb) -> arb:
    """max(x, 0)."""
    return x.max(arb(0))
