"""Adaptive composition: the same mechanism many times, or different ones in sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType

from .base import Mechanism
from .group import Group
from .validate import InputError, count


@dataclass(frozen=True, slots=True)
class Repeat(Mechanism):
    """The same mechanism in `rounds` rounds, each with fresh randomness, adaptively.

    >>> from dpcert.mechanisms import Gaussian, Poisson
    >>> Repeat(Poisson(Gaussian(1.1), sampling_rate=0.01), rounds=1e4).rounds
    10000
    """

    mechanism: Mechanism
    rounds: int

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise InputError("mechanism", self.mechanism, "a mechanism description")
        object.__setattr__(self, "rounds", count("rounds", self.rounds))


@dataclass(frozen=True, slots=True, init=False)
class Sequence(Mechanism):
    """Several mechanisms one after the other, adaptively, each with fresh randomness.

    >>> from dpcert.mechanisms import Gaussian, Laplace
    >>> Sequence(Gaussian(1.0), Laplace(2.0)) == Sequence([Gaussian(1.0), Laplace(2.0)])
    True
    """

    mechanisms: tuple[Mechanism, ...]

    def __init__(self, *parts: Mechanism | Iterable[Mechanism], mechanisms: Iterable[Mechanism] | None = None) -> None:
        """The mechanisms, one by one or as one list."""
        if mechanisms is None:
            mechanisms = parts[0] if len(parts) == 1 and not isinstance(parts[0], Mechanism) else parts  # type: ignore[assignment]
        elif parts:
            raise InputError("mechanisms", mechanisms, "to be left out beside positional ones")
        self._checked(mechanisms)

    def _checked(self, given: object) -> None:
        if not isinstance(given, Iterable):
            raise InputError("mechanisms", given, "mechanism descriptions only")
        parts = tuple(given)
        if not parts:
            raise InputError("mechanisms", parts, "at least one mechanism")
        for part in parts:
            if not isinstance(part, Mechanism):
                raise InputError("mechanisms", part, "mechanism descriptions only")
        object.__setattr__(self, "mechanisms", parts)


def parts_of(described: object) -> Iterator[Mechanism]:
    """A mechanism and every mechanism that it is made of, whatever its fields are called, from the outside in.

    >>> from dpcert.mechanisms import Gaussian, Poisson
    >>> [type(part).__name__ for part in parts_of(Repeat(Poisson(Gaussian(1.0), 0.1), 3))]
    ['Repeat', 'Poisson', 'Gaussian']
    """
    if isinstance(described, Mechanism):
        yield described
    for field in fields(described) if is_dataclass(described) else ():
        held = getattr(described, field.name)
        several = held if isinstance(held, tuple) and held and is_dataclass(held[0]) else (held,)
        for each in several:
            yield from parts_of(each)


def has_step(run: Mechanism, kinds: type[Mechanism] | tuple[type[Mechanism], ...] | UnionType) -> bool:
    """Whether some round of the run is one of these, at its outermost."""
    return any(isinstance(step, kinds) for step in rounds_by_step(run))


def rounds_by_step(run: Mechanism) -> dict[Mechanism, int]:
    """How often each distinct single-round mechanism ran; the order of rounds does not matter to the cost.

    Cost accounting is by distinct mechanism, so a million equal rounds are one entry.

    >>> from dpcert.mechanisms import Gaussian
    >>> rounds_by_step(Sequence(Repeat(Gaussian(1.0), 3), Gaussian(1.0)))
    {Gaussian(noise_multiplier=1.0): 4}

    A group's run is the group's rounds; Disjoint releases stay together.
    """
    counts: dict[Mechanism, int] = {}

    def add(part: Mechanism, times: int) -> None:
        if isinstance(part, Repeat):
            add(part.mechanism, times * part.rounds)
        elif isinstance(part, Sequence):
            for inner in part.mechanisms:
                add(inner, times)
        elif isinstance(part, Group):
            for inner, rounds in rounds_by_step(part.mechanism).items():
                step = Group(inner.mechanism, inner.units * part.units) if isinstance(inner, Group) else inner
                step = step if isinstance(step, Group) else Group(step, part.units)
                counts[step] = counts.get(step, 0) + times * rounds
        else:
            counts[part] = counts.get(part, 0) + times

    if not isinstance(run, Mechanism):
        raise InputError("run", run, "a mechanism description")
    add(run, 1)
    return counts
