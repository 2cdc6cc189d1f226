"""Running trials: batched or one by one, here or through any concurrent.futures executor, within a budget.

Every chunk of trials has its own seed, split off the audit's seed by the chunk's number, and its own fair coins
for which side each trial runs on. So the outputs depend on the seed alone, never on the executor or on timing,
and an interrupted run is the beginning of the full one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from . import calling
from .calling import Changed, DatasetChanged, Mechanism, MechanismError, Style
from .global_generators import controlled
from .layout import Layout
from .outputs import Encoder, Outputs, aligned, join
from .structure import fingerprint

__tracebackhide__ = True  # pytest: what fails here is the caller's mechanism

Stopped = Literal["complete", "early", "time", "interrupt", "failure"]
Progress = Callable[[int, int], None]

FIRST_CHUNK = 64
LARGEST_SINGLE = 2048
LARGEST_BATCH = 1 << 18
LARGEST_BYTES = 1 << 27


@dataclass(frozen=True, slots=True)
class Samples:
    """Outputs on the dataset and on its neighbour, and whether they are all that was asked for.

    Together they are `len(dataset) + len(neighbour)` independent trials whose sides were fair coins; not so when
    they ended "early" (the evidence sufficed) or by a `failure`, which may depend on the outputs. generators: what the
    mechanism drew from beside the one that it was given.
    """

    dataset: Outputs
    neighbour: Outputs
    stopped: Stopped = "complete"
    failure: MechanismError | None = None
    layout: Layout = field(default_factory=Layout)
    generators: tuple[str, ...] = ()

    @property
    def trials(self) -> int:
        """Calls of the mechanism, both sides together."""
        return len(self.dataset) + len(self.neighbour)


class Ran(NamedTuple):
    """What came of the calls on one side, and which other generators they drew from."""

    outputs: object
    drawn: frozenset[str] = frozenset()


def run_side(mechanism: Mechanism, dataset: object, seed: SeedSequence, count: int, style: Style) -> Ran:
    """`count` raw outputs on one dataset. At module level, so that a process pool can find it."""
    if count == 0:
        return Ran([])
    before = fingerprint(dataset)
    with controlled(_of_the_process(seed)) as drawn:
        outputs = calling.call_many(mechanism, dataset, np.random.default_rng(seed), count, style)
    return Ran(outputs if fingerprint(dataset) == before else Changed(), frozenset(drawn))


def _of_the_process(seed: SeedSequence) -> SeedSequence:
    """The seed of the process's own generators: no child that `seed` spawns."""
    return SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 2**31))


class _OutOfTime(Exception):
    """The time budget ended before a chunk came back."""


