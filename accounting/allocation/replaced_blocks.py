"""Several blocks of random allocation, a replaced unit: epsilon and delta from two-sided values of one block's profile.

An accountant of accounting/epsilon.py. One block's profile is bounded from both sides at some hundred epsilons
(one_jump.py); two laws on one grid lie around it (two_sided_law.py), and sums of their losses stay on that grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...mechanisms.arrays import Floats
from ..bracket import Bracket, OutOfReach
from ..losses.atoms.cells import Atoms
from ..losses.crossing import Excess, crossing, over
from ..pairs import Composition, Pair
from ..rounding import TARGET, UNIT, End, widened_down, widened_up
from . import one_jump
from .replaced import block_of, moved_block
from .tilted_sums import Scores, law_of_scores, moment_beyond, probability_below
from .two_sided_law import GridLaw, laws_between

METHOD = "replaced-blocks"

_LARGEST_SHIFT, _MOST_ROUNDS, _MOST_BLOCKS = 1.7, 2000, 1000
"""Beyond which values take too long, or too many of them are lost to jumps."""


@dataclass(frozen=True, slots=True)
class Fineness:
    """nodes: in a spread of the loss; growth: of the distance between nodes further out; steps: see one_jump.py."""

    nodes: int
    growth: float
    steps: int


_FINE, _QUICK = Fineness(120, 0.005, 96), Fineness(36, 0.02, 64)
_QUICK_ENOUGH, _FEW_ROUNDS, _DEAR_SHIFT = 1e-3, 16, 1.3
"""A relative width for which the quick one serves; rounds below which, and shifts above which, its nodes are as many as
are worth it."""

_GRID = 16
"""Grid points between two nodes."""

_BULK = 4.0
"""Spreads of the loss up to which nodes are evenly spaced."""

_LOST = 1e-6
"""Share of delta that jumps may take."""

_TAILS = (1e-12, 1e-15, 1e-18)
"""Tails that are tried where delta is what is sought."""

_LEAST_TAIL, _MOST_TAIL = 1e-15, 1e-9
"""Of laws for compositions."""

_WIDEST = 1.02
"""Ends that are further apart are left to other accountants."""

_TILTS = (1.0, 4.0, 10.0)
_SPREADS, _JUMPS = 16.0, 3.0
"""The window of the sum: standard deviations, and largest losses."""

_FARTHEST = 1e4
"""The largest epsilon that is looked for."""


def supports(composition: Composition) -> bool:
    """Equal blocks, with one participation, and nothing else; one of them where its own grid is too short for jumps."""
    pair, blocks = composition[0] if composition else (None, 0)
    if len(composition) != 1 or not 1 <= blocks <= _MOST_BLOCKS or pair is None or not serves(pair):
        return False
    found = block_of(pair)
    return found is not None and (blocks > 1 or found.shift > 1.0)


def serves(pair: Pair) -> bool:
    """Whether it is a replaced unit's block whose values take milliseconds."""
    found = block_of(pair)
    return found is not None and found.rounds <= _MOST_ROUNDS and found.shift <= _LARGEST_SHIFT


def epsilon(composition: Composition, delta: float, rtol: float) -> Bracket:
    """The smallest epsilon >= 0 of the blocks at 0 < delta < 1."""
    pair, blocks = composition[0]
    tail = 2.0 ** math.floor(math.log2(_LOST * delta / blocks))
    above, below = _sums(pair, blocks, tail, _fineness(pair, rtol))
    least, most = widened_down(delta, 2 * TARGET), widened_up(delta, 2 * TARGET)
    _, upper = crossing(lambda at: Excess(over(above(at), least)), 1.0, farthest=_FARTHEST)
    lower, _ = crossing(lambda at: Excess(over(below(at), most)), min(upper, _FARTHEST), farthest=_FARTHEST)
    found = Bracket(lower, upper, True, METHOD)
    if found.upper > _WIDEST * found.lower:
        raise OutOfReach(f"{blocks} blocks at delta = {delta}")
    return found


def delta(composition: Composition, epsilon: float, rtol: float) -> Bracket:
    """The smallest delta of the blocks at epsilon >= 0."""
    pair, blocks = composition[0]
    found = Bracket(0.0, 1.0, True, METHOD)
    for tail in _TAILS:
        above, below = _sums(pair, blocks, tail, _fineness(pair, rtol))
        ends = below(epsilon * (1 + 2 * TARGET)), above(epsilon * (1 - 2 * TARGET))
        found = found.intersect(Bracket(max(0.0, ends[0]), min(1.0, ends[1]), True, METHOD))
        if blocks * tail <= 1e-4 * found.lower:
            break
    if found.upper > 1.1 * found.lower:
        raise OutOfReach(f"{blocks} blocks at epsilon = {epsilon}")
    return found


