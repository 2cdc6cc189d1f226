"""What the property tests need to know of an accountant: how to make one, feed it and read it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from ..mechanisms import Neighbouring, Relation
from ..mechanisms.validate import count, positive, rate


class NotServed(Exception):
    """The accountant refuses this input, openly: no property is broken.

    >>> issubclass(NotServed, Exception)
    True
    """


@dataclass(frozen=True, slots=True)
class Phase:
    """`rounds` rounds of a Gaussian with this noise multiplier, Poisson-sampled; sampling_rate 1: not sampled.

    The noise multiplier is relative to the bound on one unit's contribution, whatever the neighbours.

    >>> Phase(noise_multiplier=1.0, sampling_rate=0.01, rounds=100).rounds
    100
    """

    noise_multiplier: float
    sampling_rate: float
    rounds: int

    def __post_init__(self) -> None:
        positive("noise_multiplier", self.noise_multiplier)
        rate("sampling_rate", self.sampling_rate)
        count("rounds", self.rounds)


class Subject(ABC):
    """An accountant under test. Override what differs; raise NotServed for what the accountant refuses.

    neighbouring: the relation that its numbers are for.
    tolerance: what its invariances may miss by, relative to epsilon and absolutely: the
    stated error for methods that state one. Never applied to the truth: a bound below it is no bound.

    several: whether it can compose phases of different noise and sampling.
    """

    name: str = ""
    neighbouring: Neighbouring = Relation.ADD_REMOVE
    tolerance: float = 1e-6

    @abstractmethod
    def new(self) -> Any:
        """A fresh accountant, in which nothing was composed."""

    @abstractmethod
    def compose(self, accountant: Any, phase: Phase) -> Any:
        """Compose a phase; returns the accountant to go on with (the same one, if it changes itself)."""

    @abstractmethod
    def epsilon(self, accountant: Any, delta: float) -> float:
        """The epsilon that the accountant reports as a guarantee."""

    def epsilon_lower(self, accountant: Any, delta: float) -> float:
        """The lower bound on epsilon that it reports, if it reports one."""
        raise NotServed("reports no lower bound")

    def state(self, accountant: Any) -> Any:
        """What is saved of it, as it is saved (before any copying)."""
        raise NotServed("has no state to save")

    def restore(self, state: Any) -> Any:
        """A new accountant made from a saved state.

        state: what `save` returned.
        """
        raise NotServed("has no state to restore")

    def misuse(self, accountant: Any) -> None:
        """Ask for something that the accountant refuses by raising, after something was composed."""
        raise NotServed("no misuse known")

    def phases(self) -> st.SearchStrategy[Phase]:
        """The single phases that it is tested on."""
        return st.builds(Phase, noises(), rates(), st.sampled_from((1, 10, 50, 200, 500)))

    def deltas(self) -> st.SearchStrategy[float]:
        return st.sampled_from((1e-3, 1e-5, 1e-7))

    several: int = 3
    """How many different phases it can compose; 1 for an accountant of homogeneous runs."""


def noises() -> st.SearchStrategy[float]:
    """Noise multipliers from .6 to 20, with few digits."""
    return st.sampled_from((0.6, 0.8, 1.0, 1.3, 2.0, 3.0, 5.0, 8.0, 20.0))


def rates() -> st.SearchStrategy[float]:
    return st.sampled_from((0.002, 0.01, 0.03, 0.1, 0.3, 1.0))
