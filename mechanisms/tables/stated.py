"""[mechanism] tables of selection, local reports and the shuffle model, which no sampling scheme is about."""

from __future__ import annotations

from typing import Annotated, Literal

from .. import (
    DuchiMechanism,
    HadamardResponse,
    InputError,
    LocalHash,
    Mechanism,
    PiecewiseMechanism,
    PureDp,
    Repeat,
    ReportNoisyMax,
    ShuffledReports,
    SparseVector,
    Staircase,
    UnaryEncoding,
)
from ..selection import SelectionNoise
from ..validate import yes_or_no
from .cohort import SamplingTable
from .fields import Count, Positive, Probability, checked
from .kinds import AnyMechanismTable, Described, ExactTable, MechanismTable, exactly
from .norms import Norm, NormedTable


class NoisyMaxTable(ExactTable):
    """The largest noisy score; epsilon = 2 sensitivity / scale (sensitivity / scale for monotone scores)."""

    kind: Literal["noisy-max"]
    epsilon: Positive
    noise: SelectionNoise

    def mechanism(self) -> Mechanism:
        return ReportNoisyMax(self.epsilon, self.noise)


class ExponentialMechanismTable(ExactTable):
    """Weights exp(epsilon score / (2 sensitivity)); exp(epsilon score / sensitivity) for monotone scores."""

    kind: Literal["exponential-mechanism"]
    epsilon: Positive

    def mechanism(self) -> Mechanism:
        return ReportNoisyMax(self.epsilon, "gumbel")


class PermuteAndFlipTable(ExactTable):
    """Acceptance exp(epsilon (score - best) / (2 sensitivity))."""

    kind: Literal["permute-and-flip"]
    epsilon: Positive

    def mechanism(self) -> Mechanism:
        return ReportNoisyMax(self.epsilon, "exponential")


class SparseVectorTable(ExactTable):
    """Above a threshold or not, until `hits` were; scales of Laplace noise over the queries' sensitivity."""

    kind: Literal["sparse-vector"]
    threshold_scale: Positive
    query_scale: Positive
    hits: Count = 1
    monotone: Annotated[bool, checked(yes_or_no)] = False
    value_scale: Positive | None = None

    def mechanism(self) -> Mechanism:
        return SparseVector(self.threshold_scale, self.query_scale, self.hits, self.monotone, self.value_scale)


class StaircaseTable(NormedTable):
    """Steps of the sensitivity's length, each e^-epsilon as high as the last; gamma: where in a step it falls. However
    little a number moves, it may cross a step: each of several may cost epsilon."""

    kind: Literal["staircase"]
    epsilon: Positive
    gamma: Probability = 0.5

    @classmethod
    def asks_dimension(cls) -> tuple[Norm, ...]:
        return ("l1", "l2", "linf")

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


class UnaryEncodingTable(ExactTable):
    """One value as bits: a 1 stays 1 with probability keep, a 0 becomes 1 with probability false."""

    kind: Literal["unary-encoding"]
    keep: Probability
    false: Probability

    def mechanism(self) -> Mechanism:
        return UnaryEncoding(self.keep, self.false)


class LocalHashTable(ExactTable):
    """One value, hashed into buckets, by randomized response of this epsilon."""

    kind: Literal["local-hash"]
    epsilon: Positive
    buckets: Count

    def mechanism(self) -> Mechanism:
        return LocalHash(self.epsilon, self.buckets)


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
