"""What is wrong with a table, in this package's own words."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from ..validate import InputError, meant
from .fields import MISSING


def first_problem(problem: ValidationError) -> InputError:
    """The first problem that pydantic found; of keys that are missing, all of one table at once."""
    errors = problem.errors(include_url=False)
    error = errors[0]
    original = (error.get("ctx") or {}).get("error")
    path = [str(step) for step in error["loc"]]
    if isinstance(original, InputError):
        if not path or path[-1] != original.field:
            path.append(original.field)
        return InputError(".".join(path), original.value, original.expected)
    if error["type"] == "missing":
        missing = [each["loc"] for each in errors if each["type"] == "missing"]
        names = [str(last) for *table, last in missing if table == list(error["loc"][:-1])]
        path[-1] = ", ".join(names)
        return InputError(".".join(path), MISSING, "a value" if len(names) == 1 else "a value for each")
    return InputError(".".join(path), *_explained(error))


def _explained(error: Any) -> tuple[object, str]:
    """(offending value, expectation) of one of pydantic's own complaints."""
    kind, context = error["type"], error.get("ctx") or {}
    if kind == "literal_error":
        options = re.findall("'([^']*)'", context["expected"])
        return error["input"], "one of " + context["expected"] + meant(error["input"], options)
    if kind in ("model_type", "model_attributes_type"):
        return error["input"], "a table"
    if kind == "tuple_type":
        return error["input"], "a list"
    return error["input"], error["msg"][:1].lower() + error["msg"][1:]
