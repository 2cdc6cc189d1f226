"""What a loop may still spend: k releases of that cost fit, one after the other, and hardly more would."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from dpcert import calibrate
from dpcert.accounting.ledger import (
    BudgetExceeded,
    GaussianFilter,
    Ledger,
    PureFilter,
    Remaining,
    RenyiFilter,
    ZcdpFilter,
)
from dpcert.accounting.ledger.filters import Filter
from dpcert.mechanisms import Gaussian, InputError, Laplace, Mechanism, PureDp

DELTA = 1e-5


def pure(remaining: Remaining, relation: str) -> Mechanism:
    return PureDp(remaining.epsilon)


def gaussian(remaining: Remaining, relation: str) -> Mechanism:
    """Noise that costs so much, as somebody would look for it."""
    found = calibrate(Gaussian, solve_for="noise_multiplier", epsilon=remaining.epsilon, delta=remaining.delta)
    return Gaussian(found.value)


FILTERS: dict[str, tuple[Callable[[], Filter], Callable[[Remaining, str], Mechanism], Mechanism]] = {
    "pure": (lambda: PureFilter(2.0), pure, Laplace(3.0)),
    "zcdp": (lambda: ZcdpFilter(0.5), pure, Gaussian(3.0)),
    "renyi": (lambda: RenyiFilter(3.0, DELTA), pure, Gaussian(3.0)),
    "renyi, replace-one": (lambda: RenyiFilter(3.0, DELTA, "replace-one"), pure, Gaussian(9.0)),
    "gaussian": (lambda: GaussianFilter(3.0, DELTA), gaussian, Gaussian(3.0)),
}


@pytest.mark.parametrize("k", [1, 3, 50])
@pytest.mark.parametrize("name", FILTERS)
def test_so_many_fit_and_hardly_more(name: str, k: int) -> None:
    budget, release_of, first = FILTERS[name]
    ledger = Ledger()
    ledger.spend(first, budget)
    remaining = ledger.remaining(budget, k)
    for _ in range(k):
        assert ledger.spend(release_of(remaining, "add-remove"), budget)
    more = Remaining(0.01 * remaining.epsilon, remaining.delta)
    with pytest.raises(BudgetExceeded):
        ledger.spend(release_of(more, "add-remove") if name != "gaussian" else Gaussian(40.0 * math.sqrt(k)), budget)
    assert len(ledger) == k + 1  # what did not fit was not recorded


@pytest.mark.parametrize("name", FILTERS)
def test_nothing_is_left_of_a_spent_budget(name: str) -> None:
    budget, release_of, _ = FILTERS[name]
    spent = budget()
    spent.record(release_of(spent.remaining(), "add-remove"))
    assert spent.remaining(10).epsilon < 1e-3
    with pytest.raises(InputError, match="k"):
        spent.remaining(0)


def test_decimals_are_parted_exactly() -> None:
    budget = PureFilter(1.0)
    for left in range(10, 0, -1):
        assert budget.remaining(left).epsilon == 0.1
        budget.record(Laplace(10.0))
    assert budget.remaining() == (0.0, 0.0)


def test_many_thirds_fit() -> None:
    budget = PureFilter(1.0)
    share = budget.remaining(3).epsilon
    for _ in range(3):
        budget.record(PureDp(share))
    assert PureFilter(1.0).remaining(10**7).epsilon == pytest.approx(1e-7, rel=1e-6)


def test_what_is_left_without_the_rounding_of_each_release_does_not_fit() -> None:
    """The plant: what is left, divided by k."""
    naive = 1.0 / 49.0
    budget = PureFilter(1.0)
    for _ in range(48):
        budget.record(PureDp(naive))
    with pytest.raises(BudgetExceeded):
        budget.record(PureDp(naive))
