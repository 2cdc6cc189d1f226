"""Datasets written out as text, for commands: Python's literals, and nan, inf, arrays and data frames.

`array([1.0, nan])`, `array([[1, 2]], dtype='float32')`, `float32(0.5)`, `DataFrame({'x': [1.0]}, index=[7])`. Nothing
else is evaluated when they are read. And how to see a witness again: a `dpcert audit` command where one can say it,
else the call in Python.
"""

from __future__ import annotations

import ast
import math
import shlex
import sys
from importlib import import_module
from typing import Any

import numpy as np

from .calling import name_of
from .curve import ClaimedCurve

LONGEST = 2000
"""Characters that still fit on a command line."""

_NAMES = {"nan": math.nan, "inf": math.inf}
_DEFAULTS = {"float64", "int64", "bool"}


def written(value: object) -> str | None:
    """The text that `read` makes into the same value; None where there is none, or it would be too long."""
    try:
        text = _text(value)
        read(text)
    except ValueError:
        return None
    return text if len(text) <= LONGEST else None


def read(text: str) -> Any:
    """The value. Raises ValueError for text that is not of this kind."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, KeyError, MemoryError, RecursionError, ImportError) as problem:
        raise ValueError(f"not a literal: {problem}") from None


def _text(value: object) -> str:
    if value is None or type(value) in (bool, int, float, str, bytes):
        return repr(value)
    if type(value) is list:
        return f"[{', '.join(map(_text, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(_text, value))}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{_text(key)}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, np.ndarray) and value.dtype.kind in "buif":
        return _array(value)
    if isinstance(value, np.generic) and value.dtype.kind in "buif":
        return f"{value.dtype.name}({_text(value.item())})"
    if type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == "DataFrame":
        return _frame(value)
    raise ValueError(f"no literal for {type(value).__name__}")


def _array(value: np.ndarray) -> str:
    same = np.array(value.tolist())
    shape = "" if same.shape == value.shape else f", shape={value.shape}"
    kind = "" if value.dtype.name in _DEFAULTS and same.dtype == value.dtype else f", dtype='{value.dtype.name}'"
    return f"array({_text(value.tolist())}{shape}{kind})"


def _frame(frame: Any) -> str:
    columns = {name: frame[name].to_numpy() for name in frame.columns}
    if len(columns) != frame.shape[1]:
        raise ValueError("two columns of one name")
    listed = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
    return f"DataFrame({_text(listed)}, index={_text(list(frame.index))})"


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        number = _value(node.operand)
        if not isinstance(number, int | float):
            raise ValueError("a sign before what is no number")
        return -number if isinstance(node.op, ast.USub) else number
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict):
        keys = [key for key in node.keys if key is not None]
        if len(keys) < len(node.values):
            raise ValueError("a mapping within a mapping's braces")
        return {_value(key): _value(item) for key, item in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        options = {str(word.arg): _value(word.value) for word in node.keywords}
        return _made(node.func.id, [_value(item) for item in node.args], options)
    return ast.literal_eval(node)


def _made(name: str, values: list[Any], options: dict[str, Any]) -> Any:
    if len(values) != 1:
        raise ValueError(f"not a literal: {name} of {len(values)} values")
    content = values[0]
    if name == "array" and set(options) <= {"shape", "dtype"}:
        array = np.array(content, dtype=options.get("dtype"))
        return array.reshape(options["shape"]) if "shape" in options else array
    if name == "DataFrame" and set(options) <= {"index"}:
        return import_module("pandas").DataFrame(content, **options)
    kind = np.dtype(name)
    if options or kind.kind not in "buif":
        raise ValueError(f"{name} is not one of array, DataFrame and numpy's numbers")
    return kind.type(content)


def replay(
    mechanism: object,
    pair: tuple[object, object],
    claim: ClaimedCurve | None,
    delta: float,
    trials: int,
    alpha: float,
    method: str,
    seed: int,
) -> str:
    """A command, to be run where the mechanism's module can be imported; or the call, with the pair as shown."""
    name, literal, stated = _importable(mechanism), written((pair[0], pair[1])), _claimed(claim, delta)
    if name is None or literal is None or stated is None:
        said = "" if claim is None else f", claim={claim.text!r}"
        options = f"delta={delta!r}, trials={trials}, alpha={alpha!r}, method={method!r}, seed={seed}"
        return f"audit({name_of(mechanism)}, pair{said}, {options})"
    options = f"--trials {trials} --alpha {alpha!r} --method {method} --seed {seed}"
    return f"dpcert audit {shlex.quote(name)} {stated} --pair {shlex.quote(literal)} {options}"


def _importable(mechanism: object) -> str | None:
    """module:name, if that is where the mechanism can be found again."""
    name, module = getattr(mechanism, "__qualname__", None), getattr(mechanism, "__module__", None)
    found: object = sys.modules.get(str(module))
    for part in str(name).split("."):
        found = getattr(found, part, None)
    if found is None or found is not mechanism:
        return None
    return f"{getattr(sys.modules['__main__'], '__file__', module) if module == '__main__' else module}:{name}"


def _claimed(claim: ClaimedCurve | None, delta: float) -> str | None:
    """The options that state the claim, if the command line can."""
    if claim is None:
        return None
    if claim.mu is not None:
        return f"--mu {claim.mu!r} --delta {delta!r}"
    if claim.rho is not None:
        return f"--rho {claim.rho!r} --delta {delta!r}"
    if len(claim.epsilons) != 1 or claim.deltas[0] != delta:
        return None
    return f"--epsilon {claim.epsilons[0]!r} --delta {delta!r}"
