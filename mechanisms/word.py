"""Terms of the field that are one of a few words: what a class of them and the words' spelling have in common."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from .validate import choice


class Word(StrEnum):
    """A member equals its spelling, has its hash and prints as it does: JSON, tables and callers' text hold either."""

    __hash__ = str.__hash__  # as for any text, and not by a function of the enumeration's: pairs are looked up by it

    @classmethod
    def named(cls, field: str, value: object) -> Self:
        """The member that is spelt so. Raises InputError, which lists those that are known, for any other value."""
        return value if isinstance(value, cls) else cls(choice(field, value, cls))

    def __repr__(self) -> str:
        """As it is written."""
        return repr(self.value)
