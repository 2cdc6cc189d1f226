"""What is computed in a loop that stands earlier than where it is written means there what it means here."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..refusals import Refused
from .elements import NOISES, NUMPY
from .parameters import KNOWN
from .statements import stored, times_set


def refuse_changes(value: ast.expr, between: Iterable[ast.stmt], body: list[ast.stmt], arrays: set[str]) -> None:
    """Nothing that the value hangs on may change from the loop's place on to where the value is written.

    between: the statements from that place on, before the value's own. arrays: names of the data, of arrays over it and
    of rng, which no statement changes. Raises Refused.
    """
    for name in sorted({node.id for node in ast.walk(value) if isinstance(node, ast.Name)} - arrays):
        if times_set(body, name) > 1:
            raise Refused(f"{name!r}, which is set more than once, beside an array of the entries")
    local = stored(body) - arrays
    for statement in between:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or not _plain_names(statement):
            raise Refused(f"'{ast.unparse(statement).splitlines()[0]}' between an array and what is computed of it")
    for part in (value, *between):
        for node in ast.walk(part):
            if isinstance(node, ast.NamedExpr) or (isinstance(node, ast.Call) and _may_change(node, local, arrays)):
                raise Refused(f"{ast.unparse(node)} beside an array of the entries")


def _plain_names(statement: ast.Assign | ast.AnnAssign) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    inner = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.expr)]
    return all(isinstance(node, ast.Name | ast.Tuple) for node in inner)


def _may_change(call: ast.Call, local: set[str], arrays: set[str]) -> bool:
    """Whether the call may change, or hang on, what local names hold: functions that are local, or are given such."""
    if isinstance(call.func, ast.Name) and call.func.id in KNOWN:
        return False
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in NUMPY:
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr in NOISES:
        return False
    if isinstance(root, ast.Name) and root.id in arrays:
        return False
    if not isinstance(root, ast.Name):
        return not (isinstance(call.func, ast.Attribute) and call.func.attr in OF_ARRAYS)
    given = {node.id for part in (*call.args, *call.keywords) for node in ast.walk(part) if isinstance(node, ast.Name)}
    return bool(({root.id} | given) & local)


OF_ARRAYS = ("argmax", "argmin", "cumsum", "mean", "reshape", "sum", "tolist")
"""What makes something new of an array that has no name."""
