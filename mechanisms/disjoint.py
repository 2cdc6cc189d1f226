"""Parallel composition: several releases, each about its own part of the units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .base import Mechanism
from .validate import InputError, count


@dataclass(frozen=True, slots=True, init=False)
class Disjoint(Mechanism):
    """Several releases, of which one unit's data enter at most `at_most`; whoever sees them sees all.

    A unit's data may decide which ones: a histogram by region is Disjoint over the regions. The parts are cut before
    the run, not by earlier outputs. Under replace-one neighbours the new data may be in other parts than the old ones:
    what a part states, such as a sensitivity or PureDp's epsilon, is stated of units that enter or leave it, too.
    (Parallel composition, McSherry 2009, "Privacy integrated queries", Theorem 4.)

    at_most: how many of the releases one unit's data enter, at least 1.

    >>> from dpcert.mechanisms import Laplace
    >>> Disjoint(Laplace(2.0), Laplace(2.0), Laplace(4.0)) == Disjoint([Laplace(2.0)] * 2 + [Laplace(4.0)], at_most=1)
    True

    Raises InputError where there are no parts, or more are allowed than there are.
    """

    mechanisms: tuple[Mechanism, ...]
    at_most: int

    def __init__(
        self,
        *parts: Mechanism | Iterable[Mechanism],
        mechanisms: Iterable[Mechanism] | None = None,
        at_most: int = 1,
    ) -> None:
        """The releases, one by one or as one list."""
        given: object = mechanisms if mechanisms is not None else parts
        if mechanisms is None and len(parts) == 1 and not isinstance(parts[0], Mechanism):
            given = parts[0]
        if (mechanisms is not None and parts) or not isinstance(given, Iterable):
            raise InputError("mechanisms", given, "mechanism descriptions, one by one or as one list")
        checked = tuple(given)
        if not checked or not all(isinstance(part, Mechanism) for part in checked):
            raise InputError("mechanisms", checked, "mechanism descriptions, at least one")
        object.__setattr__(self, "mechanisms", checked)
        object.__setattr__(self, "at_most", count("at_most", at_most))
        if self.at_most > len(checked):
            raise InputError("at_most", at_most, f"at most the number of parts, {len(checked)}")
