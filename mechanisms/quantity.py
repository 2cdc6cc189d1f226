"""What a mechanism's description says of each of its numbers, once: its check, its unit, and its limits in claims.

A field `epsilon: Annotated[float, Quantity(positive, "of one report")]` is checked when a description is made
(base.Mechanism), and is what the claim table (tables/described.py), `dpcert new`'s comments, the JSON Schema and the
row of docs/claims.md are made from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints

Check = Callable[[str, Any], Any]
"""One of the validators of mechanisms/validate.py, or one like it: the field's name and the value to the value."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """check: raises InputError for values out of range, and returns the value as it is kept. meaning: a line with the
    unit. stated: a narrower check of what claims may state."""

    check: Check
    meaning: str
    stated: Check | None = None

    @property
    def in_claims(self) -> Check:
        """The check of what claims may state."""
        return self.stated or self.check


def optional(check: Check) -> Check:
    """The same check, of a value that may be missing."""
    return lambda field, value: None if value is None else check(field, value)


Quantities = dict[str, tuple[Any, Quantity]]

_KNOWN: dict[type[Any], Quantities] = {}


def quantities(kind: type[Any]) -> Quantities:
    """The plain type and the quantity of every field that has one, by its name."""
    if kind not in _KNOWN:
        _KNOWN[kind] = _read(kind)
    return _KNOWN[kind]


def check_fields(described: object) -> None:
    """Checks every field of a frozen description that says how, and keeps what the check returns."""
    for name, (_, quantity) in quantities(type(described)).items():
        object.__setattr__(described, name, quantity.check(name, getattr(described, name)))


def _read(kind: type[Any]) -> Quantities:
    known = [field.name for field in fields(kind)]
    try:
        hints = get_type_hints(kind, include_extras=True)
    except NameError:  # of a class that is known to type checkers alone, or inside of a function
        if any("Annotated" in str(field.type) for field in fields(kind)):
            raise
        return {}
    annotated = {name: hints[name] for name in known if get_origin(hints[name]) is Annotated}
    return {
        name: (get_args(hint)[0], found)
        for name, hint in annotated.items()
        for found in get_args(hint)[1:]
        if isinstance(found, Quantity)
    }
