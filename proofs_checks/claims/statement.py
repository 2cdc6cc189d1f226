"""[claim] of a claim file: what is claimed, of whom and against whom, and by whose word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from pydantic import model_validator

from ...mechanisms import InputError, Participation, PrivacyNotion, Relation, Visibility
from ...mechanisms.tables.fields import Count, NonNegative, Positive, Probability, Table, checked, spelt
from ...mechanisms.validate import delta_below_one, nonnegative, number, yes_or_no
from .currency import Advantage, Currency, Curve, EpsilonAt, Mu, RenyiAt, Rho, TprAtFpr


def _text(field: str, value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or not text.isprintable():  # a control character changes what a terminal shows
        raise InputError(field, value, "a text that is not empty, of printable characters")
    return text


def _rounds_to(lower: float, upper: float, printed: float) -> bool:
    """Whether both ends may be rounded, up or down, to the printed number: they are at most one unit of its last digit
    away, and at most 1, since zeros before the point are digits (19 is not rounded to 10)."""
    low, high, number = (Decimal(repr(value)) for value in (lower, upper, printed))
    unit = Decimal(1).scaleb(min(0, cast(int, number.normalize().as_tuple().exponent)))
    return number - unit <= low and high <= number + unit


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
    "delta": ("epsilon",),
    "epsilon_interval": ("epsilon",),
    "rdp_orders": ("epsilon",),
    "orders_up_to": ("rho",),
    "fpr_at_least": ("mu",),
    "delta_at_least": ("rho", "mu"),
}
"""Keys that mean something beside one of these only; beside rho and mu, delta is another name of delta_at_least."""


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

    One currency (proofs_checks/claims/currency.py): epsilon with delta (0 for pure DP), rho (with orders_up_to or a
    delta), mu (with fpr_at_least or a delta), renyi = {order, epsilon}, curve = [[epsilon, delta], ...],
    tpr_at_fpr = {fpr, tpr}, advantage. delta_at_least: what a delta beside rho or mu is read as.
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
    notion: Annotated[PrivacyNotion, spelt(PrivacyNotion)] = PrivacyNotion.DP
    unit: Text = "unit"
    neighbouring: Annotated[Relation, spelt(Relation)]
    epsilon: NonNegative | None = None
    delta: Annotated[float, checked(delta_below_one)] | None = None
    rho: Positive | None = None
    orders_up_to: Annotated[float, checked(_order)] | None = None
    mu: Positive | None = None
    fpr_at_least: Annotated[float, checked(_error_rate)] | None = None
    delta_at_least: Annotated[float, checked(delta_below_one)] | None = None
    renyi: RenyiTable | None = None
    curve: Annotated[tuple[tuple[float, float], ...] | None, checked(_points)] = None
    tpr_at_fpr: TprAtFprTable | None = None
    advantage: Probability | None = None
    per: Literal["day"] | None = None
    rdp_orders: Annotated[tuple[float, ...] | None, checked(_orders)] = None
    epsilon_interval: Annotated[tuple[float, float] | None, checked(_interval)] = None
    coalition_sees_participation: Annotated[bool | None, checked(yes_or_no)] = None
    observer: Literal["coalition", "client", "server", "final-models", "outside"] | None = None
    coalition_size: Count | None = None
    clients: Literal["stateless", "stateful"] | None = None
    group: Count | None = None
    phases_per_unit: Count | None = None
    convention: Text | None = None
    assumed: tuple[Text, ...] = ()
    implementation: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _delta_of_a_range(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("delta") is None or given.get("epsilon") is not None:
            return given
        ranged = [name for name in COMPANIONS["delta_at_least"] if given.get(name) is not None]
        if not ranged or given.get("delta_at_least") is not None:
            return given
        least = delta_below_one("delta", given["delta"])
        return {key: value for key, value in given.items() if key != "delta"} | {"delta_at_least": least}

    @model_validator(mode="after")
    def _one_currency(self) -> Statement:
        stated = [name for name in CURRENCIES if getattr(self, name) is not None]
        if len(stated) != 1:
            raise InputError(stated[-1], stated, "a value: one of " + ", ".join(CURRENCIES))
        for name, owners in COMPANIONS.items():
            if getattr(self, name) is not None and stated[0] not in owners:
                raise InputError(name, getattr(self, name), f"no such key without {' or '.join(owners)}")
        for name in ("orders_up_to", "fpr_at_least"):
            if self.delta_at_least is not None and getattr(self, name) is not None:
                raise InputError("delta_at_least", self.delta_at_least, f"no such key beside {name}: one range")
        return self

    @classmethod
    def lacking(cls, given: Mapping[str, Any]) -> dict[str, str]:
        """Beside what every claim has: one of the currencies, and a delta with an epsilon."""
        absent = super().lacking(given)
        if all(given.get(name) is None for name in CURRENCIES):
            absent["epsilon"] = "a value, or one of " + ", ".join(CURRENCIES[1:])
        if given.get("delta") is None and (given.get("epsilon") is not None or "epsilon" in absent):
            absent["delta"] = "a value beside epsilon; 0 for pure DP"
        return absent

    @model_validator(mode="after")
    def _consistent(self) -> Statement:
        if (
            self.epsilon is not None
            and self.epsilon_interval
            and not self.epsilon_interval[0] <= self.epsilon <= self.epsilon_interval[1]
        ):
            raise InputError("epsilon_interval", self.epsilon_interval, f"an interval around epsilon = {self.epsilon}")
        if self.epsilon is not None and self.epsilon_interval and not _rounds_to(*self.epsilon_interval, self.epsilon):
            expected = (
                f"two ends that may both round to epsilon = {self.epsilon}: at most one unit of its last digit, and at "
                "most 1, away from it"
            )
            raise InputError("epsilon_interval", self.epsilon_interval, expected)
        if self.notion == PrivacyNotion.DP and self.coalition_sees_participation is not None:
            seen = self.coalition_sees_participation
            raise InputError("coalition_sees_participation", seen, "no such key with notion = 'dp': no coalition there")
        if self.observer is not None and self.coalition_sees_participation is not None:
            expected = "no such key beside observer: who sees what follows from the observer"
            raise InputError("coalition_sees_participation", self.coalition_sees_participation, expected)
        if self.observer == "server" and self.notion != PrivacyNotion.DP:
            raise InputError(
                "observer", "server", f"a client-side observer: {self.notion} privacy is not about the server"
            )
        if self.coalition_size is not None and self.observer != "coalition":
            raise InputError("coalition_size", self.coalition_size, "no such key unless observer = 'coalition'")
        for name in ("group", "phases_per_unit"):
            if getattr(self, name) is not None and (self.notion != PrivacyNotion.DP or self.observer is not None):
                raise InputError(name, getattr(self, name), "no such key but for a dp claim about the output's readers")
        if self.clients is not None and self.notion == PrivacyNotion.DP and self.observer is None:
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
            if self.delta_at_least:
                return Rho.for_delta(self.rho, self.delta_at_least)
            return Rho(self.rho, math.inf if self.orders_up_to is None else self.orders_up_to)
        if self.mu is not None:
            return Mu(self.mu, self.fpr_at_least or 0.0, self.delta_at_least or 0.0)
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
        return Participation.HIDDEN if self.coalition_sees_participation is False else None
