"""What a case for the prover is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Mechanism = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Provable:
    """correct is epsilon-DP, broken is not for datasets of `entries` entries; both mechanism(dataset, rng).

    options: what `prove` needs to know of the data. unproved: why the correct one is not proved; empty where it is.
    """

    name: str
    broken: Mechanism
    correct: Mechanism
    epsilon: float = 1.0
    entries: int = 3
    options: dict[str, Any] = field(default_factory=dict)
    unproved: str = ""
