"""Lower bounds for shuffled batches: what one epoch reveals of one unit, by a single event.

The attained neighbours (Chua et al. 2024, arXiv 2403.17673v2, Section 4; in units of the clip bound): all other units
contribute -u, so that the batch with the unit in it stands out by 1 plus the unit's own contribution along u, and the
position of that batch is uniform. With B batches and noise of standard deviation z, one epoch releases

    MoG(a) = (1/B) sum_t N(a e_t, z^2 I),   a = 1 + contribution in {2: +u, 1: nothing, 0: -u}.

For every threshold C, with E = {some coordinate exceeds C}, MoG(a)[not E] = Phi((C - a)/z) Phi(C/z)^(B - 1), and

    delta(eps) >= MoG(a)[E] - e^eps MoG(b)[E],     eps >= log((MoG(a)[E] - delta) / MoG(b)[E]).

C is chosen in floating point; both sides are then evaluated in ball arithmetic and rounded down. A run of several
epochs is at least as revealing as its most revealing epoch (ignoring the others is post-processing). Several epochs
are composed by the pairs of dominating.py; for one this event is as good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from scipy.special import log_ndtr

from ...mechanisms import Gaussian, Mechanism, Relation, Shuffled, rounds_by_step
from ...mechanisms.arrays import Floats
from ..losses.one_event import event_delta, event_epsilon
from ..pairs.tails import normal_tail

_MOVES: dict[Relation, tuple[tuple[int, int], ...]] = {
    Relation.ZERO_OUT: ((2, 1), (1, 2), (1, 0), (0, 1)),
    Relation.REPLACE_ONE: ((2, 0), (0, 2)),
    Relation.ADD_REMOVE: (),
}
"""The attained (a, b), with the outcome under the first neighbour named first. (1, 0): all others contribute zero."""

_PRECISION_BITS = 200
_THRESHOLDS = 4000


@dataclass(frozen=True, slots=True)
class Epoch:
    """MoG(a) against MoG(b), over `batches` coordinates with noise of standard deviation `noise`."""

    noise: float
    batches: int
    a: int
    b: int


def epochs(run: Mechanism, relation: Relation) -> tuple[Epoch, ...]:
    """The attained pairs of every shuffled Gaussian epoch in the run."""
    steps = [step for step in rounds_by_step(run) if isinstance(step, Shuffled)]
    return tuple(
        Epoch(step.mechanism.noise_multiplier, step.batches, a, b)
        for step in steps
        if isinstance(step.mechanism, Gaussian)
        for a, b in _MOVES[relation]
    )


def epsilon_lower(epoch: Epoch, delta: float) -> float:
    """A certified lower bound on the epoch's epsilon at delta, at least 0.0."""
    threshold = _best_threshold(epoch, lambda p, q: np.log((p - delta) / q))
    return event_epsilon(*_masses(epoch, threshold), delta)


def delta_lower(epoch: Epoch, epsilon: float) -> float:
    """A certified lower bound on the epoch's delta at epsilon, at least 0.0."""
    with np.errstate(over="ignore"):
        odds = np.exp(epsilon)
    threshold = _best_threshold(epoch, lambda p, q: p - odds * q)
    return event_delta(*_masses(epoch, threshold), epsilon)


def _best_threshold(epoch: Epoch, gain: Callable[[Floats, Floats], Floats]) -> float:
    """The C on a grid with the largest floating-point gain; any C is valid, so nothing here needs to be exact."""
    grid = np.linspace(0.0, max(epoch.a, epoch.b) + 12 * epoch.noise, _THRESHOLDS)
    with np.errstate(all="ignore"):
        log_rest = (epoch.batches - 1) * log_ndtr(grid / epoch.noise)
        first, second = (-np.expm1(log_ndtr((grid - move) / epoch.noise) + log_rest) for move in (epoch.a, epoch.b))
        gains = gain(first, second)
    return float(grid[int(np.argmax(np.where(np.isfinite(gains), gains, -np.inf)))])


def _masses(epoch: Epoch, threshold: float) -> tuple[arb, arb]:
    """Balls around MoG(a)[E] and MoG(b)[E]."""
    with ctx.workprec(_PRECISION_BITS):
        z, c = arb(epoch.noise), arb(threshold)
        rest = normal_tail(-c / z) ** (epoch.batches - 1)
        first, second = (1 - normal_tail((move - c) / z) * rest for move in (epoch.a, epoch.b))
        return first, second
