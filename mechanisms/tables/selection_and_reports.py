"""[mechanism] tables of selection, local reports and the shuffle model, which no sampling scheme is about."""

from __future__ import annotations

from typing import Literal

from .. import (
    DuchiMechanism,
    HadamardResponse,
    InputError,
    Mechanism,
    PiecewiseMechanism,
    PureDp,
    Repeat,
    ShuffledReports,
    Staircase,
    exponential_mechanism,
    permute_and_flip,
)
from .cohort import SamplingTable
from .fields import Count, Positive, Probability
from .kinds import AnyMechanismTable, Described, ExactTable, MechanismTable, exactly
from .norms import Norm, NormedTable


class ExponentialMechanismTable(ExactTable):
    """Weights exp(epsilon score / (2 sensitivity)); exp(epsilon score / sensitivity) for monotone scores."""

    kind: Literal["exponential-mechanism"]
    epsilon: Positive

    def mechanism(self) -> Mechanism:
        return exponential_mechanism(self.epsilon)


class PermuteAndFlipTable(ExactTable):
    """Acceptance exp(epsilon (score - best) / (2 sensitivity))."""

    kind: Literal["permute-and-flip"]
    epsilon: Positive

    def mechanism(self) -> Mechanism:
        return permute_and_flip(self.epsilon)


class StaircaseTable(NormedTable):
    """Steps of the sensitivity's length, each e^-epsilon as high as the last; gamma: where in a step it falls. However
    little a number moves, it may cross a step: each of several may cost epsilon."""

    kind: Literal["staircase"]
    epsilon: Positive
    gamma: Probability = 0.5

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
        one = Staircase(self.epsilon, self.gamma)
        return exactly(one) if self.is_one_number else Described(Repeat(PureDp(self.epsilon), self.dimension or 1), one)


class LocalReportTable(ExactTable):
    """A report that one epsilon describes: of a category, or of a number in [-1, 1]."""

    kind: Literal["hadamard-response", "piecewise", "duchi"]
    epsilon: Positive

    def mechanism(self) -> Mechanism:
        reports = {"hadamard-response": HadamardResponse, "piecewise": PiecewiseMechanism, "duchi": DuchiMechanism}
        return reports[self.kind](self.epsilon)


class ShuffledReportsTable(MechanismTable):
    """One report from each of `reports` units, in random order; report: the [mechanism] table of one report."""

    kind: Literal["shuffled-reports"]
    reports: Count
    report: AnyMechanismTable

    def described(self, sampling: SamplingTable) -> Described:
        if not isinstance(self.report, MechanismTable):
            raise InputError("mechanism.report", self.report.kind, "a local randomiser")
        if self.report.releases > 1:
            raise InputError("mechanism.report.releases", self.report.releases, "one report from each unit")
        sampling.require_present("mechanism.reports", self.reports)
        return exactly(ShuffledReports(self.report.described(sampling).upper, self.reports))
