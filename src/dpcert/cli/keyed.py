"""Repeatable options of the form KEY=VALUE: what there is of seldom used settings, under one name in --help."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..mechanisms import InputError
from ..mechanisms.validate import choice

Read = Callable[[str], Any]


def keyed(option: str, entries: Sequence[str] | None, known: Mapping[str, Read], whose: str) -> dict[str, Any]:
    """The values by key, underscores for hyphens. known: how the value of each key is read.

    Raises InputError for an entry of another form, a key that is not among them, and a value that cannot be read.
    """
    found: dict[str, Any] = {}
    for entry in entries or ():
        key, equals, text = entry.partition("=")
        if not equals:
            raise InputError(option, entry, "KEY=VALUE")
        if not known:
            raise InputError(option, entry, f"nothing: {whose} has no settings of its own")
        name = choice(option, key.strip().replace("_", "-"), known)
        try:
            found[name.replace("-", "_")] = known[name](text.strip())
        except ValueError:
            raise InputError(f"{option} {name}", text, f"a number ({known[name].__name__})") from None
    return found
