"""What a mechanism of the set is: how to run it, on which neighbours, what is claimed, and whether that is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """broken: the pair violates (epsilon, delta)-DP; otherwise every pair of the mechanism's neighbours keeps it."""

    name: str
    mechanism: Callable[..., Any]
    pair: tuple[Any, Any]
    epsilon: float
    broken: bool
    delta: float = 0.0


def twins(
    name: str,
    pair: tuple[Any, Any],
    epsilon: float,
    broken: Callable[..., Any],
    sound: Callable[..., Any] | None = None,
    delta: float = 0.0,
) -> tuple[Case, ...]:
    """The broken mechanism and, where there is one, its sound twin."""
    found = (Case(name, broken, pair, epsilon, True, delta),)
    return found if sound is None else (*found, Case(f"{name}: sound twin", sound, pair, epsilon, False, delta))
