"""How a run ends where the checker cannot follow, or does not accept, something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Self


class Refused(BaseException):
    """The checker cannot follow, or does not accept, something: one sentence, which names the line if there is one."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, ""

    def at(self, place: str) -> Self:
        """The same, with the place in the code that it is about; the innermost place is kept."""
        self.place = self.place or place
        return self

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same with names as they are in the code, for those that the checker gave in their place."""
        self.reason, self.place = (
            re.sub(r"\w+", lambda found: names.get(found[0], found[0]), text) for text in (self.reason, self.place)
        )
        return self

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.place else self.reason


class Raises(Refused):
    """The function itself raises an exception."""


class TooManyWays(Refused):
    """There are more ways through the function than are followed."""


class UsedTwice(Refused):
    """A uniform number that was taken for a coin is used once more."""
