"""Types of Python and numpy as the user's function means them while the checker runs it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .following import refuse
from .forms import Form, Sign
from .tables import Table


class _Real(type):
    def __call__(cls, value: Any = 0.0) -> Any:
        if isinstance(value, Form | Sign) or (isinstance(value, Table) and value.size == 1):
            return Form.lift(value)
        return float(value)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, float | Form)


class Real(metaclass=_Real):
    """float, for symbols too."""


class _Integer(type):
    def __call__(cls, *values: Any, **options: Any) -> Any:
        if len(values) != 1 or options or not isinstance(values[0], Form | Table):
            return int(*values, **options)
        return math.trunc(Form.lift(values[0]))

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, int)

    def __eq__(cls, other: object) -> bool:
        return other is int or other is cls

    def __hash__(cls) -> int:
        return hash(int)


class Integer(metaclass=_Integer):
    """int, for symbols that are whole."""


class _Text(type):
    def __call__(cls, *values: Any, **options: Any) -> str:
        if any(isinstance(value, Form | Sign | np.ndarray) for value in values):
            raise refuse("a text made of symbols or of an array")
        return str(*values, **options)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, str)

    def __getattr__(cls, name: str) -> Any:
        return getattr(str, name)


class Text(metaclass=_Text):
    """str, for what is no symbol: of an array it may read the memory."""


class _NumpyArray(type):
    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise refuse("numpy.ndarray called, which may be over another's memory")

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, np.ndarray)


class NumpyArray(metaclass=_NumpyArray):
    """numpy.ndarray, to be asked for and not to be called."""


def for_numpy(value: Any) -> Any:
    """int and float where numpy asks for a type."""
    return int if value is Integer else float if value is Real else value
