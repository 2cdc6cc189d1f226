"""A run as a group of units sees it: neighbours differ in several units at once."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Mechanism
from .validate import InputError, count


@dataclass(frozen=True, slots=True)
class Group(Mechanism):
    """The same run, but neighbours differ in up to `units` units: what protects a family, or a user with several
    examples.

    Under add-remove these units are all there or all absent, under zero-out and replace-one all of them change. Poisson
    rounds draw each of them by a coin of its own.

    >>> from dpcert.mechanisms import Gaussian, Poisson, Repeat
    >>> user = Group(Repeat(Poisson(Gaussian(1.1), 0.01), 1_000), units=4)  # a user with up to four examples

    Raises InputError for fewer than one unit.
    """

    mechanism: Mechanism
    units: int

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise InputError("mechanism", self.mechanism, "a mechanism description")
        object.__setattr__(self, "units", count("units", self.units))
