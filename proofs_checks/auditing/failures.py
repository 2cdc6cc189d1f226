"""Mechanisms that fail: an exception either ends the audit, or is an output like any other.

Somebody who sees whether a release failed has seen an output, and a mechanism that fails on one neighbour only
leaks. By default an exception ends the audit (mechanism_error.py); `observing_failures` makes it an outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...mechanisms import InputError
from .calling import Mechanism, call, style_of


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of a call that failed: the exception's class, and what it said."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """In place of outputs: the calls changed the dataset that they were given."""


class DatasetChanged(InputError):
    """The mechanism changed a dataset in place, so that its later calls ran on another one."""

    def __init__(self, mechanism: str, side: str) -> None:
        expected = f"a mechanism that leaves its dataset as it is; this one changes {side} in place: give it a copy"
        super().__init__("mechanism", mechanism, expected)


def name_of(mechanism: object) -> str:
    """module:name, as the command line takes it."""
    qualified = getattr(mechanism, "__qualname__", type(mechanism).__qualname__)
    return f"{getattr(mechanism, '__module__', '?')}:{qualified}"


def called(mechanism: object) -> str:
    """What a sentence calls it."""
    mechanism = mechanism.mechanism if isinstance(mechanism, ObservingFailures) else mechanism
    name = name_of(mechanism).rpartition(":")[2].rpartition("<locals>.")[2]
    return "the mechanism" if "<" in name else name


def shortened(text: str, most: int = 200) -> str:
    """On one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


@dataclass(frozen=True)
class ObservingFailures:
    """mechanism, with exceptions of these kinds as outputs of the type Raised. Runs one trial a call."""

    mechanism: Mechanism
    kinds: tuple[type[Exception], ...]

    def __call__(self, dataset: Any, rng: Any) -> Any:
        try:
            return call(self.mechanism, dataset, rng, style_of(self.mechanism))
        except self.kinds as problem:
            return Raised(type(problem).__name__, str(problem))


def observing_failures(mechanism: Mechanism, *kinds: type[Exception]) -> ObservingFailures:
    """The same mechanism, to somebody who sees that a call failed, and why (`kinds`: Exception unless given)."""
    style_of(mechanism)
    return ObservingFailures(mechanism, kinds or (Exception,))
