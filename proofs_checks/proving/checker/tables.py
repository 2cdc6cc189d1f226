"""numpy arrays that hold the checker's symbols."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .entered import BELIEVED
from .following import refuse, tracer
from .forms import Form, Sign, greater, known, lesser
from .numpy_names import METHODS
from .order import Order, distinct, largest_place, least_place

ONE: dict[str, Callable[..., Any]] = {
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "fabs": abs,
    "square": lambda a: a * a,
    "logical_not": lambda a: not a,
    "invert": lambda a: a.negation() if isinstance(a, Sign) else not a,
    "rint": lambda a: tracer().whole(Form.lift(a)),
    "floor": lambda a: tracer().whole(Form.lift(a)),
    "ceil": lambda a: tracer().whole(Form.lift(a)),
    "trunc": lambda a: tracer().whole(Form.lift(a)),
    "isnan": lambda a: False,
    "isinf": lambda a: False,
    "isfinite": lambda a: True,
    "sign": lambda a: 1 if a > 0 else (-1 if a < 0 else 0),
}
TWO: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": lambda a, b: Form.lift(a) / b,
    "maximum": greater,
    "minimum": lesser,
    "fmax": greater,
    "fmin": lesser,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
}
CUMULATIVE = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "fmax", "fmin")


def on_symbols(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc, cell by cell, through Python's own operators on symbols."""
    name, out = ufunc.__name__, options.pop("out", None)
    options.pop("dtype", None)
    if options.pop("where", True) is not True or (method != "__call__" and name not in CUMULATIVE):
        raise refuse(f"numpy.{name} with these options")
    plain = [_plain(value) for value in inputs]
    if method == "__call__" and name == "clip":
        result = np.frompyfunc(lambda v, a, b: lesser(greater(v, a), b), 3, 1)(*plain)
    elif method == "__call__" and (name in ONE or name in TWO):
        result = np.frompyfunc(ONE.get(name) or TWO[name], len(plain), 1)(*plain)
    elif method in ("reduce", "accumulate"):
        result = _along(name, method, plain[0], options)
    else:
        raise refuse(f"numpy.{name}")
    result = _truths(result)
    if out is not None:
        out[0][...] = result
        return out[0]
    return table(result) if isinstance(result, np.ndarray) and result.ndim else _cell(result)


def _truths(result: Any) -> Any:
    """Truth values of numpy's, which are no bools."""
    if isinstance(result, bool):
        return known(result)
    if isinstance(result, np.ndarray) and any(isinstance(cell, bool) for cell in result.ravel().tolist()):
        return np.frompyfunc(lambda cell: known(cell) if isinstance(cell, bool) else cell, 1, 1)(result)
    return result


def _along(name: str, method: str, cells: Any, options: dict[str, Any]) -> Any:
    axis = options.get("axis", 0)
    if options.get("initial") not in (None, np._NoValue):
        raise refuse(f"numpy.{name} with an initial value")
    cells = cells.ravel() if axis is None else cells
    axis = 0 if axis is None else axis
    if name == "add":  # counts of truth values are numbers, also of one
        cells = np.frompyfunc(lambda c: Form.lift(c) if isinstance(c, Sign | bool) else c, 1, 1)(cells)
    if cells.shape[axis] == 0 and name != "add":
        raise ValueError("an empty reduction")
    if cells.shape[axis] == 0:
        return np.zeros(np.delete(cells.shape, axis), object) if method == "reduce" and cells.ndim > 1 else 0.0
    if name.startswith("logical") and cells.shape[axis] == 1:  # the reduction of one would be itself
        cells = np.frompyfunc(lambda cell: known(bool(cell)), 1, 1)(cells)
    run = np.frompyfunc(TWO[name], 2, 1)
    if method == "accumulate":
        return run.accumulate(cells, axis=axis, dtype=object)
    result = run.reduce(cells, axis=axis)
    return np.expand_dims(result, axis) if options.get("keepdims") is True else result


def _plain(value: Any) -> Any:
    if isinstance(value, Form | Sign):
        held = np.empty((), object)
        held[()] = value
        return held
    if isinstance(value, np.generic):  # its own operators would come back here
        value = value.item()
    return np.asarray(value, object).view(np.ndarray)


