"""Privacy claims as TOML files: the schema, the loader, and what a claim says ran.

One claim a file (the tables are described in docs/claims.md). Loading is where bad input ends: whatever is wrong
with a file comes back as one InputError that names the field, its value and what was expected there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError, model_validator

from ...mechanisms import (
    Disjoint,
    Group,
    InputError,
    Mechanism,
    Participation,
    PrivacyNotion,
    Relation,
    rounds_by_step,
)
from ...mechanisms.client_noise import STAYS, brings_noise
from ...mechanisms.tables.cohort import CompositionTable, SamplingTable
from ...mechanisms.tables.fields import MissingKeys, Table
from ...mechanisms.tables.file import read_tables
from ...mechanisms.tables.kinds import MechanismTables
from ...mechanisms.tables.phase import (
    LEAVES,
    Phase,
    attained_run_of,
    composed,
    has_falling_divisor,
    has_uneven_batches,
    has_uneven_cohorts,
    has_weights,
    leaves_weights,
    refuse_uncovered,
)
from ...mechanisms.tables.problems import all_missing, first_problem
from .statement import Statement

NO_MECHANISM = MissingKeys({"mechanism": "a [mechanism] table, or several [[phase]] tables"})


class ClaimTables(Table):
    """The whole file: [claim], and either [mechanism], [sampling], [composition] or several [[phase]]."""

    claim: Statement
    mechanism: MechanismTables | None = None
    sampling: SamplingTable | None = None
    composition: CompositionTable | None = None
    phase: tuple[Phase, ...] | None = None

    @model_validator(mode="after")
    def _one_description(self) -> ClaimTables:
        single = [name for name in ("mechanism", "sampling", "composition") if getattr(self, name) is not None]
        if self.phase == ():
            raise InputError("phase", [], "at least one [[phase]] table")
        if self.phase and single:
            raise InputError(single[0], "[a table]", "no such table beside [[phase]]: every phase has its own")
        if not self.phase and self.mechanism is None:
            raise NO_MECHANISM
        return self


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as read: `statement` says what is claimed, `phases` what ran, `file` where it was read.

    days: on how many days the phases ran, where the claim is about one of them; else 1.
    printed: the claimed number as it is written, digit by digit: "8.0" says more than 8.
    run: what ran, as bad as the description allows (for an upper bound on epsilon). attained_run: what ran at the least
    (for a lower bound); phases that are only bounded are left out: forgetting their outputs is post-processing. None
    where all are. Both are made once, here, so that no later step meets bad input.
    """

    statement: Statement
    phases: tuple[Phase, ...]
    printed: str
    file: str | None = None
    days: int = 1
    run: Mechanism = field(init=False, compare=False, repr=False)
    attained_run: Mechanism | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.statement.phases_per_unit or 1) > len(self.phases):
            raise InputError("phases_per_unit", self.statement.phases_per_unit, f"at most {len(self.phases)} phases")
        if not self.statement.is_ordinary and any(map(has_weights, self.phases_and_searched_runs)):
            raise InputError("mechanism.weights", "unequal", "uniform weights beside group or phases_per_unit")
        object.__setattr__(self, "run", self._about(tuple(phase.described().upper for phase in self.phases)))
        object.__setattr__(self, "attained_run", self._attained_run())
        if self.statement.neighbouring == Relation.ADD_REMOVE and leaves_weights(self.phases):
            raise InputError("claim.neighbouring", self.statement.neighbouring, LEAVES)
        self._refuse_uncovered_searches()
        self._refuse_moving_divisors()
        for step in rounds_by_step(self.run):
            if self.statement.neighbouring == Relation.ADD_REMOVE and brings_noise(step):
                raise InputError("claim.neighbouring", self.statement.neighbouring, STAYS)
        if self.population is not None:
            self._at_most_everybody(self.population)

    def _refuse_uncovered_searches(self) -> None:
        """Raises InputError where a run that a search repeats is not covered; who takes part in it is hidden."""
        try:
            for phase in self.phases:
                refuse_uncovered(phase.with_searched_runs[1:], self.statement.neighbouring, hidden=True)
        except InputError as problem:
            raise problem.renamed("claim.neighbouring") from None

    def _refuse_moving_divisors(self) -> None:
        """Raises InputError where a replaced unit may leave one mean over those present, and enter another."""
        if self.may_change_phases and any(map(has_falling_divisor, self.phases_and_searched_runs)):
            expected = (
                "noise on the sum (kind = 'gaussian') in every phase: replacing a unit's data may move it from one "
                "phase to another, which changes the number of units that each mean divides by"
            )
            raise InputError("claim.phases_per_unit", self.statement.phases_per_unit, expected)

    def _at_most_everybody(self, population: int) -> None:
        """Raises InputError for more units than there are: in a group, or in a coalition of others."""
        if (self.statement.group or 1) > population:
            expected = f"at most the {population} units of the population (sampling.population)"
            raise InputError("claim.group", self.statement.group, expected)
        if (self.statement.colluders or 0) > population - 1:
            expected = f"at most the other {population - 1} clients of the population"
            raise InputError("claim.coalition_size", self.statement.colluders, expected)

    def _attained_run(self) -> Mechanism | None:
        if not self.statement.is_ordinary:
            bases = [phase.described().lower for phase in self.phases]
            known = tuple(base for base in bases if base is not None)
            return self._about(known) if len(known) == len(bases) else None
        zeroed = self.statement.neighbouring == Relation.ZERO_OUT
        uneven = hidden_and_uneven(self.statement, self.phases) or any(map(has_uneven_batches, self.phases))
        return attained_run_of(self.phases, idle_others=zeroed and uneven)

    def _about(self, bases: tuple[Mechanism, ...]) -> Mechanism:
        """The run of these bases, as the unit, or the group, meets it."""
        parts = list(zip(self.phases, bases, strict=True))
        among, units = self.statement.phases_per_unit, self.statement.group
        if among is None:
            return composed(parts) if units is None else Group(composed(parts), units)
        singly = [composed([part]) for part in parts]
        return Disjoint([Group(one, units) for one in singly] if units else singly, at_most=among)

    @property
    def phases_of_all_days(self) -> tuple[Phase, ...]:
        """What ran altogether, also where the claim is about one day."""
        return self.phases if self.days == 1 else tuple(phase.on_days(self.days) for phase in self.phases)

    @property
    def phases_and_searched_runs(self) -> tuple[Phase, ...]:
        """The phases, and for every search (best-of-several) that of the run which it repeats."""
        return tuple(inner for phase in self.phases for inner in phase.with_searched_runs)

    @property
    def may_change_phases(self) -> bool:
        """Whether replacing a unit's data can move it from one phase to another."""
        among = self.statement.phases_per_unit
        return self.statement.neighbouring == Relation.REPLACE_ONE and among is not None and among < len(self.phases)

    @property
    def population(self) -> int | None:
        """The smallest population that a phase states."""
        stated = [phase.sampling.population for phase in self.phases_and_searched_runs if phase.sampling.population]
        return min(stated) if stated else None


