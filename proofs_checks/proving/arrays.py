"""numpy arrays of symbols: element by element, without forks where linear.py knows how."""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .linear import Condition, Linear, largest, plain, smallest
from .numpy_names import ATTRIBUTES
from .order import STABLE, Order, largest_of, largest_place, least_of, least_place, no_ties
from .unsupported import HERE, NUMPY, unsupported


def _clip(value: Any, low: Any, high: Any) -> Any:
    return smallest(largest(value, low), high)


def _divide(left: Any, right: Any) -> Any:
    return Linear.of(left) / right


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _divide,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "fabs": abs,
    "maximum": largest,
    "minimum": smallest,
    "fmax": largest,
    "fmin": smallest,
    "clip": _clip,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_not": lambda a: not bool(a),
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "invert": lambda a: not a if isinstance(a, bool) else a.opposite(),
    "rint": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "isnan": lambda a: False,
    "isinf": lambda a: False,
    "isfinite": lambda a: True,
    "square": lambda a: a * a,
    "sign": lambda a: 1 if a > 0 else (-1 if a < 0 else 0),
}
AT_ONCE: dict[Callable[..., Any], Callable[..., Any]] = {largest: largest_of, smallest: least_of}
LOGICAL = (ELEMENTWISE["logical_and"], ELEMENTWISE["logical_or"])
FOLDS = {"add", "maximum", "minimum", "multiply", "logical_and", "logical_or", "fmax", "fmin"}


def symbolic(value: Any) -> bool:
    """Whether there is a symbol in it."""
    if isinstance(value, Linear | Condition | Symbols) or (isinstance(value, np.ndarray) and value.dtype == object):
        return True
    return isinstance(value, list | tuple) and any(symbolic(item) for item in value)


