"""[mechanism] tables: what each of them says of a round, and which of them `kind` may name."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ValidationError

from .. import InputError, Mechanism, NoNoise, Repeat, Sequence
from ..validate import choice
from .cohort import SamplingTable
from .correlated import CorrelatedTable
from .fields import KindTable, MissingKeys
from .problems import first_problem


@dataclass(frozen=True, slots=True)
class Described:
    """The noise of one round: truth is at most as bad as `upper`, and at least as bad as `lower` (None: unknown)."""

    upper: Mechanism
    lower: Mechanism | None


def exactly(mechanism: Mechanism) -> Described:
    """The truth is the mechanism."""
    return Described(mechanism, mechanism)


def released_together(parts: SequenceOf[tuple[Described, int]]) -> Described:
    """Several releases about one sample, each so many times. Those of which no attained noise is known are left out of
    `lower`: forgetting their outputs is post-processing."""
    lower = [(part.lower, times) for part, times in parts if part.lower is not None]
    return Described(_together([(part.upper, times) for part, times in parts]), _together(lower) if lower else None)


def _together(parts: SequenceOf[tuple[Mechanism, int]]) -> Mechanism:
    each = [part if times == 1 else Repeat(part, times) for part, times in parts]
    return each[0] if len(each) == 1 else Sequence(each)


class MechanismTable(KindTable):
    """[mechanism]: what noise one round adds."""

    def described(self, sampling: SamplingTable) -> Described:
        """The round's noise as mechanism descriptions, in units of one unit's clipped contribution to a sum."""
        raise NotImplementedError

    def ran(self, sampling: SamplingTable) -> Described:
        """`described`; without noise what takes part as it is, of which kinds of noise have no description."""
        return exactly(NoNoise()) if self.is_without_noise else self.described(sampling)


class ExactTable(MechanismTable):
    """One that says exactly which mechanism a round is, whoever is drawn."""

    def mechanism(self) -> Mechanism:
        """What ran."""
        raise NotImplementedError

    def described(self, sampling: SamplingTable) -> Described:
        """It is as bad as that, and no worse."""
        return exactly(self.mechanism())


class TogetherTable(MechanismTable):
    """Several [[mechanism]] tables: releases about one sample, of noise that is independent between rounds."""

    kind: Literal["together"]
    parts: tuple[MechanismTable, ...]

    def described(self, sampling: SamplingTable) -> Described:
        return released_together([(part.ran(sampling), part.releases) for part in self.parts])


KINDS: dict[str, type[KindTable]] = {}
"""What `kind` may be, in [mechanism]."""


def register(*tables: type[KindTable]) -> None:
    """Make [mechanism] tables known to claims, schedules and the command line by their kind."""
    for table in tables:
        for kind in get_args(table.model_fields["kind"].annotation):
            KINDS[kind] = table


def _by_kind(value: object) -> object:
    """The table of the kind that is named."""
    if not isinstance(value, dict):
        return value
    if "kind" not in value:
        raise MissingKeys({"kind": "one of " + ", ".join(KINDS)})
    table = KINDS[choice("kind", value["kind"], KINDS)]
    try:
        return table.model_validate(value)
    except ValidationError as problem:
        raise first_problem(problem) from None


AnyMechanismTable = Annotated[MechanismTable | CorrelatedTable, BeforeValidator(_by_kind)]


def _one_or_several(value: object) -> object:
    """One table, or a list of them: [[mechanism]] or [[phase.mechanism]]."""
    if not isinstance(value, list | tuple):
        return _by_kind(value)
    if not value:
        raise InputError("mechanism", value, "at least one [[mechanism]] table")
    return together([_part(at, table) for at, table in enumerate(value)])


def together(tables: SequenceOf[KindTable]) -> KindTable:
    """The tables as one, whose parts they are; one by itself as it is."""
    return tables[0] if len(tables) == 1 else TogetherTable.model_construct(kind="together", parts=tuple(tables))


def _part(at: int, value: object) -> Any:
    """One of several tables; what is wrong with it names its place."""
    try:
        table = _by_kind(value)
    except MissingKeys as problem:
        raise problem.under(str(at)) from None
    except InputError as problem:
        raise problem.renamed(f"{at}.{problem.field}") from None
    if isinstance(table, CorrelatedTable):
        expected = "noise that is independent between rounds, beside other releases about the same sample"
        raise InputError(f"{at}.kind", table.kind, expected)
    if not isinstance(table, MechanismTable):
        raise InputError(str(at), value, "a table")
    return table


MechanismTables = Annotated[MechanismTable | CorrelatedTable, BeforeValidator(_one_or_several)]
