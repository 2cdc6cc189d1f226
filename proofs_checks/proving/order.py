"""Which of several symbols is the largest, and their order: one fork with a way for each of them.

Comparing one with the other would fork for every comparison: 2^(n - 1) ways to a maximum, and n! to the first two of a
sorted array of which nobody reads the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import state
from .affine import is_noise
from .linear import Condition, Linear, largest, smallest
from .unsupported import unsupported

STABLE = ("stable", "mergesort")
READING = ("tolist", "astype", "copy", "shape", "ndim", "size", "sum", "max", "min", "mean", "item")
CONTINUOUS = {"laplace", "exponential", "gumbel", "gaussian", "uniform"}


def largest_place(values: Sequence[Any]) -> int:
    """The place of the largest value; of equal ones the first."""
    return _place(values, lambda a, b: a > b, lambda a, b: a >= b)


def least_place(values: Sequence[Any]) -> int:
    """The place of the least value; of equal ones the first."""
    return _place(values, lambda a, b: a < b, lambda a, b: a <= b)


def largest_of(*values: Any) -> Any:
    """max: values that hang on noise in one fork, others as linear.py knows how."""
    return values[largest_place(values)] if _noisy(values) else largest(*values)


def least_of(*values: Any) -> Any:
    """min, likewise."""
    return values[least_place(values)] if _noisy(values) else smallest(*values)


def _noisy(values: Sequence[Any]) -> bool:
    forms = [value for value in values if isinstance(value, Linear)]
    return len(values) > 2 and any(form.noisy for form in forms)


def _place(values: Sequence[Any], better: Any, good: Any) -> int:
    """That of the value that is better than all before it, and as good as all behind it."""
    options: dict[int, tuple[Condition, ...]] = {}
    for i, value in enumerate(values):
        tests = [better(value, other) for other in values[:i]] + [good(value, other) for other in values[i + 1 :]]
        tests = [test.settled() if isinstance(test, Condition) else test for test in tests]
        open_ = tuple(test for test in tests if isinstance(test, Condition))
        if all(tests if not open_ else (test for test in tests if not isinstance(test, Condition))):
            options[i] = open_
    return [*options][state.current().choose(list(options.values()))] if len(options) > 1 else next(iter(options))


def no_ties(values: Sequence[Any]) -> None:
    """Raises Unsupported where two values may be equal but for a null set of continuous noise."""
    draws = state.current().draws
    for i, value in enumerate(values):
        for other in values[:i]:
            apart = Linear.of(value) - Linear.of(other)
            kinds = {draws[int(name[1:])][0] for name in apart.terms if is_noise(name)}
            if not (kinds & CONTINUOUS or (not apart.terms and apart.constant)):
                raise unsupported(
                    'argsort of values that may be equal, whose order numpy promises with kind="stable" only'
                )


def _read_only(places: list[int]) -> Any:
    """What is written to it would not be written to the order."""
    array = np.array(places, int)
    array.flags.writeable = False
    return array


class Order(np.lib.mixins.NDArrayOperatorsMixin, Sequence[int]):
    """numpy.argsort of symbols, forwards or backwards. A place is known once it is read, from the nearer end."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)
        self._front: list[int] = []
        self._back: list[int] = []
        self._ranks = range(len(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            ranks = self._ranks[index]
            return self._turned(ranks) if len(ranks) == len(self) else _read_only(self._known(ranks))
        if isinstance(index, int | np.integer):
            return np.int64(self._at(self._ranks[int(index)]))
        return np.asarray(self)[index]

    def __iter__(self) -> Iterator[int]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return _read_only(self._known(self._ranks)) if dtype is None else np.array(self._known(self._ranks), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(value) if isinstance(value, Order) else value for value in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in READING:
            raise unsupported(f"{name} of an order")
        return getattr(np.asarray(self), name)

    def _turned(self, ranks: range) -> Order:
        """The same order, of which the same is known, read in this direction."""
        other = Order(self._values)
        other._front, other._back, other._ranks = self._front, self._back, ranks
        return other

    def _known(self, ranks: range) -> list[int]:
        """The places of these ranks; those near to an end are found first."""
        found = {rank: self._at(rank) for rank in sorted(ranks, key=lambda rank: min(rank, len(self) - 1 - rank))}
        return [found[rank] for rank in ranks]

    def _at(self, rank: int) -> int:
        left = [i for i in range(len(self)) if i not in self._front and i not in self._back]
        while rank >= len(self._front) and len(self) - 1 - rank >= len(self._back):
            from_front = rank - len(self._front) <= len(self) - 1 - rank - len(self._back)
            held = [self._values[i] for i in left]
            found = left.pop(least_place(held) if from_front else len(held) - 1 - largest_place(held[::-1]))
            (self._front if from_front else self._back).append(found)
        return self._front[rank] if rank < len(self._front) else self._back[len(self) - 1 - rank]
