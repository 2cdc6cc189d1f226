"""Adaptive composition: the same mechanism many times, or different ones in sequence."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Mechanism
from .validate import InputError, count


@dataclass(frozen=True, slots=True)
class Repeat(Mechanism):
    """The same mechanism in `rounds` rounds, each with fresh randomness, adaptively."""

    mechanism: Mechanism
    rounds: int

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise InputError("mechanism", self.mechanism, "a mechanism description")
        object.__setattr__(self, "rounds", count("rounds", self.rounds))


@dataclass(frozen=True, slots=True)
class Sequence(Mechanism):
    """Several mechanisms one after the other, adaptively, each with fresh randomness."""

    mechanisms: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        parts = tuple(self.mechanisms)
        if not parts:
            raise InputError("mechanisms", parts, "at least one mechanism")
        for part in parts:
            if not isinstance(part, Mechanism):
                raise InputError("mechanisms", part, "mechanism descriptions only")
        object.__setattr__(self, "mechanisms", parts)


def rounds_by_step(run: Mechanism) -> dict[Mechanism, int]:
    """How often each distinct single-round mechanism ran; the order of rounds does not matter to the cost.

    Cost accounting is by distinct mechanism, so a million equal rounds are one entry.
    """
    counts: dict[Mechanism, int] = {}

    def add(part: Mechanism, times: int) -> None:
        if isinstance(part, Repeat):
            add(part.mechanism, times * part.rounds)
        elif isinstance(part, Sequence):
            for inner in part.mechanisms:
                add(inner, times)
        else:
            counts[part] = counts.get(part, 0) + times

    if not isinstance(run, Mechanism):
        raise InputError("run", run, "a mechanism description")
    add(run, 1)
    return counts
