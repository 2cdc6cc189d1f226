"""What is wrong with a table, in this package's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ..validate import InputError
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
        if path and path[-1] == original.field.partition("[")[0]:  # of a list, one of its values
            path.pop()
        path.append(original.field)
        return original.renamed(".".join(path))
    return InputError(".".join(path), *_explained(error))


def _explained(error: Any) -> tuple[object, str]:
    """(offending value, expectation) of one of pydantic's own complaints."""
    return error["input"], expectation(error["type"], error.get("ctx") or {})


KINDS = {
    "string": "a text",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "finite": "a finite number",
    "model": "a table",
    "dict": "a table",
    "tuple": "a list",
    "list": "a list",
    "literal": "a text from the list of choices",
    "enum": "a text from the list of choices",
}
"""What is expected where pydantic complains of a type; the kinds of its errors begin with these words."""

LIMITS = {
    "greater_than_equal": ("ge", "of at least"),
    "less_than_equal": ("le", "of at most"),
    "greater_than": ("gt", "above"),
}
"""Of errors about a limit: under which name it is told, and in which direction it lies."""


def expectation(kind: str, context: Mapping[str, Any]) -> str:
    """What was expected, from the kind of one of pydantic's errors and what it tells beside it."""
    if kind in LIMITS:
        name, words = LIMITS[kind]
        return f"a number {words} {context[name]}"
    return KINDS.get(kind.partition("_")[0], "another value")
