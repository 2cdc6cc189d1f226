"""An independent reference for composed privacy profiles: real-line quadrature in 160-bit ball arithmetic.

It shares no code and no path with dpcert.accounting: nodes on the real axis, plain exponentials, no bounds. Its
discretisation is checked, not proved: every sum is done on all nodes and on every second one, and the difference
must be small.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from flint import acb, arb, ctx

BITS = 160
NODES = 1e-9
"""Largest accepted difference, relative to the result, between all nodes and every second one; the error is near
its square."""

FREQUENCIES = 1e-16
"""The same for the frequencies, where the error need only be smaller than the difference."""


class Unresolved(ArithmeticError):
    """The reference's discretisation has not converged: it has no opinion."""


@dataclass(frozen=True)
class Phase:
    """`rounds` rounds of order "gaussian", "remove", "add", "replace" or "hybrid"."""

    order: str
    shift: float
    rate: float
    rounds: int


def profile(phases: list[Phase], epsilons: list[float], most_frequencies: int = 4000) -> list[arb]:
    """delta at each epsilon (all near each other), as balls that hold rounding but not discretisation.

    Raises Unresolved where the discretisation does not converge with that many frequencies.
    """
    with ctx.workprec(BITS):
        c, period = _saddle(phases, epsilons[0])
        for refinement in (1, 2, 4):
            try:
                return _sum(phases, epsilons, c, period, refinement, most_frequencies)
            except Unresolved:
                continue
        raise Unresolved(f"{phases} at {epsilons}")


def _sum(
    phases: list[Phase], epsilons: list[float], c: float, period: float, refinement: int, most_frequencies: int
) -> list[arb]:
    step = 2.0 * math.pi / (period * refinement)
    step = math.ldexp(math.floor(math.ldexp(step, 12 - math.frexp(step)[1])), math.frexp(step)[1] - 12)
    moments = [_moments(phase, c, step, refinement) for phase in phases if phase.order != "gaussian"]
    counts = [phase.rounds for phase in phases if phase.order != "gaussian"]
    square = sum((phase.rounds * arb(phase.shift) ** 2 for phase in phases if phase.order == "gaussian"), arb(0))
    fine, coarse, doubt = [arb(0)] * len(epsilons), [arb(0)] * len(epsilons), arb(0)
    turns = [(-arb(epsilon) * arb(c)).exp() for epsilon in epsilons]
    negligible = 0
    for k in range(most_frequencies):
        t = acb(c, k * step)
        value = (square * t * (t + 1) / 2).exp() / (t * (t + 1)) / (1 if k else 2)
        relative = arb(0)
        for moment, count in zip(moments, counts, strict=True):
            even, odd, atom = next(moment)
            total = even + odd + atom
            value *= total**count
            relative += count * abs(even - odd) / abs(total)
        for index, epsilon in enumerate(epsilons):
            term = (value * acb(0, -arb(epsilon) * (k * arb(step))).exp() * turns[index]).real
            fine[index] += term
            if k % 2 == 0:
                coarse[index] += term
        size = abs(value) * turns[0]
        doubt += (size * relative).mid()
        negligible = negligible + 1 if size < abs(fine[0]) * arb(1e-24) else 0
        if negligible > 6:
            break
    else:
        raise Unresolved("no decay")
    for a, b in zip(fine, coarse, strict=True):
        if not (abs(1 - 2 * b / a) < FREQUENCIES and doubt < NODES * abs(a)):
            raise Unresolved("discretisation")
    return [a * step / arb.pi() for a in fine]


def _moments(phase: Phase, c: float, step: float, refinement: int):  # type: ignore[no-untyped-def]
    """E[e^{tL}] for t = c, c + i step, c + 2 i step, ...: twice the sum over even nodes, over odd nodes, the atom."""
    nodes = _half_line(phase, c, refinement) if phase.order == "hybrid" else _line(phase, c, refinement)
    atom = arb(0)
    if phase.order == "hybrid":
        atom = (1 - arb(phase.rate)) * (arb(phase.shift) / arb(8).sqrt()).erf()
    turns = [(acb(0, step) * loss).exp() for _, loss in nodes]
    for start in itertools.count(0, 48):  # each product of complex balls widens them by up to a factor of 1.4
        values = [weight * (acb(0, start * step) * loss).exp() for weight, loss in nodes]
        for _ in range(48):
            yield sum(values[0::2], acb(0)), sum(values[1::2], acb(0)), atom
            values = [value * turn for value, turn in zip(values, turns, strict=True)]


def _line(phase: Phase, c: float, refinement: int) -> list[tuple[arb, arb]]:
    """(weight e^{cL}, L) on equidistant real nodes."""
    s, p = arb(phase.shift), arb(phase.rate)
    step = min(0.22, 0.7 / phase.shift) / refinement
    left, right = _window(phase, c)
    nodes = []
    for n in range(math.floor(left / step), math.ceil(right / step) + 1):
        x = arb(n) * arb(step)
        loss, log_p = _loss(phase.order, s, p, x)
        nodes.append(((c * loss + log_p - x * x / 2).exp() * arb(step) / (2 * arb.pi()).sqrt(), loss))
    return nodes


