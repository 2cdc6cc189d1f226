"""What sampled correlated noise costs, by simulation: estimates with bounds that can refute, and never prove.

delta(eps) = E_P(1 - e^{eps - L})_+ is the mean of weighted draws of the loss L (losses.py), bounded by
bets. A lower bound refutes a claim with the stated probability of error. An upper bound proves nothing: other
contributions, or the other order of the neighbours, may reveal more, and a simulation may err. The tilt is chosen by
draws of its own, so that the bounds hold whichever it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from ...accounting import Bracket
from ...accounting.bracket_report import BracketReport
from ...accounting.losses.crossing import Excess, crossing, over
from ...mechanisms import (
    BallsInBins,
    InputError,
    MinSeparated,
    Neighbouring,
    Participation,
    PrivacyNotion,
    Relation,
    neighbouring_relation,
    rounds_by_step,
)
from ...mechanisms.arrays import Floats
from ...mechanisms.digits import rounded_down
from ...mechanisms.validate import count, nonnegative, open_probability
from .losses import LARGEST_WEIGHT, Draws, Sampled, Tilt, draws, tilts

_BETS = np.geomspace(2.0**-20, 0.75, 24)
_ROUNDING = 1e-6
"""By how much a logarithm of a product is taken smaller: far more than sums of 10^9 rounded logarithms are off."""
_STEPS = 40


def mean_lower(draws: Floats, error: float) -> float:
    """What the mean is below with probability at most `error`. draws: shape (n,), each at least 0."""
    hits = draws[draws > 0]
    if not hits.size:
        return 0.0
    misses = draws.size - hits.size

    def reached(mean: float) -> bool:
        logs = [float(np.sum(np.log1p(bet * (hits / mean - 1)))) + misses * math.log1p(-bet) for bet in _BETS]
        return _reaches(logs, error)

    average = float(np.mean(draws))
    return _nearest(reached, average, average * 2.0**-_STEPS, 0.0)


def mean_upper(draws: Floats, most: float, error: float) -> float:
    """What the mean is above with probability at most `error`. draws: shape (n,), from 0 to `most`."""
    hits = draws[draws > 0]
    misses = draws.size - hits.size

    def reached(mean: float) -> bool:
        share = mean / (most - mean)
        logs = [
            float(np.sum(np.log1p(bet * (mean - hits) / (most - mean)))) + misses * math.log1p(bet * share)
            for bet in _BETS
        ]
        return _reaches(logs, error)

    return _nearest(reached, float(np.mean(draws)), most * (1 - 2.0**-_STEPS), most)


def _reaches(logs: list[float], error: float) -> bool:
    return float(logsumexp(logs)) - math.log(len(logs)) - _ROUNDING >= -math.log(error)


def _nearest(reached: Callable[[float], bool], mean: float, far: float, trivial: float) -> float:
    """About the value nearest to the mean at which it is reached, where it is; `trivial` if not at `far`."""
    if not reached(far):
        return trivial
    near = mean
    while abs(near - far) > 1e-4 * min(near, far) and min(near, far) > 0:
        middle = math.sqrt(near * far) if max(near, far) > 2 * min(near, far) else 0.5 * (near + far)
        near, far = (near, middle) if reached(middle) else (middle, far)
    return far


_PILOT = 1 << 11
"""Draws to choose a tilt by, each."""

_SEARCHES = 4
"""How often epsilon is looked for and the tilt chosen anew."""

_MARGINS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""By how much delta is to differ between the epsilon found and one that may be a bound, in logarithms."""


@dataclass(frozen=True, slots=True)
class DeltaEstimate:
    """An estimate of delta at epsilon; lower and upper each miss the attained pair's delta with probability `error`
    at most. Never certified."""

    epsilon: float
    delta: float
    lower: float
    upper: float
    error: float
    draws: int
    seed: int
    certified: Literal[False] = False

    def __str__(self) -> str:
        return _words(self.delta, self)

    def refutes(self, delta: float) -> bool:
        """Whether a claim of this delta is refuted, with probability of error `error`; nothing can make it hold."""
        return self.lower > delta


@dataclass(frozen=True, slots=True)
class EpsilonEstimate:
    """An estimate of epsilon at delta; lower and upper each miss the attained pair's epsilon with probability `error`
    at most. Never certified."""

    delta: float
    epsilon: float
    lower: float
    upper: float
    error: float
    draws: int
    seed: int
    certified: Literal[False] = False

    def __str__(self) -> str:
        return _words(self.epsilon, self)


def _words(middle: float, found: DeltaEstimate | EpsilonEstimate) -> str:
    about, least = rounded_down(middle, 4), rounded_down(found.lower, 4)
    return (
        f"simulated: about {about}, and at least {least} with probability of error {found.error:g}, for a unit that "
        f"contributes the same in every round ({found.draws:,} draws); this can refute a claim, and proves none"
    )


def estimate_beside(found: Bracket, error: float = 1e-6) -> DeltaEstimate | EpsilonEstimate | None:
    """Beside an answer of the accountants: of sampled correlated noise alone, for an observer from whom the rounds of a
    unit are hidden, at a delta above 0; None for everything else."""
    about = found.about
    if (
        not isinstance(about, BracketReport)
        or about.notion != PrivacyNotion.DP
        or about.question.participation != Participation.HIDDEN
    ):
        return None
    steps, relation = list(rounds_by_step(about.question.run).items()), about.question.neighbouring
    step = steps[0][0]
    if len(steps) != 1 or steps[0][1] != 1 or not isinstance(step, BallsInBins | MinSeparated):
        return None
    if about.question.quantity == "delta":
        return estimate_delta(step, about.at, neighbouring=relation, error=error)
    return estimate_epsilon(step, about.at, neighbouring=relation, error=error) if about.at else None


