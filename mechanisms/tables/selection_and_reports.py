"""What [mechanism] tables of the staircase and of the shuffle model say beside descriptions."""

from __future__ import annotations

from typing import Annotated

from .. import InputError, PureDp, Repeat
from ..quantity import Quantity, as_given
from .cohort import SamplingTable
from .described import DescribedTable
from .kinds import AnyMechanismTable, Described, MechanismTable, exactly
from .norms import Norm, NormedTable


class StaircaseNoiseTable(NormedTable, DescribedTable):
    """However little a number moves, it may cross a step of the staircase: each of several may cost epsilon."""

    @classmethod
    def asks_dimension(cls) -> tuple[Norm, ...]:
        return (Norm.L1, Norm.L2, Norm.LINF)

    @property
    def coordinates(self) -> int:
        """Numbers that move by less than a step do not cost what the release of one that moves by a step does."""
        return 1

    @property
    def adds_up(self) -> bool:
        """Whatever the norm."""
        return not self.is_one_number

    def described(self, sampling: SamplingTable) -> Described:
        one = self.mechanism()
        return exactly(one) if self.is_one_number else Described(Repeat(PureDp(one.epsilon), self.dimension or 1), one)


class ShuffleModelTable(DescribedTable):
    """report: the [mechanism] table of one report."""

    report: Annotated[
        AnyMechanismTable, Quantity(as_given, "the mechanism of one report, with the keys of [mechanism]")
    ]

    def described(self, sampling: SamplingTable) -> Described:
        if not isinstance(self.report, MechanismTable):
            raise InputError("mechanism.report", self.report.kind, "a local randomiser")
        if self.report.releases > 1:
            raise InputError("mechanism.report.releases", self.report.releases, "one report from each unit")
        found = self.mechanism(report=self.report.described(sampling).upper)
        sampling.require_present("mechanism.reports", found.reports)
        return exactly(found)
