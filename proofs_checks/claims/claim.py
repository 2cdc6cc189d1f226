"""Privacy claims as TOML files: the schema, the loader, and what a claim says ran.

One claim a file (the tables are described in docs/claims.md). Loading is where bad input ends: whatever is wrong
with a file comes back as one InputError that names the field, its value and what was expected there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ValidationError, model_validator

from ...mechanisms import (
    Disjoint,
    Group,
    InputError,
    Mechanism,
    Neighbouring,
    Notion,
    Visibility,
    rounds_by_step,
)
from ...mechanisms.client_noise import STAYS, brings_noise
from ...mechanisms.tables.cohort import CompositionTable, SamplingTable
from ...mechanisms.tables.fields import MISSING, Count, NonNegative, Positive, Probability, Table, checked
from ...mechanisms.tables.file import read_tables
from ...mechanisms.tables.noise import AnyMechanismTable
from ...mechanisms.tables.phase import Phase, composed, has_uneven_cohorts, with_idle_others
from ...mechanisms.tables.problems import first_problem
from ...mechanisms.validate import delta_below_one, nonnegative, number
from .currency import Advantage, Currency, Curve, EpsilonAt, Mu, RenyiAt, Rho, TprAtFpr


def _text(field: str, value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or not text.isprintable():  # what a terminal would obey instead of showing is no text
        raise InputError(field, value, "a text that is not empty, of printable characters")
    return text


def _yes_or_no(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(field, value, "true or false")
    return value


def _interval(field: str, value: object) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(field, value, "a list of two numbers, [lower, upper]")
    lower, upper = (number(field, end) for end in value)
    if not 0 <= lower <= upper:
        raise InputError(field, value, "[lower, upper] with 0 <= lower <= upper")
    return lower, upper


Text = Annotated[str, checked(_text)]


def _order(field: str, value: object) -> float:
    order = number(field, value)
    if order <= 1:
        raise InputError(field, value, "an order above 1")
    return order


def _orders(field: str, value: object) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise InputError(field, value, "a list of orders above 1, at least one")
    return tuple(_order(field, order) for order in value)


def _error_rate(field: str, value: object) -> float:
    error_rate = number(field, value)
    if not 0 < error_rate <= 0.5:
        raise InputError(field, value, "an error rate above 0 and at most 1/2")
    return error_rate


def _points(field: str, value: object) -> tuple[tuple[float, float], ...]:
    expected = "a list of [epsilon, delta], at least one"
    if not isinstance(value, list | tuple) or not value:
        raise InputError(field, value, expected)
    points = []
    for point in value:
        if not isinstance(point, list | tuple) or len(point) != 2:
            raise InputError(field, point, expected)
        points.append((nonnegative(field, point[0]), delta_below_one(field, point[1])))
    return tuple(points)


class RenyiTable(Table):
    """renyi = { order = 8, epsilon = 0.5 }: the divergence of that order is at most epsilon."""

    order: Annotated[float, checked(_order)]
    epsilon: NonNegative


class TprAtFprTable(Table):
    """tpr_at_fpr = { fpr = 1e-3, tpr = 0.01 }: no attack with that false-positive rate finds out more than that."""

    fpr: Annotated[float, checked(_error_rate)]
    tpr: Probability


CURRENCIES = ("epsilon", "rho", "mu", "renyi", "curve", "tpr_at_fpr", "advantage")
"""The keys of [claim] that state what is claimed: one of them."""

COMPANIONS = {
    "delta": "epsilon",
    "epsilon_interval": "epsilon",
    "rdp_orders": "epsilon",
    "orders_up_to": "rho",
    "fpr_at_least": "mu",
}
"""Keys that mean something beside one of them only."""


def _year(field: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1900 <= value <= 2999:
        raise InputError(field, value, "a year with four digits")
    return value


def _link(field: str, value: object) -> str:
    link = _text(field, value)
    if not link.startswith(("https://", "http://")) or set(link) & set(" \"'<>()[]"):
        raise InputError(field, value, "a web address, with https://, without spaces, quotes and brackets")
    return link


class Statement(Table):
    """[claim]: what is claimed, about whom, and by whom.

    One currency (proofs_checks/claims/currency.py): epsilon with delta (0 for pure DP), rho (with orders_up_to), mu
    (with fpr_at_least), renyi = {order, epsilon}, curve = [[epsilon, delta], ...], tpr_at_fpr = {fpr, tpr}, advantage.
    per: "day" where the claim is about what runs on one of the days that [composition] counts, not about all of them.
    rdp_orders: the Renyi orders at which the source's accountant looked; for `dpcert explain`.
    epsilon_interval: what the printed epsilon may have been before rounding; the verdict then uses its upper end.
    author, year: who published the number, and when; link: where to read it. Tables of many claims sort by them.
    convention: how the source computed the number. assumed: what had to be assumed to write the file.
    implementation: "package.module:callable", what `dpcert verify --audit` attacks.
    coalition_sees_participation: billboard and joint only, default true (see `sees_participation`).
    observer: whom the claim is about; default for billboard and joint: the coalition of all other clients.
    group: how many units change at once, default one: the claim is about a group of so many, or a user with so many
    examples. phases_per_unit: how many [[phase]] tables one unit's data are in, default all (parallel composition).
    coalition_size: how many of them collude, default all. clients: whether they carry state from round to round that
    depends on when they took part; default "stateful" (see dpcert.accounting.billboard.observers).
    """

    title: Text
    author: Text | None = None
    year: Annotated[int | None, checked(_year)] = None
    source: Text = "not stated"
    link: Annotated[str | None, checked(_link)] = None
    notion: Notion = "dp"
    unit: Text = "unit"
    neighbouring: Neighbouring
    epsilon: NonNegative | None = None
    delta: Annotated[float, checked(delta_below_one)] | None = None
    rho: Positive | None = None
    orders_up_to: Annotated[float, checked(_order)] | None = None
    mu: Positive | None = None
    fpr_at_least: Annotated[float, checked(_error_rate)] | None = None
    renyi: RenyiTable | None = None
    curve: Annotated[tuple[tuple[float, float], ...] | None, checked(_points)] = None
    tpr_at_fpr: TprAtFprTable | None = None
    advantage: Probability | None = None
    per: Literal["day"] | None = None
    rdp_orders: Annotated[tuple[float, ...] | None, checked(_orders)] = None
    epsilon_interval: Annotated[tuple[float, float] | None, checked(_interval)] = None
    coalition_sees_participation: Annotated[bool | None, checked(_yes_or_no)] = None
    observer: Literal["coalition", "client", "server", "final-models", "outside"] | None = None
    coalition_size: Count | None = None
    clients: Literal["stateless", "stateful"] | None = None
    group: Count | None = None
    phases_per_unit: Count | None = None
    convention: Text | None = None
    assumed: tuple[Text, ...] = ()
    implementation: Text | None = None

    @model_validator(mode="after")
    def _one_currency(self) -> Statement:
        stated = [name for name in CURRENCIES if getattr(self, name) is not None]
        if len(stated) != 1:
            expected = "a value: one of " + ", ".join(CURRENCIES)
            raise InputError(stated[-1] if stated else "epsilon", stated or MISSING, expected)
        for name, owner in COMPANIONS.items():
            if getattr(self, name) is not None and stated != [owner]:
                raise InputError(name, getattr(self, name), f"no such key without {owner}")
        if self.epsilon is not None and self.delta is None:
            raise InputError("delta", MISSING, "a value beside epsilon; 0 for pure DP")
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Statement:
        if (
            self.epsilon is not None
            and self.epsilon_interval
            and not self.epsilon_interval[0] <= self.epsilon <= self.epsilon_interval[1]
        ):
            raise InputError("epsilon_interval", self.epsilon_interval, f"an interval around epsilon = {self.epsilon}")
        if self.notion == "dp" and self.coalition_sees_participation is not None:
            seen = self.coalition_sees_participation
            raise InputError("coalition_sees_participation", seen, "no such key with notion = 'dp': no coalition there")
        if self.observer is not None and self.coalition_sees_participation is not None:
            expected = "no such key beside observer: who sees what follows from the observer"
            raise InputError("coalition_sees_participation", self.coalition_sees_participation, expected)
        if self.observer == "server" and self.notion != "dp":
            raise InputError(
                "observer", "server", f"a client-side observer: {self.notion} privacy is not about the server"
            )
        if self.coalition_size is not None and self.observer != "coalition":
            raise InputError("coalition_size", self.coalition_size, "no such key unless observer = 'coalition'")
        for name in ("group", "phases_per_unit"):
            if getattr(self, name) is not None and (self.notion != "dp" or self.observer is not None):
                raise InputError(name, getattr(self, name), "no such key but for a dp claim about the output's readers")
        if self.clients is not None and self.notion == "dp" and self.observer is None:
            raise InputError("clients", self.clients, "no such key for a dp claim without an observer")
        return self

    @property
    def colluders(self) -> int | None:
        """How many other clients pool what they see; None: all of them, or no coalition."""
        return 1 if self.observer == "client" else self.coalition_size

    @property
    def currency(self) -> Currency:
        """What is claimed, as a number with its meaning."""
        if self.epsilon is not None and self.delta is not None:
            most = self.epsilon_interval[1] if self.epsilon_interval else self.epsilon
            return EpsilonAt(self.epsilon, self.delta, most)
        if self.rho is not None:
            return Rho(self.rho, math.inf if self.orders_up_to is None else self.orders_up_to)
        if self.mu is not None:
            return Mu(self.mu, self.fpr_at_least or 0.0)
        if self.renyi is not None:
            return RenyiAt(self.renyi.epsilon, self.renyi.order)
        if self.curve is not None:
            return Curve(self.curve)
        if self.tpr_at_fpr is not None:
            return TprAtFpr(self.tpr_at_fpr.tpr, self.tpr_at_fpr.fpr)
        assert self.advantage is not None  # _one_currency
        return Advantage(self.advantage)

    @property
    def is_ordinary(self) -> bool:
        """Whether it is about one unit, whose data may be in every phase."""
        return self.group is None and self.phases_per_unit is None

    @property
    def threshold(self) -> float:
        """The largest number, in the claim's currency, that the claim still covers."""
        return self.currency.threshold

    @property
    def participation(self) -> Visibility | None:
        """What accounting.epsilon takes: None is the notion's own default (for billboard and joint: the coalition)."""
        return "hidden" if self.coalition_sees_participation is False else None


