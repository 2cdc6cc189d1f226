"""What every mechanism description is: a frozen, hashable value that says WHAT ran, never what it costs."""

from __future__ import annotations


class Mechanism:
    """A frozen description of a randomised release. Subclasses are frozen dataclasses."""

    __slots__ = ()
