"""What refutes a claim by draws of two neighbours' outputs, without an implementation (simulated.py)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ...mechanisms.digits import rounded_down


@dataclass(frozen=True, slots=True)
class SimulatedWitness:
    """What refutes a claim by draws: at the claimed epsilon these neighbours need more than the claimed delta.

    delta_at_claimed_epsilon: a lower confidence bound on the delta that they need there, which exceeds their delta with
    probability `error` at most. draws, seed: what repeats it. certified: it is evidence, and no proof.
    """

    neighbours: str
    pair: str
    direction: str
    delta: float
    delta_at_claimed_epsilon: float
    error: float
    draws: int
    seed: int
    certified: bool = False

    def __str__(self) -> str:
        needed = rounded_down(self.delta_at_claimed_epsilon, 4)
        return f"{self.neighbours}.\n{self.pair}.\nAt the claimed epsilon these two need a delta of at least {needed}."

    def to_json(self) -> dict[str, object]:
        """Plain data, under the names of the fields."""
        return asdict(self)
