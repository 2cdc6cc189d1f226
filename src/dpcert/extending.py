"""What a package of your own adds to dpcert, in one file each: a mechanism, an accountant, a kind of noise in claims.

    @dataclass(frozen=True, slots=True)
    class Shy(Mechanism):
        false: Annotated[float, Quantity(open_probability, "with which probability the answer is false")]
        silent: Annotated[float, Quantity(open_probability, "with which probability there is none")]

    @dataclass(frozen=True, slots=True)
    class ShyPair(FinitePair):
        ...  # its outcomes' probabilities on two neighbouring data sets

    add_mechanism(Shy, lambda shy, move: ShyPair(shy.false, shy.silent), kind="shy", summary="Answers, or is silent.")

docs/extending.md has a whole file of each, which the tests run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .accounting.accountants import BEST, CERTIFIED, ESTIMATES, Accountant, added
from .accounting.bracket import Bracket, OutOfReach
from .accounting.pairs import CategoriesPair, Composition, FinitePair, LatticePair, LocationPair, Pair
from .accounting.pairs.pair import largest_loss
from .accounting.pricing.additive import additive
from .mechanisms import InputError, Mechanism
from .mechanisms.events import EVENTS, Event
from .mechanisms.quantity import Quantity, optional, quantities
from .mechanisms.tables.cohort import SamplingTable
from .mechanisms.tables.described import row_of, table_of
from .mechanisms.tables.fields import checked
from .mechanisms.tables.kinds import KINDS, Described, ExactTable, MechanismTable, exactly, register
from .mechanisms.validate import count, nonnegative, number, open_probability, positive, rate, yes_or_no

__all__ = [
    "Accountant",
    "Bracket",
    "CategoriesPair",
    "Composition",
    "Described",
    "Event",
    "ExactTable",
    "FinitePair",
    "InputError",
    "LatticePair",
    "LocationPair",
    "Mechanism",
    "MechanismTable",
    "OutOfReach",
    "Pair",
    "Quantity",
    "SamplingTable",
    "add_accountant",
    "add_claim_kind",
    "add_mechanism",
    "checked",
    "count",
    "exactly",
    "largest_loss",
    "nonnegative",
    "number",
    "open_probability",
    "optional",
    "positive",
    "rate",
    "row_of",
    "yes_or_no",
]


def add_mechanism(
    mechanism: type[Mechanism],
    pair: Callable[[Any, float], Pair],
    *,
    kind: str | None = None,
    summary: str = "",
    event: Event | None = None,
) -> None:
    """From now on every accountant, `verify`, `calibrate`, `audit` and the rest know the mechanism.

    mechanism: a frozen dataclass with a Quantity for each field. pair: the pair of outputs on two neighbours, of a
    description and of how far the sum moves, in units of the clipping bound (1 under add-remove and zero-out, 2 under
    replace-one; additive noise depends on it, other mechanisms need not). kind: its name in claim files, for which the
    table, the comments of `dpcert new` and `row_of` are made from the fields. summary: a line about it. event: the
    class of dp_accounting's events that describes it, if there is one.
    Raises InputError for a kind that is taken, and TypeError for a field without a Quantity where a kind is given.
    """
    if kind is not None:
        add_claim_kind(table_of(kind, mechanism, summary))
    elif not quantities(mechanism):
        raise TypeError(f"{mechanism.__name__} says nothing of its fields: Annotated[float, Quantity(positive, ...)]")
    additive.register(mechanism, pair)
    if event is not None:
        EVENTS.append(event)


def add_claim_kind(table: type[MechanismTable]) -> None:
    """From now on claim files, `dpcert verify`, `dpcert new` and `--mechanism` know the table's `kind`.

    table: a MechanismTable (or ExactTable) whose `kind: Literal["..."]` names it, and whose `described` says what one
    round is. Raises InputError for a kind that is taken.
    """
    taken = [kind for kind in table.model_fields["kind"].annotation.__args__ if kind in KINDS]  # type: ignore[union-attr]
    if taken:
        raise InputError("kind", taken[0], "a kind that no other [mechanism] table has")
    register(table)


def add_accountant(accountant: Accountant) -> None:
    """From now on `accountant=` and `--accountant` know it by its name, and "best" asks it after all others.

    Its brackets must be bounds: they are intersected with the others', and a bracket that contradicts another one is an
    error. Raises InputError for a name that is taken.
    """
    if accountant.name in (BEST, *(other.name for other in (*CERTIFIED, *ESTIMATES, *added))):
        raise InputError("accountant", accountant.name, "a name that no other accountant has")
    added.append(accountant)
