"""A quick upper end for hidden cohorts of a fixed size: the Renyi divergences of "remove".

At every order from 1.05 on, the divergence of each pair of a replace-one round is at most that of "remove" with move 2
(docs/theory/fixed_cohorts.md, Theorem 6), and divergences add up over adaptive rounds, in whatever order: it serves
runs that are too long, or have too many phases, for the recursion.
"""

from __future__ import annotations

from collections.abc import Callable

from ...mechanisms import FixedSize, Gaussian, Mechanism, rounds_by_step
from ..pairs import GaussianPair, Sampling, SubsampledPair
from ..renyi import renyi as rdp
from ..renyi.conversions import best_delta, best_epsilon, canonne_epsilon
from ..renyi.orders import best_order
from ..rounding import TARGET, widened_down

LEAST_ORDER = 1.05
"""Just above 21/20, as the double that it is."""


def cohorts_curve(run: Mechanism) -> rdp.RenyiCurve | None:
    """order to a bound of the divergence, from LEAST_ORDER on; None where not all rounds are such cohorts."""
    found = []
    for part, rounds in rounds_by_step(run).items():
        if not isinstance(part, FixedSize) or not isinstance(part.mechanism, Gaussian):
            return None
        pair = GaussianPair(2.0 / part.mechanism.noise_multiplier)
        found.append((SubsampledPair(pair, part.sampling_rate, Sampling.REMOVE), rounds))
    return rdp.curve(tuple(found))


def epsilon_above(curve: rdp.RenyiCurve, delta: float) -> float:
    """At least the epsilon at 0 < delta < 1."""
    target = widened_down(delta, TARGET)
    start = best_order(_from_least(lambda order: canonne_epsilon(order, curve(order), target)))
    bound = _from_least(lambda order: best_epsilon(order, curve(order), target))
    return bound(best_order(bound, start, 1e-2))


def delta_above(curve: rdp.RenyiCurve, epsilon: float) -> float:
    """At least the delta at epsilon >= 0."""
    least = max(0.0, widened_down(epsilon, TARGET))
    start = best_order(_from_least(lambda order: (order - 1) * (curve(order) - least)))  # about the bound's logarithm
    bound = _from_least(lambda order: best_delta(order, curve(order), least))
    return min(1.0, bound(best_order(bound, start, 1e-2)))


def _from_least(objective: Callable[[float], float]) -> Callable[[float], float]:
    return lambda order: objective(max(order, LEAST_ORDER))
