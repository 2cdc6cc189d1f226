"""Whether an interval is true of a small world: nobody exceeds its upper end, and somebody attains its lower one."""

from __future__ import annotations

import math
from typing import Protocol

from federation import Decided
from hockey_stick import Ends

from dpcert.accounting import Bracket
from dpcert.mechanisms import InputError

RESOLVED = 1e-3
"""The width of an enclosed divergence, in units of delta."""


class Most(Protocol):
    """Ends of a world's largest divergence at an epsilon, narrowed until they are decided."""

    def __call__(self, epsilon: float, decided: Decided, /) -> Ends: ...


class Asked(Protocol):
    """A small world, and the product's answer about it."""

    @property
    def delta(self) -> float: ...
    def ask(self) -> Bracket: ...
    def most(self, epsilon: float, decided: Decided = ..., *, extreme: bool = ...) -> Ends: ...


def hold(bracket: Bracket, most: Most, delta: float, world: object = "") -> None:
    """AssertionError where an enumerated pair exceeds the upper end, or none attains a lower end above 0."""
    assert bracket.certified
    close, near = delta * (1 + RESOLVED), delta * (1 - RESOLVED)
    if bracket.upper < math.inf:
        low, high = most(bracket.upper, lambda low, high: low > delta or high <= close)
        assert low <= delta, f"delta({bracket.upper}) is at least {low}: {world}"
        assert high <= close, f"delta({bracket.upper}) may be {high}: {world}"
    if bracket.lower > 0:
        low, high = most(bracket.lower, lambda low, high: low >= near or high < near)
        assert low >= near, f"delta({bracket.lower}) is in [{low}, {high}]: {world}"


def judged(world: Asked, *, extreme: bool) -> str:
    """What became of the world: "refused", "infinite" or "bracketed"; AssertionError where the bracket is false."""
    try:
        bracket = world.ask()
    except InputError:
        return "refused"
    if bracket.lower == math.inf:
        return "infinite"
    hold(bracket, lambda at, decided: world.most(at, decided, extreme=extreme), world.delta, world)
    return "bracketed"
