"""From one currency of privacy to another: what is known of a mechanism, and what that says in other terms.

What is known is a bound, and the bound is itself a mechanism that has exactly that much: randomized response for pure
epsilon, its leaking version for (epsilon, delta), a Gaussian for mu. So a conversion prices that mechanism, and its
upper end is tight: some mechanism with what is known has it. rho and Renyi divergences at stated orders are different:
no mechanism need have every divergence at its bound, so what follows from them is an upper bound only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from flint import arb, ctx, fmpq

from ...mechanisms import ApproximateDp, Gaussian, InputError, Mechanism, PrivacyNotion, PureDp, RenyiDp, Zcdp
from ...mechanisms.digits import as_given, rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import count, nonnegative, number, positive
from ...mechanisms.word import Word
from ..bracket import Bracket
from ..epsilon import delta as delta_of
from ..epsilon import epsilon as epsilon_of
from ..rounding import float_above, up
from ..seconds import timed
from .gaussian_dp import mu as mu_of
from .pure_dp import decimal, decimal_above
from .risk import risk
from .zcdp import rho as rho_of


class Known(Word):
    """What is known of a mechanism: an epsilon at a delta, zCDP, Gaussian DP, or Renyi divergences at some orders."""

    EPSILON = "epsilon"
    RHO = "rho"
    MU = "mu"
    RENYI = "renyi"


KnownAs = Known | Literal["epsilon", "rho", "mu", "renyi"]
"""What callers may say: a `Known`, or its spelling."""


class Asked(Word):
    """What is asked for; place: the number at which it is asked, None where it is asked at none."""

    EPSILON = "epsilon"
    DELTA = "delta"
    RHO = "rho"
    MU = "mu"
    TPR = "tpr"
    ADVANTAGE = "advantage"

    @property
    def place(self) -> str | None:
        """By its name in `convert`."""
        return {Asked.EPSILON: "delta", Asked.DELTA: "epsilon", Asked.TPR: "fpr"}.get(self)


AskedAs = Asked | Literal["epsilon", "delta", "rho", "mu", "tpr", "advantage"]
"""What callers may say: an `Asked`, or its spelling."""


class Direction(Word):
    """Whether some mechanism with what is known has exactly so much."""

    TIGHT = "tight"
    UPPER_BOUND = "upper bound"
    NO_BOUND = "no bound"


Amount = float | tuple[tuple[float, float], ...]
"""Of renyi: (order, epsilon) at one or several orders."""


@dataclass(frozen=True, slots=True)
class Conversion(InNotebook):
    """Every mechanism with what is known has at most `at_most` (rounded up) of what was asked.

    direction: "tight" where some mechanism with what is known has exactly that much, up to the accountants' width;
    "upper bound" where none is known to; "no bound" where at_most is infinite. words: the same in a sentence.
    known, amount, known_delta: what is known. at: the delta, epsilon or false-positive rate at which was asked.

    at_most: the converted number, rounded up. asked: the currency that it is in.

    >>> from dpcert import convert
    >>> convert("rho", 2.56, "epsilon", delta=1e-10).at_most < 17.16
    True
    """

    at_most: float
    direction: Direction
    words: str
    known: Known
    amount: Amount
    asked: Asked
    at: dict[str, float]
    known_delta: float = 0.0

    def __str__(self) -> str:
        beside = f", delta = {as_given(self.known_delta)}" if self.known_delta else ""
        place = "".join(f" at {name} = {as_given(value)}" for name, value in self.at.items())
        first = f"{told(self.known, self.amount)}{beside}: {self.asked} <= {rounded_up(self.at_most)}{place}"
        unknown = self.direction == Direction.NO_BOUND and (self.known, self.asked) in _NOT_COMPUTED
        return f"{first}\n  {'not computed' if unknown else self.direction}: {self.words}"

    @property
    def says_something(self) -> bool:
        """Whether it is more than what was known, or what holds of everything."""
        places = self.at.get("delta") == self.known_delta, self.at.get("epsilon") == self.amount
        same = self.asked.value == self.known.value if self.known != Known.EPSILON else any(places)
        trivial = self.at_most >= 1 and self.asked in (Asked.DELTA, Asked.TPR, Asked.ADVANTAGE)
        return not same and not trivial and self.at_most < math.inf

    @property
    def known_as(self) -> dict[str, Any]:
        """What is known, as plain data."""
        return {self.known: self.amount} | ({"delta": self.known_delta} if self.known_delta else {})

    def to_json(self) -> dict[str, Any]:
        """Plain data; an infinity stays a float."""
        return {"known": self.known_as} | self.as_asked()

    def as_asked(self) -> dict[str, Any]:
        """The same without what is known."""
        found = {"at_most": self.at_most, "direction": self.direction, "words": self.words}
        return {"asked": self.asked, "at": self.at} | found


@dataclass(frozen=True, slots=True)
class Conversions(InNotebook):
    """What is known in every other currency; those that say something are printed."""

    each: tuple[Conversion, ...]

    def __str__(self) -> str:
        return "\n".join(str(each) for each in self.each if each.says_something)

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        return {"known": self.each[0].known_as, "conversions": [each.as_asked() for each in self.each]}


def told(known: Known, amount: Amount) -> str:
    """What is known, in a few words."""
    if not isinstance(amount, tuple):
        return f"{known} = {as_given(amount)}"
    points = [f"{as_given(epsilon)} at order {as_given(order)}" for order, epsilon in amount]
    return f"{known} = {', '.join(points[:3])}{f', ... ({len(points)} orders)' if len(points) > 3 else ''}"


_NOT_COMPUTED = ((Known.RHO, Asked.MU), (Known.RENYI, Asked.MU))


def convert(
    known: KnownAs,
    amount: Amount,
    asked: AskedAs,
    *,
    known_delta: float = 0.0,
    delta: float | None = None,
    epsilon: float | None = None,
    fpr: float | None = None,
) -> Conversion:
    """What `amount` of the known currency says in the asked one.

    known: "epsilon" (with known_delta, 0 for pure DP), "rho" (zCDP), "mu" (Gaussian DP) or "renyi" (amount: a list of
    (order, epsilon); between orders by convexity, to epsilon or delta at the best of them by Asoodeh et al. 2020, the
    best that one order allows: renyi/optimal_conversion.py).
    asked: "epsilon" (at delta), "delta" (at epsilon), "rho", "mu", "tpr" (at fpr) or "advantage".

    amount: of the known currency, at least 0. known_delta: the delta at which that epsilon holds, from 0 to below 1.

    >>> f"{convert('rho', 2.56, 'epsilon', delta=1e-10).at_most:.2f}"
    '17.16'
    >>> f"{convert('mu', 0.376, 'epsilon', delta=1e-5).at_most:.4f}"
    '1.4520'
    >>> f"{convert('epsilon', 3.0, 'tpr', known_delta=1e-4, fpr=0.01).at_most:.4f}"
    '0.2010'
    >>> f"{convert('renyi', [(8, 0.2), (32, 0.9)], 'epsilon', delta=1e-5).at_most:.4f}"
    '1.1278'

    Raises InputError for amounts out of range, and where what is asked needs a number that is not given.
    """
    known, asked = Known.named("known", known), Asked.named("asked", asked)
    worst = _worst(known, amount, known_delta)
    amount = worst.points if isinstance(worst, RenyiDp) else amount
    if known == Known.EPSILON and asked == Asked.TPR:
        at_most = _power(cast("float", amount), known_delta, _given("fpr", fpr))
    else:
        at_most = _priced(worst, asked, delta, epsilon, fpr).upper
    loose = known in (Known.RHO, Known.RENYI) and asked.value != known.value
    direction = Direction.NO_BOUND if at_most == math.inf else Direction.UPPER_BOUND if loose else Direction.TIGHT
    words, places = _words(known, asked, direction, at_most), {"delta": delta, "epsilon": epsilon, "fpr": fpr}
    at = {asked.place: float(places[asked.place] or 0.0)} if asked.place else {}
    return Conversion(at_most, direction, words, known, amount, asked, at, known_delta)


def composed_amount(known: KnownAs, amount: float, rounds: int) -> float:
    """What so many rounds with this much each have together, rounded up: epsilon and rho add up, mu in squares
    (Bun, Steinke 2016, arXiv 1605.02065, Lemma 2.3; Dong, Roth, Su 2022, arXiv 1905.02383, Corollary 3.3).

    >>> composed_amount("rho", 0.1, 3), composed_amount("mu", 0.5, 4)
    (0.3, 1.0)

    Raises InputError unless rounds is a whole number of at least 1, and the amount positive.
    """
    times, each = count("rounds", rounds), decimal(positive(known, amount))
    if known != Known.MU:
        return decimal_above(times * each)
    squared = times * each**2
    with ctx.workprec(200):
        nearest = float(arb(fmpq(squared.numerator, squared.denominator)).sqrt().mid())
    return nearest if decimal(nearest) ** 2 >= squared else up(nearest)


@dataclass(frozen=True, slots=True)
class ComposedConversion(InNotebook):
    """At most so much of what was asked has whatever has `each` of the known currency in each of the rounds; how it was
    got does not matter. conversion: of all rounds together."""

    each: float
    rounds: int
    conversion: Conversion
    seconds: float = field(default=0.0, compare=False, repr=False)

    def __str__(self) -> str:
        found, times = self.conversion, f" in each of {self.rounds} rounds" if self.rounds != 1 else ""
        ((place, value),) = found.at.items()
        first = f"{found.asked} <= {rounded_up(found.at_most)} at {place} = {as_given(value)}"
        return f"{first}, from {told(found.known, self.each)}{times}\n  {found.direction}: {found.words}"

    def to_json(self) -> dict[str, Any]:
        """Plain data, as of a described run."""
        found = self.conversion
        ends = {f"{found.asked}_lower": 0.0, f"{found.asked}_upper": found.at_most}
        about: dict[str, Any] = {"notion": PrivacyNotion.DP, found.known: self.each, "rounds": self.rounds}
        told_of = {"accountant": "conversion", "certified": True, "reached": True}
        how = {"direction": found.direction, "words": found.words, "seconds": self.seconds}
        return ends | dict(found.at) | about | told_of | how


@timed
def convert_composed(known: KnownAs, each: float, rounds: int, asked: AskedAs, **place: float) -> ComposedConversion:
    """What rounds of a known rho, mu or epsilon each come to together; place: as for `convert`.

    >>> print(convert_composed("rho", 0.1, 3, "epsilon", delta=1e-6))
    epsilon <= 3.9200574 at delta = 1e-06, from rho = 0.1 in each of 3 rounds
      upper bound: every mechanism with this rho has at most this epsilon; whether one has it is not known
    """
    return ComposedConversion(each, rounds, convert(known, composed_amount(known, each, rounds), asked, **place))


def _worst(known: Known, amount: Any, known_delta: float) -> Mechanism:
    if known == Known.RENYI:
        return _renyi(amount)
    if known == Known.MU:
        return Gaussian(1.0 / positive("mu", amount))
    if known == Known.RHO:
        return Zcdp(positive("rho", amount))
    if not 0.0 <= number("known_delta", known_delta) < 1.0:
        raise InputError("known_delta", known_delta, "a number of at least 0 and below 1")
    return ApproximateDp(nonnegative("epsilon", amount), known_delta) if known_delta else PureDp(amount)


def _renyi(points: Any) -> RenyiDp:
    try:
        return RenyiDp(points)
    except InputError as problem:
        raise problem.renamed("renyi") from None


def _priced(run: Mechanism, asked: Asked, delta: float | None, epsilon: float | None, fpr: float | None) -> Bracket:
    price: dict[Asked, Callable[[], Bracket]] = {
        Asked.EPSILON: lambda: epsilon_of(run, _given("delta", delta)),
        Asked.DELTA: lambda: delta_of(run, _given("epsilon", epsilon)),
        Asked.RHO: lambda: rho_of(run),
        Asked.MU: lambda: mu_of(run),
        Asked.TPR: lambda: risk(run, false_positive_rates=[_given("fpr", fpr)]).rates[0].true_positive_rate,
        Asked.ADVANTAGE: lambda: delta_of(run, 0.0),
    }
    return price[asked]()


def _power(epsilon: float, delta: float, fpr: float) -> float:
    """The least of e^epsilon fpr + delta and 1 - e^-epsilon (1 - delta - fpr), rounded up (Kairouz, Oh, Viswanath 2015,
    arXiv 1311.0776, Section 2: the two lines that (epsilon, delta) allows)."""
    if not 0.0 <= number("fpr", fpr) <= 1.0:
        raise InputError("fpr", fpr, "a number from 0 to 1")
    with ctx.workprec(200):
        grown = arb(epsilon).exp()
        upper = (grown * arb(fpr) + arb(delta)).min(1 - (1 - arb(delta) - arb(fpr)) / grown)
        return min(1.0, float_above(upper))


def _given(name: str, value: float | None) -> float:
    if value is None:
        raise InputError(name, None, "a number: what is asked depends on it")
    return value


def _words(known: Known, asked: Asked, direction: Direction, at_most: float) -> str:
    if direction == Direction.NO_BOUND and (known, asked) in _NOT_COMPUTED:
        return f"dpcert computes no bound on {asked} from {known} alone; in a range of error rates there may be one"
    if at_most == math.inf and (known, asked) == (Known.RENYI, Asked.RHO):
        return "no bound on rho follows from finitely many orders: it is about all of them"
    if at_most == math.inf:
        return f"no bound on {asked} follows from {known} alone"
    bounded = f"every mechanism with {_THESE.get(known, f'this {known}')} has at most this {asked}"
    return bounded + (", and one has it" if direction == Direction.TIGHT else "; whether one has it is not known")


_THESE = {Known.RENYI: "these Renyi divergences"}
