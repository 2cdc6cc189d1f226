"""Many points of one profile by the accountant of lattices: the points near each other are read off one inversion.

What `pld.delta` asks anew at every epsilon, this asks once for a stretch of them over which delta falls by e^REACH at
most. The bounds are those of `LatticeLayout.profile`, which are valid at every epsilon, and narrow in its window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...bracket import Bracket, OutOfReach
from ...pairs import Composition
from .composed_profile import Sides
from .fineness import cut_for
from .moment_table import scale, table
from .pld import MOST_FREQUENCIES, PILOT_CELLS, LatticeLayout, delta_between, lost_tail

_REACH = 8.0
"""log of how far delta falls within a stretch."""

_BELOW_CHERNOFF = 3.0
"""log of about how much smaller delta is than the bound by moments."""

_FIRST, _SECOND = 0.3, 0.5
"""What a first look tolerates, in log delta, and the share of rtol that the second does: cells take from the rest."""


def deltas(composition: Composition, epsilons: Sequence[float], rtol: float) -> list[Bracket | None]:
    """`pld.delta` at each epsilon >= 0; None where no shared inversion is narrow enough."""
    found: dict[float, Bracket] = {}
    if not any(pair.envelope for pair, _ in composition):  # of an envelope lower ends are nothing
        fineness, close = cut_for(composition, rtol)
        for stretch, log_delta, slope in _stretches(
            LatticeLayout(composition, 1e-40, _FIRST, fineness), sorted(set(epsilons))
        ):
            read = _read(LatticeLayout(composition, 1e-40, close, fineness), stretch, log_delta, slope)
            found.update((at, bracket) for at, bracket in read if bracket.narrower_than(max(rtol, close)))
    return [found.get(epsilon) for epsilon in epsilons]


def _stretches(layout: LatticeLayout, epsilons: Sequence[float]) -> Iterator[tuple[list[float], float, float]]:
    """(epsilons near each other, about log delta at the last, about minus its slope); none beyond the largest loss."""
    middle = epsilons[len(epsilons) // 2]
    pilot = layout.laws(PILOT_CELLS, 1.0, middle or math.inf)
    moments, top = table(pilot, scale(pilot, middle)), Sides.of(pilot).top
    stretch: list[float] = []
    for epsilon in (each for each in epsilons if each < top):
        if stretch and moments.at(stretch[0]) - moments.at(epsilon) > _REACH:
            yield stretch, moments.at(stretch[-1]) - _BELOW_CHERNOFF, moments.line(stretch[-1])
            stretch = []
        stretch.append(epsilon)
    if stretch:
        yield stretch, moments.at(stretch[-1]) - _BELOW_CHERNOFF, moments.line(stretch[-1])


def _read(
    layout: LatticeLayout, stretch: Sequence[float], log_delta: float, slope: float
) -> Iterator[tuple[float, Bracket]]:
    """The brackets of a stretch: a first look finds how small delta is at its end, the second is as close as asked
    for."""
    window = stretch[0], stretch[-1]
    log_delta = max(min(log_delta, 0.0), -600.0)
    rtol = layout.rtol
    layout = replace(layout, tail=lost_tail(layout.composition, math.exp(log_delta), rtol))
    fine = PILOT_CELLS if layout.of_one_law else layout.fine
    for cells, tolerance in ((PILOT_CELLS, _FIRST), (fine, _SECOND * rtol)):
        try:
            found = layout.within_reach(window, log_delta, slope, cells, tolerance, MOST_FREQUENCIES)
        except OutOfReach:
            return
        last = delta_between(found, stretch[-1])
        if last.lower > 0.0:
            log_delta = max(math.log(last.upper), -600.0)
    for epsilon in stretch:
        yield epsilon, delta_between(found, epsilon)
