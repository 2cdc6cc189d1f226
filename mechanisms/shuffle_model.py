"""The shuffle model: randomised reports without their senders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity
from .validate import InputError, count


@dataclass(frozen=True, slots=True)
class ShuffledReports(Mechanism):
    """Every one of `reports` units sends one report, and who reads them sees them in random order.

    report: a local randomiser, or PureDp(epsilon) for one of which no more is known than its epsilon. Neighbours are
    replaced units. (Cheu et al. 2019, arXiv 1808.01394; Erlingsson et al. 2019, arXiv 1811.12469; what it costs:
    docs/theory/shuffle_model.md.)

    reports: number of units, each of which sends one report; at least 1.

    >>> from dpcert import RandomizedResponse
    >>> ShuffledReports(RandomizedResponse(0.25), reports=1000).reports
    1000
    """

    report: Mechanism
    reports: Annotated[int, Quantity(count, "how many units send one report each")]

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if not isinstance(self.report, Mechanism):
            raise InputError("report", self.report, "a local randomiser, such as RandomizedResponse(0.25)")
