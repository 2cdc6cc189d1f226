"""The ground of the claim schema: frozen tables, and fields checked where every other input is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator

from .. import InputError
from ..validate import count, meant, nonnegative, open_probability, positive, rate


class _Missing:
    """Stands for a value that is not there, in error messages."""

    def __repr__(self) -> str:
        return "(missing)"


MISSING = _Missing()


def checked(check: Callable[[str, object], Any]) -> BeforeValidator:
    """One of the validators of mechanisms/validate.py, called with the field's own name."""

    def validated(value: object, info: ValidationInfo) -> Any:
        return check(info.field_name or "value", value)

    return BeforeValidator(validated)


LEAST_RATE, LEAST_NOISE, MOST_NOISE, MOST_ROUNDS = 1e-15, 1e-9, 1e12, 2**53
"""What the accountants are tried on. Beyond, nothing that anybody runs is lost, and doubles begin to."""


def _sampling_rate(field: str, value: object) -> float:
    checked_rate = rate(field, value)
    if checked_rate < LEAST_RATE:
        raise InputError(field, value, f"a rate of at least {LEAST_RATE:g}")
    return checked_rate


def _noise(field: str, value: object) -> float:
    multiplier = positive(field, value)
    if not LEAST_NOISE <= multiplier <= MOST_NOISE:
        raise InputError(field, value, f"a number from {LEAST_NOISE:g} to {MOST_NOISE:g}")
    return multiplier


def _rounds(field: str, value: object) -> int:
    rounds = count(field, value)
    if rounds > MOST_ROUNDS:
        raise InputError(field, value, f"a whole number of at most {MOST_ROUNDS}")
    return rounds


Positive = Annotated[float, checked(positive)]
NonNegative = Annotated[float, checked(nonnegative)]
Probability = Annotated[float, checked(open_probability)]
Rate = Annotated[float, checked(_sampling_rate)]
Noise = Annotated[float, checked(_noise)]
Count = Annotated[int, checked(count)]
Rounds = Annotated[int, checked(_rounds)]


class Table(BaseModel):
    """A frozen TOML table that knows all its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _no_other_keys(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key not in cls.model_fields:
                guess = meant(key, cls.model_fields)
                expected = f"no such key{guess or ' (is it misspelt, or in the wrong table?)'}"
                raise InputError(str(key), given[key], expected)
        return given


class KindTable(Table):
    """A [mechanism] table; subclasses say which `kind` they are."""

    kind: str
