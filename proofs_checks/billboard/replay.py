"""Replay check: does anything of client i reach the others past the billboard?

Record a run's billboard, change client i's data, replay the same billboard with the same random numbers: then every
other client must upload, and end up with, the same bits, since by the billboard lemma's condition (docs/theory/
billboard.md) its messages and its output are functions of its own data, its own coins and the billboard alone.
What is left is the billboard itself: each release must move, before noise, by at most the sensitivity that the
trainer declares, and its noise must not depend on the data.

This is evidence about one run and one change of data, exact (no statistics, no tolerance but the rounding of the
aggregate); it proves a leak, never the absence of one. It does not see what a client learns from knowing who took
part: that is the observer's business (dpcert.accounting.billboard.observers).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.validate import InputError, count, nonnegative

Value = NDArray[Any] | Mapping[str, Any] | Sequence[Any]
"""An array (anything numpy.asarray takes), or a mapping or sequence of values."""


@runtime_checkable
class RunRecord(Protocol):
    """One run, as seen by somebody who sees everything.

    billboard: the releases, in order, as the clients read them.
    pre_noise: for each release, what this run would have published but for the noise, given the releases before it.
    noise: what was added: in a run that is not a replay, billboard[t] is pre_noise[t] + noise[t] to the bit.
    sensitivity: for each release, the L2 distance by which one client's data may move pre_noise[t] while the releases
        before it stay the same; 0 where it must not move at all (an initial broadcast that depends on no data).
    messages: (round, client) -> what that client uploaded in that round, as it enters the aggregate (clipped,
        weighted, before any noise). Rounds count from 0; a client that took no part has no entry.
    outputs: for each client, in the order of `clients`, what it keeps at the end (its personal model).
    """

    @property
    def billboard(self) -> Sequence[NDArray[np.floating[Any]]]: ...
    @property
    def pre_noise(self) -> Sequence[NDArray[np.floating[Any]]]: ...
    @property
    def noise(self) -> Sequence[NDArray[np.floating[Any]]]: ...
    @property
    def sensitivity(self) -> Sequence[float]: ...
    @property
    def messages(self) -> Mapping[tuple[int, int], Value]: ...
    @property
    def outputs(self) -> Sequence[Value]: ...


@runtime_checkable
class TrainerProtocol(Protocol):
    """A trainer that can be run, and run again against a recorded billboard (the rules are above)."""

    def run(
        self, clients: Sequence[Any], seed: int, billboard: Sequence[NDArray[np.floating[Any]]] | None = None
    ) -> RunRecord: ...


Kind = Literal["output", "message", "cohort", "sensitivity", "noise"]

_FIELDS = ("billboard", "pre_noise", "noise", "sensitivity", "messages", "outputs")


@dataclass(frozen=True, slots=True)
class Leak:
    """One way in which client i's data were felt. round: None for outputs; client: None for the server's side."""

    kind: Kind
    client: int | None
    round: int | None
    text: str


@dataclass(frozen=True, slots=True)
class BillboardReport:
    """The outcome of a replay.

    leaks: empty when the check passed. compared: how many outputs and messages of other clients were compared.
    largest_move: the largest (distance moved before noise) / (declared sensitivity) over the releases.

    >>> BillboardReport(leaks=(), compared=12, largest_move=0.5).holds
    True
    """

    leaks: tuple[Leak, ...]
    compared: int
    largest_move: float

    @property
    def holds(self) -> bool:
        """Whether nothing leaked."""
        return not self.leaks


def check_billboard(
    trainer: TrainerProtocol, clients: Sequence[Any], i: int, altered_data: Any, *, seed: int = 0
) -> BillboardReport:
    """Replay `trainer` with client i's data altered; report everything of the others that changed.

    clients: one data object per client, at least two. i: the index of the client whose data change.
    Raises InputError when the trainer breaks the protocol, when its randomness cannot be replayed, or when
    the altered data change nothing at all or client i takes part in no round (the check would be empty: alter more, or
    train for more rounds).

    altered_data: what client i holds in the replay.

    >>> import numpy as np
    >>> from dpcert.proofs_checks.billboard.example_trainers import PersonalMeans, SharedOptimiserState
    >>> clients = [np.full((4, 2), float(k)) for k in range(6)]
    >>> [check_billboard(kind(), clients, 0, clients[0] + 50.0).holds for kind in (PersonalMeans, SharedOptimiserState)]
    [True, False]
    """
    data = list(clients)
    if len(data) < 2:
        raise InputError("clients", len(data), "at least two clients")
    if count("i", i, least=0) >= len(data):
        raise InputError("i", i, f"the index of one of the {len(data)} clients")
    original = _record(trainer, data, seed, None)
    _published_as_declared(original)
    _replayable(trainer, data, seed, original)
    altered = [*data[:i], altered_data, *data[i + 1 :]]
    replayed = _record(trainer, altered, seed, original.billboard)
    leaks = [*_outputs(original, replayed, i), *_messages(original, replayed, i)]
    moves = [_move(original, replayed, t) for t in range(len(original.billboard))]
    leaks += [leak for _, leak in moves if leak] + list(_noise(original, replayed))
    if not leaks and _same(_everything(original), _everything(replayed)):
        raise InputError("altered_data", type(altered_data).__name__, f"data that change some message of client {i}")
    if not leaks and original.messages and all(client != i for _, client in original.messages):
        raise InputError("i", i, "a client that takes part: what it would send is nowhere in this run")
    compared = len(data) - 1 + sum(client != i for _, client in original.messages)
    return BillboardReport(tuple(leaks), compared, max((ratio for ratio, _ in moves), default=0.0))


def _record(trainer: TrainerProtocol, clients: list[Any], seed: int, billboard: Sequence[Any] | None) -> RunRecord:
    """A run's record, with its shape checked."""
    if not isinstance(trainer, TrainerProtocol):
        raise InputError("trainer", type(trainer).__name__, "an object with run(clients, seed, billboard=None)")
    copies = None if billboard is None else [np.array(release, copy=True) for release in billboard]
    record = trainer.run(clients, seed, billboard=copies)
    for name in _FIELDS:
        if not hasattr(record, name):
            raise InputError("trainer", type(trainer).__name__, f"a run() whose record has the field {name!r}")
    releases = len(record.billboard)
    for name in ("pre_noise", "noise", "sensitivity"):
        if len(getattr(record, name)) != releases:
            raise InputError(f"record.{name}", len(getattr(record, name)), f"one entry for each of {releases} releases")
    if billboard is not None and not _same(list(record.billboard), list(billboard)):
        raise InputError("record.billboard", "other values", "the recorded releases, when they are replayed")
    if len(record.outputs) != len(clients):
        raise InputError("record.outputs", len(record.outputs), f"one output for each of {len(clients)} clients")
    for key in record.messages:
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] >= 0 and 0 <= key[1] < len(clients)):
            raise InputError("record.messages", key, f"keys (round, client) with a client below {len(clients)}")
    return record


