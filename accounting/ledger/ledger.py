"""An append-only record of what was released, from which the cost can be recomputed bit for bit.

Events are mechanism descriptions, never costs: an accountant that improves later improves old ledgers too.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Listed
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path

from ...mechanisms import Mechanism, Repeat, Sequence, rounds_by_step
from ...mechanisms.neighbours import Neighbouring, Notion, Participation, PrivacyNotion, Visibility, relation_meant
from ...mechanisms.serialise import from_json, to_json
from ...mechanisms.validate import InputError, delta_below_one
from ..accountants import AccountantName
from ..bracket import Bracket
from ..epsilon import epsilon as epsilon_of
from .filters import BudgetExceeded, Filter, Remaining
from .running import RunningEpsilon
from .store import GENESIS, Event, LedgerError, MemoryStore, Overtaken, SqliteStore, Store, chained

MOST_READINGS = 4
"""Deltas and relations whose running cost is kept; the one that was asked for first goes first."""

SEPARATOR = "/"
"""Between a run's id and an event's own; events of ledgers from before there were runs have no such prefix."""

Reading = tuple[float, Neighbouring, Visibility]


class Ledger:
    """What was released so far, and what it costs.

    Reading never changes the record. The cost of `epsilon` grows with the number of distinct mechanisms,
    not with the number of events. Threads may record and spend with one object; readings are for one of them.

    run_id: the run that the events of this object belong to, part of every event's id; a fresh one by default, so
    that a script that is started again records its releases anew. State one only to go on with an earlier run after
    a crash, which then repeats the releases that it cannot tell from lost ones with `retry=True`.

    >>> from dpcert.mechanisms import Gaussian
    >>> ledger = Ledger()
    >>> ledger.record(Gaussian(4.0), "round-0"), ledger.record(Gaussian(4.0), "round-0", retry=True)
    (True, False)
    >>> len(ledger)
    1
    """

    def __init__(self, store: Store | str | Path | None = None, *, run_id: str | None = None) -> None:
        self.run_id = uuid.uuid4().hex if run_id is None else _id("run_id", run_id)
        if SEPARATOR in self.run_id:
            raise InputError("run_id", run_id, f"a name without {SEPARATOR!r}")
        self._store: Store = MemoryStore() if store is None else _store(store)
        self._readings: dict[Reading, RunningEpsilon] = {}
        self._known = _Known()
        self._refresh()

    def record(self, mechanism: Mechanism, event_id: str | None = None, *, retry: bool = False) -> bool:
        """Record one release durably, before its output leaves the building.

        event_id: names the release within the run; a fresh one by default. retry: this may be the very release that
        was recorded under the id before (a repeated call, a round that a crash cut short), to be counted once.
        Returns True when it was counted, False when it is a retry of one that was. LedgerError, and nothing recorded,
        when the id names another release, or this one and it is not said to be a retry.
        """
        if retry and event_id is None:
            raise InputError("event_id", event_id, "the id of the release that is retried")
        name = uuid.uuid4().hex if event_id is None else _id("event_id", event_id)
        event = self._store.append(f"{self.run_id}{SEPARATOR}{name}", _text(mechanism))
        if event is None and not retry:
            raise self._recorded_already(name)
        self._take(event, mechanism)
        return event is not None

    def _take(self, event: Event | None, mechanism: Mechanism) -> None:
        """An event of this object's own, if it comes next: no need to read it."""
        known = self._known
        if event is not None and event.hash == known.next_hash(event):
            self._known = known.with_events([(event, mechanism)])

    def _recorded_already(self, name: str) -> LedgerError:
        return LedgerError(
            f"event id {name!r} is recorded already in run {self.run_id!r}: give every release an id of its own, "
            "or say retry=True where this is the same release once more"
        )

    def spend(
        self, mechanism: Mechanism, within: Callable[[], Filter], event_id: str | None = None, *, retry: bool = False
    ) -> bool:
        """Record one release if everything recorded, by all runs, keeps the budget with it; else BudgetExceeded.

        within: makes the budget, unspent: `lambda: RenyiFilter(8.0, 1e-6)`. Several runs may do this at once, with the
        same budget and in any order: an event is recorded only where nothing came between looking and recording. What
        each run does next may depend on all outputs so far (filters of Renyi, zCDP and Gaussian DP hold for concurrent
        interactions: Haney, Shoemate, Tian, Vadhan, Vyrros, Xu, Zhang 2023, arXiv 2309.05901).
        event_id, retry: as in `record`. Returns True when it was counted, False when it is a retry of one that was.
        LedgerError, and nothing recorded, when the id is taken and it is not said to be a retry.

        >>> from dpcert.accounting.ledger import BudgetExceeded, PureFilter
        >>> from dpcert.mechanisms import Laplace
        >>> ledger = Ledger()
        >>> [ledger.spend(Laplace(2.0), within=lambda: PureFilter(1.0)) for _ in range(2)]
        [True, True]
        """
        if retry and event_id is None:
            raise InputError("event_id", event_id, "the id of the release that is retried")
        name = uuid.uuid4().hex if event_id is None else _id("event_id", event_id)
        while True:
            known = self._refresh()
            budget = known.spent_of(within)
            full_id = f"{self.run_id}{SEPARATOR}{name}"
            if event_id is not None and any(event.event_id == full_id for event in self._store.since(0)):
                return self.record(mechanism, name, retry=retry)
            if budget.would_exceed(mechanism):
                raise BudgetExceeded(f"{mechanism} does not fit: {budget.spent:.6g} of {budget.budget:.6g} is spent")
            try:
                event = self._store.append(full_id, _text(mechanism), after=known.head)
            except Overtaken:
                continue
            if event is None and not retry:  # another process of this run was quicker
                raise self._recorded_already(name)
            self._take(event, mechanism)
            return event is not None

    def remaining(self, within: Callable[[], Filter], k: int = 1) -> Remaining:
        """The (epsilon, delta) that each of k more equal releases may cost within the budget; see the filter's own.

        within: as in `spend`, which raises BudgetExceeded before it records what does not fit.

        >>> from dpcert.accounting.ledger import PureFilter
        >>> from dpcert.mechanisms import Laplace
        >>> ledger = Ledger()
        >>> ledger.spend(Laplace(2.0), within=lambda: PureFilter(1.0))
        True
        >>> ledger.remaining(lambda: PureFilter(1.0), k=5)
        Remaining(epsilon=0.1, delta=0.0)
        """
        return self._refresh().spent_of(within).remaining(k)

    def run(self) -> Mechanism | None:
        """Everything recorded, by any writer, as one description; None for an empty ledger."""
        parts = tuple(Repeat(step, rounds) for step, rounds in self._refresh().counts.items())
        return Sequence(parts) if parts else None

    def epsilon(
        self,
        delta: float,
        neighbouring: Neighbouring | None = None,
        *,
        notion: Notion = PrivacyNotion.DP,
        participation: Visibility | None = None,
        accountant: AccountantName = "best",
    ) -> Bracket:
        """The certified cost of everything recorded; see `dpcert.accounting.epsilon`."""
        delta_below_one("delta", delta)
        run = self.run()
        if run is None:
            return Bracket(0.0, 0.0, True, "empty")
        return epsilon_of(run, delta, neighbouring, notion=notion, participation=participation, accountant=accountant)

    def running_epsilon(
        self,
        delta: float,
        neighbouring: Neighbouring | None = None,
        *,
        participation: Visibility = Participation.HIDDEN,
    ) -> Bracket:
        """The certified cost of everything recorded, cheap to ask for after every round; see RunningEpsilon.

        Its last digits, beyond 1e-9, may depend on when it was asked before; those of `epsilon` do not.
        """
        relation = relation_meant(neighbouring, participation=participation)
        key: Reading = (delta, relation, participation)
        reading = self._readings.get(key)
        if reading is None:
            reading = RunningEpsilon(delta, relation, participation=participation)
        for step, rounds in self._refresh().counts.items():
            if new := rounds - reading.rounds_of(step):
                reading.record(Repeat(step, new))
        if key not in self._readings:
            if len(self._readings) >= MOST_READINGS:
                del self._readings[next(iter(self._readings))]
            self._readings[key] = reading
        return reading.epsilon()

    @property
    def head(self) -> str:
        """The hash of the last event seen: note it elsewhere to detect a ledger rewritten from scratch."""
        return self._refresh().head

    def __len__(self) -> int:
        return self._refresh().events

    def events(self) -> Iterator[Event]:
        """Every event in order, verified against the chain from its beginning."""
        return self._store.since(0)

    def _refresh(self) -> _Known:
        """Everything recorded so far, as one thing: another thread's event is in all of it, or in none."""
        known = self._known
        new = [(event, from_json(event.mechanism)) for event in self._store.since(known.events)]
        if new:
            self._known = known = known.with_events(new)
        return known


