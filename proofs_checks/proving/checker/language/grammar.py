"""Which syntax is in the language, and what to write in place of what is not."""

from __future__ import annotations

import ast
import functools

from ..refusals import Refused

SYNTAX = (
    ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For,
    ast.While, ast.If, ast.Raise, ast.Assert, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp, ast.NamedExpr,
    ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.List, ast.Tuple, ast.ListComp, ast.DictComp,
    ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Call, ast.keyword, ast.FormattedValue, ast.JoinedStr,
    ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.Slice, ast.expr_context, ast.boolop,
    ast.unaryop, ast.cmpop, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr,
    ast.BitXor,
)  # fmt: skip
INSTEAD = {
    "Try": "`try`; ask beforehand whether the case arises",
    "TryStar": "`try`; ask beforehand whether the case arises",
    "With": "`with`; only what is returned is followed",
    "Global": "`global`; hand the value on as an argument, and return it",
    "Nonlocal": "`nonlocal`; hand the value on as an argument, and return it",
    "Yield": "`yield`; return a list",
    "YieldFrom": "`yield from`; return a list",
    "Import": "an import inside of the function; import at the top of the file",
    "ImportFrom": "an import inside of the function; import at the top of the file",
    "ClassDef": "a class inside of the function; define it at the top of the file",
    "Delete": "`del`; let the name be",
    "Match": "`match`; write if and elif",
    "MatMult": "`@`; write the sum of products, or np.dot",
    "SetComp": "a set comprehension; write a list",
    "LShift": "a shift of bits; multiply",
    "RShift": "a shift of bits; divide",
    "Await": "`await`; mechanisms are plain functions",
    "AsyncFunctionDef": "`async`; mechanisms are plain functions",
    "TypeAlias": "`type`; put type aliases at the top of the file",
    "TemplateStr": "a template string; write an f-string",
}
"""Words for what is left out, with what to write instead. By name: later versions of Python have more syntax."""
PLAIN = (str, int, float, bool, type(None), type(Ellipsis))


@functools.lru_cache(256)
def names_bound(definition: ast.FunctionDef, file: str) -> frozenset[str]:
    """The names that a function of the language binds, which is asked for at each of its calls. Raises Refused."""
    check(definition, file)
    return bound_names(definition.body)


def check(definition: ast.FunctionDef, file: str) -> None:
    """Raises Refused for the first thing that is not in the language."""
    for statement in (definition.args, *definition.body):
        for node, at in _walked(statement):
            problem = _problem(node)
            if problem:
                raise Refused(problem).at(place(at, file))


def _walked(node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Every node but annotations, which are not looked at when a function runs, and the node that has its line."""
    waiting, found = [(node, node)], []
    while waiting:
        inner, at = waiting.pop()
        at = inner if hasattr(inner, "lineno") else at
        found.append((inner, at))
        for name, value in ast.iter_fields(inner):
            if name not in ("annotation", "returns", "type_comment", "type_params"):
                held = value if isinstance(value, list) else [value]
                waiting += [(each, at) for each in held if isinstance(each, ast.AST)]
    return found


def _problem(node: ast.AST) -> str:
    """What is not in the language about the node itself, or nothing."""
    if not isinstance(node, SYNTAX):
        what = INSTEAD.get(type(node).__name__, f"`{type(node).__name__.lower()}`")
        return f"not in the language of proofs: {what}"
    if isinstance(node, ast.Constant) and not isinstance(node.value, PLAIN):
        return f"not in the language of proofs: {type(node.value).__name__} constants"
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, sides, node.comparators, strict=False):
            if isinstance(operator, ast.Is | ast.IsNot) and not any(_none(side) for side in (left, right)):
                return "not in the language of proofs: `is` other than with None; compare by =="
    if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
        return f"not in the language of proofs: the attribute {node.attr}, which is Python's own"
    if isinstance(node, ast.Name) and node.id.startswith("__"):
        return f"not in the language of proofs: the name {node.id}"
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return "not in the language of proofs: a decorator inside of a function; call the decorated function"
    if isinstance(node, ast.comprehension) and (node.is_async or _sets(node)):
        return "not in the language of proofs: := inside of a comprehension; write a loop"
    return ""


def _none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _sets(node: ast.comprehension) -> bool:
    parts = [node.iter, *node.ifs]
    return any(isinstance(inner, ast.NamedExpr) for part in parts for inner in ast.walk(part))


def place(node: ast.AST, file: str) -> str:
    """'file.py, line 12 (`return float(x)`)'."""
    line = getattr(node, "lineno", 0)
    if not line:
        return file
    text = " ".join(ast.unparse(node).split())
    return f"{file}, line {line} (`{text[:80]}`)"


def bound_names(body: list[ast.stmt]) -> frozenset[str]:
    """The names that a function's statements bind; those of inner functions and comprehensions are their own."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda | ast.ListComp | ast.DictComp | ast.GeneratorExp | ast.SetComp):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return frozenset(names)
