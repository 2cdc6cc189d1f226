"""Poisson cohorts that are cut at a largest size: how far they are from those that are not (cut_cohorts.py has pairs).

One round differs from a Poisson round only when the coins choose more than max_cohort units, so with tau the sum over
the rounds of P[Bin(population, rate) > max_cohort], the run's law is within tau in total variation of the Poisson
run's, for both of two neighbours, adaptively too. Hence

    delta_poisson(eps) - (1 + e^eps) tau <= delta(eps) <= delta_poisson(eps) + (1 + e^eps) tau

(Chua, Ghazi, Harrison, Leeman, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024, arXiv 2411.04205, state the upper half).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from ...mechanisms import Mechanism, Poisson, Repeat, Sequence, TruncatedPoisson, rounds_by_step
from ..bracket import Bracket
from ..pairs.tails import binomial_tail
from ..rounding import float_above, up, widened_down, widened_up

Ask = Callable[[float], Bracket]

_DOUBLINGS = 60
_TINY = 2.0**-1000


def as_poisson(run: Mechanism) -> Mechanism:
    """The same run without the cuts."""
    return Sequence(tuple(Repeat(_uncut(step), rounds) for step, rounds in rounds_by_step(run).items()))


def _uncut(step: Mechanism) -> Mechanism:
    return Poisson(step.mechanism, step.sampling_rate) if isinstance(step, TruncatedPoisson) else step


def total_variation(run: Mechanism) -> float:
    """At least tau."""
    total = 0.0
    for step, rounds in rounds_by_step(run).items():
        if isinstance(step, TruncatedPoisson):
            total = up(total + up(rounds * tail_above(step.population, step.sampling_rate, step.max_cohort)))
    return total


def tail_above(population: int, rate: float, most: int) -> float:
    """At least P[Bin(population, rate) > most] = I_rate(most + 1, population - most)."""
    if most >= population:
        return 0.0
    return min(1.0, max(float_above(binomial_tail(population, arb(rate), most + 1)), _TINY))


def epsilon(run: Mechanism, delta: float, poisson_epsilon: Ask) -> Bracket:
    """The run's epsilon at delta, from that of the run without cuts; infinite where tau is too large for that.

    At any trial E, an eps <= E with delta_poisson(eps) <= delta - (1 + e^E) tau has delta(eps) <= delta.
    """
    tau = total_variation(run)
    start = poisson_epsilon(delta)

    def less(trial: float) -> float:
        return widened_down(delta - _shift(trial, tau), 2**-50)

    def more(trial: float) -> float:
        return widened_up(delta + _shift(trial, tau), 2**-50)

    upper = _settled(start.upper, less, lambda at: poisson_epsilon(at).upper)
    lower = _settled(start.lower, more, lambda at: poisson_epsilon(at).lower)
    lower = 0.0 if math.isinf(lower) else min(lower, start.lower)
    return Bracket(lower, max(upper, start.upper), start.certified, start.method)


def delta(run: Mechanism, epsilon: float, poisson_delta: Ask) -> Bracket:
    """The run's delta at epsilon; poisson_delta(epsilon) is that of the run without cuts."""
    found = poisson_delta(epsilon)
    shift = _shift(epsilon, total_variation(run))
    lower = max(0.0, widened_down(found.lower - shift, 2**-50))
    return Bracket(lower, min(1.0, widened_up(found.upper + shift, 2**-50)), found.certified, found.method)


def _shift(epsilon: float, tau: float) -> float:
    """At least (1 + e^epsilon) tau."""
    return widened_up((1.0 + math.exp(min(epsilon, 700.0))) * tau, 2**-50) if epsilon < 700.0 or not tau else math.inf


def _settled(start: float, target: Callable[[float], float], end: Callable[[float], float]) -> float:
    """An end of the Poisson run's epsilon at target(trial), for the first of growing trials that is at least it.

    Not by `crossing`: each trial is an answer of its own, and where cuts are rare the first serves.
    """
    trial, step = start * (1 + 2**-40), max(start, 1e-3) * 2**-40
    for _ in range(_DOUBLINGS):
        at = target(trial)
        if not 0.0 < at < 1.0:
            return math.inf
        if (found := end(at)) <= trial:
            return found
        trial, step = trial + step, 2.0 * step
    return math.inf
