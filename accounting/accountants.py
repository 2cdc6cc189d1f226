"""The accountants by name, and what the certified ones give together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

import numpy as np

from ..mechanisms import InputError
from ..mechanisms.validate import choice
from .allocation import one_block, replaced_block, replaced_blocks
from .bracket import Bracket, EmptyBracket, OutOfReach, names
from .currencies import gdp
from .losses import closed_form, one_event
from .losses import gaussian_rounds as gaussian
from .losses.atoms import pld as lattices
from .losses.atoms import pld_together
from .losses.smooth import batch
from .losses.smooth import contour as densities
from .pairs import AllocationPair, Composition, Pair, ReplacedAllocationPair
from .participation import coalition as participation
from .participation import revealed
from .quantity import Quantity
from .renyi import renyi as rdp


class Accountant(Protocol):
    """Brackets of the composed pair's own values, of a relative width of `rtol` where they can be had.

    finest: the relative width below which this accountant's brackets narrow nobody else's (0: they are as narrow as
    asked for). Calls may raise OutOfReach, which says that this accountant has no bracket here.
    """

    @property
    def name(self) -> str:
        """Its name in `accountant=`, and in a bracket's `method`."""

    @property
    def finest(self) -> float:
        """See above."""

    def supports(self, product: Composition) -> bool:
        """Whether it can bracket this product pair at all."""

    def epsilon(self, product: Composition, delta: float, rtol: float) -> Bracket:
        """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""

    def delta(self, product: Composition, epsilon: float, rtol: float) -> Bracket:
        """The smallest delta of the composed pair at epsilon >= 0."""


Served = Callable[[Composition], bool]
Bracketed = Callable[[Composition, float], Bracket]
ManyBracketed = Callable[[Composition, Sequence[float], float], list[Bracket | None]]


@dataclass(frozen=True, slots=True)
class _Made:
    """An accountant made of functions. kind: of the pairs that it may serve; others are not shown to it."""

    name: str
    serves: Served
    finest: float = field(default=0.0, kw_only=True)
    kind: type[Pair] = field(default=Pair, kw_only=True)

    def supports(self, product: Composition) -> bool:
        """Whether it serves this product pair."""
        return isinstance(product[0][0], self.kind) and self.serves(product)


@dataclass(frozen=True, slots=True)
class Untuned(_Made):
    """Its functions know no tolerance: their brackets are as narrow as they can be."""

    epsilon_of: Bracketed
    delta_of: Bracketed

    def epsilon(self, product: Composition, delta: float, rtol: float) -> Bracket:
        return self.epsilon_of(product, delta)

    def delta(self, product: Composition, epsilon: float, rtol: float) -> Bracket:
        return self.delta_of(product, epsilon)


@dataclass(frozen=True, slots=True)
class Tuned(_Made):
    """Its functions' brackets are as narrow as asked for, where they can be."""

    epsilon: Callable[[Composition, float, float], Bracket]
    delta: Callable[[Composition, float, float], Bracket]
    epsilons_of: ManyBracketed | None = None
    deltas_of: ManyBracketed | None = None
    """For many points at once, where they can share work: None for those that do not."""


BEST: Final = "best"

AccountantName = Literal[
    "best",
    "gaussian",
    "closed-form",
    "allocation",
    "replaced-block",
    "replaced-blocks",
    "contour",
    "participation",
    "pld",
    "rdp",
    "revealed-coins",
    "one-event",
    "gdp-clt",
]
"""The names of all of them; "best" is the certified ones together."""

ONE_SIDED = 1e-4
"""Relative width below which one-sided accountants narrow nobody's bracket in practice."""

LOOSE = 0.02
"""The same for Renyi bounds of what the others are not narrower for."""

_FEWEST = 4
"""Points from which on sharing work is worth its time."""

CLOSED_FORM = Untuned("closed-form", closed_form.supports, closed_form.epsilon, closed_form.delta)
_REPLACED_BLOCK = Untuned(
    "replaced-block", replaced_block.supports, replaced_block.epsilon, replaced_block.delta, kind=ReplacedAllocationPair
)
CONTOUR = Tuned(
    "contour",
    densities.supports,
    densities.epsilon,
    densities.delta,
    epsilons_of=batch.epsilons,
    deltas_of=batch.deltas,
)
LATTICES = Tuned("pld", lattices.supports, lattices.epsilon, lattices.delta, deltas_of=pld_together.deltas)
RENYI = Untuned("rdp", rdp.supports, rdp.epsilon, rdp.delta, finest=LOOSE)
CENTRAL_LIMIT = Untuned("gdp-clt", gdp.supports, gdp.epsilon, gdp.delta)

