"""The accountants by name, and what the certified ones give together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Final, Literal

import numpy as np

from ..mechanisms import InputError
from ..mechanisms.validate import choice
from .allocation import one_block, replaced_block, replaced_blocks
from .bracket import Bracket, EmptyBracket, OutOfReach
from .currencies import gdp
from .losses import closed_form, one_event
from .losses import gaussian_rounds as gaussian
from .losses.atoms import pld as lattices
from .losses.atoms import pld_together
from .losses.smooth import batch
from .losses.smooth import contour as densities
from .pairs import Composition
from .participation import coalition as participation
from .participation import revealed
from .quantity import Quantity
from .renyi import renyi as rdp
from .source import Source, known_together


class Accountant(Source[Composition]):
    """A source of brackets of the composed pair's own values.

    finest: the relative width below which they narrow nobody else's in practice.
    """

    finest: float = 0.0

    def adds(self, product: Composition, found: Bracket, rtol: float) -> bool:
        """Of an envelope its profile, where that is known, is all that it says."""
        if not super().adds(product, found, max(rtol, self.finest)):
            return False
        return not (any(pair.envelope for pair, _ in product) and closed_form.supports(product))

    def bracket(
        self, product: Composition, quantity: Quantity, at: float, rtol: float, found: Bracket | None
    ) -> Bracket:
        """Where its floating point breaks down it has none: that is out of its reach.

        Contradicting brackets are another matter: they are a bug that must surface.
        """
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):  # numpy's default: a warning, then go on
                own = super().bracket(product, quantity, at, rtol, found)
        except (EmptyBracket, InputError, OutOfReach):
            raise
        except (ArithmeticError, ValueError) as failure:
            raise OutOfReach(f"{self.name}: {failure}") from failure
        return replace(own, lower=0.0) if any(pair.envelope for pair, _ in product) else own


Many = Callable[[Composition, Sequence[float], float], list[Bracket | None]]


def _one_by_one(product: Composition, points: Sequence[float], rtol: float) -> list[Bracket | None]:
    return [None] * len(points)


@dataclass(frozen=True, slots=True)
class Made(Accountant):
    """Of a module's functions. epsilons, deltas: at many points together, None at those for which no work is shared."""

    name: str
    serves: Callable[[Composition], bool]
    epsilon: Callable[[Composition, float, float], Bracket]
    delta: Callable[[Composition, float, float], Bracket]
    finest: float = 0.0
    epsilons: Many = _one_by_one
    deltas: Many = _one_by_one


def untuned(name: str, by: ModuleType, finest: float = 0.0) -> Made:
    """Of a module whose functions know no tolerance: their brackets are as narrow as they can be."""
    return Made(name, by.supports, lambda a, at, _: by.epsilon(a, at), lambda a, at, _: by.delta(a, at), finest)


class Lattices(Made):
    """The accountant of lattices."""

    __slots__ = ()

    def adds(self, product: Composition, found: Bracket, rtol: float) -> bool:
        """It cuts more coarsely what others bound of one block of a replaced unit."""
        wide = Accountant.adds(self, product, found, rtol)
        return wide and not (found.narrower_than(_CUT) and replaced_block.supports(product))


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

_ONE_SIDED = 1e-4
"""Relative width below which one-sided accountants narrow nobody's bracket in practice."""

_LOOSE = 0.02
"""The same for Renyi bounds of what the others are not narrower for."""

_CUT = 0.1
"""The same for a law that is cut where the profile itself is known."""

_FEWEST = 4
"""Points from which on sharing work is worth its time."""

CLOSED_FORM = untuned("closed-form", closed_form)
CONTOUR = Made(
    "contour",
    densities.supports,
    densities.epsilon,
    densities.delta,
    epsilons=batch.epsilons,
    deltas=batch.deltas,
)
LATTICES = Lattices("pld", lattices.supports, lattices.epsilon, lattices.delta, deltas=pld_together.deltas)
RENYI = untuned("rdp", rdp, _LOOSE)
CENTRAL_LIMIT = untuned("gdp-clt", gdp)

CERTIFIED: tuple[Accountant, ...] = (
    untuned("gaussian", gaussian),
    CLOSED_FORM,
    CONTOUR,
    untuned("allocation", one_block),
    untuned("replaced-block", replaced_block),
    Made("replaced-blocks", replaced_blocks.supports, replaced_blocks.epsilon, replaced_blocks.delta),
    untuned("participation", participation),
    untuned("revealed-coins", revealed, _ONE_SIDED),
    untuned("one-event", one_event, _ONE_SIDED),
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
        found = known_together((*CERTIFIED, *added), product, quantity, at, rtol)
        if found is None:
            said = "dpcert has no bound for this combination of releases and sampling. Ask for its parts one by one."
            raise InputError("run", product, "a composition that some accountant serves", said)
        return found
    asked = named(name)
    if not asked.serves(product):
        serving = [other.name for other in (*CERTIFIED, *ESTIMATES, *added) if other.serves(product)]
        raise InputError("accountant", name, "one that serves this run: " + ", ".join([BEST, *serving]))
    try:
        return asked.bracket(product, quantity, at, rtol, None)
    except OutOfReach as reason:
        raise InputError("accountant", name, f"one that reaches {product} ({reason})") from reason


def composed_together(
    product: Composition, name: AccountantName, quantity: Quantity, points: Sequence[float], rtol: float
) -> list[Bracket | None]:
    """`composed` at those of many points for which work can be shared; None for the others.

    The accountant is the one that `composed` asks first: where its bracket is narrow, it asks no other.
    """
    asked = next((each for each in (CERTIFIED if name == BEST else [named(name)]) if each.serves(product)), None)
    if not isinstance(asked, Made) or len(points) < _FEWEST:
        return [None] * len(points)
    many = asked.epsilons if quantity == Quantity.EPSILON else asked.deltas
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return many(product, points, rtol)
    except (ArithmeticError, ValueError):
        return [None] * len(points)
