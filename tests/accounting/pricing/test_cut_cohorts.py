"""Cut Poisson cohorts: each bound of one round against games in the plane, by enumeration of all coins and cohorts, and
faults planted in it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from flint import arb

from dpcert import accounting
from dpcert.accounting.pairs import Order
from dpcert.accounting.pricing import cut_cohorts
from dpcert.mechanisms import FixedSize, Gaussian, TruncatedPoisson

Place = tuple[float, float]
GRID = 1e-5
"""What rectangles may leave of a quotient."""
UNITS, RATE, MOST, NOISE = 6, 0.1, 2, 0.4
STEP = TruncatedPoisson(Gaussian(NOISE), RATE, UNITS, MOST)
RELATIONS = ("add-remove", "zero-out", "replace-one")
OTHERS: tuple[tuple[Place, ...], ...] = (
    ((0.0, 1.0),) * 5,
    ((-1.0, 0.0),) * 5,
    ((-0.6, 0.8),) * 5,
    ((0.0, 1.0),) * 4 + ((-1.0, 0.0),),
    ((0.6, -0.8),) * 2 + ((-0.8, 0.6),) * 3,
)


@pytest.fixture(autouse=True)
def _nothing_is_remembered():
    cut_cohorts.cases.cache_clear()
    yield
    cut_cohorts.cases.cache_clear()


def centres(others: tuple[Place, ...], unit: Place | None) -> dict[Place, float]:
    """Where the noise is added, and how likely: all coins, and all cohorts of those that came up."""
    values = [*others, *([] if unit is None else [unit])]
    law: dict[Place, float] = {}
    for coins in product((0, 1), repeat=len(values)):
        chosen = [value for value, coin in zip(values, coins, strict=True) if coin]
        weight = math.prod(RATE if coin else 1 - RATE for coin in coins)
        cohorts = list(combinations(chosen, min(MOST, len(chosen))))
        for cohort in cohorts:
            place = (round(sum(x for x, _ in cohort), 9), round(sum(y for _, y in cohort), 9))
            law[place] = law.get(place, 0.0) + weight / len(cohorts)
    return law


def density(law: dict[Place, float]) -> np.ndarray:
    """Probabilities of small rectangles, narrow in the direction in which the unit moves."""

    def bell(centre: float, width: float) -> np.ndarray:
        line = np.arange(-4.6, 4.6, width)
        return np.exp(-((line - centre) ** 2) / (2 * NOISE**2)) * (width / (NOISE * math.sqrt(2 * math.pi)))

    across = np.array([weight * bell(x, 0.004) for (x, _), weight in law.items()])
    return across.T @ np.array([bell(y, 0.04) for _, y in law])


def exceeded(relation: str, matched: float) -> float:
    """The largest quotient of a game's delta and the bound, over federations, orders and epsilons."""
    bounds = cut_cohorts._matched(STEP, relation, matched)
    absent = {"add-remove": None, "zero-out": (0.0, 0.0), "replace-one": (-1.0, 0.0)}[relation]
    most = 0.0
    for others in OTHERS:
        p, q = density(centres(others, (1.0, 0.0))), density(centres(others, absent))
        for order, (first, second) in {Order.REMOVE: (p, q), Order.ADD: (q, p)}.items():
            ((pair, _),) = bounds[order]
            for epsilon in (0.0, 0.01, 0.1, 0.5, 1.5):
                bound = float(pair.profile(arb(epsilon)).upper())
                game = float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())
                most = max(most, game / max(bound, 1e-5))
    return most


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("matched", [1.0, 0.25, 0.0])
def test_no_game_exceeds_the_bound_of_any_share(relation: str, matched: float) -> None:
    assert 0.8 < exceeded(relation, matched) <= 1 + GRID


def test_what_units_in_others_places_do_must_be_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: cohorts one short of full keep their rate."""
    right = cut_cohorts.cases
    monkeypatch.setattr(
        cut_cohorts, "cases", lambda *asked: tuple(replace(case, rate=min(case.rate, RATE)) for case in right(*asked))
    )
    assert all(exceeded(relation, 1.0) > 1.001 for relation in ("zero-out", "replace-one"))


def test_the_coin_itself_tells_of_the_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: as if it were as likely to be one short of full without the unit as with it."""
    right = cut_cohorts.cases
    monkeypatch.setattr(cut_cohorts, "cases", lambda *asked: tuple(replace(case, excess=0.0) for case in right(*asked)))
    assert exceeded("add-remove", 1.0) > 1.001


def test_probabilities_add_up_and_the_share_moves_between_cases() -> None:
    for matched in (0.0, 0.25, 1.0):
        known = cut_cohorts.cases(STEP, matched)
        assert sum(case.present for case in known) == pytest.approx(1, abs=1e-14)
        assert sum(case.absent for case in known) == pytest.approx(1, abs=1e-14)
        taken = sum(case.present * case.rate for case in known)
        assert taken == pytest.approx(cut_cohorts.cut_law(STEP).rate, rel=1e-13)
        assert all(math.log(case.present / case.absent) == pytest.approx(case.excess, abs=1e-14) for case in known)


@pytest.mark.parametrize("relation", RELATIONS)
def test_where_every_coin_comes_up_cohorts_have_a_fixed_size(relation: str) -> None:
    """No cohort is one short of full then: without the unit such a one is never seen."""
    fixed = accounting.epsilon(FixedSize(Gaussian(1.0), population=UNITS, cohort=MOST), 1e-5, relation)
    found = accounting.epsilon(TruncatedPoisson(Gaussian(1.0), 1.0, UNITS, MOST), 1e-5, relation)
    assert found.lower <= fixed.upper
    assert 0 < found.upper <= fixed.upper * (1 + 1e-6)