@dataclass(frozen=True, slots=True)
class _Known:
    """The events up to one of them: how many, the last one's hash, and the rounds of each mechanism."""

    events: int = 0
    head: str = GENESIS
    counts: Mapping[Mechanism, int] = field(default_factory=dict)

    def next_hash(self, event: Event) -> str:
        """The event's hash if it comes next."""
        return chained(self.head, event.event_id, event.mechanism)

    def with_events(self, new: Listed[tuple[Event, Mechanism]]) -> _Known:
        """These and the next ones. Raises LedgerError where they do not follow."""
        known, counts = self, dict(self.counts)
        for event, mechanism in new:
            if event.hash != known.next_hash(event):
                said = f"event {known.events + 1} does not follow the last one seen: the ledger was replaced"
                raise LedgerError(said)
            for step, rounds in rounds_by_step(mechanism).items():
                counts[step] = counts.get(step, 0) + rounds
            known = _Known(known.events + 1, event.hash, counts)
        return known

    def spent_of(self, within: Callable[[], Filter]) -> Filter:
        """The budget with everything that is recorded."""
        budget = _budget(within)
        for step, rounds in self.counts.items():
            budget.record(Repeat(step, rounds))
        return budget


def _id(field: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(field, value, "a name that is not empty")
    return value


def _store(given: Store | str | Path) -> Store:
    if isinstance(given, str | Path):
        return SqliteStore(given)
    if not isinstance(given, Store):
        raise InputError("store", given, "the path of a file, or a Store such as MemoryStore()")
    return given


def _budget(within: Callable[[], Filter]) -> Filter:
    made: object = within() if callable(within) and _takes_nothing(within) else None
    if not isinstance(made, Filter):
        raise InputError("within", within, "a function that makes the unspent budget: lambda: RenyiFilter(8.0, 1e-6)")
    return made


def _takes_nothing(function: Callable[..., object]) -> bool:
    try:
        signature(function).bind()
    except (TypeError, ValueError):  # ValueError: a builtin of which nobody knows what it takes
        return False
    return True


_TEXTS: dict[Mechanism, str] = {}


def _text(mechanism: Mechanism) -> str:
    """to_json, remembered: training loops record the same few descriptions again and again."""
    if not isinstance(mechanism, Mechanism):
        raise InputError("mechanism", mechanism, "a mechanism description, such as Gaussian(noise_multiplier=1.1)")
    if mechanism not in _TEXTS:
        if len(_TEXTS) > 10_000:
            _TEXTS.clear()
        _TEXTS[mechanism] = to_json(mechanism)
    return _TEXTS[mechanism]
