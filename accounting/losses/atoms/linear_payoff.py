"""Outcomes with a loss so far above eps that their payoff is linear: in closed form, none of them inverted.

Of the outcomes F in which some round's loss is above a threshold, delta's share is

    E_F[(1 - e^{eps - L})_+] = P(F) - e^eps Q(F) + E_F[(e^{eps - L} - 1)_+],

Q(F) = E_F[e^-L], and the last term is nothing or, by Chernoff, next to it: the other rounds would have to make up for
the far loss. What is left has losses up to the threshold, and moments at every tilt that the crossing asks for
(docs/theory/lattices.md, "Far losses").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..line import log_peak
from .composition import log_error
from .transform import AtomLaw, Law

_ERROR = 1e-11
"""Far above the relative rounding of sums of 2^20 masses, and of what is made of them."""

_ORDERS = np.geomspace(1.0, 300.0, 40)
"""Exponents tried for the Chernoff bound, beyond 1, in units of 1/eps."""


@dataclass(frozen=True, slots=True)
class LinearPayoff:
    """apart, under_q: P(F) - Q(F) and Q(F), rounded; error: of the former. put: exponents k and logs of bounds on
    E_F[(e^{eps - L} - 1)_+] e^{-k eps}."""

    apart: float = 0.0
    under_q: float = 0.0
    error: float = 0.0
    put: tuple[tuple[float, float], ...] = ()

    def lower(self, epsilon: float) -> float:
        """At most the share of delta."""
        value, error = self._linear(epsilon)
        return max(0.0, value - error)

    def upper(self, epsilon: float) -> float:
        """At least the share of delta."""
        value, error = self._linear(epsilon)
        return max(0.0, value + error) + math.exp(min(0.0, self.log_put(epsilon)))

    def log_put(self, epsilon: float) -> float:
        """At least log E_F[(e^{eps - L} - 1)_+]."""
        return min((log + k * epsilon for k, log in self.put), default=-math.inf)

    def _linear(self, epsilon: float) -> tuple[float, float]:
        """P(F) - e^eps Q(F), and a bound on its error."""
        grown = math.expm1(min(epsilon, 700.0)) * self.under_q
        return self.apart - grown, self.error + _ERROR * (abs(self.apart) + grown)


def cut(
    laws: Sequence[tuple[Law, int]], jumping: frozenset[int], loss: float, epsilon: float
) -> tuple[list[Law], LinearPayoff]:
    """The laws without the losses above a threshold of the steps `jumping`, and the outcomes with one of these.

    With N the product of what is left and E = sum rounds log(1 + far / left) at 0 and at -1, the moments of F are
    N (e^E - 1) there, and their difference is N(0) e^E(-1) (e^{E(0) - E(-1)} - 1) + (N(0) - N(-1)) (e^E(-1) - 1).
    """
    split = [near(law, loss) if at in jumping else (law, None) for at, (law, _) in enumerate(laws)]
    log_mass = fall = fall_size = exponent = moved = moved_size = 0.0
    for (kept, far), (_, rounds) in zip(split, laws, strict=True):
        mass, change, size = _moments(kept)
        log_mass += rounds * math.log(mass)
        fall += rounds * math.log1p(-change / mass)
        fall_size += rounds * size / mass
        if far is not None:
            over, gain, _ = _moments(far)
            first, second = gain / (mass - change), over * change / (mass * (mass - change))
            ratio = (over - gain) / (mass - change)
            exponent += rounds * math.log1p(ratio)
            moved += rounds * math.log1p((first - second) / (1.0 + ratio))
            moved_size += rounds * (first + over * size / (mass * (mass - change)))
    if not exponent:
        return [law for law, _ in laws], LinearPayoff()
    whole, grown = math.exp(log_mass), math.expm1(exponent)
    apart = whole * ((1.0 + grown) * math.expm1(moved) - math.expm1(fall) * grown)
    error = 2.0 * _ERROR * whole * ((1.0 + grown) * moved_size + fall_size * grown)
    put = _put([(kept, far, rounds) for (kept, far), (_, rounds) in zip(split, laws, strict=True)], epsilon)
    return [kept for kept, _ in split], LinearPayoff(apart, whole * math.exp(fall) * grown, error, put)


def near(law: Law, loss: float) -> tuple[Law, Law | None]:
    """The losses up to a threshold, and those above it; laws that are no list of atoms stay whole."""
    return law.split(loss) if isinstance(law, AtomLaw) else (law, None)


def _put(parts: Sequence[tuple[Law, Law | None, int]], epsilon: float) -> tuple[tuple[float, float], ...]:
    """(e^y - 1)_+ <= e^{k y} times its largest ratio, which is e^{log_peak(k - 1)}, for k > 1."""
    orders = 1.0 + _ORDERS / epsilon
    log_near, log_far = np.zeros(orders.size), np.full(orders.size, -np.inf)
    for kept, far, rounds in parts:
        logs = kept.log_moments(-orders)
        log_near += rounds * logs
        if far is not None:
            log_far = np.logaddexp(log_far, math.log(rounds) + far.log_moments(-orders) - logs)
    rounds_in_all = sum(rounds for *_, rounds in parts)
    grown = np.exp(np.minimum(log_far, 600.0))  # log(e^x - 1) is at most log x + x, and at most x
    logs = log_near + np.minimum(log_far, 0.0) + grown
    return tuple(
        (k, log + log_peak(k - 1.0) + log_error(rounds_in_all, log) + 1e-9)
        for k, log in zip(orders.tolist(), logs.tolist(), strict=True)
    )


def _moments(law: Law) -> tuple[float, float, float]:
    """The mass, how much larger it is than the integral of e^-L, and the integral of |1 - e^-L|, about."""
    if isinstance(law, AtomLaw):
        change = law.atoms.mass * -np.expm1(-law.atoms.loss)
        return float(np.sum(law.atoms.mass)), float(np.sum(change)), float(np.sum(np.abs(change)))
    mass, other = np.exp(law.log_moments(np.array([0.0, -1.0])))
    return float(mass), float(mass - other), 1.0
