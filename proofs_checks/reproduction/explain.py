"""Which convention printed this number? A search over what ran and over how it was accounted.

"Reproduced" is not "holds": a convention that gives the printed digits may be unsound, and is still named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from ... import accounting
from ...accounting.bracket import Bracket
from ...mechanisms import InputError, Mechanism, Neighbouring, neighbouring_relation
from ...mechanisms.validate import open_probability
from .conventions import Computed, composition_theorems, fixed_size, limit, renyi, zcdp
from .printed import Printed, printed
from .run_variants import Variant, main_variants, more_variants, parameter_ends

_QUICK_GRIDS = ("moments accountant's integer orders",)
_TIGHT = ("gaussian", "participation", "contour")
"""Certified accountants fast enough to be asked for every variant."""

_EXACT_WIDTH = 1e-3
"""Brackets wider than this, relatively, are no single number that could have been printed."""


EXACT = "exact (PLD, contour)"
_FAR = 50.0
"""Where all that was computed of a run is so many times the printed number, small changes of it are not tried."""


@dataclass(frozen=True, slots=True)
class Convention:
    """One way to arrive at an epsilon.

    name: the accounting, then the changes to what was described. value: its epsilon. reproduces: whether that
    becomes the printed number. rounding: "nearest", "down" or "up", whichever does it; None if none does.
    """

    name: str
    value: float
    reproduces: bool
    detail: str
    changes: tuple[str, ...] = ()
    rounding: str | None = None


def explain(
    run: Mechanism,
    delta: float,
    neighbouring: Neighbouring,
    number: Printed | Decimal | str | float,
    notion: str = "dp",
) -> tuple[Convention, ...]:
    """All conventions searched, those that reproduce the printed epsilon first, then by distance from it.

    run, delta, neighbouring, notion: as described by the source. number: epsilon as printed; its digits count,
    so "8.0" and 8 differ. Takes a few seconds. Raises InputError for values out of range.
    """
    described, target = _described(run, delta, neighbouring, notion), printed(number)
    found: list[Convention] = []
    for variant in main_variants(described):
        plain = {computed.name: computed for computed in _everything(variant)}
        found += [_convention(computed, variant, target) for computed in plain.values()]
        if min((computed.value for computed in plain.values()), default=0.0) > _FAR * target.value:
            continue  # the other variants at most quarter the shift or the delta's logarithm: they cannot come near
        found += _rounded_parameter(variant, target)
        true = next((computed.value for name, computed in plain.items() if name == EXACT), 0.0)
        sources = _ALL if true <= _FAR * target.value else _ALL[1:]
        for other in more_variants(variant):
            found += [
                _convention(computed, other, target)
                for computed in _each(other, sources)
                if computed.name not in plain or computed.value != plain[computed.name].value
            ]
    return tuple(sorted(dict((c.name, c) for c in reversed(found)).values(), key=lambda c: _rank(c, target)))


def _rank(convention: Convention, target: Printed) -> tuple[bool, int, bool, float, int]:
    """Reproducing ones first; then the fewest changes, the plainest rounding, the nearest value, the shortest name."""
    changes = len(convention.changes) if convention.reproduces else 0
    distance = abs(convention.value - target.value)
    return not convention.reproduces, changes, convention.rounding != "nearest", distance, len(convention.name)


def reproduced_by(
    run: Mechanism,
    delta: float,
    neighbouring: Neighbouring,
    number: Printed | Decimal | str | float,
    notion: str = "dp",
    bracket: Bracket | None = None,
) -> tuple[str, ...]:
    """The names of the common conventions that give the printed digits; quick, for `verify`.

    Only what was described and its usual misreading (Poisson cohorts, add-remove), only continuous and integer
    orders. bracket: the certified epsilon where it is known already, so that it need not be computed again.
    """
    described, target = _described(run, delta, neighbouring, notion), printed(number)
    found: list[Convention] = []
    for variant in main_variants(described):
        known = _single(bracket) if bracket is not None and variant == described else _exact(variant)
        quick = _each(variant, (zcdp, limit, composition_theorems, lambda v: renyi(v, _QUICK_GRIDS)))
        found += [_convention(computed, variant, target) for computed in (*known, *quick)]
    kept = sorted((c for c in found if c.reproduces), key=lambda c: _rank(c, target))
    return tuple(convention.name for convention in kept)


def _described(run: Mechanism, delta: float, neighbouring: Neighbouring, notion: str) -> Variant:
    if not isinstance(run, Mechanism):
        raise InputError("run", run, "a mechanism description")
    return Variant(run, open_probability("delta", delta), neighbouring_relation(neighbouring), notion=notion)


_Source = Callable[[Variant], Iterator[Computed]]


def _each(variant: Variant, sources: tuple[_Source, ...]) -> Iterator[Computed]:
    for source in sources:
        for computed in source(variant):
            if math.isfinite(computed.value):
                yield computed


def _everything(variant: Variant) -> Iterator[Computed]:
    yield from _each(variant, _ALL)


def _exact(variant: Variant) -> Iterator[Computed]:
    """The true value, which PLD accountants approximate: by whichever of the quick tight accountants serves the run."""
    for accountant in _TIGHT:
        try:
            bracket = accounting.epsilon(
                variant.run,
                variant.delta,
                variant.neighbouring,
                notion=variant.notion,
                accountant=accountant,
            )
        except InputError:
            continue
        yield from _single(bracket)
        return


_ALL: tuple[_Source, ...] = (_exact, zcdp, limit, composition_theorems, fixed_size, renyi)


def _single(bracket: Bracket) -> Iterator[Computed]:
    if bracket.certified and bracket.width <= _EXACT_WIDTH * bracket.upper < math.inf:
        middle = (bracket.lower + bracket.upper) / 2
        yield Computed(EXACT, middle, f"certified by {bracket.method}")


def _convention(computed: Computed, variant: Variant, target: Printed) -> Convention:
    rounding = target.rounding_of(computed.value)
    note = f", rounded {rounding}" if rounding in ("down", "up") else ""
    name = "; ".join((computed.name, *variant.changes))
    return Convention(name, computed.value, rounding is not None, computed.detail + note, variant.changes, rounding)


def _rounded_parameter(variant: Variant, target: Printed) -> Iterator[Convention]:
    """The noise parameter stands for an interval of its own when it was printed with 3 or 4 digits."""
    ends = parameter_ends(variant.run)
    if ends is None:
        return
    name, cheap, dear = ends
    sources: tuple[_Source, ...] = (_exact, zcdp, limit, lambda v: renyi(v, ()))
    runs = (variant.run, cheap, dear)
    values = [{c.name: c.value for c in _each(variant.changed("", run=run), sources)} for run in runs]
    for convention, centre in values[0].items():
        if convention in values[1] and convention in values[2]:
            low, high = values[1][convention], values[2][convention]
            inside = low - target.unit / 2 <= target.value <= high + target.unit / 2
            changes = (*variant.changes, f"{name} rounded as printed")
            detail = f"from {low:.6g} to {high:.6g} over the rounding"
            label = "; ".join((convention, *changes))
            yield Convention(label, centre, inside, detail, changes, "nearest" if inside else None)
