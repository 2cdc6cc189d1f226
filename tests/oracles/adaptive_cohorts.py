"""Hidden cohorts of a fixed size over a few rounds whose data follow what was shown: in cells of the outputs.

Each round's pair of laws may be any that neighbours have on the grid; which one is chosen cell by cell, which is an
adversary that may really be faced. Cells lose next to nothing of a divergence, and never add to it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction

import cut_views
import federation as fed
from flint import arb
from hockey_stick import Ends, at_bits
from outcomes import Pair, distinct, largest, pair, telling
from range_worlds import cells
from sides import Side

Neighbours = Iterable[tuple[Side, Side]]
CELLS = {2: 300, 3: 150}
"""By rounds. Of three, each is chosen of the pairs with the largest divergences only."""

LOSSES = (-1.0, 0.0, 0.5, 1.0, 2.0)

_REACH = 6


def pairs(setting: fed.Setting, neighbours: Neighbours, count: int) -> list[Pair]:
    """Of one round with Gaussian noise; each may be followed by any other one. Moved to a least centre of 0."""
    found: dict[object, tuple[fed.Mixture, fed.Mixture]] = {}
    for one, other in neighbours:
        ((_, p),), ((_, q),) = (fed.view(setting, side).items() for side in (one, other))
        least = min(centre for (centre,), _ in (*p, *q))
        p, q = ({((c - least,), v): mass for ((c,), v), mass in law.items()} for law in (p, q))
        found[frozenset(p.items()), frozenset(q.items())] = (p, q)
    return distinct(_in_cells(p, q, count) for p, q in found.values())


@at_bits
def _in_cells(p: fed.Mixture, q: fed.Mixture, count: int) -> Pair:
    highest = max(centre for (centre,), _ in (*p, *q))
    ((variance,),) = {variance for _, variance in (*p, *q)}
    reach = _REACH * Fraction(math.sqrt(variance))  # where it is rounded only the cells are others
    edges = cells(-reach, highest + reach, count)
    return pair(*(_masses(law, edges) for law in (p, q)))


def _masses(mixture: fed.Mixture, edges: list[Fraction]) -> dict[object, arb]:
    law: dict[object, arb] = {}
    for ((centre,), (variance,)), mass in mixture.items():
        below = cut_views.below("gaussian", variance, centre)
        known = [arb(0), *(below(at) for at in edges), arb(1)]
        for at, (left, right) in enumerate(itertools.pairwise(known)):
            law[at] = law.get(at, arb(0)) + (right - left) * arb(mass.numerator) / mass.denominator
    return law


def of_rounds(rounds: int, setting: fed.Setting, neighbours: Neighbours, relation: str, epsilon: float) -> Ends:
    """Ends of the largest divergence in cells: of all adversaries of that kind, at least the lower one.

    setting, neighbours: of one round. A replaced unit's data may be either neighbour's, in each round anew.
    """
    forth = pairs(setting, neighbours, CELLS[rounds])
    back = [one.swapped() for one in forth]
    orders = [distinct([*forth, *back])] if relation == "replace-one" else [forth, back]
    if rounds > 2:
        orders = [telling(each, LOSSES, 1) for each in orders]
    found = [largest(each, rounds, epsilon) for each in orders]
    return max(low for low, _ in found), max(high for _, high in found)
