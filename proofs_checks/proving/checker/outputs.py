"""An output as two parts: what is discrete about it, as JSON, and its real numbers."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np

from .forms import Form, Sign
from .language.arithmetic import plain, truth
from .language.values import Array, Object, Ranks, Text, Vector
from .refusals import Refused

PLAIN = (bool, int, str, type(None))
Parts = tuple[Any, list[Any]]
"""The discrete part, in which numbers that depend on symbols are "real", and these numbers."""


def parts(output: Any) -> Parts:
    """Of an output of the language. Raises Refused."""
    if isinstance(output, Sign):
        output = truth(output)
    output = plain(output)
    if isinstance(output, Vector):
        return "vector", [output.form]
    if isinstance(output, Form):
        if output.slopes:
            return "real", [output]
        output = float(output.at_zero)
    if isinstance(output, float):
        return ["float", repr(float(output))], []
    if type(output) in PLAIN:
        return [type(output).__name__, repr(output)], []
    if isinstance(output, Text):
        return ["text", [piece if isinstance(piece, str) else None for piece in output.pieces]], []
    head, cells = _opened(output)
    split = [parts(cell) for cell in cells]
    return [head, *[key for key, _ in split]], [real for _, reals in split for real in reals]


def _opened(output: Any) -> tuple[Any, list[Any]]:
    """What kind of container it is, and its cells."""
    if isinstance(output, Array):
        head = "records" if output.kind == "v" else "array"
        return [head, list(output.cells.shape)], output.cells.ravel().tolist()
    if isinstance(output, Ranks):
        return ["array", [len(output)]], output.places()
    if isinstance(output, list | tuple):
        return "list" if isinstance(output, list) else "tuple", list(output)
    if isinstance(output, dict):
        return "dict", [cell for item in output.items() for cell in item]
    if isinstance(output, Object) and output.record:
        return ["dataclass", output.kind.__qualname__], [output.fields[f.name] for f in dataclasses.fields(output.kind)]
    raise Refused(
        f"an output of type {type(output).__name__.lower()}: put out numbers, texts, lists, tuples, dicts, arrays"
    )


def real_parts(output: Any) -> Any:
    """The discrete part of what the function itself has put out, with its numbers in it. Raises Refused."""
    if isinstance(output, np.generic):
        output = output.item()
    if isinstance(output, float) or type(output) in (*PLAIN, bytes):
        return [type(output).__name__, repr(output)]
    if type(output) is np.ndarray:
        return [["array", list(output.shape)], *map(real_parts, output.ravel().tolist())]
    if type(output) in (list, tuple):
        return [type(output).__name__, *map(real_parts, output)]
    if type(output) is dict:
        return ["dict", *[real_parts(cell) for item in output.items() for cell in item]]
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        named = [each.name for each in dataclasses.fields(output)]
        if not set(getattr(output, "__dict__", ())).issubset(named):
            raise Refused("an output that holds more than its fields")
        return [["dataclass", type(output).__qualname__], *[real_parts(getattr(output, name)) for name in named]]
    raise Refused(f"an output of type {type(output).__name__}")


def alike(expected: Any, real: Any, numbers: list[list[float]]) -> bool:
    """Whether the real output has this form; collects the numbers at the places of symbols, several of a record."""
    if expected == "vector":
        record = isinstance(real, list) and isinstance(real[0], list) and real[0][0] == "array" and len(real[0][1]) == 1
        numbers += [[float(entry) for _, entry in real[1:]]] if record else []
        return record
    if isinstance(expected, list) and expected and isinstance(expected[0], list) and expected[0][0] == "records":
        return _alike_rows(expected, real, numbers)
    if expected == "real":
        number = isinstance(real, list) and len(real) == 2 and real[0] in ("float", "int")
        if number:
            numbers.append([float(real[1])])
        return number
    if isinstance(expected, list) and expected and expected[0] == "text":
        return isinstance(real, list) and real[0] == "str"
    if isinstance(expected, list) and isinstance(real, list) and len(expected) == len(real):
        return all(alike(a, b, numbers) for a, b in zip(expected, real, strict=True))
    return bool(expected == real)


def _alike_rows(expected: Any, real: Any, numbers: list[list[float]]) -> bool:
    """A 2-d array as its rows."""
    if not (isinstance(real, list) and isinstance(real[0], list) and real[0][0] == "array" and len(real[0][1]) == 2):
        return False
    (_, (count, size)), cells = real[0], real[1:]
    rows = [[["array", [size]], *cells[i * size : (i + 1) * size]] for i in range(count)]
    return len(expected) == count + 1 and all(alike("vector", row, numbers) for row in rows)


def key_of(output: Any) -> tuple[str, list[Any]]:
    """The discrete part as text, and the numbers."""
    key, reals = parts(output)
    return json.dumps(key), reals
