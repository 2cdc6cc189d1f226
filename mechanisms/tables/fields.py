"""The ground of the claim schema: frozen tables, and fields checked where every other input is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, WithJsonSchema, model_validator

from .. import InputError
from ..quantity import Quantity
from ..validate import choice, count, meant, nonnegative, open_probability, positive, rate
from ..word import Word


class _Missing:
    """Stands for a value that is not there, in error messages."""

    def __repr__(self) -> str:
        return "(missing)"


MISSING = _Missing()


class MissingKeys(InputError):
    """All keys that are missing: each by name, with what is expected; "a value" where that goes without saying."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        told: dict[str, list[str]] = {}  # what several keys may be is said once
        for key, expected in keys.items():
            if expected != A_VALUE:
                told.setdefault(expected, []).append(key)
        if len(keys) == 1:
            expected = next(iter(keys.values()))
            detail, verb = "".join(f": {expected}" for expected in told), "is"
        else:
            each = [f"{listed(named)}: {_short(expected)}" for expected, named in told.items()]
            expected = "; ".join(["a value for each", *each])
            alike = [f": {expected}" for expected, named in told.items() if len(named) == len(keys)]
            detail, verb = "".join(alike or (f"; {one}" for one in each)), "are"
        sentence = f"{listed(list(keys))} {verb} required{detail}"
        super().__init__(", ".join(keys), MISSING, expected, sentence if sentence.endswith(".") else sentence + ".")
        self.keys = dict(keys)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.keys,)

    def under(self, *path: str) -> MissingKeys:
        """The same keys of a table that has itself a place."""
        return MissingKeys({".".join((*path, key)): expected for key, expected in self.keys.items()})


A_VALUE = "a value"

_MOST_WORDS = 12
"""Of a list beside other missing keys; the whole list is told where its key is what is left."""


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _short(expected: str) -> str:
    words = expected.split(", ")
    return expected if len(words) <= _MOST_WORDS else f"{', '.join(words[:_MOST_WORDS])}, ... ({len(words)} in all)"


def choices_of(annotation: Any) -> str:
    """What a field that must be given may be, where that is a list of words."""
    words = words_of(annotation)
    return "one of " + ", ".join(words) if words else A_VALUE


def words_of(annotation: Any) -> tuple[str, ...]:
    """The words of a field that takes nothing but them, or nothing at all."""
    if get_origin(annotation) is Annotated:
        return words_of(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return tuple(map(str, get_args(annotation)))
    if isinstance(annotation, type) and issubclass(annotation, Word):
        return tuple(annotation)
    parts = [part for part in get_args(annotation) if part is not type(None)] if is_union(annotation) else []
    return words_of(parts[0]) if len(parts) == 1 else ()


def spelt(kind: type[Word]) -> WithJsonSchema:
    """How the schema tells the words of a field that is one of them."""
    return WithJsonSchema({"enum": [word.value for word in kind], "type": "string"})


def is_union(annotation: Any) -> bool:
    """Whether it is written A | B."""
    return isinstance(annotation, UnionType) or get_origin(annotation) is Union


def checked(check: Callable[[str, object], Any]) -> BeforeValidator:
    """One of the validators of mechanisms/validate.py, called with the field's own name."""

    def validated(value: object, info: ValidationInfo) -> Any:
        return check(info.field_name or "value", value)

    return BeforeValidator(validated)


LEAST_RATE, MOST_ROUNDS = 1e-15, 2**53
"""What the accountants are tried on. Beyond, nothing that anybody runs is lost, and doubles begin to."""


def sampling_rate(field: str, value: object) -> float:
    checked_rate = rate(field, value)
    if checked_rate < LEAST_RATE:
        raise InputError(field, value, f"a rate of at least {LEAST_RATE:g}")
    return checked_rate


def _rounds(field: str, value: object) -> int:
    rounds = count(field, value)
    if rounds > MOST_ROUNDS:
        raise InputError(field, value, f"a whole number of at most {MOST_ROUNDS}")
    return rounds


Positive = Annotated[float, checked(positive)]
NonNegative = Annotated[float, checked(nonnegative)]
Probability = Annotated[float, checked(open_probability)]
Rate = Annotated[float, checked(sampling_rate)]

Count = Annotated[int, checked(count)]
Rounds = Annotated[int, checked(_rounds)]


class Table(BaseModel):
    """A frozen TOML table that knows all its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alternatives: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Keys that are required unless another one is given: what is expected of each, and the other one's name."""

    @model_validator(mode="before")
    @classmethod
    def _no_other_keys(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key not in cls.model_fields:
                guess = meant(key, cls.model_fields)
                expected = f"no such key{guess or ' (is it misspelt, or in the wrong table?)'}"
                raise InputError(str(key), given[key], expected)
        for key, value in given.items() if isinstance(given, dict) else ():
            words = words_of(cls.model_fields[key].annotation)
            if words and isinstance(value, str):
                choice(key, value, words)
        lacking = cls.lacking(given) if isinstance(given, dict) else {}
        if lacking:
            raise MissingKeys(lacking)
        return given

    @classmethod
    def lacking(cls, given: Mapping[str, Any]) -> dict[str, str]:
        """The keys that are required and not there, each with what is expected."""
        fields = cls.model_fields.items()
        absent = {name: choices_of(one.annotation) for name, one in fields if one.is_required() and name not in given}
        for name, (expected, other) in cls.alternatives.items():
            if given.get(name) is None and given.get(other) is None:
                absent[name] = f"{expected}, or {other} in its place"
        return absent


@cache
def described_keys(table: type[BaseModel]) -> dict[str, Quantity]:
    """What the keys of a table are said to be, of those that say it with a Quantity."""
    found = {name: _quantity_in(field.rebuild_annotation()) for name, field in table.model_fields.items()}
    return {name: quantity for name, quantity in found.items() if quantity is not None}


def _quantity_in(annotation: Any) -> Quantity | None:
    """What a value is said to be, or a part of what it may be."""
    for part in get_args(annotation):
        found = part if isinstance(part, Quantity) else _quantity_in(part)
        if found is not None:
            return found
    return None


class KindTable(Table):
    """A [mechanism] table; subclasses say which `kind` they are."""

    kind: str
    releases: Annotated[int, Quantity(_rounds, "how many releases of a round use the same sample")] = 1

    @property
    def is_without_noise(self) -> bool:
        """Whether the noise that is stated is 0: what is released shows the data of those who take part."""
        return any(each.is_noise and getattr(self, name) == 0 for name, each in described_keys(type(self)).items())
