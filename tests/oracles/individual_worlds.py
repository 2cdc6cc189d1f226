"""A server that leaves out clients whose own budget is spent, before an adversary who says what everybody does next.

The adversary chooses each round from what was released: who takes part, in which order, how far everybody's
contribution moves the sum, and whether the unit drops out once it is charged. Outputs are put into cells
(tests/oracles/adaptive.py). Laws are the oracle's own; of the product there is nothing but the budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from adaptive import Masses
from scipy.special import ndtr

UNIT, OTHER = 0, 1
EDGES = np.concatenate([[-np.inf], np.linspace(-6.0, 7.0, 45), [np.inf]])


@dataclass(frozen=True)
class Move:
    """One round. order: who is named, and in which order; data: the unit's contribution in the one world, and in the
    other, where None says that it is not there; out: whether the unit drops out once it is charged."""

    order: tuple[int, ...]
    data: tuple[float, float | None]
    other: float
    out: bool = False


def moves(pairs: Sequence[tuple[float, float | None]], others: Sequence[float]) -> list[Move]:
    """Every move with one of these data of the unit, and of these of the other client."""
    orders = [(UNIT,), (UNIT, OTHER), (OTHER, UNIT)]
    return [Move(*each) for each in product(orders, pairs, others, (False, True))]


def sums(
    budgets: Any, chosen: Sequence[Move], world: int, cost: Callable[[float], float], waits: bool = False
) -> list[float]:
    """What is released without noise, round by round: of clients that were named and could be charged.

    waits: what drops out is added to the next sum, as no server should.
    """
    found, late = [], 0.0
    for move in chosen:
        own = move.data[world]
        sizes = [own if client == UNIT else move.other for client in move.order]
        there = [(client, size) for client, size in zip(move.order, sizes, strict=True) if size is not None]
        named = np.array([client for client, _ in there], dtype=int)
        allowed = budgets.charge(named, np.array([cost(abs(size)) for _, size in there]))
        total, late = late, 0.0
        for (client, size), paid in zip(there, allowed, strict=True):
            if paid and client == UNIT and move.out:
                late = size if waits else 0.0
            elif paid:
                total += size
        found.append(total)
    return found


def options(
    budgets: Any, menu: Sequence[Move], cost: Callable[[float], float], *, back: bool = False, waits: bool = False
) -> Callable[[tuple[int, ...]], list[tuple[int, Masses]]]:
    """For `adaptive.worst`: the laws of the next release after the moves chosen so far; noise of deviation 1."""
    known: dict[tuple[int, ...], list[tuple[int, Masses]]] = {}

    def law(mean: float) -> np.ndarray:
        return np.diff(ndtr(EDGES - mean))

    def after(chosen: tuple[int, ...]) -> list[tuple[int, Masses]]:
        if chosen not in known:
            known[chosen] = []
            for number in range(len(menu)):
                path = [menu[k] for k in (*chosen, number)]
                first, second = (law(sums(deepcopy(budgets), path, world, cost, waits)[-1]) for world in (0, 1))
                known[chosen].append((number, (second, first) if back else (first, second)))
        return known[chosen]

    return after