def estimate_delta(
    run: Sampled,
    epsilon: float,
    *,
    neighbouring: Neighbouring = Relation.ADD_REMOVE,
    draws: int = 100_000,
    error: float = 1e-3,
    seed: int = 0,
) -> DeltaEstimate:
    """Simulate the loss of all rounds together, the unit being there under the first neighbour.

    Raises InputError for values out of range.

    >>> from dpcert.mechanisms import ToeplitzFactorisation
    >>> noise = ToeplitzFactorisation(1.0, coefficients=(1.0, 0.5), rounds=20)
    >>> found = estimate_delta(BallsInBins(noise, bins=10), 1.0, draws=20_000)
    >>> found.lower <= found.delta <= found.upper, found.refutes(1e-6)
    (True, True)
    """
    nonnegative("epsilon", epsilon)
    source = _Source.of(run, neighbouring, draws, error, seed)
    gains = source.drawn(source.tilt(epsilon)).gains(epsilon)
    ends = mean_lower(gains, error), mean_upper(gains, LARGEST_WEIGHT, error)
    return DeltaEstimate(epsilon, float(np.mean(gains)), ends[0], min(1.0, ends[1]), error, draws, seed)


def estimate_epsilon(
    run: Sampled,
    delta: float,
    *,
    neighbouring: Neighbouring = Relation.ADD_REMOVE,
    draws: int = 100_000,
    error: float = 1e-3,
    seed: int = 0,
) -> EpsilonEstimate:
    """The same, for the epsilon of a delta: where delta is about right is looked for by draws that are then forgotten.

    Raises InputError for values out of range.

    >>> from dpcert.mechanisms import ToeplitzFactorisation
    >>> noise = ToeplitzFactorisation(1.0, coefficients=(1.0, 0.5), rounds=20)
    >>> found = estimate_epsilon(BallsInBins(noise, bins=10), 1e-6, draws=20_000)
    >>> found.lower <= found.epsilon <= found.upper
    True
    """
    open_probability("delta", delta)
    source = _Source.of(run, neighbouring, draws, error, seed)
    near, tilt, slope = source.search(delta)
    found = source.drawn(tilt)
    share = error / len(_MARGINS)
    below = (max(0.0, near - margin / slope) for margin in _MARGINS)
    lower = next((at for at in below if mean_lower(found.gains(at), share) > delta), 0.0)
    above = (near + margin / slope for margin in _MARGINS)
    upper = (at for at in above if mean_upper(found.gains(at), LARGEST_WEIGHT, share) <= delta)
    middle = _met(found, delta)
    top = next(upper, math.inf)
    return EpsilonEstimate(delta, min(max(middle, lower), top), lower, top, error, draws, seed)


@dataclass(frozen=True, slots=True)
class _Source:
    run: Sampled
    replaced: bool
    total: int
    rng: np.random.Generator

    @classmethod
    def of(cls, run: Sampled, neighbouring: Neighbouring, total: int, error: float, seed: int) -> _Source:
        if not isinstance(run, BallsInBins | MinSeparated):
            raise InputError("run", run, "a BallsInBins or a MinSeparated")
        open_probability("error", error)
        relation = neighbouring_relation(neighbouring)
        rng = np.random.default_rng(count("seed", seed, least=0))
        return cls(run, relation == Relation.REPLACE_ONE, count("draws", total), rng)

    def drawn(self, tilt: Tilt) -> Draws:
        return self._some(tilt, self.total)

    def _some(self, tilt: Tilt, total: int) -> Draws:
        return draws(self.run, tilt, total, self.rng, replaced=self.replaced)

    def tilt(self, epsilon: float) -> Tilt:
        """The one whose draws say most about delta there: as many as so many equal ones would."""
        return self._best(epsilon)[0]

    def _best(self, epsilon: float) -> tuple[Tilt, Draws]:
        tried = [(tilt, self._some(tilt, _PILOT)) for tilt in tilts(self.run, epsilon, self.rng)]
        return max(tried, key=lambda entry: _as_many_as(entry[1].gains(epsilon)))

    def search(self, delta: float) -> tuple[float, Tilt, float]:
        """About the epsilon, a tilt for it, and by how much log delta falls with epsilon there."""
        near = 0.0
        for _ in range(_SEARCHES):
            tilt, pilot = self._best(near)
            before, near = near, _met(pilot, delta)
            if abs(near - before) <= 0.03 * near:
                break
        pilot = self._some(tilt, 8 * _PILOT)
        near = _met(pilot, delta)
        step = 0.02 * max(near, 0.1)
        ends = [max(float(np.mean(pilot.gains(at))), 1e-300) for at in (near, near + step)]
        return near, tilt, max(math.log(ends[0] / ends[1]) / step, 0.05)


def _as_many_as(gains: Floats) -> float:
    square = float(np.sum(gains * gains))
    return float(np.sum(gains)) ** 2 / square if square > 0 else 0.0


def _met(found: Draws, delta: float) -> float:
    """About where the mean of the gains falls to delta."""
    high = float(np.max(found.losses))
    if high <= 0:
        return 0.0
    return crossing(lambda at: Excess(over(float(np.mean(found.gains(at))), delta)), 0.5 * high, close=1e-12)[0]