def _published_as_declared(record: RunRecord) -> None:
    for t, release in enumerate(record.billboard):
        if not _same(np.asarray(release), np.asarray(record.pre_noise[t]) + np.asarray(record.noise[t])):
            raise InputError(f"record.billboard[{t}]", "another value", f"pre_noise[{t}] + noise[{t}], to the bit")


def _replayable(trainer: TrainerProtocol, clients: list[Any], seed: int, original: RunRecord) -> None:
    """With the same data and seed, a replay must give back the recorded run to the bit."""
    again = _record(trainer, clients, seed, original.billboard)
    for name in _FIELDS:
        if not _same(getattr(original, name), getattr(again, name)):
            raise InputError(
                "trainer",
                type(trainer).__name__,
                f"randomness that can be replayed: with the same clients and seed, {name!r} came out different",
            )


def _outputs(original: RunRecord, replayed: RunRecord, i: int) -> Iterator[Leak]:
    for j, (before, after) in enumerate(zip(original.outputs, replayed.outputs, strict=True)):
        if j != i and not _same(before, after):
            yield Leak("output", j, None, f"client {j}'s output changed with client {i}'s data")


def _messages(original: RunRecord, replayed: RunRecord, i: int) -> Iterator[Leak]:
    """Other clients' uploads, and who took part at all (client i included)."""
    for key in sorted(set(original.messages) | set(replayed.messages)):
        t, j = key
        if (key in original.messages) != (key in replayed.messages):
            yield Leak("cohort", j, t, f"whether client {j} takes part in round {t} depends on client {i}'s data")
        elif j != i and not _same(original.messages[key], replayed.messages[key]):
            yield Leak("message", j, t, f"client {j}'s message in round {t} changed with client {i}'s data")


