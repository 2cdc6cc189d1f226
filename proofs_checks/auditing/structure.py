"""What an output is made of: its numbers, with the path to each, from containers, objects, arrays, tables and text.

A block is a run of numbers at one path. What is no number becomes one that stands for its text (`text` keeps it), equal
for equal texts: it can be compared, and says nothing about nearness. Shapes, lengths, names and orders that an observer
sees are numbers too.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from .calling import Raised
from .single_values import (
    WORDS,
    Block,
    attributes,
    code,
    exact,
    moment,
    of_bytes,
    own_text,
    shows_nothing,
    whole_number,
)

_CLASS = "the class of"


def blocks(output: Any, path: str = "output") -> Iterator[Block]:
    """The parts of one output, depth first. Raises InputError for what has neither content nor a text of its own."""
    kind = type(output)
    if kind is float or kind is int or kind is bool:
        yield from whole_number(output, path) if kind is int else (Block(path, float(output)),)
    elif isinstance(output, str):
        yield from _text(output, path)
    elif isinstance(output, Raised):  # no number in the first column: no threshold takes a failure for a value
        yield Block(f"failure of {path}", math.nan)
        yield code(f"{path}'s exception", output.kind)
        yield code(f"{path}'s message", output.text)
    elif isinstance(output, Mapping):
        yield from _mapping(output, path)
    elif isinstance(output, list | tuple):
        yield from _sequence(output, path)
    elif isinstance(output, set | frozenset):
        yield Block(f"len({path})", float(len(output)))
        for number, member in enumerate(sorted(([*blocks(item, "")] for item in output), key=_order)):
            yield from (Block(f"{path}'s member {number}{part.path}", part.values, part.text) for part in member)
    else:
        special = next((read for kinds, read in _KINDS if isinstance(output, kinds)), None)
        yield from special(output, path) if special is not None else _other(output, path)


def fingerprint(dataset: object, *, plain_data: bool = True) -> str | None:
    """Equal for equal contents; None for what has no contents of its own.

    plain_data: None also for what is no data all through, such as objects that may keep caches.
    """
    digest = hashlib.blake2b(digest_size=16)
    try:
        for part in blocks(dataset, "dataset"):
            if plain_data and part.path.startswith(_CLASS):
                return None
            digest.update(f"{part.path}{np.shape(part.values)}".encode("utf-8", "replace"))
            digest.update(np.ascontiguousarray(part.values).tobytes())
    except (InputError, RecursionError):
        return None
    return digest.hexdigest()


def same_contents(first: object, second: object) -> bool:
    """Whether two data sets are one, as far as their contents say."""
    if first is second:
        return True
    found = fingerprint(first, plain_data=False)
    return found is not None and found == fingerprint(second, plain_data=False)


def array_of(raw: Any) -> NDArray[Any] | None:
    """The array of what holds one, tensors included; None for anything else. Loses what tables and masks add to it."""
    if _is_tensor(raw):
        raw = raw.detach().cpu()
        try:
            return np.asarray(raw)
        except TypeError:  # numpy has no bfloat16
            return np.asarray(raw.double())
    return np.asarray(raw) if hasattr(raw, "__array__") else None


def numbers_of(array: NDArray[Any]) -> Floats | None:
    """An array of numbers as float64, complex ones as pairs in a last axis; None where they are of another kind."""
    if array.dtype.kind in "buif":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "c":
        wide = array.astype(np.complex128)
        return np.stack([wide.real, wide.imag], axis=-1)
    if array.dtype.kind == "V" and array.dtype.names is None:  # bfloat16 and its like, which only JAX's package names
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            return None
    return None


def plain(raw: Any) -> bool:
    """Whether numpy's reading of a nest of lists loses nothing: numbers, plain arrays and tensors only."""
    if isinstance(raw, list | tuple):
        kinds = set(map(type, raw))
        if kinds <= {float, int, bool}:
            return True
        return not any(hasattr(kind, "_fields") for kind in kinds) and all(map(plain, raw))
    kind = type(raw)
    return kind in (float, int, bool, complex, np.ndarray) or isinstance(raw, np.number | np.bool_) or _is_tensor(raw)


def _is_tensor(raw: Any) -> bool:
    """Not by `detach` alone, which files have, too."""
    return hasattr(raw, "detach") and hasattr(raw, "cpu")


_NUMBERS = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def _text(value: str, path: str) -> Iterator[Block]:
    """The text; and what is in it: JSON, or words and numbers."""
    yield code(path, repr(value))
    read = _as_json(value)
    if read is not None:
        yield from blocks(read, f"{path}, read as JSON,")
        return
    numbers = _NUMBERS.findall(value)
    if numbers:
        yield code(f"{WORDS}{path}", repr(_NUMBERS.sub("#", value)))
        for place, number in enumerate(numbers):
            yield Block(f"{path}, number {place},", float(number))


def _as_json(value: str) -> Any:
    if not value.lstrip().startswith(tuple("+-.0123456789[{")):
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _mapping(output: Mapping[Any, Any], path: str) -> Iterator[Block]:
    """Items in the order of their keys' text, so that they stay in place; the order that there was is one more part."""
    yield Block(f"len({path})", float(len(output)))
    names = {key: _name_of(key, path) for key in output}
    yield code(f"the order of {path}'s keys", ", ".join(names.values()))
    for key in sorted(names, key=names.__getitem__):
        yield from blocks(output[key], f"{path}[{names[key]}]")


def _name_of(key: object, path: str) -> str:
    return own_text(key, f"a key of {path}")


