"""Symbolic numbers: affine expressions that can be compared, and conditions on them that fork the run.

Whatever would turn a symbol into a concrete number is refused.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from . import state
from .affine import Affine
from .exact import Number, exact
from .no_number import NoNumber, NoOther
from .unsupported import unsupported
from .whole import is_whole


class Linear(Affine, NoNumber):
    """An affine expression in the user's hands: it is compared, rounded, written. Noise variables are n0, n1, ..."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Any) -> Self:
        """The value as an expression; a truth value counts as 0 or 1."""
        return super().of(value.indicator() if isinstance(value, Condition) else value)

    def _compare(self, other: Any, relation: Callable[[Any, Any], bool]) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, float) and math.isinf(other):  # every real number is between the infinities
            return plain(relation(0.0, other))
        difference = self - Linear.of(other)
        if relation in (operator.lt, operator.le):
            difference = -difference
        return Condition(difference, relation in (operator.lt, operator.gt))

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, numbers.Real | Linear | Condition | np.bool_):
            return _no_number(other)
        return plain(bool(self >= other) and bool(self <= other))

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else equal.opposite()

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __abs__(self) -> Any:
        return largest(self, -self)

    def __float__(self) -> float:
        return float(self.number())

    def __int__(self) -> int:
        raise unsupported("a concrete integer is needed where the value depends on the data or on noise")

    __index__ = __int__

    def _rounded(self, rounding: Callable[[Any], Any]) -> Linear:
        """A whole number is itself, however it is rounded."""
        if not self.terms:
            return Linear(None, exact(rounding(self.constant)))
        if not is_whole(self.terms, self.constant):
            raise unsupported("rounding of a value that depends on the data or on noise, and need not be whole")
        return self

    def __trunc__(self) -> Linear:
        return self._rounded(math.trunc)

    def __floor__(self) -> Linear:
        return self._rounded(math.floor)

    def __ceil__(self) -> Linear:
        return self._rounded(math.ceil)

    def __round__(self, digits: int | None = None) -> Linear:
        if digits is not None and digits < 0:
            raise unsupported("rounding to tens, hundreds, ...")
        return self._rounded(lambda value: round(value, digits))

    def __hash__(self) -> int:
        raise unsupported("a value that depends on the data or on noise as a dictionary key, or in a set")

    def __repr__(self) -> str:
        if state.active():
            raise unsupported("the text of a value that depends on the data or on noise")
        return self.text()

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return state.current().on_arrays(ufunc, method, inputs, kwargs)

    @property
    def real(self) -> Linear:
        return self

    def item(self) -> Linear:
        return self

    def copy(self) -> Linear:
        return self

    def conjugate(self) -> Linear:
        return self


numbers.Real.register(Linear)


def _no_number(other: object) -> Any:
    """What == says of a symbol and what is no real number: Python asks the other side."""
    if isinstance(other, numbers.Number | np.generic):
        raise unsupported(f"a comparison with {type(other).__name__}")
    return NotImplemented


