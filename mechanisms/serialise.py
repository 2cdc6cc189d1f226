"""Mechanism descriptions as plain data (for JSON), there and back without loss."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import Field, fields, is_dataclass, replace
from typing import Any

from .base import Mechanism
from .validate import InputError


def _kinds() -> dict[str, type[Mechanism]]:
    """Every concrete description by its class name."""
    found: dict[str, type[Mechanism]] = {}
    waiting = [Mechanism]
    while waiting:
        kind = waiting.pop()
        waiting.extend(kind.__subclasses__())
        # dataclass(slots=True) leaves the class it replaced among the subclasses: ask the module for the real one.
        if is_dataclass(kind):
            found[kind.__name__] = getattr(sys.modules[kind.__module__], kind.__name__)
    return found


def to_plain(mechanism: Mechanism) -> dict[str, Any]:
    """Nested dicts, lists, strings and numbers: {"kind": class name, field: value, ...}."""
    if not is_dataclass(mechanism):
        raise InputError("mechanism", mechanism, "a mechanism description")
    return {"kind": type(mechanism).__name__} | {
        field.name: _plain(getattr(mechanism, field.name)) for field in fields(mechanism) if _told(mechanism, field)
    }


def _told(mechanism: Mechanism, field: Field[Any]) -> bool:
    """All fields but those that came later and say nothing else than earlier versions did."""
    if not field.metadata.get("added_later"):
        return True
    return replace(mechanism, **{field.name: field.default}) != mechanism  # type: ignore[type-var]


def _plain(value: object) -> object:
    if isinstance(value, Mechanism):
        return to_plain(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return "inf" if value == math.inf else value  # JSON has no word for it


def from_plain(data: object) -> Mechanism:
    """The description that `to_plain` wrote; InputError for unknown kinds and unknown or missing fields."""
    if not isinstance(data, dict) or "kind" not in data:
        raise InputError("mechanism", data, 'an object with a "kind"')
    kind = _kinds().get(data["kind"])
    if kind is None:
        raise InputError("kind", data["kind"], "one of " + ", ".join(sorted(_kinds())))
    given = {name: _described(value) for name, value in data.items() if name != "kind"}
    expected = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    later = {field.name for field in fields(kind) if field.metadata.get("added_later")}  # type: ignore[arg-type]
    if not expected - later <= set(given) <= expected:
        raise InputError(f"fields of {data['kind']}", sorted(given), ", ".join(sorted(expected)))
    return kind(**given)


def _described(value: object) -> object:
    if isinstance(value, dict):
        return from_plain(value)
    return tuple(_described(item) for item in value) if isinstance(value, list) else value


def to_json(mechanism: Mechanism) -> str:
    """Canonical JSON: equal descriptions give equal text, so that it can be hashed.

    Python writes the shortest decimal that reads back as the same float: nothing is lost.
    """
    return json.dumps(to_plain(mechanism), sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Mechanism:
    """The description that `to_json` wrote."""
    try:
        return from_plain(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError("mechanism", text, f"JSON ({error})") from error
