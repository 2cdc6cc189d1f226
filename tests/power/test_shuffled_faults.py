"""Planted faults of the bound of shuffled batches: the exact game of two batches passes each faulty one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from shuffled_game import game_value

from dpcert.accounting.allocation import shuffled_epoch, shuffled_replaced
from dpcert.accounting.allocation.clones import hidden
from dpcert.accounting.allocation.profile_nodes import heights
from dpcert.accounting.allocation.shuffled_epoch import COARSE
from dpcert.accounting.losses.atoms.cells import Atoms
from dpcert.accounting.pairs import GaussianPair, Order

SHIFT, GAMMA = 1.0, 1.25
OFTEN = replace(COARSE, fineness=0.02, failing=(0.8, 0.6, 0.4, 0.3, 0.2, 0.1))


@pytest.fixture(autouse=True)
def _nothing_is_remembered():
    for known in (shuffled_epoch.losses_of_epoch, shuffled_epoch.values, shuffled_replaced.losses_of_replaced_epoch):
        known.cache_clear()
    yield
    for known in (shuffled_epoch.losses_of_epoch, shuffled_epoch.values, shuffled_replaced.losses_of_replaced_epoch):
        known.cache_clear()


def zeroed(order: Order) -> float:
    law = shuffled_epoch.losses_of_epoch(GaussianPair(SHIFT), 2, order, OFTEN, 1e-9)
    return float(heights(law, np.array([-1.0, math.log(GAMMA), 12.0]))[1])


def replaced() -> float:
    law = shuffled_replaced.losses_of_replaced_epoch(GaussianPair(SHIFT), GaussianPair(2 * SHIFT), 2, OFTEN, 1e-9)
    return float(heights(law, np.array([-1.0, math.log(GAMMA), 24.0]))[1])


def test_nothing_shows_without_a_fault() -> None:
    for order in Order:
        assert game_value(SHIFT, GAMMA, order.value) <= zeroed(order)
    assert game_value(SHIFT, GAMMA, "replace") <= replaced()


def test_failing_clones_must_be_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffled_epoch, "revealed", lambda *_: Atoms(np.zeros(0), np.zeros(0), 0.0))
    assert game_value(SHIFT, GAMMA, "remove") > zeroed(Order.REMOVE)


@pytest.mark.parametrize("order", list(Order))
def test_clones_must_not_be_counted_twice(monkeypatch: pytest.MonkeyPatch, order: Order) -> None:
    def more(*asked):  # type: ignore[no-untyped-def]
        return [replace(part, rounds=part.rounds + 1) for part in hidden(*asked)]

    monkeypatch.setattr(shuffled_epoch, "hidden", more)
    assert game_value(SHIFT, GAMMA, order.value) > zeroed(order)


def test_a_replaced_unit_is_revealed_by_both_of_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the unit against nothing, where clones fail, and a block of move s against nothing."""

    def with_one_value(self, rounds):  # type: ignore[no-untyped-def]
        law = shuffled_epoch.losses_of_many(GaussianPair(SHIFT), rounds, Order.REMOVE, 0.02, 1e-9)
        return heights(law, self._nodes)

    monkeypatch.setattr(shuffled_replaced._Blocks, "profile", with_one_value)
    assert game_value(SHIFT, GAMMA, "replace") > replaced()


def test_every_batch_is_hidden_by_the_others_alone() -> None:
    """As if each of three full batches hid one of two."""
    law = shuffled_epoch.losses_of_epoch(GaussianPair(SHIFT), 12, Order.REMOVE, OFTEN, 1e-9)
    too_low = float(heights(law, np.array([-1.0, math.log(GAMMA), 12.0]))[1])
    assert game_value(SHIFT, GAMMA, "remove") > too_low