def _half_line(phase: Phase, c: float, refinement: int) -> list[tuple[arb, arb]]:
    """The hybrid pair's two branches on x = shift/2 + exp(u - exp(-u)); even and odd u alternate in pairs."""
    s, p = arb(phase.shift), arb(phase.rate)
    _, right = _window(Phase("remove", phase.shift, phase.rate, phase.rounds), c)
    step = min(0.05, 0.15 / phase.shift) / refinement
    last = math.ceil(math.log(max(right - phase.shift / 2, 1.0)) / step + 0.7 / step)
    pairs = []
    for n in range(math.floor(-4.6 / step), last + 1):
        u = arb(n) * arb(step)
        fall = (-u).exp()
        away = (u - fall).exp()
        x = s / 2 + away
        loss = (1 + p * (s * away).expm1()).log()
        weight = away * (1 + fall) * arb(step) * (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
        pairs.append(((weight * ((1 + c) * loss).exp(), loss), (weight * (-c * loss).exp(), -loss)))
    ordered: list[tuple[arb, arb]] = []
    for first, second in zip(pairs[0::2], pairs[1::2], strict=False):
        ordered += [first[0], second[0], first[1], second[1]]
    return ordered


def _loss(order: str, s: arb, p: arb, x: arb) -> tuple[arb, arb]:
    """The loss at x and log dP/dN(0, 1)."""
    log = (1 + p * (s * x - s * s / 2).expm1()).log()
    if order == "remove":
        return log, log
    if order == "add":
        return -log, arb(0)
    return log - (1 + p * (-s * x - s * s / 2).expm1()).log(), log


def _float_loss(phase: Phase, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s, p = phase.shift, phase.rate

    def log(y: np.ndarray) -> np.ndarray:
        return np.where(y < 40, np.log1p(p * np.expm1(np.minimum(y, 40))), y + np.log(p))

    up = log(s * x - s * s / 2)
    if phase.order == "add":
        return -up, 0.0 * x
    if phase.order == "replace":
        return up - log(-s * x - s * s / 2), up
    return up, up


def _window(phase: Phase, c: float) -> tuple[float, float]:
    """Where the tilted density is above e^-75 of its peak, or the untilted one is."""
    span = 16.0 + (2.0 * c + 2.0) * phase.shift
    x = np.linspace(-span, span, 8001)
    loss, log_p = _float_loss(phase, x)
    keep = np.zeros(x.shape, dtype=bool)
    for power in (0.0, c):
        density = power * loss + log_p - x * x / 2
        keep |= density > np.max(density) - 75.0 - math.log(phase.rounds)
    return float(x[keep][0]) - 0.1, float(x[keep][-1]) + 0.1


def _saddle(phases: list[Phase], epsilon: float) -> tuple[float, float]:
    """A c a little below the minimum of H = log(prod M^T) - c epsilon - log c - log(1+c), and a period on that line
    at which copies should no longer matter, in floats.
    """
    grids = []
    for phase in phases:
        if phase.order != "gaussian":
            x = np.linspace(-14.0, 60.0 + 4.0 * phase.shift, 2001)
            grids.append((phase, *_float_loss(phase, x), -x * x / 2, x[1] - x[0]))
    square = sum(phase.rounds * phase.shift**2 for phase in phases if phase.order == "gaussian")

    def value(c: float) -> tuple[float, float]:
        total, curvature = square * c * (c + 1) / 2, square
        for phase, loss, log_p, log_phi, width in grids:
            if phase.order == "hybrid":
                inside = loss > 0
                parts = [(log_p + c * loss)[inside] + log_phi[inside], (-c * loss)[inside] + log_phi[inside]]
                losses = np.concatenate([loss[inside], -loss[inside]])
                exponent = np.concatenate(parts)
                atom = (1 - phase.rate) * math.erf(phase.shift / math.sqrt(8))
            else:
                losses, exponent, atom = loss, log_p + c * loss + log_phi, 0.0
            peak = float(np.max(exponent))
            weight = np.exp(exponent - peak) * width / math.sqrt(2 * math.pi)
            mass = float(np.sum(weight)) + atom * math.exp(-peak)
            mean = float(weight @ losses) / mass
            curvature += phase.rounds * (float(weight @ losses**2) / mass - mean * mean)
            total += phase.rounds * (peak + math.log(mass))
        return total - c * epsilon - math.log(c) - math.log1p(c), curvature

    candidates = np.geomspace(1e-3, 1e4, 81)
    c = 0.85 * float(min(candidates, key=lambda trial: value(float(trial))[0]))
    height, curvature = value(c)
    return c, max(20.0 * math.sqrt(curvature), (44.0 - height) / c)
