"""The parts of a cut function as functions of Python, which real runs compare with the function itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from .following import Refused
from .givens import Givens
from .language.source import future


def compiled(givens: Givens, definitions: Iterable[ast.FunctionDef], more: dict[str, Any]) -> list[Any]:
    """The definitions, with the function's globals, closed-over values and givens. Raises Refused."""
    function = givens.function
    made = list(definitions)
    free = function.__code__.co_freevars
    listed = ", ".join(each.name for each in made)
    outer = ast.parse(f"def _outer({', '.join([*free, *givens.values])}):\n    return [{listed}]").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body[:0] = made
    module = ast.fix_missing_locations(ast.Module([outer], []))
    scope = function.__globals__ | more
    try:
        exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True, flags=future(function)), scope)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        found: list[Any] = scope["_outer"](*cells, *givens.values.values())
    except (SyntaxError, ValueError) as problem:  # a break of the cut loop in an inner else; a closed-over name unset
        raise Refused(f"the function cannot be cut at its loop ({problem})") from problem
    return found
