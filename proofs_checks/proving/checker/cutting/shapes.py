"""Shapes of arrays over the data: what numpy pairs off entry by entry, and what it would spread or put in a row."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import Enum

from ..refusals import Refused


class Shape(Enum):
    """FLAT: (N,). COLUMN: (N, 1). TABLE: (N, d). LIST: a list of N. UNKNOWN: an array of N, of numbers or records."""

    FLAT = "a number for every entry"
    COLUMN = "a column"
    TABLE = "records"
    LIST = "a list"
    GENERATOR = "a generator"
    UNKNOWN = "what may be numbers or records"


OF_CONTAINERS = {"array": Shape.FLAT, "list": Shape.LIST, "rows": Shape.TABLE}


def shape_of(node: ast.expr, named: Mapping[str, Shape], data: str) -> Shape | None:
    """Of an array over the data, or None where it is none. named: those of variables. Raises Refused."""
    if isinstance(node, ast.Name):
        return named.get(node.id)
    if isinstance(node, ast.GeneratorExp):
        return Shape.GENERATOR
    if isinstance(node, ast.ListComp):
        return Shape.LIST
    if isinstance(node, ast.Subscript):
        held = shape_of(node.value, named, data)
        if held is not None and ("None" in ast.unparse(node.slice) or "newaxis" in ast.unparse(node.slice)):
            return _as_column(node, held)
        return None if held is None else Shape.FLAT  # one column of records
    if isinstance(node, ast.Call):
        return _of_call(node, named, data)
    parts = {ast.BinOp: ("left", "right"), ast.UnaryOp: ("operand",)}.get(type(node), ())
    held_parts = [getattr(node, part) for part in parts]
    if isinstance(node, ast.Compare):
        held_parts = [node.left, *node.comparators]
    shapes = [shape_of(part, named, data) for part in held_parts]
    if Shape.LIST in shapes or Shape.GENERATOR in shapes:
        raise Refused(f"{ast.unparse(node)}, of a list: make it an array by np.array()")
    return _paired(node, shapes)


def _of_call(node: ast.Call, named: Mapping[str, Shape], data: str) -> Shape | None:
    function, texts = node.func, [ast.unparse(each) for each in (*node.args, *node.keywords)]
    name = function.attr if isinstance(function, ast.Attribute) else ""
    if any(text.removeprefix("size=") in (f"{data}.shape", f"{data}.size") for text in texts):
        whole = any(text.removeprefix("size=") == f"{data}.shape" for text in texts)
        return named[data] if whole or named[data] is Shape.FLAT else _refused(node, named[data])
    if any(text.removeprefix("size=") == f"len({data})" for text in texts):
        return Shape.FLAT
    on = shape_of(function.value, named, data) if isinstance(function, ast.Attribute) else None
    shapes = [on, *(shape_of(part, named, data) for part in node.args)]
    found = _paired(node, [Shape.FLAT if each is Shape.LIST and name not in ("array", "asarray") else each
                           for each in shapes])  # fmt: skip
    if found is None:
        return None
    if name in ("array", "asarray") and found is Shape.LIST:
        return Shape.UNKNOWN if named[data] is Shape.TABLE else Shape.FLAT
    if name == "cumsum":
        return found if found is Shape.FLAT else _refused(node, found)
    if name == "reshape":
        return _as_column(node, found)
    if name in ("norm", "sum"):
        by_rows = Shape.COLUMN if "keepdims=True" in texts else Shape.FLAT
        return by_rows if found in (Shape.TABLE, Shape.UNKNOWN) else _refused(node, found)
    return found


def _as_column(node: ast.expr, held: Shape) -> Shape:
    return Shape.COLUMN if held in (Shape.FLAT, Shape.COLUMN) else _refused(node, held)


def _paired(node: ast.expr, shapes: list[Shape | None]) -> Shape | None:
    """Of two arrays that are paired off entry by entry; records with a column are."""
    found = {each for each in shapes if each is not None}
    if Shape.GENERATOR in found:
        raise Refused(f"{ast.unparse(node)}, of a generator: write a list")
    if found == {Shape.TABLE, Shape.COLUMN}:
        return Shape.TABLE
    if len(found) > 1 or (found == {Shape.UNKNOWN} and len([s for s in shapes if s is not None]) > 1):
        raise Refused(f"{ast.unparse(node)}, of arrays that are not paired off entry by entry")
    return next(iter(found), None)


def _refused(node: ast.expr, held: Shape) -> Shape:
    raise Refused(f"{ast.unparse(node)}, of {held.value}")
