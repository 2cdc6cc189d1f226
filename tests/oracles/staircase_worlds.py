"""The staircase mechanism's density on the cells where it and its shifted copies are constant, and its tail."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import floor

from flint import arb
from hockey_stick import at_bits, ball
from outcomes import Pair, distinct, pair

STEPS = 120
"""How far around all centres cells go; what lies outside counts as anything."""


@at_bits
def pairs(epsilon: Fraction, gamma: Fraction, moves: Iterable[Fraction]) -> list[Pair]:
    """Noise about 0 against noise about each of these, in sensitivities. Cells of one likelihood ratio are one."""
    found = []
    ratio = (-ball(epsilon)).exp()
    top = (1 - ratio) / (2 * (ball(gamma) + ratio * (1 - ball(gamma))))
    outside = ratio ** (STEPS - 2) * (1 + arb(0, 1))  # all steps that are further out on either side
    for move in moves:
        cuts = sorted({at for centre in (Fraction(0), move) for at in _edges(centre, gamma)})
        p: dict[object, arb] = {"outside": outside}
        q: dict[object, arb] = {"outside": outside}
        for left, right in pairwise(cuts):
            middle = (left + right) / 2
            ours, theirs = _falls(middle, gamma), _falls(middle - move, gamma)
            for law, falls in ((p, ours), (q, theirs)):
                mass = ball(right - left) * top * ratio**falls
                law[ours - theirs] = law.get(ours - theirs, arb(0)) + mass
        found += [pair(p, q), pair(q, p)]
    return distinct(found)


def _edges(centre: Fraction, gamma: Fraction) -> list[Fraction]:
    return [centre + sign * (k + part) for sign in (-1, 1) for k in range(STEPS) for part in (Fraction(0), gamma)]


def _falls(at: Fraction, gamma: Fraction) -> int:
    """How often the density has fallen by e^-epsilon (Geng, Viswanath 2014, Section 2): a(gamma) e^(-k epsilon) on
    [k, k + gamma), and e^-epsilon times that on the rest of the step."""
    step = floor(abs(at))
    return step + (abs(at) - step >= gamma)
