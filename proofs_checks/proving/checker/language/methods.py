"""What the methods and attributes of arrays, lists, dicts, texts and numbers mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..forms import Form, Sign
from ..refusals import Raises, Refused
from . import numpy_folds, numpy_library, numpy_made, records
from .arrays import array_of, converted, iterated, kind_named, put, raising, several
from .functions import joined
from .ordering import ordered
from .values import Appended, Array, Dimension, Ranks, Vector, as_key


def mutable(held: Any) -> Any:
    from .interpreter import writable

    return writable(held)


def extended(held: Any, values: Any) -> None:
    mutable(held).extend(several(values))


def popped(held: Any, place: Any = -1) -> Any:
    if type(place) is not int:
        raise Refused("the place of what is popped is no integer")
    return raising(mutable(held).pop, place)


def inserted(held: Any, place: Any, value: Any) -> None:
    if type(place) is not int:
        raise Refused("the place of what is inserted is no integer")
    mutable(held).insert(place, value)


def found(held: Any, key: Any, default: Any = None) -> Any:
    return held.get(as_key(key), default)


def updated(held: Any, values: Any = (), **more: Any) -> None:
    from .library import dictionary

    mutable(held).update(dictionary(values, **more))


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


def as_type(value: Array, dtype: Any) -> Array:
    kind = kind_named(dtype)
    if kind is None:
        raise Refused("astype without a type")
    return converted(value, kind)


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
        return raising(getattr(text, name), *args)

    return applied


OF_NUMPY = (
    "sum", "mean", "argmax", "argmin", "argsort", "cumsum", "max", "min", "clip", "any", "all", "ravel",
    "round", "var", "std", "dot", "transpose", "nonzero", "repeat",
)  # fmt: skip
"""Methods of arrays that numpy has as functions of them, too."""
_FUNCTIONS = {id(function): entry for function, entry in numpy_library.TABLE}
ARRAYS: dict[str, Callable[..., Any]] = {name: _FUNCTIONS[id(getattr(np, name))] for name in OF_NUMPY} | {
    "tolist": nested, "astype": as_type, "item": only, "reshape": numpy_made.rearranged("reshape"),
    "flatten": numpy_made.rearranged("flatten"),
    "fill": lambda value, cell: put(value, Ellipsis, cell),
    "copy": lambda value: Array(np.array(value.cells, order="C"), value.kind),
    "sort": lambda value: put(value, Ellipsis, numpy_folds.sort(value)),
}  # fmt: skip
LISTS: dict[str, Callable[..., Any]] = {
    "append": lambda held, value: mutable(held).append(value), "extend": extended, "pop": popped, "insert": inserted,
    "copy": list, "reverse": lambda held: mutable(held).reverse(), "clear": lambda held: mutable(held).clear(),
    "sort": lambda held, **how: mutable(held).__setitem__(slice(None), ordered(held, **how)),
}  # fmt: skip
DICTS: dict[str, Callable[..., Any]] = {
    "get": found, "items": dict.items, "keys": dict.keys, "values": dict.values,
    "copy": dict, "update": updated,
    "setdefault": lambda held, key, default=None: mutable(held).setdefault(as_key(key), default),
    "pop": lambda held, key, *default: raising(mutable(held).pop, as_key(key), *default),
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
RECORDS: dict[str, Callable[..., Any]] = {"sum": records.total, "mean": records.mean, "copy": array_of}
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
    "shape": records.shape, "ndim": lambda value: len(records.shape(value)), "size": lambda value: length_of(value),
}  # fmt: skip
PROPERTIES: list[tuple[Any, dict[str, Callable[[Any], Any]]]] = [
    (Array, {name: _FUNCTIONS[id(getattr(np, name))] for name in ("size", "shape")} | {
        "ndim": lambda value: value.cells.ndim, "T": ARRAYS["transpose"]}),
    (Ranks, {"size": len, "shape": lambda value: (len(value),)}),
]  # fmt: skip
