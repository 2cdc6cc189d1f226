"""What is where in an audit's rows: names of columns, and what their codes stand for, for sentences about outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from .single_values import WORDS, Block

MOST_TEXTS = 5_000
"""Texts of a column that are remembered; further ones are shown as codes."""
MOST_NAMES = 4096
"""Elements of one array that get a name."""
FEW_TEXTS = 20
"""So few texts are too few to say that they never repeat."""
LOOKED_AT = 64
"""Irregular outputs whose paths are compared; what differs among them has no name of its own."""
SHORT = 60
OR = " or "
"""Between the two names of a column that outputs of two kinds have in common."""


class Layout:
    """Names of the columns of rows, as far as they are the same in all outputs.

    texts: by column, what the codes in it stand for; such a column can be compared, and knows of no nearness.
    """

    def __init__(self) -> None:
        self.texts: dict[int, dict[float, str]] = {}
        self._seen: dict[int, int] = {}
        self._names: list[str] | None = None
        self._shapes: set[tuple[int, ...]] = set()
        self._looked_at = 0

    def regular(self, shape: tuple[int, ...]) -> None:
        """Outputs that are arrays of this shape."""
        if shape not in self._shapes:
            self._shapes.add(shape)
            self._agree(["output"] if not shape else list(_elements("output", shape)))

    def irregular(self, parts: Sequence[Block]) -> None:
        """An output of these parts."""
        if self._looked_at < LOOKED_AT:
            self._looked_at += 1
            self._agree([name for part in parts for name in _names(part)])
        column = 0
        for part in parts:
            if part.text is not None:
                known = self.texts.setdefault(column, {})
                self._seen[column] = self._seen.get(column, 0) + 1
                if len(known) < MOST_TEXTS:
                    known[float(part.values)] = part.text
            column += np.size(part.values)

    def _agree(self, names: list[str]) -> None:
        if self._names is None:
            self._names = names
            return
        same = [_either(a, b) for a, b in zip(self._names, names, strict=False)]
        longer = max(self._names, names, key=len)
        self._names = [*same, *longer[len(same) :]]

    def name(self, column: int) -> str:
        """What the numbers of a column are, in Python's words."""
        known = self._names or []
        if column < len(known) and known[column]:
            return known[column]
        return "output" if column == 0 and not known else f"number {column} of the output's parts"

    def value(self, number: float, column: int = 0) -> str:
        """A number of a row; the text that it stands for, where it is a code."""
        text = self.texts.get(column, {}).get(number)
        if text is not None:
            return text if len(text) <= SHORT else f"{text[: SHORT - 3]}..."
        return "nothing" if math.isnan(number) else f"{number:.6g}"

    def unread(self) -> dict[str, set[int]]:
        """The texts that hardly ever came twice, and in which no number says more: their names, with their columns."""
        names = self._names or []
        found: dict[str, set[int]] = {}
        for column, known in sorted(self.texts.items()):
            if len(known) <= max(FEW_TEXTS, 0.9 * min(self._seen[column], MOST_TEXTS)):
                continue
            name = self.name(column)
            if name.startswith(WORDS):  # numbers among words that are others each time: a digest, say
                name = name.removeprefix(WORDS)
                found[name] = {k for k, other in enumerate(names) if other == name or other.startswith(f"{name}, ")}
                found[name].add(column)
                if len(names) - 1 in found[name]:  # further numbers of longer texts have no names
                    found[name] |= set(range(len(names), MOST_NAMES))
                continue
            numbers = (other for k, other in enumerate(names) if k != column and k not in self.texts)
            if "to the last digit" not in name and not any(other.startswith(name) for other in numbers):
                found[name] = {column}
        return found

    def row(self, numbers: Sequence[float]) -> str:
        """A whole output, as far as it fits on a line."""
        if len(numbers) == 1:
            return self.value(numbers[0])
        told = [
            f"{self.name(column)} = {self.value(number, column)}"
            for column, number in enumerate(numbers[:6])
            if not (math.isnan(number) and column)
        ]
        return "(" + ", ".join(told) + (", ..." if len(numbers) > 6 else "") + ")"


def _either(known: str, other: str) -> str:
    """A column's name where outputs of two kinds call it by two; empty where there are more."""
    told = known.split(OR)
    if not known or other in told:
        return known
    return known + OR + other if len(told) == 1 else ""


def _elements(path: str, shape: tuple[int, ...]) -> Iterator[str]:
    named = (path + "".join(f"[{number}]" for number in index) for index in np.ndindex(shape))
    return islice(named, MOST_NAMES)


def _names(part: Block) -> Iterator[str]:
    if isinstance(part.values, float):
        return iter((part.path,))
    return _elements(part.path, part.values.shape)
