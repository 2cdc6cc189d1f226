"""What every mechanism description is: a frozen, hashable value that says WHAT ran, never what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from .quantity import check_fields

if TYPE_CHECKING:
    from dp_accounting import dp_event  # type: ignore[import-untyped]

ADDED_LATER = {"added_later": True}
"""Metadata of a field that descriptions stored by earlier versions lack: where it has its default, it stays away."""


class Mechanism:
    """A frozen description of a randomised release. Subclasses are frozen dataclasses.

    to_event: the same run as a DpEvent of Google's dp_accounting.

    >>> from dpcert import Gaussian
    >>> isinstance(Gaussian(1.0), Mechanism)
    True
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        """Checks every field that says how (quantity.py). Who checks more calls Mechanism.__post_init__(self) first:
        super() does not know classes with slots."""
        check_fields(self)

    to_event: ClassVar[Callable[[Any], Any]]
    """Set by events.py, which knows every kind."""

    def event(self) -> dp_event.DpEvent:
        """The dp_accounting event that describes this mechanism (`events.from_event` is the way back).

        Raises InputError where dp_accounting has none. It describes what ran; for what dp_accounting's
        accountants need under replace-one neighbours, see `events.event_for_accountant`.
        """
        return type(self).to_event(self)
