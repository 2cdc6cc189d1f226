"""How far one unit can move the nodes of a binary tree: an exact search over its participations.

Apart from the description, so that describing what ran needs no numpy.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .validate import InputError

MOST_WORK = 2e9
"""Array elements that the sensitivity's dynamic programme may touch, some ten seconds' work."""

_Slack = NDArray[np.int64]
_Table = dict[int, dict[int, _Slack]]


@lru_cache(maxsize=256)
def squared_sensitivity(rounds: int, separation: int, most: int) -> int:
    """The largest sum over complete nodes of (participations below the node)^2, over all allowed patterns.

    A unit's contributions are vectors of norm at most 1; the sum of squared norms of their sums over nodes is largest
    when all are equal. Dynamic programme over the tree: a table maps the number of participations in a subtree and a
    value to the slack after the last participation, as a function of where the first may be at the earliest; between
    two subtrees only these two matter. Equal subtrees share their table.
    """
    most = min(most, -(-rounds // separation))
    if (most * most) ** 2 * rounds > MOST_WORK:
        raise InputError(
            "max_participations",
            most,
            f"at most {int((MOST_WORK / rounds) ** 0.25)} in {rounds} rounds, for the exact sensitivity",
        )
    table: _Table = {1: {1: np.zeros(1, dtype=np.int64)}}
    complete = [table]
    while 2 ** len(complete) <= rounds:
        size = 2 ** (len(complete) - 1)
        table = _joined(table, size, table, size, separation, most)
        complete.append({k: {value + k * k: slack for value, slack in values.items()} for k, values in table.items()})
        table = complete[-1]
    right: _Table = {}
    size = 0
    for level, left in enumerate(complete):
        if rounds >> level & 1:
            right = _joined(left, 2**level, right, size, separation, most)
            size += 2**level
    return max(value for values in right.values() for value in values)


def _joined(left: _Table, left_size: int, right: _Table, right_size: int, separation: int, most: int) -> _Table:
    """The table of two neighbouring subtrees together, without the value of their parent."""
    joined: _Table = {}

    def keep(k: int, value: int, slack: _Slack) -> None:
        if slack[0] < 0:
            return
        known = joined.setdefault(k, {})
        if value in known:
            slack = np.maximum(known.pop(value), slack)
        if any(other > value and (kept >= slack).all() for other, kept in known.items()):
            return
        for other in [other for other, kept in known.items() if other < value and (slack >= kept).all()]:
            del known[other]
        known[value] = slack

    never = np.full(right_size, -1, dtype=np.int64)
    for k, values in left.items():
        for value, slack in values.items():
            keep(k, value, np.concatenate([np.where(slack >= 0, slack + right_size, -1), never]))
    for k, values in right.items():
        for value, slack in values.items():
            keep(k, value, np.concatenate([np.full(left_size, slack[0]), slack]))
    for k, values in left.items():
        for other in range(1, most - k + 1):
            for right_value, right_slack in right.get(other, {}).items():
                beyond = np.append(right_slack, -1)
                for value, slack in values.items():
                    first = np.clip(separation - 1 - slack, 0, right_size)
                    both = np.where(slack >= 0, beyond[first], -1)
                    keep(k + other, value + right_value, np.concatenate([both, never]))
    return joined
