"""Exact affine forms, and tests of their sign, for the checker's own symbolic run."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .affine import Affine
from .following import refuse, tracer, under_way
from .lacking import Attributes, Operations
from .rational import rational


class Form(Affine, Operations):
    """An affine form in the user's hands: it computes with numbers, and a test of it is a Sign."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def lift(cls, value: Any) -> Form:
        if isinstance(value, Form):
            return value
        if isinstance(value, Sign):
            return value.as_number()
        if isinstance(value, np.ndarray) and value.size == 1:
            return cls.lift(value.ravel()[0])
        return cls({}, rational(value))

    def __add__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self.plus(Form.lift(other))

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self.plus(Form.lift(other), Fraction(-1))

    def __rsub__(self, other: Any) -> Any:
        return Form.lift(other).plus(self, Fraction(-1))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        factor = Form.lift(other)
        if factor.slopes and self.slopes:
            raise refuse("a product of two symbols")
        return self.scaled(factor.at_zero) if not factor.slopes else factor.scaled(self.at_zero)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        divisor = Form.lift(other).concrete()
        if not divisor:
            raise refuse("a division by zero")
        return self.scaled(1 / divisor)

    def __rtruediv__(self, other: Any) -> Any:
        return Form.lift(other) / self.concrete()

    def __pow__(self, power: Any) -> Any:
        if power == 1:
            return self
        raise refuse("a power of a symbol")

    __radd__, __rmul__ = __add__, __mul__

    def __abs__(self) -> Any:
        return greater(self, -self)

    def _against(self, other: Any, sign: int, strict: bool) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, float) and math.isinf(other):
            return known((other < 0) == (sign > 0))
        return Sign(self.plus(Form.lift(other), Fraction(-1)).scaled(Fraction(sign)), strict)

    def __gt__(self, other: Any) -> Any:
        return self._against(other, 1, True)

    def __ge__(self, other: Any) -> Any:
        return self._against(other, 1, False)

    def __lt__(self, other: Any) -> Any:
        return self._against(other, -1, True)

    def __le__(self, other: Any) -> Any:
        return self._against(other, -1, False)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, int | float | Fraction | np.floating | np.integer | np.bool_ | Form | Sign):
            return _unlike(other)
        return known(bool(self >= other) and bool(self <= other))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same.negation() if isinstance(same, Sign) else same

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __float__(self) -> float:
        return float(self.concrete())

    def __int__(self) -> int:
        raise refuse("an integer made of a symbol")

    __index__ = __int__

    def __trunc__(self) -> Any:
        return tracer().whole(self)

    __floor__ = __ceil__ = __trunc__

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None and digits < 0:
            raise refuse("a symbol rounded to tens")
        return tracer().whole(self)

    def __repr__(self) -> str:
        if under_way():
            raise refuse("the text of a symbol")
        return self.name()

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return tracer().on_arrays(ufunc, method, inputs, options)

    @property
    def real(self) -> Form:
        return self

    def item(self) -> Form:
        return self

    copy = conjugate = item


numbers.Real.register(Form)


def _unlike(other: object) -> Any:
    """A symbol beside something that is no real number."""
    if isinstance(other, numbers.Number | np.generic):
        raise refuse(f"a symbol is compared with a {type(other).__name__}")
    return NotImplemented


class Sign(Attributes):
    """form > 0 where strict, else form >= 0.

    In earnest it is a bool or numpy's; where these differ (`~`, +, the text), it is refused, decided or not.
    """

    __slots__ = ("_key", "form", "strict")

    def __init__(self, form: Form, strict: bool) -> None:
        self.form = form
        self.strict = strict
        self._key: tuple[Any, ...] | None = None

    def key(self) -> tuple[Any, ...]:
        """Equal for equal tests."""
        if self._key is None:
            self._key = tuple(sorted((n, _pair(s)) for n, s in self.form.slopes.items())), self.at, self.strict
        return self._key

    @property
    def at(self) -> tuple[int, int]:
        return _pair(self.form.at_zero)

    def opposite_key(self) -> tuple[Any, ...]:
        """The key of the negation."""
        slopes, (p, q), strict = self.key()
        return tuple((n, (-a, b)) for n, (a, b) in slopes), (-p, q), not strict

    def decided(self) -> Any:
        if self.form.slopes:
            return self
        return self.form.at_zero > 0 if self.strict else self.form.at_zero >= 0

    def negation(self) -> Sign:
        return Sign(-self.form, not self.strict)

    def name(self) -> str:
        return f"{self.form.name()}{'>' if self.strict else '>='}0"

    def __bool__(self) -> bool:
        decided = self.decided()
        return decided if isinstance(decided, bool) else bool(tracer().answer(self))

    def as_number(self) -> Form:
        merged = tracer().merged_sign(self) if self.form.slopes else None
        return merged if merged is not None else Form({}, Fraction(int(bool(self))))

    def _combined(self, other: Any, rule: Callable[[int, int], int]) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Sign) and type(other) not in (bool, np.bool_):
            raise refuse("a truth value and something else, bit by bit")
        return known(bool(rule(int(bool(self)), int(bool(other)))))

    def __and__(self, other: Any) -> Any:
        return self._combined(other, operator.and_)

    def __or__(self, other: Any) -> Any:
        return self._combined(other, operator.or_)

    def __xor__(self, other: Any) -> Any:
        return self._combined(other, operator.xor)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Sign):
            return known(bool(self) == bool(other))
        if not isinstance(other, int | float | Fraction | np.floating | np.integer | np.bool_ | Form):
            return _unlike(other)
        return known(bool(other == int(bool(self))))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same.negation() if isinstance(same, Sign) else same

    def __add__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._beside(other) + other

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._beside(other) - other

    def __rsub__(self, other: Any) -> Any:
        return Form.lift(other) - self._beside(other)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._beside(other) * other

    __radd__, __rmul__, __rand__, __ror__, __rxor__ = __add__, __mul__, __and__, __or__, __xor__

    def _beside(self, other: Any) -> Form:
        """As a number beside another number; numpy's truth values are added as truth values."""
        if isinstance(other, Sign) or type(other) in (bool, np.bool_):
            raise refuse("arithmetic with two truth values")
        return self.as_number()

    def _no(self, *_: Any) -> Any:
        raise refuse("`~`, a text or a key made of a truth value")

    __invert__ = __hash__ = _no

    def __repr__(self) -> str:
        return str(self._no()) if under_way() else self.name()

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __int__(self) -> int:
        return int(bool(self))

    __index__ = __int__

    def __float__(self) -> float:
        return float(bool(self))


def known(value: bool) -> Sign:
    """A truth value that does not hang on anything."""
    return Sign(Form({}, Fraction(1 if value else -1)), True)


def _pair(value: Fraction) -> tuple[int, int]:
    """Hashes faster than the fraction."""
    return value.numerator, value.denominator


def greater(a: Any, b: Any) -> Any:
    """max(a, b), of equal ones the first."""
    return _pick("max", a, b)


def lesser(a: Any, b: Any) -> Any:
    """min(a, b), of equal ones the first."""
    return _pick("min", a, b)


def _pick(which: str, a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, float) and math.isinf(one):
            return one if (one > 0) == (which == "max") else other
    left, right = Form.lift(a), Form.lift(b)
    merged = tracer().merged_extreme(which, left, right) if under_way() else None
    if merged is not None:
        return merged
    return b if (right > left if which == "max" else right < left) else a
