"""Values under names, `name = value`, `f(name=value)` and `{"name": value}` alike; and those that are a delta."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .loaders import last_name
from .privacy_words import LIBRARIES
from .script import Script


def named_values(script: Script, pattern: re.Pattern[str]) -> Iterator[tuple[str, ast.expr]]:
    """Every (name, value) of the script whose name matches."""
    for node in script.nodes:
        for name, value in pairs(node):
            if pattern.search(name):
                yield name, value


def pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The (name, value) that this node itself states."""
    if isinstance(node, ast.Assign):
        yield from ((last_name(target), node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        if node.value is not None:
            yield last_name(node.target), node.value
    elif isinstance(node, ast.keyword) and node.arg is not None:
        yield node.arg, node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value


DELTA = re.compile(r"^(target|dp|privacy|train)?_?delta$", re.IGNORECASE)
TELLING = re.compile(r"target|dp_|privacy|train", re.IGNORECASE)
PRIVATE = re.compile(
    r"eps(ilon)?($|_)|priva|noise|sigma|gauss|mechanism|account|clip|max_grad_norm|^dp_?|_dp$|event|rdp|pld|budget",
    re.IGNORECASE,
)
"""Names of what takes a delta, or of what stands beside it, where that is differential privacy's."""


def deltas(script: Script) -> Iterator[ast.expr]:
    """Every value that is called delta (target_delta, dp_delta ...) and means a probability of differential privacy.

    `delta` alone is also a parameter of Huber losses, optimizers and finite differences: it counts unless all that it
    is handed to are calls, or dictionaries, with no word of privacy in them.
    """
    for node in script.nodes:
        for name, value in pairs(node):
            if DELTA.search(name) and (TELLING.search(name) or _is_private(script, node, name)):
                yield value
    for call in script.calls:
        if script.tail(call) == "get_epsilon" and call.args and not last_name(call.args[0]):
            yield call.args[0]


def _is_private(script: Script, node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.keyword):
        call = script.parents.get(node)
        return not isinstance(call, ast.Call) or _takes_privacy(script, call)
    if isinstance(node, ast.Dict):
        others = [str(key.value) for key in node.keys if isinstance(key, ast.Constant) and key.value != name]
        return not others or any(PRIVATE.search(other) for other in others)
    takers = [call for call in script.calls if _is_handed(call, name)]
    return not takers or any(_takes_privacy(script, call) for call in takers)


def _is_handed(call: ast.Call, name: str) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(part, ast.Name | ast.Attribute) and last_name(part) == name for part in given)


def _takes_privacy(script: Script, call: ast.Call) -> bool:
    """By the library that it comes from, its name, or another argument's."""
    origin = script.origin(call.func)
    if origin.split(".")[0] in LIBRARIES:
        return True
    words = [origin.rsplit(".", 1)[-1], *(keyword.arg or "" for keyword in call.keywords)]
    return any(PRIVATE.search(word) for word in words)
