"""Names that plain statements set more than once, as a name for each time: data = np.clip(data, 0, 1)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .statements import stored


def with_versions(body: Sequence[ast.stmt], given: Iterable[str]) -> dict[str, str]:
    """Names that statements at the top set anew get a name for each time, where nothing else sets or keeps them.

    given: names that have a value before. What is evaluated later (lambdas, generators) keeps names as they are.
    Returns what was written for each new name.
    """
    times: dict[str, int] = dict.fromkeys(given, 1)
    for statement in body:
        for name in _targets(statement):
            times[name] = times.get(name, 0) + 1
    later = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Lambda | ast.GeneratorExp)]
    kept = {name for node in later for name in _names(node)}
    kept |= {name for statement in body for name in stored([statement]) - set(_targets(statement))}
    several = {name for name, count in times.items() if count > 1} - kept
    now, taken = {name: name for name in given}, {name for statement in body for name in _names(statement)}
    written: dict[str, str] = {}
    for statement in body:
        targets = [name for name in _targets(statement) if name in several]
        _rename(getattr(statement, "value") if targets else statement, now)  # noqa: B009
        for name in targets:
            now[name] = _free(name, taken) if name in now else name
            written[now[name]] = name
        for target in _set_there(statement) if targets else []:
            _rename(target, now)
    return written


def _set_there(statement: ast.stmt) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]


def _targets(statement: ast.stmt) -> list[str]:
    """The names that a plain statement sets, each once, if it sets nothing else."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return []
    nodes = [node for target in _set_there(statement) for node in ast.walk(target) if isinstance(node, ast.expr)]
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    plain = all(isinstance(node, ast.Name | ast.Tuple) for node in nodes) and len(set(names)) == len(names)
    inside = any(isinstance(node, ast.NamedExpr) for node in ast.walk(statement.value))
    return names if plain and not inside else []


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _free(name: str, taken: set[str]) -> str:
    """A name that occurs nowhere in the function."""
    made = next(each for k in range(2, len(taken) + 3) if (each := f"{name}_{k}") not in taken)
    taken.add(made)
    return made


def _rename(node: ast.AST, names: dict[str, str]) -> None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            inner.id = names.get(inner.id, inner.id)
