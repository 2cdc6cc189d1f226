"""Lower bounds for hidden participation in schemes without an attained product pair.

Proofs: docs/theory/billboard.md, section "Lower bounds from the total".
"""

from __future__ import annotations

import math

from flint import arb, ctx

from ...mechanisms import Gaussian, Mechanism, RandomAllocation, Relation, WithReplacement
from ..allocation.shuffled_event import Epoch
from ..allocation.shuffled_event import epsilon_lower as epoch_lower
from ..losses import gaussian_rounds as gaussian
from ..pairs.tails import normal_tail
from ..rounding import float_below

_BITS = 128


def total_statistic_lower(step: Mechanism, rounds: int, delta: float, relation: Relation) -> float:
    """A certified lower bound on epsilon from the sum of all releases, for schemes without an attained product pair.

    With N participations in all, the sum of the R releases is N(N move / z, R) in units of the noise: for random
    allocation N is certain, and the pair a plain Gaussian of strength N move / (z sqrt(R)). One participation per block
    also has the event "some release exceeds C" (shuffled_event.py). Other schemes: 0.
    """
    base = getattr(step, "mechanism", None)
    if relation == Relation.ADD_REMOVE or not isinstance(base, Gaussian):
        return 0.0
    move = 2.0 if relation == Relation.REPLACE_ONE else 1.0
    if isinstance(step, RandomAllocation):
        if delta == 0.0:  # the unit takes part for certain, and the loss of a Gaussian sum has no end
            return math.inf
        strength = rounds * step.participations * move / (base.noise_multiplier * math.sqrt(rounds * step.rounds))
        found = gaussian.epsilon_below(delta * (1 + 1e-15), strength * (1 - 1e-15))
        if step.participations == 1:
            low = -1 if relation == Relation.REPLACE_ONE else 0
            found = max(found, epoch_lower(Epoch(base.noise_multiplier, step.rounds, 1, low), delta))
        return found
    if isinstance(step, WithReplacement):
        return _drawn_lower(rounds * step.draws, step.population, move / base.noise_multiplier, rounds, delta)
    return 0.0


def _drawn_lower(draws: int, population: int, shift: float, rounds: int, delta: float) -> float:
    """From the event E = {sum of releases > C}: log((P[E] - delta) / Q[E]), with P the mixture over N participations.

    N ~ Bin(draws, 1/population). P[E] is at least P[N >= n] P[N(n shift, R) > C] with n = floor(draws / population);
    P[N >= n] >= 1/2, since a binomial's median is at least the floor of its mean (Kaas, Buhrman 1980). C is chosen on
    a grid; any C is valid.
    """
    n = draws // population
    if n == 0:
        return 0.0
    best = 0.0
    with ctx.workprec(_BITS):
        spread = arb(rounds).sqrt()
        centre = n * arb(shift)
        for k in range(-40, 41):
            cut = centre + spread * k / 10
            first, second = normal_tail((cut - centre) / spread) / 2, normal_tail(cut / spread)
            if first - arb(delta) > 0 and second > 0:
                best = max(best, float_below(((first - arb(delta)) / second).log()))
    return best
