"""What the inverter asks of a measure of privacy losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...mechanisms.arrays import Complex, Floats


@dataclass(frozen=True, slots=True)
class Transform:
    """phi(c + i s) / e^log_scale at equally spaced s from 0 on, each known to within its error.

    log_scale: about log phi(c); scale_error: what it may be off from what the values are relative to.
    """

    s: Floats
    values: Complex
    errors: Floats
    log_scale: float
    scale_error: float


class OnLine(Protocol):
    """A measure on Re t = c: phi(t) is the integral of e^{tL}."""

    def log_bound(self, frequency: float) -> float:
        """At least log |phi(c + is)| for every s >= frequency."""

    @property
    def fall(self) -> float:
        """About a number with log |phi(c + is)| = log phi(c) - fall s^2 for small s; 0 where it does not matter."""

    def transform(self, period: float, count: int) -> Transform:
        """At `count` frequencies or a few more, 2 pi / period apart or a little less; step and count of them are
        functions of these two arguments alone."""


class Measure(Protocol):
    """A finite measure of finite losses L."""

    def log_moments(self, points: Floats) -> Floats:
        """At least the log of the integral of e^{cL}, for every c of points."""

    def on(self, c: float) -> OnLine:
        """The measure on the line Re t = c."""
