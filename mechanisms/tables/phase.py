"""[mechanism], [sampling] and [composition] together: a stretch of a run, and runs of several."""

from __future__ import annotations

from .. import Cyclic, InputError, Mechanism, Repeat, Sequence
from ..cohorts import among_idle_others
from ..neighbours import Relation
from .cohort import CompositionTable, SamplingTable
from .correlated import CorrelatedTable
from .fields import KindTable, Table
from .kinds import Described, MechanismTables, TogetherTable, released_together
from .noise import GaussianMeanTable
from .scheme import Scheme


class Phase(Table):
    """One homogeneous stretch of a run; several compose adaptively. mechanism: one table, or several that are released
    about the same sample."""

    mechanism: MechanismTables
    sampling: SamplingTable = SamplingTable()
    composition: CompositionTable = CompositionTable()

    def described(self) -> Described:
        """What one round releases about its sample, or all rounds together where noise is correlated between them."""
        self._require_whole_days()
        if isinstance(self.mechanism, CorrelatedTable):
            if self.mechanism.releases > 1:
                raise InputError("mechanism.releases", self.mechanism.releases, "1: correlated noise is one release")
            return Described(*[self.mechanism.over(self.steps, self.sampling)] * 2)
        if self.sampling.scheme in _OTHERWISE:
            raise InputError("sampling.scheme", self.sampling.scheme, _OTHERWISE[self.sampling.scheme])
        found = released_together([(self.mechanism.ran(self.sampling), self.mechanism.releases)])
        return Described(found.upper, None) if self.sampling.drops_units else found

    def _require_whole_days(self) -> None:
        """Raises InputError where it matters whether a day goes on with what the day before began, or starts anew."""
        days, rounds = self.composition.days or 1, self.steps // (self.composition.days or 1)
        correlated = isinstance(self.mechanism, CorrelatedTable)
        if days == 1 or not (correlated or rounds % self.sampling.together):
            return
        what = "correlated noise" if correlated else "a pass, an epoch or a block"
        expected = (
            f"no days: they do not say whether {what} starts anew every day, which costs more, or goes on. If it "
            "starts anew, write one [[phase]] per day; if it goes on, write all rounds without days"
        )
        raise InputError("composition.days", days, expected)

    @property
    def tables(self) -> tuple[KindTable, ...]:
        """The [mechanism] tables: one, or those that are released together."""
        return self.mechanism.parts if isinstance(self.mechanism, TogetherTable) else (self.mechanism,)

    @property
    def with_searched_runs(self) -> tuple[Phase, ...]:
        """This one, and the phases of the runs that are repeated in a search, from the outside in."""
        runs = (getattr(table, "run", None) for table in self.tables)
        return (self, *(inner for run in runs if isinstance(run, Phase) for inner in run.with_searched_runs))

    @property
    def is_single(self) -> bool:
        """Whether a round is one release."""
        return len(self.tables) == 1 and self.tables[0].releases == 1

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
    Scheme.CYCLIC_POISSON: "poisson: only the noise of kind = 'matrix-factorisation' has groups",
    Scheme.BALLS_IN_BINS: "random-allocation, with noise_multiplier / sqrt(passes) and one block of all bins, which is "
    "the same; bins drawn once are told of kind = 'matrix-factorisation' only",
    Scheme.MIN_SEPARATED: "poisson, or kind = 'matrix-factorisation' with its min_separation",
}
"""What to ask for with noise that is independent between rounds."""


def has_uneven_cohorts(phase: Phase) -> bool:
    """Whether a cohort of a fixed size, which leaves some out, is averaged with unequal weights."""
    return phase.sampling.leaves_some_out and has_weights(phase)


def has_uneven_batches(phase: Phase) -> bool:
    """Whether a shuffled batch is averaged with unequal weights, so that who is in it changes all of them."""
    return phase.sampling.scheme == Scheme.SHUFFLE and has_weights(phase)


def has_weights(phase: Phase) -> bool:
    """Whether some mean has unequal weights."""
    weights = [getattr(table, "weights", "uniform") for table in phase.tables]
    return any(not (each == "uniform" or (isinstance(each, tuple) and len(set(each)) == 1)) for each in weights)


