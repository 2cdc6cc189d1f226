"""Several runs on one budget: nobody's release is recorded that the others' have left no room for."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from dpcert.accounting.ledger import (
    BudgetExceeded,
    Ledger,
    LedgerError,
    MemoryStore,
    Overtaken,
    PureFilter,
    RenyiFilter,
)
from dpcert.accounting.ledger.filters import Filter
from dpcert.mechanisms import Gaussian, InputError, Laplace
from dpcert.mechanisms.serialise import to_json


def pure() -> Filter:
    return PureFilter(1.0)


def test_two_runs_share_one_budget(tmp_path: Path) -> None:
    first, second = (Ledger(tmp_path / "ledger.sqlite") for _ in range(2))
    assert first.spend(Laplace(2.0), pure)
    assert second.spend(Laplace(4.0), pure)
    with pytest.raises(BudgetExceeded, match=r"0\.75 of 1"):
        first.spend(Laplace(2.0), pure)
    assert first.spend(Laplace(4.0), pure)
    assert len(first) == len(second) == 3
    assert first.epsilon(0).upper == 1.0


def test_a_retry_is_not_spent_twice() -> None:
    ledger = Ledger()
    assert ledger.spend(Laplace(1.0), pure, "round-0")
    assert not ledger.spend(Laplace(1.0), pure, "round-0", retry=True)
    assert len(ledger) == 1
    with pytest.raises(LedgerError, match="retry=True"):
        ledger.spend(Laplace(1.0), pure, "round-0")
    with pytest.raises(InputError, match="event_id"):
        ledger.spend(Laplace(1.0), pure, retry=True)
    with pytest.raises(InputError, match="event_id"):
        ledger.spend(Laplace(1.0), pure, "")


def test_a_name_that_is_used_again_and_again_is_an_error() -> None:
    """Fifty rounds under one name were one event, and 49 silent answers of False."""
    ledger = Ledger()
    ledger.spend(Laplace(100.0), pure, event_id="round")
    for _ in range(49):
        with pytest.raises(LedgerError, match="an id of its own"):
            ledger.spend(Laplace(100.0), pure, event_id="round")
    assert len(ledger) == 1


@pytest.mark.parametrize("within", [(2, 1e-5), PureFilter(1.0), PureFilter, lambda budget: budget, lambda: 2.0, None])
def test_what_makes_no_budget_is_a_sentence_and_records_nothing(within) -> None:
    ledger = Ledger()
    for asked in (lambda: ledger.spend(Laplace(2.0), within), lambda: ledger.remaining(within)):
        with pytest.raises(InputError, match=r"^within = .*: expected a function that makes the unspent budget"):
            asked()
    assert len(ledger) == 0


def test_what_is_no_store_no_release_and_no_delta_is_a_sentence() -> None:
    for wrong, asked in (("store", lambda: Ledger(3)), ("mechanism", lambda: Ledger().record([1])),  # type: ignore[arg-type]
                         ("delta", lambda: Ledger().epsilon(2))):  # fmt: skip
        with pytest.raises(InputError, match=f"^{wrong} = "):
            asked()


class Raced(MemoryStore):
    """Another writer is quicker, once."""

    def __init__(self, theirs: str) -> None:
        super().__init__()
        self.theirs: str | None = theirs

    def append(self, event_id, mechanism, after=None):
        if self.theirs is not None:
            theirs, self.theirs = self.theirs, None
            super().append("other/0", theirs)
        return super().append(event_id, mechanism, after)


class Careless(Raced):
    """The plant: a store that records whatever came between."""

    def append(self, event_id, mechanism, after=None):
        return super().append(event_id, mechanism)


@pytest.mark.parametrize(("store", "overspent"), [(Raced, False), (Careless, True)])
def test_who_is_overtaken_looks_again(store: type[Raced], overspent: bool) -> None:
    shared = store(to_json(Laplace(2.0)))
    with suppress(BudgetExceeded):
        Ledger(shared).spend(Laplace(1.25), pure)  # .8 fits alone, and not beside .5
    assert (Ledger(shared).epsilon(0).upper > 1.0) == overspent


class Interrupted(PureFilter):
    """While it counts what is spent, another thread of the same ledger records something."""

    theirs: list[Callable[[], object]]

    def record(self, mechanism):
        super().record(mechanism)
        while self.theirs:
            self.theirs.pop()()


class Unasked(MemoryStore):
    """The plant: whatever the budget was counted from."""

    def append(self, event_id, mechanism, after=None):
        return super().append(event_id, mechanism)


@pytest.mark.parametrize(("store", "overspent"), [(MemoryStore, False), (Unasked, True)])
def test_a_thread_that_shares_the_ledger_does_not_come_between(store: type[MemoryStore], overspent: bool) -> None:
    ledger = Ledger(store())
    ledger.record(Laplace(2.0))
    theirs = [lambda: ledger.record(Laplace(2.0))]

    def within() -> PureFilter:
        budget = Interrupted(1.0)
        budget.theirs = theirs
        return budget

    with suppress(BudgetExceeded):
        ledger.spend(Laplace(2.0), within)
    assert (ledger.epsilon(0).upper > 1.0) == overspent


def test_a_cost_that_is_no_number_fits_nowhere() -> None:
    class Unknown(PureFilter):
        def _cost(self, mechanism):
            return math.nan

        def added(self, cost):
            return self.spent + cost

    budget = Unknown(1.0)
    assert budget.would_exceed(Laplace(100.0))
    with pytest.raises(BudgetExceeded):
        budget.record(Laplace(100.0))
    assert budget.spent == 0.0


def test_many_threads_never_overspend(tmp_path: Path) -> None:
    Ledger(tmp_path / "ledger.sqlite")

    def spend() -> None:
        ledger = Ledger(tmp_path / "ledger.sqlite")
        for _ in range(5):
            try:
                ledger.spend(Laplace(10.0), pure)
            except BudgetExceeded:
                return

    threads = [Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = Ledger(tmp_path / "ledger.sqlite")
    assert len(total) == 10
    assert total.epsilon(0).upper == 1.0


def test_an_adaptive_budget() -> None:
    ledger = Ledger()
    with suppress(BudgetExceeded):
        while len(ledger) < 100:
            ledger.spend(Gaussian(5.0), lambda: RenyiFilter(4.0, 1e-6))
    assert 5 < len(ledger) < 30
    assert ledger.epsilon(1e-6).upper <= 4.0


def test_a_store_says_that_it_was_overtaken() -> None:
    store = MemoryStore()
    store.append("a", "1")
    with pytest.raises(Overtaken):
        store.append("b", "2", after="0" * 64)


def test_a_ledger_stays_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a relative path, from a process that goes on in a folder with a ledger of the same name."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        Ledger(tmp_path / name / "ledger.sqlite")
    monkeypatch.chdir(tmp_path / "here")
    ledger = Ledger("ledger.sqlite")
    monkeypatch.chdir(tmp_path / "there")
    ledger.record(Laplace(2.0))
    assert len(Ledger(tmp_path / "here" / "ledger.sqlite")) == 1
    assert len(Ledger(tmp_path / "there" / "ledger.sqlite")) == 0
