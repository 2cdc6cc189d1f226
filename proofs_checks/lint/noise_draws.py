"""Where a script draws noise that it adds to an answer or an update: not initial weights, not made-up data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .script import Script, mentions

DRAWS = (
    *("randn_like", "randn", "normal", "normal_", "normal_like", "standard_normal"),
    *("gauss", "normalvariate", "laplace"),
)


def noise_draws(script: Script) -> Iterator[ast.Call]:
    """The calls that draw noise which is added to something or called noise, in the tree's order."""
    for call in script.calls:
        if script.tail(call) in DRAWS and _is_added(script, call) and not _makes_data(script, call):
            yield call


def _is_added(script: Script, call: ast.Call) -> bool:
    """Is what is drawn added to something, or called noise? Initial weights and test data are not."""
    node: ast.AST = call
    while isinstance(parent := script.parents.get(node), ast.expr | ast.keyword):
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
            return True
        node = parent
    if isinstance(parent, ast.AugAssign):
        return isinstance(parent.op, ast.Add)
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    return any(mentions(target, r"nois|answer|release") for target in targets)


def _makes_data(script: Script, call: ast.Call) -> bool:
    """In a function that says that it makes data, noise belongs to the data: load_data, make_synthetic_dataset."""
    scope = script.scope(call)
    name = scope.name if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) else ""
    return re.match(r"_*(load|make|generate|create|get|synthetic|toy)\w*(data|examples|synthetic)", name) is not None