class Trials:
    """The trials of one audit, in chunks that grow from FIRST_CHUNK."""

    def __init__(
        self,
        mechanism: Mechanism,
        pair: tuple[object, object],
        seed: int,
        executor: Executor | None = None,
        stage: int = 0,
    ) -> None:
        self.mechanism, self.pair, self.executor = mechanism, pair, executor
        self.style = calling.style_of(mechanism)
        self._root = SeedSequence([seed, stage] if stage else seed)
        self._encoder = Encoder()
        self._width = 0
        self._drawn: set[str] = set()
        self._deadline = math.inf
        self._ended: Stopped | None = None

    def collect(
        self,
        trials: int,
        *,
        max_seconds: float | None = None,
        progress: Progress | None = None,
        watch: Callable[[Outputs, Outputs], bool] | None = None,
    ) -> Samples:
        """Runs `trials` trials; `watch` sees each chunk, and ends the run when it returns True.

        Ctrl-C, the time budget and an exception in the mechanism end it too; what was finished by then is returned,
        with the failure if there was one. Single calls are counted up to the last one, batches as a whole; a batch
        that would last beyond the time budget is not begun. `progress` hears of the number of trials only, never of
        results, so that stopping by hand cannot depend on them.
        """
        self._deadline = math.inf if max_seconds is None else monotonic() + max_seconds
        self._ended = None
        sides: tuple[list[Outputs], list[Outputs]] = ([], [])
        stopped: Stopped = "complete"
        failure: MechanismError | None = None
        done = 0
        try:
            for first, second in self._chunks(trials):
                sides[0].append(first)
                sides[1].append(second)
                done += len(first) + len(second)
                if progress is not None:
                    progress(done, trials)
                if watch is not None and watch(first, second):
                    stopped = "early"
                    break
                if monotonic() >= self._deadline and done < trials:
                    stopped = "time"
                    break
            stopped = self._ended if stopped == "complete" and self._ended is not None else stopped
        except KeyboardInterrupt:
            stopped = "interrupt"
        except MechanismError as problem:
            stopped, failure = "failure", problem
        dataset, neighbour = aligned(join(sides[0][: len(sides[1])]), join(sides[1]))
        return Samples(dataset, neighbour, stopped, failure, self._encoder.layout, tuple(sorted(self._drawn)))

    def _chunks(self, trials: int) -> Iterator[tuple[Outputs, Outputs]]:
        self._width = 0
        made = self._serial(trials) if self.executor is None else self._spread(trials)
        for chunk in made:
            self._width = self._width or max(chunk[0].width, chunk[1].width)
            yield chunk

    def _coins(self, trials: int) -> Iterator[tuple[int, list[SeedSequence], Generator]]:
        """The chunks' sizes, seeds (coins, dataset, neighbour), and the generator of the coins."""
        for number, count in enumerate(self._sizes(trials)):
            seeds = SeedSequence(self._root.entropy, spawn_key=(number,)).spawn(3)
            yield count, seeds, Generator(np.random.PCG64(seeds[0]))

    def _serial(self, trials: int) -> Iterator[tuple[Outputs, Outputs]]:
        rate = 0.0
        for number, (count, seeds, coins) in enumerate(self._coins(trials)):
            started = monotonic()
            ones = int(coins.binomial(count, 0.5))
            if not calling.batched(self.style):
                yield self._one_by_one(coins.permutation(count) < ones, seeds)
            elif started + rate * count > self._deadline:
                self._ended = "time"
            else:
                raw = self._run(0, seeds[1], ones), self._run(1, seeds[2], count - ones)
                rate = (monotonic() - started) / count if number > 0 else 0.0  # the first call loads things
                yield self._encoded(raw[0], ones), self._encoded(raw[1], count - ones)
            if self._ended is not None:
                return

    def _one_by_one(self, heads: NDArray[np.bool_], seeds: list[SeedSequence]) -> tuple[Outputs, Outputs]:
        """Single calls in the order of their coins: those before Ctrl-C or the deadline are trials like any others."""
        rngs = np.random.default_rng(seeds[1]), np.random.default_rng(seeds[2])
        before = [fingerprint(dataset) for dataset in self.pair]
        raw: tuple[list[object], list[object]] = ([], [])
        drawn: set[str] = set()
        try:
            with controlled(_of_the_process(seeds[1])) as drawn:
                for head in heads.tolist():
                    if monotonic() >= self._deadline:
                        self._ended = "time"
                        break
                    side = 0 if head else 1
                    raw[side].append(self._call(side, rngs[side]))
        except KeyboardInterrupt:
            self._ended = "interrupt"
        self._drawn |= drawn
        for side, dataset in enumerate(self.pair):
            if fingerprint(dataset) != before[side]:
                self._unchanged(side, Changed())
        return self._encoded(raw[0], len(raw[0])), self._encoded(raw[1], len(raw[1]))

    def _unchanged(self, side: int, raw: object) -> object:
        if isinstance(raw, Changed):
            raise DatasetChanged(calling.name_of(self.mechanism), ("the dataset", "its neighbour")[side])
        return raw

    def _call(self, side: int, rng: Generator) -> object:
        try:
            return calling.call(self.mechanism, self.pair[side], rng, self.style)
        except Exception as problem:
            self._failed(side, problem)

    def _spread(self, trials: int) -> Iterator[tuple[Outputs, Outputs]]:
        """Through the executor, a few chunks ahead."""
        waiting: deque[tuple[int, int, Future[Any], Future[Any]]] = deque()
        try:
            for count, seeds, coins in self._coins(trials):
                ones = int(coins.binomial(count, 0.5))
                futures = self._submit(0, seeds[1], ones), self._submit(1, seeds[2], count - ones)
                waiting.append((ones, count - ones, *futures))
                if self._width == 0 or len(waiting) >= self._ahead():
                    chunk = self._finished(waiting.popleft())
                    self._width = self._width or max(chunk[0].width, chunk[1].width)
                    yield chunk
            while waiting:
                yield self._finished(waiting.popleft())
        except _OutOfTime:
            self._ended = "time"
        finally:
            for *_, first, second in waiting:
                first.cancel()
                second.cancel()

    def _sizes(self, trials: int) -> Iterator[int]:
        """Chunk sizes: doubling, up to a bound on memory that is known once the first chunk has come back."""
        size, left = FIRST_CHUNK, trials
        largest = LARGEST_BATCH if calling.batched(self.style) else LARGEST_SINGLE
        while left > 0:
            count = min(left, size)
            yield count
            left -= count
            size = min(largest, size * 2, max(FIRST_CHUNK, LARGEST_BYTES // (8 * max(1, self._width))))

    def _run(self, side: int, seed: SeedSequence, count: int) -> object:
        try:
            ran = run_side(self.mechanism, self.pair[side], seed, count, self.style)
        except Exception as problem:
            self._failed(side, problem)
        self._drawn |= ran.drawn
        return self._unchanged(side, ran.outputs)

    def _failed(self, side: int, problem: Exception) -> NoReturn:
        raise calling.failed(self.mechanism, self.pair[side], problem) from problem

    def _submit(self, side: int, seed: SeedSequence, count: int) -> Future[Any]:
        assert self.executor is not None
        return self.executor.submit(run_side, self.mechanism, self.pair[side], seed, count, self.style)

    def _ahead(self) -> int:
        return 2 * max(1, getattr(self.executor, "_max_workers", None) or 4)

    def _finished(self, job: tuple[int, int, Future[Any], Future[Any]]) -> tuple[Outputs, Outputs]:
        raw = [self._unchanged(side, self._awaited(side, future)) for side, future in ((0, job[2]), (1, job[3]))]
        return self._encoded(raw[0], job[0]), self._encoded(raw[1], job[1])

    def _awaited(self, side: int, job: Future[Any]) -> object:
        left = self._deadline - monotonic()
        try:
            ran = job.result(None if left == math.inf else max(0.0, left))
        except Exception as problem:  # the mechanism's, or the executor's on its way to the workers
            if isinstance(problem, TimeoutError) and not job.done():
                raise _OutOfTime from None
            self._failed(side, problem)
        self._drawn |= ran.drawn
        return ran.outputs

    def _encoded(self, raw: object, count: int) -> Outputs:
        if count == 0:
            return Outputs(np.empty((0, 1)))
        if not calling.batched(self.style):
            assert isinstance(raw, list)
            return self._encoder.each(raw)
        return self._encoder.batch(raw, count)


def from_arrays(dataset: object, neighbour: object, seed: int = 0) -> Samples:
    """Samples from outputs that were drawn elsewhere, one trial a row on either side.

    The guessing game needs fair coins: their number of heads is drawn here, and a few trials (about 4.3 sqrt(n))
    are left out so that both sides suffice but for a probability of 2e-9, in which case nothing is returned.
    """
    encoder = Encoder()
    rows = [encoder.batch(side, len(side)) for side in (np.asarray(dataset), np.asarray(neighbour))]
    least = min(len(rows[0]), len(rows[1]))
    total = max(0, int(2 * least - 6 * np.sqrt(2.0 * least)))
    heads = int(np.random.default_rng(SeedSequence(seed)).binomial(total, 0.5))
    if max(heads, total - heads) > least:
        return Samples(rows[0].part(0, 0), rows[1].part(0, 0))
    return Samples(rows[0].part(0, heads), rows[1].part(0, total - heads), layout=encoder.layout)
