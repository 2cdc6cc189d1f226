"""[mechanism], [sampling] and [composition] together: a stretch of a run, and runs of several."""

from __future__ import annotations

from .. import InputError, Mechanism, Poisson, Repeat, Sequence
from .cohort import CompositionTable, SamplingTable
from .correlated import CorrelatedTable
from .fields import Table
from .kinds import AnyMechanismTable, Described


class Phase(Table):
    """One homogeneous stretch of a run; several compose adaptively."""

    mechanism: AnyMechanismTable
    sampling: SamplingTable = SamplingTable()
    composition: CompositionTable = CompositionTable()

    def described(self) -> Described:
        """The noise of one round, or of all rounds together where it is correlated between them."""
        if isinstance(self.mechanism, CorrelatedTable):
            return Described(*[self.mechanism.over(self.steps, self.sampling)] * 2)
        if self.sampling.scheme in _OTHERWISE:
            raise InputError("sampling.scheme", self.sampling.scheme, _OTHERWISE[self.sampling.scheme])
        return self.mechanism.described(self.sampling)

    @property
    def steps(self) -> int:
        """The rounds of all days, as stated or as so many epochs come to."""
        days = self.composition.days or 1
        if self.composition.epochs is not None:
            return days * self.sampling.rounds_of(self.composition.epochs)
        return days * (self.composition.rounds or 1)

    def on_days(self, days: int) -> Phase:
        """What ran on each day, on so many days."""
        return self.model_copy(update={"composition": self.composition.model_copy(update={"days": days})})

    @property
    def rounds(self) -> int:
        """How often the described mechanism ran: rounds, epochs, passes or blocks; once for correlated rounds."""
        return 1 if isinstance(self.mechanism, CorrelatedTable) else self.sampling.times(self.steps)


_OTHERWISE = {
    "cyclic-poisson": "poisson: only the noise of kind = 'matrix-factorisation' has groups",
    "balls-in-bins": "random-allocation, with noise_multiplier / sqrt(passes) and one block of all bins, which is the "
    "same; bins drawn once are told of kind = 'matrix-factorisation' only",
    "min-separated": "poisson, or kind = 'matrix-factorisation' with its min_separation",
}
"""What to ask for with noise that is independent between rounds."""


def has_uneven_cohorts(phase: Phase) -> bool:
    """Whether a cohort of a fixed size, which leaves some out, is averaged with unequal weights."""
    weights = getattr(phase.mechanism, "weights", "uniform")
    return phase.sampling.leaves_some_out and weights != "uniform"


def run_of(phases: tuple[Phase, ...]) -> Mechanism:
    """The adaptive composition of the phases, each as bad as its description allows."""
    return composed([(phase, phase.described().upper) for phase in phases])


def with_idle_others(phases: list[tuple[Phase, Mechanism]]) -> Mechanism:
    parts = [
        Repeat(
            Poisson(base, phase.sampling.rate) if has_uneven_cohorts(phase) else phase.sampling.sampled(base),
            phase.rounds,
        )
        for phase, base in phases
    ]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def composed(phases: list[tuple[Phase, Mechanism]]) -> Mechanism:
    parts = [Repeat(phase.sampling.sampled(base), phase.rounds) for phase, base in phases]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))
