"""What is wrong with a table, in this package's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from ..validate import InputError, meant
from .fields import MissingKeys


def first_problem(problem: ValidationError) -> InputError:
    """The first problem that pydantic found; of keys that are missing, all that there are in any table."""
    found = [_in_our_words(error) for error in problem.errors(include_url=False)]
    if not isinstance(found[0], MissingKeys):
        return found[0]
    return all_missing([each for each in found if isinstance(each, MissingKeys)])


def all_missing(problems: Sequence[MissingKeys]) -> MissingKeys:
    """What several tables, or options, miss, as one error."""
    return MissingKeys({key: expected for each in problems for key, expected in each.keys.items()})


def _in_our_words(error: Any) -> InputError:
    original = (error.get("ctx") or {}).get("error")
    path = [str(step) for step in error["loc"]]
    if isinstance(original, MissingKeys):
        return original.under(*path)
    if isinstance(original, InputError):
        if not path or path[-1] != original.field:
            path.append(original.field)
        return InputError(".".join(path), original.value, original.expected)
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
