"""What a training run's releases cost, with all that a reader must know to judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..accounting.bracket import Bracket
from ..mechanisms.digits import as_given, interval


@dataclass(frozen=True, slots=True)
class PrivacyStatement:
    """epsilon at delta, under which notion and neighbours, of which sampling and noise.

    against: a line for each single observer, in words; observers: the same as plain data, with whatever else the
    trainer has to say. assumptions: what is taken for granted; remarks: what else a reader should know of delta.
    """

    epsilon: Bracket
    delta: float
    notion: str
    neighbouring: str
    sampling: str
    noise_multiplier: float
    assumptions: tuple[str, ...]
    remarks: tuple[str, ...]
    against: tuple[str, ...]
    observers: dict[str, Any]
    seconds: float

    def __str__(self) -> str:
        about = f"{self.notion}, {self.neighbouring}, by {self.epsilon.method}"
        return "\n".join(
            [
                f"epsilon in {interval(self.epsilon)} at delta = {as_given(self.delta)} ({about})",
                *(f"  {line}" for line in self.against),
                *(f"  note: {remark}" for remark in self.remarks),
                *(f"  assuming that {assumption}" for assumption in self.assumptions),
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        return {
            "epsilon_lower": self.epsilon.lower,
            "epsilon_upper": self.epsilon.upper,
            "delta": self.delta,
            "notion": self.notion,
            "neighbouring": self.neighbouring,
            "sampling": self.sampling,
            "noise_multiplier": self.noise_multiplier,
            "accountant": self.epsilon.method,
            "certified": self.epsilon.certified,
            **self.observers,
            "assumptions": [*self.assumptions, *self.remarks],
            "seconds": self.seconds,
        }


def large_delta(delta: float, population: int) -> tuple[str, ...]:
    """The remark that a delta above 1 / population deserves."""
    if delta <= 1 / population:
        return ()
    return (f"delta is above 1/{population}: it allows one client to be exposed whole",)


SECRET_SEED = "the seed is secret: whoever knows it can subtract the noise"