CERTIFIED: tuple[Accountant, ...] = (
    Untuned("gaussian", gaussian.supports, gaussian.epsilon, gaussian.delta),
    CLOSED_FORM,
    Untuned("allocation", one_block.supports, one_block.epsilon, one_block.delta, kind=AllocationPair),
    _REPLACED_BLOCK,
    Tuned(
        "replaced-blocks",
        replaced_blocks.supports,
        replaced_blocks.epsilon,
        replaced_blocks.delta,
        kind=ReplacedAllocationPair,
    ),
    CONTOUR,
    Untuned("participation", participation.supports, participation.epsilon, participation.delta),
    Untuned("revealed-coins", revealed.supports, revealed.epsilon, revealed.delta, finest=ONE_SIDED),
    Untuned("one-event", one_event.supports, one_event.epsilon, one_event.delta, finest=ONE_SIDED),
    LATTICES,
    RENYI,
)
"""In the order in which "best" asks them: what takes milliseconds before what takes a second."""

ESTIMATES: tuple[Accountant, ...] = (CENTRAL_LIMIT,)
"""Approximations: available by name, never part of "best", and never certified where they estimate."""

added: list[Accountant] = []
"""Those of other packages (extending.py), certified ones as well."""


def named(name: AccountantName) -> Accountant:
    """The one of this name, other than "best". Raises InputError for a name that none has."""
    known = {each.name: each for each in (*CERTIFIED, *ESTIMATES, *added)}
    if name not in known:
        choice("accountant", name, (BEST, *known))
        raise InputError("accountant", name, "the name of one accountant")
    return known[name]


def composed(product: Composition, name: AccountantName, quantity: Quantity, at: float, rtol: float) -> Bracket:
    """The named accountant's bracket of the product pair's value, or the best that the certified ones give together.

    Raises InputError for an accountant that does not serve the product pair, or has no bracket here.
    """
    if name == BEST:
        return _best(product, quantity, at, rtol)
    asked = named(name)
    if not asked.supports(product):
        serving = [other.name for other in (*CERTIFIED, *ESTIMATES, *added) if other.supports(product)]
        raise InputError("accountant", name, "one that serves this run: " + ", ".join([BEST, *serving]))
    try:
        return _asked(asked, product, quantity, at, rtol)
    except OutOfReach as reason:
        raise InputError("accountant", name, f"one that reaches {product} ({reason})") from reason


def composed_together(
    product: Composition, name: AccountantName, quantity: Quantity, points: Sequence[float], rtol: float
) -> list[Bracket | None]:
    """`composed` at those of many points for which work can be shared; None for the others.

    The accountant is the one that `composed` asks first: where its bracket is narrow, it asks no other.
    """
    asked = next((each for each in (CERTIFIED if name == BEST else [named(name)]) if each.supports(product)), None)
    many = (
        (asked.epsilons_of if quantity == Quantity.EPSILON else asked.deltas_of) if isinstance(asked, Tuned) else None
    )
    if many is None or len(points) < _FEWEST:
        return [None] * len(points)
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return many(product, points, rtol)
    except (ArithmeticError, ValueError):
        return [None] * len(points)


def _best(product: Composition, quantity: Quantity, at: float, rtol: float) -> Bracket:
    """The first supporting accountant's bracket if it is narrow, else its intersection with the next ones'."""
    best: Bracket | None = None
    found: list[Bracket] = []
    before: list[Accountant] = []
    for accountant in (*CERTIFIED, *added):
        if best is not None and (
            best.narrower_than(max(rtol, accountant.finest)) or _idle(accountant, product, before)
        ):
            continue
        if not accountant.supports(product):
            continue
        try:
            bracket = _asked(accountant, product, quantity, at, rtol)
        except OutOfReach:
            continue
        found.append(bracket)
        before.append(accountant)
        best = bracket if best is None else best.intersect(bracket)
    if best is None:
        said = "dpcert has no bound for this combination of releases and sampling. Ask for its parts one by one."
        raise InputError("run", product, "a composition that some accountant supports", said)
    return best if len(found) == 1 else replace(best, method=_givers(found, best.lower, best.upper))


def _givers(found: Sequence[Bracket], lower: float, upper: float) -> str:
    """The accountants that gave the ends, in the order in which they were asked."""
    above = next(bracket for bracket in found if bracket.upper == upper)
    below = above if above.lower == lower else next(bracket for bracket in found if bracket.lower == lower)
    return names(*(bracket for bracket in found if bracket is above or bracket is below))


def _idle(accountant: Accountant, product: Composition, before: Sequence[Accountant]) -> bool:
    """Whether, after those before it, it cuts more coarsely what has been bounded: blocks of a replaced unit; or an
    envelope's own profile is known, which is all it says."""
    if CLOSED_FORM in before and any(pair.envelope for pair, _ in product):
        return True
    return accountant is LATTICES and _REPLACED_BLOCK in before


def _asked(accountant: Accountant, product: Composition, quantity: Quantity, at: float, rtol: float) -> Bracket:
    """The accountant's bracket. Where its floating point breaks down it has none: that is out of its reach.

    Contradicting brackets are another matter: they are a bug that must surface.
    """
    ask = accountant.epsilon if quantity == Quantity.EPSILON else accountant.delta
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):  # numpy's default: a warning, then go on
            found = ask(product, at, rtol)
        return replace(found, lower=0.0) if any(pair.envelope for pair, _ in product) else found
    except (EmptyBracket, InputError, OutOfReach):
        raise
    except (ArithmeticError, ValueError) as failure:
        raise OutOfReach(f"{accountant.name}: {failure}") from failure