class ClaimTables(Table):
    """The whole file: [claim], and either [mechanism], [sampling], [composition] or several [[phase]]."""

    claim: Statement
    mechanism: AnyMechanismTable | None = None
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
            raise InputError("mechanism", MISSING, "a [mechanism] table, or several [[phase]] tables")
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
        if not self.statement.is_ordinary and any(
            getattr(phase.mechanism, "weights", "uniform") != "uniform" for phase in self.phases
        ):
            raise InputError("mechanism.weights", "unequal", "uniform weights beside group or phases_per_unit")
        object.__setattr__(self, "run", self._about(tuple(phase.described().upper for phase in self.phases)))
        object.__setattr__(self, "attained_run", self._attained_run())
        for phase in self.phases:
            if self.statement.neighbouring == "add-remove" and phase.sampling.scheme in (
                "none",
                "fixed-size",
                "cyclic",
            ):
                weights = getattr(phase.mechanism, "weights", "uniform")
                if weights != "uniform":
                    expected = "zero-out or replace-one with weights: a client that leaves changes all other weights"
                    raise InputError("claim.neighbouring", self.statement.neighbouring, expected)
        for step in rounds_by_step(self.run):
            if self.statement.neighbouring == "add-remove" and brings_noise(step):
                raise InputError("claim.neighbouring", self.statement.neighbouring, STAYS)
        if self.population and (self.statement.colluders or 0) > self.population - 1:
            expected = f"at most the other {self.population - 1} clients of the population"
            raise InputError("claim.coalition_size", self.statement.colluders, expected)

    def _attained_run(self) -> Mechanism | None:
        bases = [(phase, phase.described().lower) for phase in self.phases]
        known = [(phase, base) for phase, base in bases if base is not None]
        if not known:
            return None
        if not self.statement.is_ordinary:
            return self.run if len(known) == len(self.phases) else None
        uneven = hidden_and_uneven(self.statement, self.phases)
        return with_idle_others(known) if uneven else composed(known)

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
    def population(self) -> int | None:
        """The smallest population that a phase states."""
        stated = [phase.sampling.population for phase in self.phases if phase.sampling.population]
        return min(stated) if stated else None


def parse_claim(tables: object, file: str | None = None) -> Claim:
    """A claim from parsed TOML (nested dicts). Raises InputError, naming the field, on anything out of order."""
    if not isinstance(tables, dict) or not tables:
        raise InputError(file or "claim", tables, "a [claim] table and a [mechanism] table; there is nothing in it")
    try:
        read = ClaimTables.model_validate(tables)
    except ValidationError as problem:
        raise first_problem(problem) from None
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
    hidden = statement.notion == "dp" or statement.participation == "hidden" or partly
    return hidden and statement.neighbouring == "zero-out" and any(map(has_uneven_cohorts, phases))


def divides_by_who_is_there(statement: Statement, phases: tuple[Phase, ...]) -> bool:
    """Whether add-remove is asked of a mean over everybody: with a unit that leaves, the divisor falls too.

    The mean over n moves by (g - o)/n, o the mean over the others: up to replace-one's 2 clip/n, and by clip/n among
    others at zero. A source that divides by a constant has the lower end; it can say so with noise on the sum.
    """
    means = [phase for phase in phases if phase.mechanism.kind == "gaussian-mean"]
    everybody = any(phase.sampling.scheme in ("none", "cyclic") for phase in means)
    return statement.neighbouring == "add-remove" and everybody
