"""Renyi divergences of a run of Poisson-sampled Gaussian rounds from both sides, without building its pairs.

The commonest question, answered in a fraction of the time that finding out what neighbours see of a run takes. Where
the unit is added, removed or zeroed out and nobody sees who takes part, the pair "remove" is attained in every round
and dominates it, and "add" has no larger divergence at any order (schemes.py, renyi.largest_of).
"""

from __future__ import annotations

from ...mechanisms import Gaussian, Mechanism, Participation, Poisson, Relation, Visibility, rounds_by_step
from ..pairs.moments import SLACK
from ..rounding import down, up
from .sampled_gaussian import ends_of_removed

_LEAST_NOISE, _MOST_NOISE = 2.0**-300, 2.0**300


def of_sampled_rounds(
    run: Mechanism, alpha: float, relation: Relation, participation: Visibility
) -> tuple[float, float] | None:
    """(at most, at least) D_alpha of the run for finite alpha > 1; None where a round is of another kind.

    Both ends hold for all parameters within rounding.PARAMETER of the given doubles: each is taken at parameters that
    are rounded in its direction, since the divergence grows with the rate and the shift.
    """
    if participation != Participation.HIDDEN or relation == Relation.REPLACE_ONE:
        return None
    low = high = 0.0
    for part, rounds in rounds_by_step(run).items():
        if type(part) is not Poisson or type(part.mechanism) is not Gaussian:
            return None
        multiplier, rate = part.mechanism.noise_multiplier, part.sampling_rate
        if not _LEAST_NOISE < multiplier < _MOST_NOISE or rate == 1:
            return None
        least, most = _of_one(1 / multiplier, rate, alpha)
        low, high = down(low + down(rounds * least)), up(high + up(rounds * most))
    return max(0.0, min(low, high)), high


def _of_one(shift: float, rate: float, alpha: float) -> tuple[float, float]:
    """Of one round; never above that of a unit that takes part for certain, alpha shift^2 / 2."""
    least, most = ends_of_removed(shift, rate, alpha)
    unsampled = alpha * shift * shift / 2
    return max(0.0, down(least / (alpha - 1), 2)), min(up(most / (alpha - 1), 2), unsampled + SLACK * unsampled)
