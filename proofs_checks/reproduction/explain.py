"""Which convention printed this number? A search over what ran and over how it was accounted.

"Reproduced" is not "holds": a convention that gives the printed digits may be unsound, and is still named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain

from ... import accounting
from ...accounting.accountants import AccountantName
from ...accounting.bracket import Bracket
from ...mechanisms import InputError, Mechanism, Neighbouring, Notion, PrivacyNotion, neighbouring_relation
from ...mechanisms.validate import open_probability
from .conventions import Computed, composition_theorems, fixed_size, limit, optimal, renyi, shuffled_epoch, zcdp
from .order_grids import GRIDS, with_source_orders
from .printed import Convention, Printed, printed
from .rounded_noise import noise_chosen_for, parameter_ends
from .run_variants import (
    NOT_STATED,
    Reading,
    Sizes,
    Variant,
    main_variants,
    neighbour_variants,
    population_variants,
    round_variants,
    scheme_variants,
)

_INTEGER = "moments accountant's integer orders"
"""The grid that is tried first."""

_TIGHT: tuple[AccountantName, ...] = ("gaussian", "participation", "contour")
"""Certified accountants fast enough to be asked for every variant."""

_EXACT_WIDTH = 1e-3
"""Brackets wider than this, relatively, are no single number that could have been printed."""


EXACT = "exact (PLD, contour)"
RENYI = "RDP, classic conversion"
_Source = Callable[[Variant], Iterator[Computed]]

_FAR = 50.0
"""What is so many times the printed number as described is not tried again for small changes of the description."""


def explain(
    run: Mechanism,
    delta: float,
    neighbouring: Neighbouring,
    number: Printed | Decimal | str | float,
    notion: Notion = PrivacyNotion.DP,
    sizes: Sizes = NOT_STATED,
    readings: Sequence[Reading] = (),
    orders: tuple[float, ...] | None = None,
) -> tuple[Convention, ...]:
    """All conventions searched, those that reproduce the printed epsilon first, then by distance from it.

    run, delta, neighbouring, notion: as described by the source. number: epsilon as printed; its digits count,
    so "8.0" and 8 differ. sizes: population and cohort as stated, for runs of which only a rate is described.
    readings: other runs that the source's own words allow. orders: those of the source's own Renyi accounting, each
    above 1. Takes a few seconds. Raises InputError for values out
    of range.
    """
    described, target = _described(run, delta, neighbouring, notion), printed(number)
    search = _Search(target)
    by_orders = _renyi(with_source_orders(orders))
    every = (*_SIMPLE, fixed_size, by_orders, optimal, _exact)
    mains = {variant: search.add(variant, every) for variant in main_variants(described)}
    for variant in _read(described, readings):
        search.add(variant, every)
    for variant, plain in mains.items():
        search.found += _rounded_parameter(variant, target)
        for other in _changed_once(variant, sizes):
            search.add(other, _near(plain, target, by_orders))
    return search.ranked()


def common(
    run: Mechanism,
    delta: float,
    neighbouring: Neighbouring,
    number: Printed | Decimal | str | float,
    notion: Notion = PrivacyNotion.DP,
    bracket: Bracket | None = None,
    readings: Sequence[Reading] = (),
    orders: tuple[float, ...] | None = None,
) -> tuple[Convention, ...]:
    """The common conventions in the order of `explain`, of whose search they are a part; quick, for `verify`.

    Only what was described, its usual misreading (Poisson cohorts, add-remove) and the source's readings, only
    continuous and integer orders; with a rounded noise parameter where nothing else matches. bracket: the certified
    epsilon where it is known, so that it is not computed again.
    """
    described, search = _described(run, delta, neighbouring, notion), _Search(printed(number))
    grids = {name: grid for name, grid in with_source_orders(orders).items() if name == _INTEGER or name not in GRIDS}
    quick = (*_SIMPLE, _renyi(grids))
    for variant in chain(main_variants(described), _read(described, readings)):
        if bracket is not None and variant == described:
            search.add(variant, (lambda _: _single(bracket), *quick))
        else:
            search.add(variant, (_exact, *quick))
    if not any(convention.reproduces for convention in search.found):
        for variant in main_variants(described):
            search.found += _rounded_parameter(variant, search.target)
    return search.ranked()


def _described(run: Mechanism, delta: float, neighbouring: Neighbouring, notion: Notion) -> Variant:
    if not isinstance(run, Mechanism):
        raise InputError("run", run, "a mechanism description")
    return Variant(run, open_probability("delta", delta), neighbouring_relation(neighbouring), notion=notion)


def _changed_once(variant: Variant, sizes: Sizes) -> Iterator[Variant]:
    """Further single changes to a variant: neighbours, sampling scheme, rounds, population and delta."""
    yield from neighbour_variants(variant)
    yield from scheme_variants(variant, sizes)
    yield from round_variants(variant)
    yield from population_variants(variant, sizes)


def _read(described: Variant, readings: Sequence[Reading]) -> Iterator[Variant]:
    """The source's own readings, each with its usual misreading."""
    for reading in readings:
        read = described.changed(reading.change, run=reading.run, neighbouring=reading.neighbouring)
        yield from main_variants(read)


