"""[mechanism] tables: what each of them says of a round, and which of them `kind` may name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, get_args

from pydantic import BeforeValidator, ValidationError

from .. import Mechanism
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


class MechanismTable(KindTable):
    """[mechanism]: what noise one round adds."""

    def described(self, sampling: SamplingTable) -> Described:
        """The round's noise as mechanism descriptions, in units of one unit's clipped contribution to a sum."""
        raise NotImplementedError


class ExactTable(MechanismTable):
    """One that says exactly which mechanism a round is, whoever is drawn."""

    def mechanism(self) -> Mechanism:
        """What ran."""
        raise NotImplementedError

    def described(self, sampling: SamplingTable) -> Described:
        """It is as bad as that, and no worse."""
        return exactly(self.mechanism())


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
