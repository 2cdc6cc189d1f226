"""Which of several symbols is the largest or the least, and their order: one fork with a way for each of them.

Comparing one with the next would fork each time: 2^(n - 1) ways to a maximum, n! to an order of which two are read.
The order is that of a stable sort.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .current_run import tracer
from .forms import Form, Sign
from .noise import Draw, smooth
from .refusals import Refused

Compare = Callable[[Any, Any], Any]


def largest_place(values: Sequence[Any]) -> int:
    """Of equal ones the first."""
    return _place(values, operator.gt, operator.ge)


def least_place(values: Sequence[Any]) -> int:
    """Of equal ones the first."""
    return _place(values, operator.lt, operator.le)


def _place(values: Sequence[Any], better: Compare, as_good: Compare) -> int:
    """Where the value is that is better than all before it and as good as all behind it. Numbers have exactly one."""
    ways: dict[int, tuple[Sign, ...]] = {}
    for i, value in enumerate(values):
        tests = [_test(better, value, former) for former in values[:i]]
        tests += [_test(as_good, value, later) for later in values[i + 1 :]]
        if all(isinstance(test, Sign) or test for test in tests):
            ways[i] = tuple(test for test in tests if isinstance(test, Sign))
    if not ways:
        raise Refused("values without an order")
    return list(ways)[tracer().choose(list(ways.values())) if len(ways) > 1 else 0]


def _test(operation: Compare, a: Any, b: Any) -> Any:
    from .language.arithmetic import comparison, ordered
    from .language.values import symbolic

    return ordered(operation, a, b) if symbolic(a) or symbolic(b) else comparison(operation, a, b)


def distinct(forms: Sequence[Form], draws: Sequence[Draw]) -> bool:
    """Whether any two differ by a constant, or by what is 0 with probability 0."""
    gaps = [one.plus(other, -1) for one, other in itertools.combinations(forms, 2)]
    return all(smooth(gap, draws) or (not gap.slopes and gap.at_zero != 0) for gap in gaps)


class Ranking:
    """The places of values by rank, found from whichever end is nearer."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._left = dict(enumerate(values))
        self._least: list[int] = []
        self._largest: list[int] = []
        self._size = len(values)

    def each(self, ranks: Sequence[int]) -> list[int]:
        """Their places; those near to an end are found first."""
        found = {rank: self.at(rank) for rank in sorted(ranks, key=lambda rank: min(rank, self._size - 1 - rank))}
        return [found[rank] for rank in ranks]

    def at(self, rank: int) -> int:
        """The place of the value of that rank."""
        behind = self._size - 1 - rank
        while rank >= len(self._least) and behind >= len(self._largest):
            places, values = list(self._left), list(self._left.values())
            if rank - len(self._least) <= behind - len(self._largest):
                self._least.append(places[least_place(values)])
                del self._left[self._least[-1]]
            else:
                self._largest.append(places[len(places) - 1 - largest_place(values[::-1])])
                del self._left[self._largest[-1]]
        return self._least[rank] if rank < len(self._least) else self._largest[behind]
