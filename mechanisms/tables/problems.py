"""What is wrong with a table, in this package's own words."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import ValidationError

from .. import InputError
from .fields import MISSING
from .noise import AnyMechanismTable


def first_problem(problem: ValidationError) -> InputError:
    """The first problem that pydantic found, in this package's own words."""
    error = problem.errors(include_url=False)[0]
    original = (error.get("ctx") or {}).get("error")
    path = [str(step) for step in error["loc"] if not _is_tag(step, error["loc"])]
    if isinstance(original, InputError):
        if not path or path[-1] != original.field:
            path.append(original.field)
        return InputError(".".join(path), original.value, original.expected)
    if error["type"].startswith("union_tag"):
        path.append("kind")
    return InputError(".".join(path), *_explained(error))


def _is_tag(step: object, location: tuple[int | str, ...]) -> bool:
    """pydantic puts the matched kind after "mechanism" in the location; the file has no such level."""
    place = location.index(step)
    return place > 0 and location[place - 1] == "mechanism" and isinstance(step, str) and step in _kinds()


def _kinds() -> tuple[str, ...]:
    tables = get_args(get_args(AnyMechanismTable)[0])
    return tuple(get_args(table.model_fields["kind"].annotation)[0] for table in tables)


def _explained(error: Any) -> tuple[object, str]:
    """(offending value, expectation) of one of pydantic's own complaints."""
    kind, context = error["type"], error.get("ctx") or {}
    if kind == "missing":
        return MISSING, "a value"
    if kind == "extra_forbidden":
        return error["input"], "no such key (is it misspelt, or in the wrong table?)"
    if kind == "literal_error":
        return error["input"], "one of " + context["expected"]
    if kind == "union_tag_invalid":
        return context["tag"], "one of " + context["expected_tags"]
    if kind == "union_tag_not_found":
        return MISSING, "one of " + ", ".join(_kinds())
    if kind in ("model_type", "model_attributes_type"):
        return error["input"], "a table"
    if kind == "tuple_type":
        return error["input"], "a list"
    return error["input"], error["msg"][:1].lower() + error["msg"][1:]
