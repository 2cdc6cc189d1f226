"""On what the cut function is compared with the function itself: usual entries and noise, and those at which a function
may do something else than at others.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ..pairs import Setting, finite_range
from ..real.numbers_in_code import marks

FAR, GRID, SPECIAL = 1000.0, 1024, 0.75
"""The largest magnitude where the range has no end; ties are multiples of 1/GRID; how often an entry is special."""
Draw = Callable[[int], list[float]]
EXTREME = (0.0, 0.0, 1.0, -1.0, 2.0**-20, 2.0**20, -(2.0**20))


class Entries:
    """Datasets of a setting.

    special: the numbers in the function's code and those in between, the floats (or integers) next to them, the ends of
    the range, 0 and -0, as far as they may be entries.
    """

    def __init__(self, function: Callable[..., Any], setting: Setting) -> None:
        self.chance, self.whole = random.Random(7), setting.whole
        low, high = (None, None) if setting.relation == "answers" else (setting.low, setting.high)
        self.low, self.high = map(float, finite_range(low, high))
        self.least, self.most = -FAR if low is None else float(low), FAR if high is None else float(high)
        found = [*map(float, marks(function)), self.low, self.high]
        ends = self.least, self.most
        near = [each for mark in found for each in (mark, *(math.nextafter(mark, end) for end in ends))]
        if self.whole:
            near = [math.floor(mark) + float(by) for mark in found for by in (-1, 0, 1)]
        self.special = [each for each in (*near, 0.0, -0.0) if self.least <= each <= self.most]

    def kinds(self) -> tuple[tuple[Draw, Callable[[int], np.random.Generator]], ...]:
        """Of entries, and the generator that goes with them."""
        return (self.plain, np.random.default_rng), (self.marked, np.random.default_rng), (self.tied, Extreme)

    def plain(self, count: int) -> list[float]:
        """Anything in the range."""
        low, high = self.low, self.high
        draw = self.chance.uniform if not self.whole else lambda *_: float(self.chance.randint(int(low), int(high)))
        return [draw(low, high) for _ in range(count)]

    def marked(self, count: int) -> list[float]:
        """Special numbers among others."""
        return [self._special() if self.chance.random() < SPECIAL else each for each in self.plain(count)]

    def tied(self, count: int) -> list[float]:
        """Two numbers at most, in order. Sums of them are exact: rounding breaks no tie."""
        chosen = [round(self._special() * GRID) / GRID for _ in range(2)]
        kept = [each for each in chosen if self.least <= each <= self.most] or [self.low]
        return sorted((self.chance.choice(kept) for _ in range(count)), reverse=self.chance.random() < 0.5)

    def records(self, draw: Draw, size: int, columns: int) -> list[list[float]]:
        """Records with such entries; special ones also along an axis (their norm is a number in the code), or equal."""
        made = np.reshape(draw(size * columns), (size, columns))
        if draw != self.plain:
            for record in made:
                if self.chance.random() < 0.5:
                    record[np.arange(columns) != self.chance.randrange(columns)] = 0.0
        if draw == self.tied and size:
            made[:] = made[0]
        return made.tolist()

    def _special(self) -> float:
        return self.chance.choice(self.special) if self.special else self.low


class Extreme(np.random.Generator):
    """A generator whose continuous noise is 0, tied or very large."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self._chance = random.Random(seed)

    def _around(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        cells = [self._chance.choice(EXTREME) for _ in range(math.prod(np.atleast_1d(shape)))]
        return loc + scale * (np.reshape(cells, shape) if shape != () else cells[0])

    def _above(self, scale: Any = 1.0, size: Any = None) -> Any:
        return abs(self._around(0.0, scale, size))

    laplace = normal = gumbel = _around
    exponential = _above
    standard_normal = functools.partialmethod(_around, 0.0, 1.0)
    standard_exponential = functools.partialmethod(_above, 1.0)