def _move(original: RunRecord, replayed: RunRecord, t: int) -> tuple[float, Leak | None]:
    """How far release t moved before noise, in units of the declared sensitivity.

    The declared bound is about real numbers; the aggregate is rounded. Its rounding is allowed for: each of at most
    `terms` additions of numbers no larger than the aggregate's own size, in the aggregate's own precision.
    """
    before, after = np.asarray(original.pre_noise[t]), np.asarray(replayed.pre_noise[t])
    if before.shape != after.shape:
        return np.inf, Leak("sensitivity", None, t, f"release {t} changed its shape with the data")
    if original.sensitivity[t] != replayed.sensitivity[t]:
        return np.inf, Leak("sensitivity", None, t, f"the declared sensitivity of release {t} depends on the data")
    declared = nonnegative(f"record.sensitivity[{t}]", original.sensitivity[t])
    moved = float(np.linalg.norm((after.astype(np.float64) - before.astype(np.float64)).ravel()))
    if declared == 0.0:
        leak = Leak("sensitivity", None, t, f"release {t} moved by {moved:.3g}, declared independent of all data")
        return (np.inf, leak) if moved > 0.0 else (0.0, None)
    terms = 4 + len(original.outputs)
    size = max(float(np.linalg.norm(before.ravel())), float(np.linalg.norm(after.ravel())), declared)
    slack = terms * float(np.finfo(before.dtype).eps) * size
    if np.isnan(moved) or moved > declared + slack:
        text = f"release {t} moved by {moved:.6g} before noise, more than the declared sensitivity {declared:.6g}"
        return moved / declared, Leak("sensitivity", None, t, text)
    return moved / declared, None


def _noise(original: RunRecord, replayed: RunRecord) -> Iterator[Leak]:
    for t, (before, after) in enumerate(zip(original.noise, replayed.noise, strict=True)):
        if not _same(before, after):
            yield Leak("noise", None, t, f"the noise of release {t} depends on the data (same random numbers)")


def _everything(record: RunRecord) -> list[Value]:
    return [list(record.pre_noise), list(record.noise), dict(_by_text(record.messages)), list(record.outputs)]


def _by_text(messages: Mapping[tuple[int, int], Value]) -> Iterator[tuple[str, Value]]:
    for key, value in messages.items():
        yield str(key), value


def _same(first: Any, second: Any) -> bool:
    """Equal to the bit: the same structure, shapes, types and bytes."""
    if isinstance(first, Mapping) or isinstance(second, Mapping):
        if not (isinstance(first, Mapping) and isinstance(second, Mapping)) or set(first) != set(second):
            return False
        return all(_same(value, second[key]) for key, value in first.items())
    if isinstance(first, list | tuple) or isinstance(second, list | tuple):
        if not (isinstance(first, list | tuple) and isinstance(second, list | tuple)) or len(first) != len(second):
            return False
        return all(_same(a, b) for a, b in zip(first, second, strict=True))
    a, b = np.asarray(first), np.asarray(second)
    if a.dtype == object or b.dtype == object:
        raise InputError("record", type(first).__name__, "numbers: arrays, or mappings and sequences of arrays")
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
