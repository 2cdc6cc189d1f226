"""The ground of the claim schema: frozen tables, and fields checked where every other input is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from ...mechanisms.validate import count, nonnegative, open_probability, positive, rate


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


Positive = Annotated[float, checked(positive)]
NonNegative = Annotated[float, checked(nonnegative)]
Probability = Annotated[float, checked(open_probability)]
Rate = Annotated[float, checked(rate)]
Count = Annotated[int, checked(count)]


class Table(BaseModel):
    """A frozen TOML table that knows all its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
