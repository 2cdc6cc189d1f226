"""What a mechanism's description says of each of its numbers, once: its check, its unit, and its limits in claims.

A field `epsilon: Annotated[float, Quantity(positive, "the epsilon of one report")]` is checked when a description is
made (base.Mechanism), and is what the claim table (tables/described.py), `dpcert new`'s comments, the JSON Schema and
the row of docs/claims.md are made from. A [mechanism] table says what its description does not have in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from .validate import InputError, nonnegative, positive

Check = Callable[[str, Any], Any]
"""One of the validators of mechanisms/validate.py, or one like it: the field's name and the value to the value."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """check: raises InputError for values out of range, and returns the value as it is kept. meaning: a line with the
    unit. stated: another check of what claims may state. is_noise: whether it says how much noise there is; claims may
    state 0, for none."""

    check: Check
    meaning: str
    stated: Check | None = None
    is_noise: bool = False

    @property
    def in_claims(self) -> Check:
        """The check of what claims may state."""
        return self.stated or self.check

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """A key of a [mechanism] table has the check of what claims may state."""
        from pydantic import BeforeValidator, ValidationInfo  # here: describing what ran needs no pydantic

        def checked(value: object, info: ValidationInfo) -> Any:
            return self.in_claims(info.field_name or "value", value)

        return BeforeValidator(checked).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """The JSON Schema tells the meaning."""
        return {**handler(core), "description": self.meaning}


def as_given(_: str, value: Any) -> Any:
    """The check of a value of which its type says all."""
    return value


def optional(check: Check) -> Check:
    """The same check, of a value that may be missing."""
    return lambda field, value: None if value is None else check(field, value)


LEAST_NOISE, MOST_NOISE = 1e-9, 1e12
"""What the accountants are tried on, over the clipping bound. Beyond, nothing that anybody runs is lost."""


def noise_over_bound(meaning: str) -> Quantity:
    """How much noise there is, divided by the clipping bound."""
    return noise_size(meaning, stated=_within_reach)


def noise_size(meaning: str, check: Check = positive, stated: Check | None = None) -> Quantity:
    """How much noise there is, in the units of what it is added to. stated: a narrower check of what claims may state
    beside 0."""

    def none_or_some(field: str, value: Any) -> Any:
        return (stated or check)(field, value) if nonnegative(field, value) else 0.0

    return Quantity(check, meaning, none_or_some, is_noise=True)


def _within_reach(field: str, value: float) -> float:
    if not LEAST_NOISE <= value <= MOST_NOISE:
        raise InputError(field, value, f"a number from {LEAST_NOISE:g} to {MOST_NOISE:g}")
    return float(value)


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
