"""Which of several symbols is the largest or the least, and their order: one fork with a way for each of them.

Comparing one with the next would fork each time: 2^(n - 1) ways to a maximum, n! to an order of which two are read.
The order is that of a stable sort.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .following import refuse, tracer
from .forms import Form, Sign

SMOOTH = ("laplace", "exponential", "gumbel", "gaussian", "uniform")
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
        tests = [better(value, former) for former in values[:i]] + [as_good(value, later) for later in values[i + 1 :]]
        settled = [test.decided() if isinstance(test, Sign) else test for test in tests]
        if all(isinstance(test, Sign) or test for test in settled):
            ways[i] = tuple(test for test in settled if isinstance(test, Sign))
    if not ways:
        raise refuse("values without an order")
    return list(ways)[tracer().choose(list(ways.values())) if len(ways) > 1 else 0]


def distinct(values: Sequence[Any], draws: Sequence[tuple[str, str]]) -> bool:
    """Whether any two values differ by a constant or by what has continuous noise in it."""
    smooth = {f"n{k}" for k, (kind, _) in enumerate(draws) if kind in SMOOTH}
    forms = [Form.lift(value) for value in values]
    gaps = [one.plus(other, Fraction(-1)) for one, other in itertools.combinations(forms, 2)]
    return all(not smooth.isdisjoint(gap.slopes) or (not gap.slopes and gap.at_zero != 0) for gap in gaps)


class Order(np.lib.mixins.NDArrayOperatorsMixin, Sequence[Any]):
    """numpy.argsort of symbols, of which no more is found out than is read."""

    def __init__(self, ranking: Ranking, ranks: range) -> None:
        self._ranking = ranking
        self._ranks = ranks

    @classmethod
    def of(cls, values: Sequence[Any]) -> Order:
        return cls(Ranking(values), range(len(values)))

    def __len__(self) -> int:
        return len(self._ranks)

    def __getitem__(self, where: Any) -> Any:
        if isinstance(where, int | np.integer):
            return np.int64(self._ranking.at(self._ranks[int(where)]))
        if not isinstance(where, slice):
            return np.asarray(self)[where]
        part = Order(self._ranking, self._ranks[where])
        return part if len(part) == len(self) else part.__array__()  # the whole, backwards, is not read yet

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        places = np.array(self._ranking.each(self._ranks), dtype or int)
        places.flags.writeable = dtype is not None  # what is written to it is not written to the order
        return places

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*[np.asarray(i) if isinstance(i, Order) else i for i in inputs], **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in ("tolist", "astype", "copy", "shape", "ndim", "size", "sum", "max", "min", "mean", "item"):
            raise refuse(f"{name} of an order")
        return getattr(np.asarray(self), name)


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
