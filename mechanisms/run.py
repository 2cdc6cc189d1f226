"""A run, however it is spelt: one description, several in a row, or an event of dp_accounting."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from typing import Any, Protocol

from .base import Mechanism
from .composition import Sequence
from .events import from_event
from .validate import InputError

_EXPECTED = (
    "a mechanism description, such as Repeat(Poisson(Gaussian(1.1), 0.01), 1000), a list of them, or an event of "
    "dp_accounting"
)


class DpEvent(Protocol):
    """What dp_accounting's events have in common."""

    def to_named_tuple(self) -> Any: ...


Run = Mechanism | SequenceOf[Mechanism] | DpEvent
"""What the accountants take for a run."""


def as_run(run: Run) -> Mechanism:
    """The run's description: of a list, the Sequence of its parts; of a DpEvent, the mechanism that it describes.

    >>> from dpcert.mechanisms import Gaussian, Laplace
    >>> as_run([Gaussian(1.0), Laplace(2.0)])
    Sequence(mechanisms=(Gaussian(noise_multiplier=1.0), Laplace(noise_multiplier=2.0)))

    Raises InputError for anything else.
    """
    if isinstance(run, Mechanism):
        return run
    if isinstance(run, list | tuple):
        return Sequence(*map(as_run, run))
    if any(kind.__module__.split(".")[0] == "dp_accounting" for kind in type(run).__mro__):
        return from_event(run)
    raise InputError("run", run, _EXPECTED)