def has_falling_divisor(phase: Phase) -> bool:
    """Whether some mean is over all units that are there, so that its divisor falls with a unit that leaves."""
    sampling = phase.sampling
    mean = any(isinstance(table, GaussianMeanTable) for table in phase.tables)
    return mean and not sampling.scheme.draws_units_independently and not sampling.leaves_some_out


def refuse_falling_divisor(phases: tuple[Phase, ...], relation: str) -> None:
    """Raises InputError where add-remove is asked of such a mean: no mechanism description says what that costs."""
    if relation == Relation.ADD_REMOVE and any(map(has_falling_divisor, phases)):
        expected = (
            "replace-one, which is an upper bound: a mean over the units that are there divides by one less when a "
            "unit leaves, so that unit moves it up to twice as far. If the divisor is a constant, state the noise on "
            "the sum: the noise multiplier is noise_std * divisor / clip_norm"
        )
        raise InputError("neighbouring", relation, expected)


LEAVES = "zero-out or replace-one with weights: a client that leaves changes all other weights"

TAKES_A_PLACE = (
    "replace-one, which is an upper bound: with unequal weights, who takes a unit's place in a cohort of a fixed size "
    "changes all weights of the mean"
)


def leaves_weights(phases: tuple[Phase, ...]) -> bool:
    """Whether some mean has unequal weights of units that do not come by themselves: one that leaves changes all."""
    return any(has_weights(phase) and not phase.sampling.scheme.draws_units_independently for phase in phases)


def refuse_uncovered(phases: tuple[Phase, ...], relation: str, hidden: bool) -> None:
    """Raises InputError where a description of these phases does not cover neighbours of the relation: an answer about
    it would be too small. hidden: whether the attacker is not told who takes part. Runs inside of a search, too."""
    phases = tuple(inner for phase in phases for inner in phase.with_searched_runs)
    refuse_falling_divisor(phases, relation)
    if relation == Relation.ADD_REMOVE and leaves_weights(phases):
        raise InputError("neighbouring", relation, LEAVES)
    uneven = (hidden and any(map(has_uneven_cohorts, phases))) or any(map(has_uneven_batches, phases))
    if relation == Relation.ZERO_OUT and uneven:
        raise InputError("neighbouring", relation, TAKES_A_PLACE)


def run_of(phases: tuple[Phase, ...]) -> Mechanism:
    """The adaptive composition of the phases, each as bad as its description allows."""
    return composed([(phase, phase.described().upper) for phase in phases])


def attained_run_of(phases: tuple[Phase, ...], idle_others: bool = False) -> Mechanism | None:
    """What ran at the least, for a lower end: phases that are only bounded are left out, as forgetting their outputs is
    post-processing. None where all are. idle_others: the others contribute nothing where weights are unequal."""
    bases = [(phase, phase.described().lower) for phase in phases]
    made = _with_idle_others if idle_others else _sampled
    known = [(made(phase, base), phase.rounds) for phase, base in bases if base is not None]
    return _in_sequence(known) if known else None


def _sampled(phase: Phase, base: Mechanism) -> Mechanism:
    return phase.sampling.sampled(base)


def _with_idle_others(phase: Phase, base: Mechanism) -> Mechanism:
    one = phase.sampling.sampled(base)
    return among_idle_others(one) if has_uneven_batches(phase) or has_uneven_cohorts(phase) else one


def _at_most(phase: Phase, base: Mechanism) -> Mechanism:
    """Of shuffled batches with unequal weights no amplification is proved: an epoch is one round of each unit."""
    return Cyclic(base, phase.sampling.together) if has_uneven_batches(phase) else phase.sampling.sampled(base)


def composed(phases: list[tuple[Phase, Mechanism]]) -> Mechanism:
    """What ran at most, of these bases."""
    return _in_sequence([(_at_most(phase, base), phase.rounds) for phase, base in phases])


def _in_sequence(rounds: list[tuple[Mechanism, int]]) -> Mechanism:
    parts = [Repeat(one, times) for one, times in rounds]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))
