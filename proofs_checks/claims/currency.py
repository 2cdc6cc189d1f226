"""What a claim states, in whichever currency: epsilon at delta, rho, mu, a Renyi divergence, several points, a risk.

Every currency is a number that the run's true one must not exceed, and knows how to bracket that: the verdict compares
the bracket with the threshold, whatever they measure.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from ...accounting import Bracket, mu, renyi, rho, risk
from ...accounting.answer import answer
from ...accounting.quantity import Quantity
from ...accounting.question import RTOL, Question, seen_by
from ...mechanisms import Mechanism, Notion, Relation, Visibility
from ..literature.zcdp_conversions import canonne_zcdp_order


@dataclass(frozen=True, slots=True)
class Against:
    """Whom the claim is about, and how precisely: what every accountant is asked with.

    rtol: the relative width that is asked for.
    """

    neighbouring: Relation
    notion: Notion
    participation: Visibility | None
    rtol: float

    def options(self) -> dict[str, Any]:
        """The keyword arguments of the accounting functions."""
        about = {"neighbouring": self.neighbouring, "notion": self.notion, "participation": self.participation}
        return about | {"rtol": self.rtol}


def epsilon_at(run: Mechanism, delta: float, against: Against) -> Bracket:
    """The accountants' answer; of unequal weights, only within `unequal_weights` (observers.py)."""
    return answer(Question.about(run, Quantity.EPSILON, **against.options()), delta)


class Currency(ABC):
    """One stated number. name: the claim's key. threshold: what the true number may be at most.

    rtol: the relative width that is asked of its bracket where nobody names one.
    """

    name: str
    threshold: float
    rtol: ClassVar[float] = RTOL

    @abstractmethod
    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        """The certified interval of the run's own number."""

    @abstractmethod
    def claimed(self) -> dict[str, object]:
        """The claim's own keys and values, for JSON."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the number is, with its place: "rho up to order 64"."""

    def without_range(self) -> Currency | None:
        """The same without the range in which it is meant; None where there is none."""
        return None


@dataclass(frozen=True)
class EpsilonAt(Currency):
    """(epsilon, delta)-DP; delta = 0 is pure DP."""

    epsilon: float
    delta: float
    threshold: float
    name: str = "epsilon"

    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        return epsilon_at(run, self.delta, against)

    def claimed(self) -> dict[str, object]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    @property
    def words(self) -> str:
        return "epsilon" if self.delta else "pure epsilon"


@dataclass(frozen=True)
class Rho(Currency):
    """rho-zCDP, at the orders up to orders_up_to; delta: for which that is the order (`for_delta`)."""

    threshold: float
    orders_up_to: float = math.inf
    delta: float = 0.0
    name: str = "rho"
    rtol = 1e-4

    @classmethod
    def for_delta(cls, threshold: float, delta: float) -> Rho:
        """Up to the order at which it becomes an epsilon at this delta (literature/zcdp_conversions.py), rounded up."""
        order = canonne_zcdp_order(threshold, delta) - 1
        scale = 10.0 ** (3 - math.floor(math.log10(order)))
        return cls(threshold, 1 + math.ceil(order * scale) / scale, delta)

    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        return rho(run, orders_up_to=self.orders_up_to, **against.options())

    def claimed(self) -> dict[str, object]:
        ranges = {"orders_up_to": self.orders_up_to} if self.orders_up_to < math.inf else {}
        return {"rho": self.threshold, **({"delta": self.delta} if self.delta else ranges)}

    @property
    def words(self) -> str:
        if self.orders_up_to == math.inf:
            return "rho"
        place = f" (all that delta {self.delta:g} needs)" if self.delta else ""
        return f"rho at orders up to {self.orders_up_to:g}{place}"

    def without_range(self) -> Currency | None:
        return None if self.orders_up_to == math.inf else Rho(self.threshold)


@dataclass(frozen=True)
class Mu(Currency):
    """mu-GDP, where both error rates are at least fpr_at_least, or at deltas of at least `delta`."""

    threshold: float
    fpr_at_least: float = 0.0
    delta: float = 0.0
    name: str = "mu"
    rtol = 1e-4

    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        least, floor = self.fpr_at_least, self.delta
        return mu(run, error_rates_at_least=least, deltas_at_least=floor, **against.options())

    def claimed(self) -> dict[str, object]:
        ranges = {"fpr_at_least": self.fpr_at_least, "delta": self.delta}
        return {"mu": self.threshold, **{name: least for name, least in ranges.items() if least}}

    @property
    def words(self) -> str:
        if self.delta:
            return f"mu at deltas from {self.delta:g} on"
        return f"mu at error rates from {self.fpr_at_least:g} on" if self.fpr_at_least else "mu"

    def without_range(self) -> Currency | None:
        return Mu(self.threshold) if self.fpr_at_least or self.delta else None


@dataclass(frozen=True)
class RenyiAt(Currency):
    """A Renyi divergence of one order."""

    threshold: float
    order: float
    name: str = "renyi"

    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        return renyi(run, self.order, against.neighbouring, seen_by(against.notion, against.participation))

    def claimed(self) -> dict[str, object]:
        return {"renyi": {"order": self.order, "epsilon": self.threshold}}

    @property
    def words(self) -> str:
        return f"the Renyi divergence of order {self.order:g}"


@dataclass(frozen=True)
class Advantage(Currency):
    """The largest true-positive minus false-positive rate: total variation, delta at epsilon 0."""

    threshold: float
    name: str = "advantage"

    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        return answer(Question.about(run, Quantity.DELTA, **against.options()), 0.0)

    def claimed(self) -> dict[str, object]:
        return {"advantage": self.threshold}

    @property
    def words(self) -> str:
        return "the advantage of an attack"


@dataclass(frozen=True)
class TprAtFpr(Currency):
    """The true-positive rate of the strongest attack with one false-positive rate."""

    threshold: float
    fpr: float
    name: str = "tpr_at_fpr"

    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        return risk(run, false_positive_rates=(self.fpr,), **against.options()).rates[0].true_positive_rate

    def claimed(self) -> dict[str, object]:
        return {"tpr_at_fpr": {"fpr": self.fpr, "tpr": self.threshold}}

    @property
    def words(self) -> str:
        return f"the true-positive rate at false-positive rate {self.fpr:g}"


@dataclass(frozen=True)
class Curve(Currency):
    """Several (epsilon, delta), all of which must hold: the number is the largest of true over claimed epsilons."""

    points: tuple[tuple[float, float], ...]
    threshold: float = 1.0
    name: str = "curve"

    def bracket(self, run: Mechanism, against: Against) -> Bracket:
        worst = Bracket(0.0, 0.0, True, "none")
        for claimed, at_delta in self.points:
            worst = worst.maximum(_over(epsilon_at(run, at_delta, against), claimed))
        return worst

    def claimed(self) -> dict[str, object]:
        return {"curve": [list(point) for point in self.points]}

    @property
    def words(self) -> str:
        return "the ratio of epsilon to the claimed one at the worst point of the curve"


def _over(found: Bracket, claimed: float) -> Bracket:
    """The quotient, on the same side of 1 as the epsilon is of the claimed one, whatever the rounding."""
    return Bracket(_quotient(found.lower, claimed), _quotient(found.upper, claimed), found.certified, found.method)


def _quotient(end: float, claimed: float) -> float:
    if end == claimed:
        return 1.0
    if claimed == 0.0:
        return math.inf
    if end < claimed:
        return min(end / claimed, math.nextafter(1.0, 0.0))
    return max(end / claimed, math.nextafter(1.0, 2.0))