class _Search:
    """The conventions found so far. One whose value is that of fewer changes, found before, is not counted again."""

    def __init__(self, target: Printed) -> None:
        self.target = target
        self.found: list[Convention] = []
        self._known: set[tuple[str, float]] = set()

    def add(self, variant: Variant, sources: Sequence[_Source]) -> dict[str, float]:
        """Adds what the sources compute of a variant, and returns all of that by name."""
        values: dict[str, float] = {}
        for computed in self._computed(variant, sources, values):
            values[computed.name] = computed.value
            if (computed.name, computed.value) not in self._known:
                self._known.add((computed.name, computed.value))
                self.found += [
                    _convention(computed, variant, self.target),
                    *noise_chosen_for(computed, variant, self.target),
                ]
        return values

    def _computed(self, variant: Variant, sources: Sequence[_Source], values: dict[str, float]) -> Iterator[Computed]:
        """The exact value comes last, and not at all where it is known to be far off: it takes long there."""
        yield from _each(variant, [source for source in sources if source is not _exact])
        far = _FAR * self.target.value
        if _exact in sources and not (values.get(RENYI, 0.0) > far and _at_least(variant) > far):
            yield from _each(variant, (_exact,))

    def ranked(self) -> tuple[Convention, ...]:
        """Each name once, in the order of `_rank`."""
        by_name = {convention.name: convention for convention in reversed(self.found)}
        return tuple(sorted(by_name.values(), key=lambda convention: _rank(convention, self.target)))


def _rank(convention: Convention, target: Printed) -> tuple[bool, int, bool, float, int]:
    """Reproducing ones first; then the fewest changes, the plainest rounding, the nearest value, the shortest name."""
    changes = len(convention.changes) if convention.reproduces else 0
    distance = abs(convention.value - target.value)
    return not convention.reproduces, changes, convention.rounding != "nearest", distance, len(convention.name)


def _each(variant: Variant, sources: Sequence[_Source]) -> Iterator[Computed]:
    for source in sources:
        for computed in source(variant):
            if math.isfinite(computed.value):
                yield computed


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


def _at_least(variant: Variant) -> float:
    """A lower bound on the exact value, at once."""
    try:
        return accounting.epsilon(
            variant.run, variant.delta, variant.neighbouring, notion=variant.notion, accountant="one-event"
        ).lower
    except InputError:
        return 0.0


def _single(bracket: Bracket) -> Iterator[Computed]:
    if bracket.certified and bracket.width <= _EXACT_WIDTH * bracket.upper < math.inf:
        middle = (bracket.lower + bracket.upper) / 2
        yield Computed(EXACT, middle, f"certified by {bracket.method}")


_SIMPLE: tuple[_Source, ...] = (zcdp, limit, composition_theorems, shuffled_epoch)


def _renyi(grids: Mapping[str, tuple[float, ...]]) -> _Source:
    return lambda variant: renyi(variant, grids)


def _near(plain: dict[str, float], target: Printed, by_orders: _Source) -> tuple[_Source, ...]:
    """What to try again with small changes: those at most quarter the shift, so that what is far off stays so.

    The optimal conversion costs most and is left out: it gives the improved one's printed digits nearly always.
    """
    far = {name for name, value in plain.items() if value > _FAR * target.value}
    sources = [*_SIMPLE]
    if not far & ({EXACT} if EXACT in plain else {RENYI}):
        sources.append(_exact)
    if RENYI not in far:
        sources += [fixed_size, by_orders]
    return tuple(sources)


def _convention(computed: Computed, variant: Variant, target: Printed) -> Convention:
    rounding = target.rounding_of(computed.value)
    note = f", rounded {rounding}" if rounding in ("down", "up") else ""
    name = "; ".join((computed.name, *variant.changes))
    covers = target.covered_by(computed.value)
    return Convention(
        name, computed.value, rounding is not None, computed.detail + note, covers, variant.changes, rounding
    )


_WITH_ROUNDED_NOISE: tuple[_Source, ...] = (_exact, zcdp, limit, _renyi({}), optimal)


def _rounded_parameter(variant: Variant, target: Printed) -> Iterator[Convention]:
    """The noise parameter stands for an interval of its own when it was printed with 3 or 4 digits."""
    ends = parameter_ends(variant.run)
    if ends is None:
        return
    name, cheap, dear = ends
    runs = (variant.run, cheap, dear)
    values = [{c.name: c.value for c in _each(variant.changed("", run=run), _WITH_ROUNDED_NOISE)} for run in runs]
    for convention, centre in values[0].items():
        if convention in values[1] and convention in values[2]:
            low, high = values[1][convention], values[2][convention]
            covers = low - target.unit / 2, high + target.unit / 2
            inside = covers[0] <= target.value <= covers[1]
            changes = (*variant.changes, f"{name} rounded as printed")
            detail = f"from {low:.6g} to {high:.6g} over the rounding"
            label = "; ".join((convention, *changes))
            yield Convention(label, centre, inside, detail, covers, changes, "nearest" if inside else None)
