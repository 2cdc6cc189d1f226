"""Which datasets are neighbours, as symbols: for each size, the pairs that stand for all pairs.

- `answers`: a dataset is a list of answers to queries, each of which moves by at most 1.
- `replace-one`: one entry is replaced; entries lie in [low, high].
- `add-remove`: one entry more, or one fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from .exact import Number
from .linear import Linear
from .space import Space

RELATIONS = ("replace-one", "add-remove", "answers")


@dataclass(frozen=True)
class Pair:
    """A dataset and its neighbour, over the variables of a space, and what to call the case."""

    name: str
    dataset: tuple[Linear, ...]
    neighbour: tuple[Linear, ...]
    space: Space


@dataclass(frozen=True)
class Domain:
    """Where entries lie: None is no bound. whole: they are integers."""

    low: Number | None = 0
    high: Number | None = 1
    whole: bool = False

    def words(self) -> str:
        """'real numbers in [0, 1]'."""
        kind = "integers" if self.whole else "real numbers"
        low, high = ("-inf" if self.low is None else str(self.low)), ("inf" if self.high is None else str(self.high))
        return f"all {kind}" if self.low is None and self.high is None else f"all {kind} in [{low}, {high}]"


def pairs(relation: str, entries: int, domain: Domain, merging: bool) -> Iterator[Pair]:
    """The cases of the relation for datasets of that many entries (add-remove: the larger one)."""
    if relation == "answers":
        space = Space(merging)
        x = [space.variable(f"x{i}", None, None) for i in range(entries)]
        d = [space.variable(f"d{i}", -1, 1) for i in range(entries)]
        space.touched.update(space.ranges)
        yield Pair("every answer moves", tuple(x), tuple(a + b for a, b in zip(x, d, strict=True)), space)
        return
    for j in range(entries):
        if relation == "replace-one":
            yield _replaced(j, entries, domain, merging)
        else:
            yield _removed(j, entries, domain, merging, added=False)
            yield _removed(j, entries, domain, merging, added=True)


def _entries(entries: int, domain: Domain, merging: bool) -> tuple[Space, list[Linear]]:
    space = Space(merging)
    return space, [space.variable(f"x{i}", domain.low, domain.high, domain.whole) for i in range(entries)]


def _replaced(j: int, entries: int, domain: Domain, merging: bool) -> Pair:
    space, x = _entries(entries, domain, merging)
    other = space.variable("y", domain.low, domain.high, domain.whole)
    space.touched.update((f"x{j}", "y"))
    return Pair(f"entry {j} is replaced", tuple(x), (*x[:j], other, *x[j + 1 :]), space)


def _removed(j: int, entries: int, domain: Domain, merging: bool, added: bool) -> Pair:
    space, x = _entries(entries, domain, merging)
    space.touched.add(f"x{j}")
    most, fewer = tuple(x), (*x[:j], *x[j + 1 :])
    return (
        Pair(f"entry {j} is added", fewer, most, space) if added else Pair(f"entry {j} is removed", most, fewer, space)
    )


def at(form: Linear, point: dict[str, Fraction]) -> Fraction:
    """The form's value."""
    return Fraction(form.constant) + sum((v * point.get(k, Fraction(0)) for k, v in form.terms.items()), Fraction(0))