def _fineness(pair: Pair, rtol: float) -> Fineness:
    found = block_of(pair)
    dear = found is not None and (found.rounds < _FEW_ROUNDS or found.shift > _DEAR_SHIFT)
    return _QUICK if dear or rtol >= _QUICK_ENOUGH else _FINE


Profile = Callable[[float], float]


def _sums(pair: Pair, blocks: int, tail: float, fineness: Fineness) -> tuple[Profile, Profile]:
    """The profile of so many blocks from above and from below."""
    high, low, rounds = moved_block(pair)
    above, below = laws(high, low, rounds, tail, fineness)
    return _profile(above, blocks, End.UPPER), _profile(below, blocks, End.LOWER)


def losses_of_one(high: Pair, low: Pair, tail: float, *, quickly: bool) -> tuple[Atoms, Atoms]:
    """Laws of one block's loss, from above and from below, for compositions with other pairs.

    high, low: the pair with its parameters moved up and down. tail: P-mass that may be lost, about.
    """
    most, least = block_of(high), block_of(low)
    if most is None or least is None:
        raise TypeError(f"not a block: {high}")
    lost = 2.0 ** math.floor(math.log2(min(max(tail, _LEAST_TAIL), _MOST_TAIL)))  # neighbouring targets share laws
    above, below = laws(most.shift, least.shift, most.rounds, lost, _QUICK if quickly else _fineness(high, 0.0))
    return _losses(above, End.UPPER), _losses(below, End.LOWER)


def _losses(law: GridLaw, end: End) -> Atoms:
    """Losses are logarithms of rounded gammas, and products of the step. What all other laws have at finite losses is
    at most 1 + 1e-9 with their masses' rounding, and so much of the infinite loss counts."""
    kept = law.masses > 0
    losses, sign = law.step * law.index[kept], end.value
    return Atoms(losses + sign * UNIT * (16 + 8 * np.abs(losses)), law.masses[kept], law.infinite * (1 + sign * 1e-9))


@lru_cache(maxsize=8)
def laws(high: float, low: float, rounds: int, tail: float, fineness: Fineness) -> tuple[GridLaw, GridLaw]:
    """Of one block, from above and from below; shifts: 1/noise_multiplier, at least and at most."""
    blocks = one_jump.block(high, rounds, tail), one_jump.block(low, rounds, tail)
    spread = one_jump.spread(high, rounds)
    step = spread / (fineness.nodes * _GRID)
    nodes: list[int] = []
    upper: list[float] = []
    lower: list[float] = []
    at = 0
    while True:
        value = one_jump.profile_above(blocks[0], step * at, fineness.steps)
        nodes.append(at)
        upper.append(min([value, *upper[-1:]]))  # the profile falls
        lower.append(one_jump.profile_below(blocks[1], step * at, fineness.steps, upper[-1]))
        if upper[-1] < 3 * blocks[0].lost or lower[-1] < tail:
            return laws_between(step, np.array(nodes), np.array(upper), np.array(lower))
        at += max(_GRID, int(at * fineness.growth) if step * at > _BULK * spread else 0)


def _profile(law: GridLaw, blocks: int, end: End) -> Profile:
    """E(1 - e^{epsilon - T})_+ of the sum T of so many losses, at least or at most."""
    losses = law.step * law.index
    mean = blocks * float(law.masses @ losses)
    size = _SPREADS * math.sqrt(blocks * float(law.masses @ losses**2)) + _JUMPS * float(np.max(losses))
    scores = Scores(law.index, law.step, 1 << math.ceil(math.log2(size / law.step)), mean)
    parts = [(law.masses, blocks)]
    found = law_of_scores(scores, parts, UNIT, _TILTS)
    masses, places = (found.high if end is End.UPPER else found.low), scores.window() * law.step
    if end is End.UPPER:
        # of each block's mass at most 1 + its excess goes on to the next, with its own infinite loss
        whole = max(1.0, float(np.sum(law.masses)))
        outside = moment_beyond(scores, parts) / float(places[-1]) + blocks * law.infinite * whole**blocks * (1 + 1e-9)
    else:
        outside = -probability_below(scores, parts)  # a residue may stand for a sum below the window

    # losses are logarithms of rounded gammas, and products of the step
    slack = end.value * blocks * UNIT * (16 + 8 * float(np.max(np.abs(losses))))

    def at(asked: float) -> float:
        epsilon = asked - slack
        over = places > epsilon
        kept: Floats = masses[over] * -np.expm1(epsilon - places[over])
        return float(np.sum(kept)) * (1 + end.value * 1e-11) + outside

    return at