def _sequence(output: list[Any] | tuple[Any, ...], path: str) -> Iterator[Block]:
    fields = getattr(output, "_fields", None)
    if fields is None:
        yield Block(f"len({path})", float(len(output)))
    for number, item in enumerate(output):
        yield from blocks(item, f"{path}[{number}]" if fields is None else f"{path}.{fields[number]}")


def _order(member: list[Block]) -> tuple[Any, ...]:
    return tuple((part.path, tuple(np.ravel(part.values).tolist())) for part in member)


def _array(array: NDArray[Any], path: str) -> Iterator[Block]:
    """An array: its size, then its numbers; structured ones by field, dates by day and rest, objects one by one."""
    if isinstance(array, np.ma.MaskedArray):
        yield from _array(np.asarray(array.mask) & np.ones(array.shape, bool), f"the mask of {path}")
        array = np.asarray(array.filled(0))
    found = numbers_of(array)
    if found is not None:
        if array.ndim:
            yield Block(f"{path}.size", float(array.size))
        yield Block(path, found)
    elif array.dtype.names is not None:
        for name in array.dtype.names:
            yield from _array(array[name], f"{path}[{name!r}]")
    elif array.dtype.kind in "mM":
        ticks = array.astype(np.int64)
        rough = ticks.astype(np.float64)
        missing = np.isnat(array)
        rest = np.where(missing, 0, ticks) - np.where(missing, 0, rough).clip(-(2.0**62), 2.0**62).astype(np.int64)
        yield Block(f"{path}.size", float(array.size))
        yield Block(path, np.where(missing, math.nan, rough))
        yield Block(f"the last digits of {path}", rest.astype(np.float64))
        yield code(f"the unit of {path}", str(array.dtype))
    else:
        yield Block(f"{path}.size", float(array.size))
        for index in np.ndindex(array.shape):
            yield from blocks(array[index], path + "".join(f"[{number}]" for number in index))


def _table(frame: Any, path: str) -> Iterator[Block]:
    """A data frame: the names of its columns in their order, its index, then column by column."""
    columns = list(frame.columns)
    yield Block(f"len({path})", float(len(frame)))
    yield code(f"the columns of {path}", ", ".join(_name_of(name, path) for name in columns))
    yield from blocks(frame.index, f"{path}.index")
    for number, name in enumerate(columns):
        yield from _column(frame.iloc[:, number], f"{path}[{name!r}]")


def _series(series: Any, path: str) -> Iterator[Block]:
    yield code(f"{path}.name", repr(series.name))
    yield from blocks(series.index, f"{path}.index")
    yield from _column(series, path)


def _column(values: Any, path: str) -> Iterator[Block]:
    """Of a table: an array where its type is numpy's, else item by item. Types are seen by whoever sees the table."""
    yield code(f"the type of {path}", str(values.dtype))
    dtype = values.dtype if isinstance(values.dtype, np.dtype) else None
    yield from _array(values.to_numpy(), path) if dtype is not None else blocks(list(values), path)


def _fields(names: list[str], output: object, path: str) -> Iterator[Block]:
    yield code(f"the type of {path}", f"{type(output).__module__}.{type(output).__qualname__}")
    for name in names:
        yield from blocks(getattr(output, name), f"{path}.{name}")


def _other(output: Any, path: str) -> Iterator[Block]:
    """By fields where there are any, else by the text that it has of itself."""
    module = type(output).__module__.partition(".")[0]
    if module == "pandas" and hasattr(output, "dtype") and hasattr(output, "to_numpy"):
        yield from _series(output, path) if hasattr(output, "index") else _column(output, path)
    elif module == "pandas" and hasattr(output, "columns"):
        yield from _table(output, path)
    elif module == "scipy" and hasattr(output, "toarray"):
        yield from _array(output.toarray(), path)
        yield Block(f"entries stored in {path}", float(output.nnz))
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        yield from _fields([field.name for field in dataclasses.fields(output)], output, path)
    elif callable(getattr(output, "state_dict", None)):  # PyTorch's modules
        yield from blocks(output.state_dict(), f"{path}.state_dict()")
    elif (array := array_of(output)) is not None:
        yield from _array(array, path)
    else:
        yield from _by_fields(output, path) or [code(path, f"{type(output).__name__}:{own_text(output, path)}")]


def _by_fields(output: Any, path: str) -> list[Block]:
    """An object's attributes; nothing where it has none, or where only its own text says what is in them."""
    names = [] if callable(output) else attributes(output)
    try:
        return [code(f"{_CLASS} {path}", ""), *_fields(names, output, path)] if names else []
    except InputError:
        if shows_nothing(output):
            raise
        return []


_KINDS: tuple[tuple[Any, Callable[[Any, str], Iterator[Block]]], ...] = (
    (enum.Enum, lambda value, path: iter((code(path, str(value)),))),
    (np.bool_ | np.floating, lambda value, path: iter((Block(path, float(value)),))),
    (np.integer, lambda value, path: whole_number(int(value), path)),
    (int, lambda value, path: whole_number(int(value), path)),
    (float, lambda value, path: iter((Block(path, float(value)),))),
    (complex, lambda value, path: iter((Block(f"{path}.real", value.real), Block(f"{path}.imag", value.imag)))),
    (Decimal | Fraction, exact),
    (bytes | bytearray | memoryview, of_bytes),
    (dt.date | dt.time | dt.timedelta, moment),
    (np.ndarray | np.generic, lambda value, path: _array(np.asanyarray(value), path)),
)