def _cell(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) else value


def table(cells: Any) -> Table:
    """The cells as a table of symbols."""
    if isinstance(cells, np.ndarray):
        return cells.astype(object).view(Table)
    held = np.empty(len(cells), object)
    for position, cell in enumerate(cells):
        held[position] = cell
    return held.view(Table)


class Table(np.ndarray[Any, Any]):
    """An object array that sends every operation through `on_symbols`."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return on_symbols(ufunc, method, inputs, options)

    def __getitem__(self, where: Any) -> Any:
        return np.ndarray.__getitem__(self, _place(where))

    def __setitem__(self, where: Any, value: Any) -> None:
        np.ndarray.__setitem__(self, _place(where), value)

    def astype(self, dtype: Any, *others: Any, **options: Any) -> Any:
        if others or options:
            raise refuse("astype with options")
        cells = self.ravel().tolist()
        integers = dtype in (int, np.int64)
        if (integers or _integral(dtype)) and not all(isinstance(cell, Sign | bool) for cell in cells):
            if not integers:
                raise refuse("symbols made integers of some size, or truth values")
            return table([tracer().whole(Form.lift(cell)) for cell in cells]).reshape(self.shape)
        lifted = np.frompyfunc(Form.lift, 1, 1)(self.view(np.ndarray)) if dtype is not object else self.copy()
        return np.asarray(lifted, object).view(Table)

    def mean(self, axis: Any = None, **options: Any) -> Any:  # type: ignore[override]
        if not all(value is None for value in options.values()):
            raise refuse("a mean with options")
        return (self.sum() / self.size) if axis is None else self.sum(axis=axis) / self.shape[axis]

    def argmax(self, axis: Any = None, *others: Any, **options: Any) -> Any:
        """One fork, with a way for each cell."""
        return largest_place(self.tolist()) if self._listed(axis) else super().argmax(axis, *others, **options)

    def argmin(self, axis: Any = None, *others: Any, **options: Any) -> Any:
        """Likewise."""
        return least_place(self.tolist()) if self._listed(axis) else super().argmin(axis, *others, **options)

    def argsort(self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
        """As far as it is read; stable, or of values that are almost surely different."""
        if not (stable or kind in ("stable", "mergesort") or distinct(self.ravel().tolist(), tracer().draws)):
            raise refuse("an order of values that may be equal")
        return Order.of(self.tolist()) if self._listed(axis) else super().argsort(axis, "stable", order)

    def _listed(self, axis: Any) -> bool:
        cells = self.ravel().tolist()
        numbers = all(isinstance(cell, int | float | Form) and not isinstance(cell, bool) for cell in cells)
        return self.ndim == 1 and len(cells) > 0 and axis in (None, 0, -1) and numbers

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array")
        return bool(self.ravel()[0])

    def __repr__(self) -> str:
        raise refuse("the text of an array of symbols")

    __str__ = __repr__


def _untold(name: str) -> Any:
    """An attribute of arrays for numpy alone: it may tell how they are stored, or promise too little."""

    def get(self: Table) -> Any:
        if not sys._getframe(1).f_code.co_filename.startswith(BELIEVED):
            raise refuse(f"the attribute {name} of an array of symbols")
        return getattr(super(Table, self), name)

    def put(self: Table, value: Any) -> None:
        raise refuse(f"the attribute {name} is set")

    return property(get, put)


for _name in dir(np.ndarray):
    if not _name.startswith("_") and _name not in METHODS:
        setattr(Table, _name, _untold(_name))


def _integral(dtype: Any) -> bool:
    try:
        return np.dtype(dtype).kind in "iub"
    except TypeError:  # the checker's own float
        return False


def _place(where: Any) -> Any:
    if isinstance(where, tuple):
        return tuple(_place(part) for part in where)
    if isinstance(where, Form):
        raise refuse("a symbol as an index")
    if isinstance(where, Sign):
        return bool(where)
    if isinstance(where, Order):
        return np.asarray(where)
    if isinstance(where, Table):
        listed = where.ravel().tolist()
        truth = all(isinstance(cell, bool | Sign) for cell in listed)
        return np.array([bool(c) if truth else int(c) for c in listed], bool if truth else int).reshape(where.shape)
    return where
