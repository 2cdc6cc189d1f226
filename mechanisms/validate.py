"""The one place where input is validated.

Every error names the field, the value it was given and what was expected, so that a caller (or the
command line, which turns it into exit code 2) can show it as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeGuard


class InputError(ValueError):
    """A value that cannot be worked with: `field`, the offending `value` and what was `expected`.

    field: what the value was given for. value: as given. expected: what would have been right. sentence: the whole
    message, where these three do not make one.

    >>> from dpcert import Gaussian
    >>> Gaussian(noise_multiplier=-1.0)
    Traceback (most recent call last):
        ...
    dpcert.mechanisms.validate.InputError: noise_multiplier = -1.0: expected a number above 0
    """

    def __init__(self, field: str, value: object, expected: str, sentence: str = "") -> None:
        """sentence: what is wrong and what to do, where no value of a field is what is wrong."""
        super().__init__(sentence or f"{_printable(field)} = {_shown(value)}: expected {expected}")
        self.field = field
        self.value = value
        self.expected = expected
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[InputError], tuple[Any, ...]]:
        """Worker processes send it back."""
        return type(self), (self.field, self.value, self.expected, self.sentence)

    def renamed(self, field: str) -> InputError:
        """The same problem under another name of the field.

        field: the name that the user knows it by.
        """
        return InputError(field, self.value, self.expected, self.sentence)

    def to_json(self) -> dict[str, str]:
        """Plain data, without the value, which may be anything."""
        return {"field": self.field, "expected": self.expected, "message": str(self)}


def lacks(what: str, package: str, install: str) -> InputError:
    """The error for an optional package that is not there.

    >>> print(lacks("`dpcert train`", "PyTorch", "dpcert[train]"))
    `dpcert train` needs PyTorch. Install it with: pip install 'dpcert[train]'
    """
    expected = f"pip install '{install}'"
    return InputError(package, "(not installed)", expected, f"{what} needs {package}. Install it with: {expected}")


def _printable(field: str) -> str:
    """The field on one line: a key of the caller's may hold line breaks and control characters."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in field)


def _shown(value: object) -> str:
    """The value on one line of bounded length, whatever it is."""
    try:
        text = repr(value)
    except ValueError:  # an integer too long for Python to print
        text = f"<an unprintable {type(value).__name__}>"
    return text if len(text) <= 80 else text[:77] + "..."


def _is_finite_number(value: object) -> TypeGuard[Real]:
    """A real number that a float can hold; True and False are not numbers."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def number(field: str, value: object) -> float:
    """A finite real number (bool is not one)."""
    if not _is_finite_number(value):
        raise InputError(field, value, "a finite number")
    return float(value)


def positive(field: str, value: object) -> float:
    """A finite number above 0."""
    checked = number(field, value)
    if checked <= 0:
        raise InputError(field, value, "a number above 0")
    return checked


def range_over_sensitivity(field: str, value: object) -> float:
    """The width of a public range that holds two neighbours' values: at least 1, in units of the sensitivity."""
    checked = number(field, value)
    if checked < 1:
        raise InputError(field, value, "a number of at least 1: the range holds both neighbours' values")
    return checked


def nonnegative(field: str, value: object) -> float:
    """A finite number of at least 0."""
    checked = number(field, value)
    if checked < 0:
        raise InputError(field, value, "a number of at least 0")
    return checked


def open_probability(field: str, value: object) -> float:
    """A probability strictly between 0 and 1, such as a target delta."""
    checked = number(field, value)
    if not 0 < checked < 1:
        raise InputError(field, value, "a number strictly between 0 and 1")
    return checked


def delta_below_one(field: str, value: object) -> float:
    """A target delta from 0 (pure differential privacy) to below 1."""
    checked = number(field, value)
    if not 0 <= checked < 1:
        raise InputError(field, value, "a number of at least 0 and below 1")
    return checked


def yes_or_no(field: str, value: object) -> bool:
    """A truth value, not a number or a text that could pass for one."""
    if not isinstance(value, bool):
        raise InputError(field, value, "true or false")
    return value


def rate(field: str, value: object) -> float:
    """A sampling rate in (0, 1]."""
    checked = number(field, value)
    if not 0 < checked <= 1:
        raise InputError(field, value, "a rate above 0 and at most 1")
    return checked


def count(field: str, value: object, least: int = 1) -> int:
    """A whole number of at least `least`; 100.0 is accepted, 0.5 is not."""
    expected = f"a whole number of at least {least}"
    if not _is_finite_number(value):
        raise InputError(field, value, expected)
    whole = int(value) if isinstance(value, Integral) else int(float(value))
    if whole != value or whole < least:
        raise InputError(field, value, expected)
    return whole


def several(field: str, value: object) -> int:
    """A whole number of at least 2, such as of categories."""
    return count(field, value, least=2)


def pairs_of_numbers(field: str, value: object, pair: str) -> tuple[tuple[float, float], ...]:
    """At least one pair of numbers, as a list of lists; infinite ones too. pair: what one of them is, in words."""
    expected = f"a list of at least one [{pair}]"
    value = value.tolist() if hasattr(value, "tolist") else value  # an array
    if not isinstance(value, list | tuple) or not value:
        raise InputError(field, value, expected)
    for each in value:
        if not isinstance(each, list | tuple) or len(each) != 2 or not all(map(_is_number, each)):
            raise InputError(field, each, f"two numbers, {pair}")
    return tuple((float(first), float(second)) for first, second in value)


def listed(field: str, value: object, expected: str = "a list") -> tuple[Any, ...]:
    """The values of a list, not yet checked; InputError for a single value or a text."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(field, value, expected)
    return tuple(value)


def _is_number(value: object) -> bool:
    """A number that a float can hold, or infinity, also as text: JSON has no other word for it."""
    if type(value) is float:  # of hundreds of thousands
        return not math.isnan(value) and value != -math.inf
    return _is_finite_number(value) or (isinstance(value, float | str) and value in (math.inf, "inf"))


def choice(field: str, value: object, allowed: Iterable[str]) -> str:
    """One of the allowed words; the error names the one that was probably meant."""
    options = tuple(allowed)
    if value not in options:
        raise InputError(field, value, "one of " + ", ".join(options) + meant(value, options))
    return str(value)


def meant(value: object, options: Iterable[str]) -> str:
    """ " (did you mean ...?)" where the value looks like one of the options; else nothing.

    >>> meant("add_remove", ["add-remove", "replace-one"])
    ' (did you mean add-remove?)'
    """
    plain = {option.lower().replace("_", "-").lstrip("-"): option for option in options}
    word = str(value).strip().lower().replace("_", "-").replace(" ", "-").lstrip("-")
    close = get_close_matches(word, plain, n=1, cutoff=0.65)
    return f" (did you mean {plain[close[0]]}?)" if close else ""
