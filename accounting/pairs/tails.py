"""Tails of distributions in ball arithmetic."""

from __future__ import annotations

from flint import arb


def normal_tail(x: arb) -> arb:
    """P(N(0,1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def positive(x: arb) -> arb:
    """max(x, 0)."""
    return x.max(arb(0))