def parse_claim(tables: object, file: str | None = None) -> Claim:
    """A claim from parsed TOML (nested dicts). Raises InputError, naming the field, on anything out of order."""
    if not isinstance(tables, dict) or not tables:
        raise InputError(file or "claim", tables, "a [claim] table and a [mechanism] table; there is nothing in it")
    try:
        read = ClaimTables.model_validate(tables)
    except ValidationError as problem:
        found = first_problem(problem)
        if isinstance(found, MissingKeys) and not {"mechanism", "phase"} & tables.keys():
            found = all_missing([found, NO_MECHANISM])
        raise found from None
    phases = read.phase
    if phases is None and read.mechanism is not None:
        sampling, composition = read.sampling or SamplingTable(), read.composition or CompositionTable()
        phases = (Phase(mechanism=read.mechanism, sampling=sampling, composition=composition),)
    days = 1
    if read.claim.per == "day" and phases:
        days, phases = _one_day(phases)
    return Claim(read.claim, phases or (), _written(tables["claim"][read.claim.currency.name]), file, days)


def _one_day(phases: tuple[Phase, ...]) -> tuple[int, tuple[Phase, ...]]:
    """How many days there were, and what ran on each of them."""
    days = {phase.composition.days or 1 for phase in phases}
    if len(days) > 1:
        raise InputError("phase.composition.days", sorted(days), "the same in every phase, with claim.per = 'day'")
    return days.pop(), tuple(phase.on_days(1) for phase in phases)


def _written(stated: object) -> str:
    """A stated number as it is written; of a table or a list, its numbers."""
    if isinstance(stated, dict):
        return ", ".join(f"{name} {_written(value)}" for name, value in stated.items())
    if isinstance(stated, list):
        return "; ".join(_written(value) if not isinstance(value, list) else _pair(value) for value in stated)
    return str(getattr(stated, "text", stated))


def _pair(point: list[object]) -> str:
    return f"({', '.join(map(_written, point))})"


def load_claim(path: str | Path) -> Claim:
    """The claim in a TOML file of at most 1 MB, UTF-8. Raises InputError, naming the field or the file."""
    return parse_claim(read_tables(path), file=str(path))


def hidden_and_uneven(statement: Statement, phases: tuple[Phase, ...]) -> bool:
    """Whether zero-out is asked of hidden cohorts of a fixed size in a mean with unequal weights.

    Who takes the unit's place then changes all weights, which the accountants' pairs of zero-out do not cover. Those
    of replace-one do, from above, and those of idle others, which are Poisson sampling's, from below
    (docs/theory/dominating_pairs.md, "Zero-out, Gaussian noise").
    """
    partly = statement.observer not in (None, "server", "coalition") or statement.coalition_size is not None
    hidden = statement.notion == PrivacyNotion.DP or statement.participation == Participation.HIDDEN or partly
    return hidden and statement.neighbouring == Relation.ZERO_OUT and any(map(has_uneven_cohorts, phases))


def divides_by_who_is_there(statement: Statement, phases: tuple[Phase, ...]) -> bool:
    """Whether add-remove is asked of a mean over all who are there: with a unit that leaves, the divisor falls too.

    The mean over n moves by (g - o)/n, o the mean over the others: up to replace-one's 2 clip/n, and by clip/n among
    others at zero. A source that divides by a constant has the lower end; it can say so with noise on the sum.
    """
    return statement.neighbouring == Relation.ADD_REMOVE and any(map(has_falling_divisor, phases))
