"""What the methods and attributes of arrays, lists, dicts, texts and numbers mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..following import Raises, Refused
from ..forms import Form, Sign
from ..order import largest_place, least_place
from . import numpy_cells, numpy_folds, numpy_made, vectors
from .arrays import array_of, converted, kind_named, mean, put, running, total
from .functions import greater, joined, lesser
from .iteration import iterated, several
from .ordering import ordered
from .ranks import Ranks
from .values import Appended, Array, Dimension, Vector


def mutable(held: Any) -> Any:
    from .interpreter import writable

    return writable(held)


def extended(held: Any, values: Any) -> None:
    mutable(held).extend(several(values))


def popped(held: Any, place: Any = -1) -> Any:
    if type(place) is not int:
        raise Refused("the place of what is popped is no integer")
    return _raising(mutable(held).pop, place)


def inserted(held: Any, place: Any, value: Any) -> None:
    if type(place) is not int:
        raise Refused("the place of what is inserted is no integer")
    mutable(held).insert(place, value)


def sorted_in_place(held: Any, *, key: Any = None, reverse: Any = False) -> None:
    mutable(held)[:] = ordered(held, key=key, reverse=reverse)


def found(held: Any, key: Any, default: Any = None) -> Any:
    from .interpreter import INTERPRETER

    return held.get(INTERPRETER.key(key), default)


def set_default(held: Any, key: Any, default: Any = None) -> Any:
    from .interpreter import INTERPRETER

    return mutable(held).setdefault(INTERPRETER.key(key), default)


def popped_key(held: Any, key: Any, *default: Any) -> Any:
    from .interpreter import INTERPRETER

    return _raising(mutable(held).pop, INTERPRETER.key(key), *default)


def updated(held: Any, values: Any = (), **more: Any) -> None:
    from .library import dictionary

    mutable(held).update(dictionary(values, **more))


def _raising(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except (IndexError, KeyError, ValueError) as problem:
        raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem


def nested(value: Any) -> Any:
    """array.tolist()."""
    if isinstance(value, Array):
        return [nested(each) for each in iterated(value)] if value.cells.ndim else value.cells[()]
    return value


def only(value: Array) -> Any:
    """array.item()."""
    if value.cells.size != 1:
        raise Raises("the function raises ValueError: more than one cell")
    return value.cells.ravel()[0]


def reshaped(value: Array, *shape: Any) -> Array:
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    if not all(type(each) is int for each in wanted):
        raise Refused("a shape that is not made of integers")
    return Array(_raising(value.cells.reshape, tuple(wanted)), value.kind)


def filled(value: Array, cell: Any) -> None:

    put(value, Ellipsis, cell)


def as_type(value: Array, dtype: Any) -> Array:
    kind = kind_named(dtype)
    if kind is None:
        raise Refused("astype without a type")
    return converted(value, kind)


def sorted_array(value: Array) -> None:

    put(value, Ellipsis, numpy_folds.sort(value))


def concatenated(separator: str, values: Any) -> Any:
    """separator.join(values)."""
    pieces: list[Any] = []
    for i, each in enumerate(iterated(values)):
        pieces += [separator, each] if i else [each]
    return joined(pieces)


def formatted(template: str, *args: Any, **kwargs: Any) -> Any:
    raise Refused("str.format, which looks up attributes: write an f-string")


def length_of(value: Any) -> Dimension:
    """record.size."""
    if not isinstance(value, Vector):
        raise Refused("how many entries all records have together")
    return Dimension()


def plain(name: str) -> Callable[..., Any]:
    """A method of texts, of texts and numbers."""

    def applied(text: str, *args: Any) -> Any:
        if not all(arg is None or isinstance(arg, str | int | tuple) for arg in args):
            raise Refused(f".{name} of a text with such arguments")
        return _raising(getattr(text, name), *args)

    return applied


ARRAYS: dict[str, Callable[..., Any]] = {
    "sum": total, "mean": mean, "argmax": numpy_folds.place_of(largest_place),
    "argmin": numpy_folds.place_of(least_place), "argsort": numpy_folds.argsort, "cumsum": running,
    "max": numpy_folds.extreme(greater, largest_place),
    "min": numpy_folds.extreme(lesser, least_place), "clip": numpy_cells.clip, "any": numpy_folds.truths(any),
    "all": numpy_folds.truths(all), "tolist": nested, "copy": array_of, "astype": as_type, "item": only,
    "ravel": lambda value: Array(value.cells.ravel(), value.kind),
    "flatten": lambda value: Array(value.cells.flatten(), value.kind),
    "reshape": reshaped, "fill": filled, "round": numpy_cells.round_, "var": numpy_folds.variance,
    "std": numpy_folds.deviation,
    "dot": numpy_folds.dot, "sort": sorted_array, "transpose": lambda value: Array(value.cells.T, value.kind),
    "nonzero": numpy_folds.ones_where, "repeat": numpy_made.repeated,
}  # fmt: skip
LISTS: dict[str, Callable[..., Any]] = {
    "append": lambda held, value: mutable(held).append(value), "extend": extended, "pop": popped, "insert": inserted,
    "copy": list, "reverse": lambda held: mutable(held).reverse(), "clear": lambda held: mutable(held).clear(),
    "sort": sorted_in_place,
}  # fmt: skip
DICTS: dict[str, Callable[..., Any]] = {
    "get": found, "items": lambda held: list(held.items()), "keys": list, "values": lambda held: list(held.values()),
    "copy": dict, "setdefault": set_default, "pop": popped_key, "update": updated,
}  # fmt: skip
TEXTS: dict[str, Callable[..., Any]] = {name: plain(name) for name in (
    "upper", "lower", "strip", "lstrip", "rstrip", "split", "startswith", "endswith", "replace", "title", "zfill",
)} | {"join": concatenated, "format": formatted}  # fmt: skip
RANKS: dict[str, Callable[..., Any]] = {"tolist": lambda value: value.places(), "copy": array_of}
APPENDED: dict[str, Callable[..., Any]] = {
    "append": lambda held, value: held.items.append(value),
    "extend": lambda held, values: held.items.extend(several(values)),
}
NUMBERS: dict[str, Callable[..., Any]] = {"item": lambda value: value}
RECORDS: dict[str, Callable[..., Any]] = {"sum": vectors.total, "mean": vectors.mean, "copy": array_of}
"""Of records, arrays of them, and squares of their entries."""
TABLE: list[tuple[Any, dict[str, Callable[..., Any]]]] = [
    (Array, ARRAYS),
    (list, LISTS),
    (dict, DICTS),
    (str, TEXTS),
    (Ranks, RANKS),
    (Appended, APPENDED),
    (Form | Sign | float, NUMBERS),
]
OF_RECORDS: dict[str, Callable[[Any], Any]] = {
    "shape": vectors.shape, "ndim": lambda value: len(vectors.shape(value)), "size": lambda value: length_of(value),
}  # fmt: skip
PROPERTIES: list[tuple[Any, dict[str, Callable[[Any], Any]]]] = [
    (
        Array,
        {
            "size": lambda value: int(value.cells.size),
            "shape": lambda value: tuple(value.cells.shape),
            "ndim": lambda value: value.cells.ndim,
            "T": lambda value: Array(value.cells.T, value.kind),
        },
    ),
    (Ranks, {"size": len, "shape": lambda value: (len(value),)}),
]
