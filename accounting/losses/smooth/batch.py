"""Many points of one profile: a few lines are laid, and each serves every point at which it is narrow enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ....mechanisms.arrays import Floats
from ...bracket import Bracket, OutOfReach
from ...pairs import Composition
from ...rounding import TARGET
from ..crossing import crossings
from ..line import Inversion
from .contour import METHOD, from_logarithms, largest_total
from .one_line import laid_around
from .saddle import saddle_at_delta, saddle_at_epsilon, saddles_between

_MOST_LINES = 10

_REACH = 12.0
"""log of how far delta e^{c eps} may fall on either side of where a line was laid, for it to serve there."""

_GRID = 24
"""Saddle points from which the places of all others are interpolated."""

Index = NDArray[np.intp]
Found = tuple[Floats, Floats]
"""Lower and upper ends."""


def epsilons(composition: Composition, deltas: Sequence[float], rtol: float) -> list[Bracket | None]:
    """`accountant.epsilon` at each delta in (0, 1); None where no shared line is narrow enough."""
    logs = np.log(deltas)
    targets = logs - TARGET * (2.0 + np.abs(logs)), logs + TARGET * (2.0 + np.abs(logs))
    ends = [saddle_at_delta(composition, float(end)) for end in (logs.max(), logs.min())]
    if not ends[0].epsilon > 0.0:
        return [None] * len(deltas)
    grid = saddles_between(ends[0], ends[1], _GRID)
    at = np.interp(-logs, [-each.log_delta for each in grid], [each.epsilon for each in grid])

    def lay(k: int) -> Inversion:
        saddle = saddle_at_delta(composition, float(logs[k]))
        error = rtol * min(1.0, max(saddle.c * saddle.epsilon, 1e-4))
        return laid_around(composition, saddle, error, _REACH)

    def bounds(found: Inversion, some: Index) -> Found:
        return crossings(found, targets[0][some], targets[1][some], at[some])

    return _shared(len(deltas), lay, bounds, rtol)


def deltas(composition: Composition, epsilons: Sequence[float], rtol: float) -> list[Bracket | None]:
    """`accountant.delta` at each epsilon >= 0; None where no shared line is narrow enough.

    From the largest loss on it is 0.
    """
    every = np.array(epsilons)
    reached = every * (1.0 - 2.0 * TARGET) < largest_total(composition)
    given = every[reached]
    below, above = given * (1.0 - 2.0 * TARGET), given * (1.0 + 2.0 * TARGET)

    def lay(k: int) -> Inversion:
        return laid_around(composition, saddle_at_epsilon(composition, float(given[k])), rtol, _REACH)

    def bounds(found: Inversion, some: Index) -> Found:
        least, most = found.log_deltas(above[some])[0], found.log_deltas(below[some])[1]
        ends = [from_logarithms(*each) for each in zip(least.tolist(), np.minimum(most, 0.0).tolist(), strict=True)]
        return np.array([each.lower for each in ends]), np.array([each.upper for each in ends])

    shared = iter(_shared(len(given), lay, bounds, rtol))
    return [next(shared) if one else Bracket(0.0, 0.0, True, METHOD) for one in reached]


def _shared(
    count: int, lay: Callable[[int], Inversion], bounds: Callable[[Inversion, Index], Found], rtol: float
) -> list[Bracket | None]:
    """Points in order of their delta: lines are laid in the middle of the longest stretch that is still without."""
    found: list[Bracket | None] = [None] * count
    stretches = [np.arange(count)]
    for _ in range(_MOST_LINES):
        stretches.sort(key=len)
        pending = stretches.pop() if stretches else np.arange(0)
        if not pending.size:
            break
        middle = pending.size // 2
        try:
            least, most = bounds(lay(int(pending[middle])), pending)
        except OutOfReach:
            stretches += [part for part in (pending[:middle], pending[middle + 1 :]) if part.size]
            continue
        narrow = (most < np.inf) & (most - least <= rtol * most)
        for k in np.flatnonzero(narrow):
            found[pending[k]] = Bracket(float(least[k]), float(most[k]), True, METHOD)
        wide = ~narrow
        wide[middle] = False
        stretches += [part for part in np.split(pending[wide], _breaks(pending[wide])) if part.size]
    return found


def _breaks(places: Index) -> Index:
    """Where a sequence of places is interrupted."""
    return np.flatnonzero(np.diff(places) > 1) + 1
