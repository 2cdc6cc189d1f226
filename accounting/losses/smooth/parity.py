"""Small epsilon by put-call parity: from the pair the other way round, whose losses are bounded from above.

In the remove order delta(eps) = e^eps d'(-eps) - (e^eps - 1), d' the profile in the add order, all of whose outcomes
are inverted on one line at -eps (docs/theory/inversion.md, section 13).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...pairs import Composition, GaussianPair, Sampling, SubsampledPair
from .densities import phases
from .goal import Goal
from .one_line import inverted
from .parts import Profile, Turned
from .paths import sampled
from .saddle import saddle_at_epsilon

_LARGER, _SMOOTHED = 9.0, 0.5
"""log of how much larger than delta epsilon is up to which this serves, and the share that smoothing may use."""


def serves(goal: Goal) -> bool:
    """Whether little enough cancels."""
    return math.log(math.expm1(min(goal.epsilon, 1.0))) < goal.log_delta + _LARGER


def turned(composition: Composition) -> Composition | None:
    """The pair the other way round; None for symmetric ones."""
    if phases(composition)[0][0][0].order != Sampling.REMOVE:
        return None
    parts = ((sampled(pair), pair, rounds) for pair, rounds in composition)
    return tuple(
        (SubsampledPair(GaussianPair(part.shift), part.rate, Sampling.ADD) if part else pair, rounds)
        for part, pair, rounds in parts
    )


def by_parity(other: Composition, goal: Goal) -> Profile:
    """From the pair the other way round. Raises OutOfReach where that takes too many frequencies."""
    log_delta = float(np.logaddexp(goal.log_delta, math.log(math.expm1(goal.epsilon)))) - goal.epsilon
    error = goal.tolerance * math.exp(goal.log_delta - log_delta)
    saddle = replace(saddle_at_epsilon(other, -goal.epsilon), log_delta=log_delta)
    found = inverted(other, saddle, error, _SMOOTHED * error / (saddle.c * (saddle.c + 1.0)))
    return Profile((Turned(found),), 0.0, 2.0 / goal.epsilon)