def apply(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A numpy ufunc on symbols."""
    name = ufunc.__name__
    operation = ELEMENTWISE.get(name)
    if operation is None:
        raise unsupported(f"numpy.{name} of a value that depends on the data or on noise is not supported")
    out = kwargs.pop("out", None)
    kwargs.pop("dtype", None)
    if method == "__call__":
        if kwargs.pop("where", True) is not True:
            raise unsupported(f"numpy.{name} with where= is not supported")
        result = _each(operation, inputs)
    elif method in ("reduce", "accumulate") and name in FOLDS:
        result = _fold(operation, method, inputs[0], kwargs)
    else:
        raise unsupported(f"numpy.{name}.{method} is not supported")
    if out is not None:
        out[0][...] = result
        return out[0]
    return result


def _truth(value: Any) -> Any:
    """numpy's truth values are no bools."""
    return plain(value) if isinstance(value, bool) else value


def _each(operation: Callable[..., Any], inputs: Iterable[Any]) -> Any:
    arrays = np.broadcast_arrays(*[_objects(value) for value in inputs])
    cells = [_truth(operation(*row)) for row in zip(*[array.ravel().tolist() for array in arrays], strict=True)]
    return Symbols.of(cells).reshape(arrays[0].shape) if arrays[0].ndim else cells[0]


def _objects(value: Any) -> Any:
    """An object array of plain numbers and symbols."""
    if isinstance(value, Linear | Condition):
        cell = np.empty((), object)
        cell[()] = value
        return cell
    return np.asarray(value).astype(object) if not isinstance(value, Symbols) else value.view(np.ndarray)


def _fold(operation: Callable[..., Any], method: str, array: Any, kwargs: dict[str, Any]) -> Any:
    axis = kwargs.get("axis", 0)
    if kwargs.get("where", True) is not True or isinstance(kwargs.get("initial"), Linear | Condition | np.ndarray):
        raise unsupported("a reduction with where=, or with an initial= that depends on the data or on noise")
    cells = _objects(array)
    if axis is None:
        cells, axis = cells.ravel(), 0
    columns = np.moveaxis(cells, axis, 0)
    initial = kwargs.get("initial")
    rest = columns.shape[1:]
    flat = columns.reshape(len(columns), -1) if columns.size else np.empty((len(columns), int(np.prod(rest))), object)
    done: list[list[Any]] = []
    for column in flat.T.tolist():
        values = column if initial is None or not isinstance(initial, int | float) else [initial, *column]
        if operation is operator.add and any(isinstance(value, bool | Condition) for value in values):
            values = [Linear.of(value) for value in values]
        if len(values) == 1 and operation in LOGICAL:  # of one, folding would leave itself
            values = [bool(values[0])]
        if method == "accumulate":
            done.append([functools.reduce(operation, values[: i + 1]) for i in range(len(values))])
        elif values:
            done.append([AT_ONCE[operation](*values) if operation in AT_ONCE else functools.reduce(operation, values)])
        elif operation is operator.add:
            done.append([0.0])
        else:
            raise ValueError("zero-size array to a reduction which has no identity")
    done = [[_truth(cell) for cell in column] for column in done]
    if method == "reduce":
        result = Symbols.of([column[0] for column in done]).reshape(rest)
        result = np.expand_dims(result, axis) if kwargs.get("keepdims") is True else result
        return result if result.ndim else result.item()
    table = Symbols.of([cell for row in zip(*done, strict=True) for cell in row]).reshape(columns.shape)
    return np.moveaxis(table, 0, axis)


class Symbols(np.ndarray[Any, Any]):
    """An object array whose operations stay symbolic."""

    @staticmethod
    def of(cells: Iterable[Any]) -> Symbols:
        listed = list(cells)
        array = np.empty(len(listed), object)
        for i, cell in enumerate(listed):
            array[i] = cell
        return array.view(Symbols)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return apply(ufunc, method, inputs, kwargs)

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(_index(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_index(index), value)

    def astype(self, dtype: Any = float, *options: Any, **named: Any) -> Any:
        """Real numbers stay what they are: there are no floats here. Only what is whole becomes integers."""
        if options or named:
            raise unsupported("astype with options")
        cells, kind = self.ravel().tolist(), _kind(dtype)
        if kind in "iub" and not all(isinstance(cell, Condition | bool) for cell in cells):
            if kind != "i" or dtype not in (int, np.int64):
                raise unsupported("this integer or truth type, of values that depend on the data or on noise")
            return Symbols.of(math.trunc(Linear.of(cell)) for cell in cells).reshape(self.shape)
        return Symbols.of([Linear.of(cell) for cell in cells]).reshape(self.shape)

    def mean(self, axis: Any = None, **options: Any) -> Any:  # type: ignore[override]
        if any(value is not None for value in options.values()):
            raise unsupported(f"mean with {', '.join(options)}")
        total = self.sum() if axis is None else self.sum(axis=axis)
        return total / (self.size if axis is None else self.shape[axis])

    def argmax(self, axis: Any = None, *others: Any, **options: Any) -> Any:
        """One fork, with a way for each entry."""
        return largest_place(self.tolist()) if self._listed(axis) else super().argmax(axis, *others, **options)

    def argmin(self, axis: Any = None, *others: Any, **options: Any) -> Any:
        """Likewise."""
        return least_place(self.tolist()) if self._listed(axis) else super().argmin(axis, *others, **options)

    def argsort(self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
        """As far as it is read. Of equal values only a stable sort says which comes first."""
        if not stable and kind not in STABLE:
            no_ties(self.ravel().tolist())
        return Order(self.tolist()) if self._listed(axis) else super().argsort(axis, "stable", order)

    def _listed(self, axis: Any) -> bool:
        """Whether it is a list of numbers, symbols among them."""
        cells = self.ravel().tolist()
        numbers = all(isinstance(cell, int | float | Linear) and not isinstance(cell, bool) for cell in cells)
        return self.ndim == 1 and axis in (None, 0, -1) and numbers and any(isinstance(c, Linear) for c in cells)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        return bool(self.item())

    def __repr__(self) -> str:
        return repr(self.tolist())

    __str__ = __repr__


def _for_numpy(name: str) -> Any:
    def get(self: Symbols) -> Any:
        if not sys._getframe(1).f_code.co_filename.startswith((NUMPY, HERE)):
            raise unsupported(f"the attribute {name} of an array that depends on the data or on noise")
        return getattr(super(Symbols, self), name)

    return property(get)


for _attribute in dir(np.ndarray):
    if not _attribute.startswith("_") and _attribute not in ATTRIBUTES:
        setattr(Symbols, _attribute, _for_numpy(_attribute))


def _kind(dtype: Any) -> str:
    """numpy's letter for it: i whole numbers, b truth values, ..."""
    try:
        return "i" if dtype == int else np.dtype(dtype).kind  # noqa: E721 (what stands in for int equals it)
    except TypeError:  # what stands in for float
        return "f"


def _index(index: Any) -> Any:
    """Masks of conditions become masks of plain truth values, each of which forks."""
    if isinstance(index, Linear):
        raise unsupported("an index that depends on the data or on noise")
    if isinstance(index, Condition):
        return bool(index)
    if isinstance(index, Order):
        return np.asarray(index)
    if isinstance(index, Symbols):
        cells = index.ravel().tolist()
        kind: Any = bool if all(isinstance(cell, bool | Condition) for cell in cells) else int
        return np.array([kind(cell) for cell in cells], kind).reshape(index.shape)
    return tuple(_index(part) for part in index) if isinstance(index, tuple) else index
