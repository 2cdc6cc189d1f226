"""Hypothesis strategies for neighbouring datasets, and pairs that private code most often gets wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from ..mechanisms import Relation, neighbouring_relation
from ..mechanisms.validate import count, positive
from . import units

Pair = tuple[Any, Any]


def neighbours(datasets: st.SearchStrategy[Any], relation: str = Relation.REPLACE_ONE) -> st.SearchStrategy[Pair]:
    """Pairs (dataset, neighbour) under the relation, drawn and shrunk by Hypothesis; the two are never equal.

    datasets: a strategy for lists, tuples, arrays, data frames or mappings (clients of a federation) with at
    least one unit. For replace-one, the new unit comes from another draw of the same strategy. Most pairs are the
    furthest apart among several draws, since a violation shows there; the others differ at random. Both orders
    of a pair are drawn. Raises InputError for an unknown relation.

    >>> pairs = neighbours(st.lists(st.integers(0, 9), min_size=1, max_size=5), relation="add-remove")
    >>> isinstance(pairs, st.SearchStrategy)  # for @given(pair=pairs)
    True
    """
    checked = neighbouring_relation(relation)

    @st.composite
    def pairs(draw: st.DrawFn) -> Pair:
        drawn = [draw(datasets) for _ in range(1 + draw(st.sampled_from(DRAWS)))]
        moves = list(_moves(drawn, checked))
        assume(moves)
        if draw(st.integers(0, 3)) < 3:
            most = max(distance for distance, _, _, _ in moves)
            moves = [move for move in moves if move[0] == most]
        _, dataset, key, unit = moves[draw(st.integers(0, len(moves) - 1))]
        neighbour = units.without(dataset, key) if unit is _GONE else units.replaced(dataset, key, unit)
        return (neighbour, dataset) if draw(st.booleans()) else (dataset, neighbour)

    return pairs()


DRAWS = (1, 8, 8, 8, 8)
"""Further data sets that are drawn: mostly many; one is what a failing pair shrinks to."""
_GONE = object()


def _moves(drawn: list[Any], relation: Relation) -> Iterator[tuple[float, Any, Any, Any]]:
    """What may be done to one unit, and how far it moves the unit: (distance, data set, key, the new unit).

    A unit is replaced in the first data set, by one of the others; removed or zeroed in any of them.
    """
    donors = [units.unit(other, name) for other in drawn[1:] for name in units.keys(other)]
    for dataset in drawn[:1] if relation == Relation.REPLACE_ONE else drawn:
        for key in units.keys(dataset):
            unit = units.unit(dataset, key)
            if relation == Relation.ADD_REMOVE:
                yield units.distance(unit, None), dataset, key, _GONE
                continue
            for new in [units.zero(unit)] if relation == Relation.ZERO_OUT else donors:
                if (distance := units.distance(unit, new)) > 0:
                    yield distance, dataset, key, new


def worst_case_pairs(
    size: int, bound: float, relation: str = Relation.REPLACE_ONE, dimension: int = 0
) -> Iterator[Pair]:
    """Pairs of arrays that tend to show a violation: try them before random ones.

    size: units in the dataset. bound: the clip norm that the mechanism is to enforce. dimension: 0 for scalar
    units, else vectors. All-equal units against one outlier, opposite signs on the clip boundary, just outside
    it, duplicates, huge values, NaN and infinities; for add-remove an empty neighbour too.

    >>> dataset, neighbour = next(worst_case_pairs(size=3, bound=1.0))
    >>> dataset.tolist(), neighbour.tolist()
    ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0])
    """
    checked = neighbouring_relation(relation)
    units_count, norm = count("size", size), positive("bound", bound)
    direction = 1.0 if dimension == 0 else np.ones(count("dimension", dimension)) / np.sqrt(dimension)
    extremes = (norm, -norm, norm * (1 + 1e-6), 10 * norm, 1e300, np.inf, -np.inf, np.nan)
    for rest in (0.0, norm, -norm):
        for outlier in extremes:
            dataset = np.array([rest * direction] * units_count)
            dataset[0] = outlier * np.asarray(direction)
            if checked == Relation.ADD_REMOVE:
                yield dataset, np.delete(dataset, 0, axis=0)
            elif checked == Relation.ZERO_OUT:
                yield dataset, units.replaced(dataset, 0, np.zeros_like(dataset[0]))
            else:
                yield dataset, units.replaced(dataset, 0, -norm * np.asarray(direction))
    if checked == Relation.ADD_REMOVE and units_count > 1:
        yield np.array([norm * direction]), np.array([norm * direction])[:0]