class Condition(NoOther):
    """form > 0 (strict) or form >= 0. Asking for its truth value forks the run.

    It may stand for a bool or for a numpy.bool_: what these do differently (`~`, the sum of two, their text) is
    refused, also where there is nothing to decide.
    """

    __slots__ = ("form", "strict")

    def __init__(self, form: Linear, strict: bool) -> None:
        self.form = form
        self.strict = strict

    def settled(self) -> Any:
        """A plain truth value where there is nothing to decide."""
        if self.form.terms:
            return self
        return self.form.constant > 0 or (not self.strict and self.form.constant == 0)

    def opposite(self) -> Condition:
        return Condition(-self.form, not self.strict)

    def text(self) -> str:
        return self.form.text() + (">0" if self.strict else ">=0")

    def __bool__(self) -> bool:
        settled = self.settled()
        return settled if isinstance(settled, bool) else state.current().decide(self)

    def indicator(self) -> Linear:
        """1 where it is true, else 0: a variable for data, so that counts do not fork."""
        space = state.current().space
        if self.form.noisy or not space.merging or not self.form.terms:
            return Linear(None, int(bool(self)))
        made: Linear = space.auxiliary(self.form, f"[{self.text()}]", 0, 1, whole=True)
        return made

    def __invert__(self) -> Condition:
        raise unsupported("`~` of a truth value (write `not`)")

    def _with(self, other: Any, operation: Callable[[bool, bool], bool]) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Condition | bool | np.bool_):
            raise unsupported("`&`, `|` or `^` of a truth value and something else")
        return plain(operation(bool(self), bool(other)))

    def __and__(self, other: Any) -> Any:
        return self._with(other, operator.and_)

    def __or__(self, other: Any) -> Any:
        return self._with(other, operator.or_)

    def __xor__(self, other: Any) -> Any:
        return self._with(other, operator.xor)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, numbers.Real | Condition | np.bool_):
            return _no_number(other)
        return plain(bool(bool(self) == (bool(other) if isinstance(other, Condition) else other)))

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else equal.opposite()

    def _number(self, other: Any) -> Linear:
        """As a number, for arithmetic with a number: two truth values of numpy are not added as numbers."""
        if isinstance(other, Condition | bool | np.bool_):
            raise unsupported("arithmetic with two truth values (make them numbers by int())")
        return self.indicator()

    def __add__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._number(other) + other

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._number(other) - other

    def __rsub__(self, other: Any) -> Any:
        return Linear.of(other) - self._number(other)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._number(other) * other

    __radd__, __rmul__, __rand__, __ror__, __rxor__ = __add__, __mul__, __and__, __or__, __xor__

    def __int__(self) -> int:
        return int(bool(self))

    __index__ = __int__

    def __float__(self) -> float:
        return float(bool(self))

    def __hash__(self) -> int:
        raise unsupported("a truth value that depends on the data or on noise as a dictionary key, or in a set")

    def __repr__(self) -> str:
        if state.active():
            raise unsupported("the text of a truth value that depends on the data or on noise")
        return self.text()

    def __format__(self, spec: str) -> str:
        return repr(self)


def plain(value: bool) -> Condition:
    """A condition with nothing to decide."""
    return Condition(Linear(None, 1 if value else -1), True)


def largest(*values: Any) -> Any:
    """max, without a fork where all but one value are constants and the rest is data (the first one on ties)."""
    return _extreme(values, "max")


def smallest(*values: Any) -> Any:
    """min, likewise."""
    return _extreme(values, "min")


def _extreme(values: Iterable[Any], which: str) -> Any:
    best, *others = values
    for value in others:
        best = _two(best, value, which)
    return best


def _two(left: Any, right: Any, which: str) -> Any:
    upwards = which == "max"
    for infinite, other in ((left, right), (right, left)):
        if isinstance(infinite, float) and math.isinf(infinite):
            return infinite if (infinite > 0) == upwards else other
    a, b = Linear.of(left), Linear.of(right)
    space = state.current().space if state.active() else None
    if space is not None and space.merging and not (a.noisy or b.noisy):
        (low_a, high_a), (low_b, high_b) = space.range(a), space.range(b)
        if low_a is not None and high_b is not None and low_a >= high_b:
            return left if upwards else right
        if low_b is not None and high_a is not None and low_b >= high_a:
            return right if upwards else left
        if not a.terms or not b.terms:
            name = f"{which}({';'.join(sorted((a.text(), b.text())))})"
            low, high = _ends((low_a, low_b), which, max), _ends((high_a, high_b), which, min)
            return space.auxiliary(a + b, name, low, high)
    return right if (b > a if upwards else b < a) else left


def _ends(ends: tuple[Number | None, Number | None], which: str, known: Any) -> Number | None:
    """The end of the range of a max or min of two from theirs; `known`: which extreme one infinite end leaves known."""
    if None not in ends:
        return max(ends) if which == "max" else min(ends)  # type: ignore[type-var]
    finite = [end for end in ends if end is not None]
    return finite[0] if finite and (known is max) == (which == "max") else None
