"""explain(claim): which accountant, conversion and convention reproduces a published number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...mechanisms.digits import as_given
from ...mechanisms.notebook import InNotebook
from ...mechanisms.text_table import paragraph, text_table
from ..claims.claim import Claim, load_claim
from ..claims.currency import EpsilonAt
from .claimed import explained, stated_numbers
from .order_grids import GRIDS, SOURCE_S
from .printed import Chance, Convention, Printed, chances, not_reproduced, printed

SHOWN_MATCHES, SHOWN_OTHERS = 8, 3

NAMED = (SOURCE_S, *GRIDS)
"""The order grids, as conventions' names have them."""


@dataclass(frozen=True, slots=True)
class Explanation(InNotebook):
    """How the numbers that a claim states came about: of a curve one per point, else one.

    everything: all conventions are listed, not the nearest alone.
    """

    claim: Claim
    numbers: tuple[ExplainedNumber, ...]
    everything: bool = False

    def __str__(self) -> str:
        return "\n".join(number.words(self.everything) for number in self.numbers)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        points = [number.to_json() for number in self.numbers]
        about = {"file": self.claim.file, "title": self.claim.statement.title}
        return about | ({"points": points} if len(points) > 1 else points[0])


@dataclass(frozen=True, slots=True)
class ExplainedNumber:
    """A printed number, and every convention searched for it, the nearest first. place: which point of a
    curve it is, in words; or nothing."""

    claim: Claim
    conventions: tuple[Convention, ...]
    place: str = ""

    def words(self, everything: bool) -> str:
        """The nearest conventions as a table, or all of them, and what a match is worth."""
        statement, number = self.claim.statement, printed(self.claim.printed)
        first = f"{statement.title}: printed {statement.currency.name} {self.claim.printed}{self.place}"
        source = f"The source says: {statement.convention}." if statement.convention else ""
        chance = _by_chance(self.conventions, chances(self.conventions, number))
        after = filter(None, (_counted(self.conventions, number), chance, source))
        return "\n".join([paragraph(first), self._table(everything), *map(paragraph, after)])

    def _table(self, everything: bool) -> str:
        rows = grouped(self.conventions)
        matching = sum(convention.reproduces for _, convention in rows)
        few = [*rows[: min(matching, SHOWN_MATCHES)], *rows[matching : matching + SHOWN_OTHERS]]
        value = {"header": self.claim.statement.currency.name, "justify": "right", "no_wrap": True}
        others = {"header": "", "no_wrap": True}, {"header": "convention", "ratio": 3}, {"header": "detail", "ratio": 2}
        cells = [
            (f"{each.value:.6g}", "= printed" if each.reproduces else "", name, each.detail)
            for name, each in (rows if everything else few)
        ]
        return text_table([value, *others], cells)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        found = self.conventions
        return {
            "claimed": self.claim.statement.currency.claimed(),
            "reproduced_by": [convention.name for convention in found if convention.reproduces],
            "tried": len(found),
            "matching": sum(convention.reproduces for convention in found),
            "chances": [asdict(chance) for chance in chances(found, printed(self.claim.printed))],
            "conventions": [asdict(convention) for convention in found],
        }


def explain(claim: Claim | str | Path) -> Explanation:
    """The explanation of every number that a claim, or the claim in a TOML file, states.

    Tries each convention with the run as described, and with one thing changed. Says nothing about whether the number
    is right: that is `verify`. Raises InputError for a file that cannot be read.

    >>> from dpcert.proofs_checks.claims.claim import parse_claim
    >>> claim = {"title": "ten rounds", "neighbouring": "add-remove", "epsilon": 8.08, "delta": 1e-5}
    >>> run = {"mechanism": {"kind": "gaussian", "noise_multiplier": 2.0}, "composition": {"rounds": 10}}
    >>> [number] = explain(parse_claim({"claim": claim} | run)).numbers
    >>> number.conventions[0].reproduces
    True
    """
    if not isinstance(claim, Claim):
        claim = load_claim(claim)
    stated = stated_numbers(claim)
    places = [_place(number) if len(stated) > 1 else "" for number in stated]
    numbers = (ExplainedNumber(number, explained(number), place) for number, place in zip(stated, places, strict=True))
    return Explanation(claim, tuple(numbers))


def _place(number: Claim) -> str:
    currency = number.statement.currency
    return f" at delta {as_given(currency.delta)}" if isinstance(currency, EpsilonAt) else ""


def _counted(found: tuple[Convention, ...], number: Printed) -> str:
    """How many of the conventions give the printed digits, or plainly that none does."""
    if not found:
        return "We could not reproduce the printed number: no convention is known for such a run."
    matching = sum(convention.reproduces for convention in found)
    if matching:
        plain = sum(convention.reproduces and not convention.changes for convention in found)
        verb = "gives" if matching == 1 else "give"
        return (
            f"{matching} of the {len(found)} conventions tried {verb} the printed digits; {plain} of them change "
            "nothing in the description. --all shows every convention."
        )
    return f"{not_reproduced(found, number)} --all shows every convention."


def _by_chance(found: tuple[Convention, ...], told: tuple[Chance, ...]) -> str:
    """What a match is worth: how often a number out of the blue would be matched too."""
    if not told:
        return ""
    low, high = told[-1].window
    fewest = min((len(c.changes) for c in found if c.reproduces), default=0)
    plain = next((chance for chance in told if chance.changes_at_most >= fewest), told[-1])
    numbers = f"of all numbers between {low:g} and {high:g} with this many digits"
    text = f"How likely is a chance match? {_share(told[-1])} {numbers} match at least one of the conventions tried"
    if plain == told[-1]:
        return text + "."
    changes = {0: "nothing", 1: "at most one thing"}.get(
        plain.changes_at_most, f"at most {plain.changes_at_most} things"
    )
    return f"{text}; {_share(plain)} match one of the {plain.tried} that change {changes} in the description."


def _share(chance: Chance) -> str:
    return f"{100 * chance.any:.2g}%"


def grouped(found: Sequence[Convention]) -> list[tuple[str, Convention]]:
    """(name, convention) with order grids that give the same value in one row, at the place of the first of them."""
    rows: dict[tuple[str, float, str], list[str]] = {}
    first: dict[tuple[str, float, str], Convention] = {}
    for convention in found:
        grid = next((grid for grid in NAMED if f", {grid}" in convention.name), "")
        name = convention.name.replace(f", {grid}", ", {}", 1) if grid else convention.name
        key = name, convention.value, convention.detail
        rows.setdefault(key, []).append(grid)
        first.setdefault(key, convention)
    return [(key[0].format(_listed(grids)) if grids[0] else key[0], first[key]) for key, grids in rows.items()]


def _listed(grids: list[str]) -> str:
    """ "TF-Privacy's and Opacus's orders"."""
    if len(grids) == 1:
        return grids[0]
    *owners, last = [grid.removesuffix(" orders") for grid in grids]
    return f"{', '.join(owners)} and {last} orders"
