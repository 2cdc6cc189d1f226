"""Hidden cohorts of a fixed size in two rounds whose data follow what the first one showed: in cells of its outputs.

Each round's pair of laws may be any that neighbours have on the grid; which one is chosen cell by cell, which is an
adversary that may really be faced. Cells lose next to nothing of a divergence, and never add to it.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import federation as fed
from flint import arb
from hockey_stick import Ends, at_bits
from nested_worlds import Nested
from outcomes import Pair, distinct, largest, pair
from range_worlds import cells, normal_below

REACH, CELLS = 9, 360


@at_bits
def pairs(world: Nested) -> list[Pair]:
    """Of one round of Gaussian noise of variance 1; each may be followed by any other one."""
    edges = cells(Fraction(-REACH), Fraction(REACH), CELLS)
    found = []
    for one, other in world.pairs():
        p, q = (_masses(fed.view(world.setting(), side), edges) for side in (one, other))
        found += [pair(p, q), pair(q, p)] if world.relation == "replace-one" else [pair(p, q)]
    return distinct(found)


def _masses(view: fed.Law, edges: list[Fraction]) -> dict[object, arb]:
    ((_, mixture),) = view.items()
    law: dict[object, arb] = {}
    for ((centre,), _), mass in mixture.items():
        below = normal_below(Fraction(1), centre)
        known = [arb(0), *(below(at) for at in edges), arb(1)]
        for at, (left, right) in enumerate(itertools.pairwise(known)):
            law[at] = law.get(at, arb(0)) + (right - left) * arb(mass.numerator) / mass.denominator
    return law


def of_two_rounds(relation: str, epsilon: float) -> Ends:
    """Ends of the largest divergence in cells: of all adversaries of that kind, at least the lower one."""
    world = Nested(("FixedSize",), "gaussian", relation, "hidden")
    forth = pairs(world)
    found = [largest(each, 2, epsilon) for each in (forth, [one.swapped() for one in forth])]
    return max(low for low, _ in found), max(high for _, high in found)
