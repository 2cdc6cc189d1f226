"""numpy as the user's function finds it during the checker's run: its arrays hold symbols."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .following import refuse
from .forms import Form, Sign
from .numpy_names import KNOWN
from .stand_ins import NumpyArray, Real, for_numpy
from .tables import Table, table


def holds_symbols(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(holds_symbols(item) for item in value)
    return isinstance(value, Form | Sign | Table) or (isinstance(value, np.ndarray) and value.dtype == object)


class Numpy:
    """numpy, with arrays that hold symbols."""

    float64 = Real
    ndarray = NumpyArray
    random = types.SimpleNamespace(Generator=np.random.Generator)

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type) and issubclass(found, np.number | np.bool_):
            return found
        if name not in KNOWN and not isinstance(found, np.ufunc):
            raise refuse(f"numpy.{name} is not supported")
        return _calling(found) if callable(found) else found

    @staticmethod
    def array(value: Any, dtype: Any = None, copy: Any = True, **_: Any) -> Any:
        if not copy:
            raise refuse("an array that need not be a copy")
        if isinstance(value, Form | Sign):
            return value
        if not holds_symbols(value):
            return np.array(value, None if dtype is Real else for_numpy(dtype))
        rows = [list(row) if isinstance(row, np.ndarray) else row for row in value]
        made = np.array(rows, object).view(Table)
        return made if dtype is None else made.astype(dtype)

    @classmethod
    def asarray(cls, value: Any, dtype: Any = None, **_: Any) -> Any:
        """No copy of what is an array of real numbers."""
        return value if isinstance(value, Table) and (dtype is None or dtype is Real) else cls.array(value, dtype)

    asanyarray = ascontiguousarray = asarray

    @staticmethod
    def full(shape: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
        if dtype in (int, bool, np.int64, np.bool_) or (dtype is None and isinstance(value, int)):
            return np.full(shape, value, for_numpy(dtype))
        made = np.empty(shape, object)
        made[...] = value
        return made.view(Table)

    def zeros(self, shape: Any, dtype: Any = float, **_: Any) -> Any:
        return self.full(shape, 0.0, dtype)

    empty = zeros

    def ones(self, shape: Any, dtype: Any = float, **_: Any) -> Any:
        return self.full(shape, 1.0, dtype)

    def zeros_like(self, other: Any, dtype: Any = float, **_: Any) -> Any:
        return self.full(np.shape(np.asarray(other, object)), 0.0, dtype)

    empty_like = zeros_like

    def ones_like(self, other: Any, dtype: Any = float, **_: Any) -> Any:
        return self.full(np.shape(np.asarray(other, object)), 1.0, dtype)

    def mean(self, values: Any, axis: Any = None, **options: Any) -> Any:
        return self.array(values).mean(axis, **options)

    average = mean


def _calling(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: Any, **options: Any) -> Any:
        return _called(function, *arguments, **options)

    return called


def _called(function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
    if not any(holds_symbols(value) for value in (*arguments, *options.values())):
        return function(*map(for_numpy, arguments), **{name: for_numpy(each) for name, each in options.items()})
    options.pop("dtype", None)
    ready = [NUMPY.array(a) if isinstance(a, list | tuple) and holds_symbols(a) else a for a in arguments]
    result = function(*ready, **options)
    return table(result) if isinstance(result, np.ndarray) and result.dtype == object and result.ndim else result


NUMPY = Numpy()
