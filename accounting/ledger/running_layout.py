"""Inversions laid out for more rounds, and more revealing ones, than there are; filled a few mechanisms at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ...mechanisms import Mechanism
from ..bracket import OutOfReach
from ..losses.smooth.running_inversion import RunningInversion
from ..pairs import Composition, GaussianPair, Pair, SubsampledPair

PLANS = ((1.25, 1.3, 20.0, 2.0), (1.25, 1.1, 20.0, 2.0), (1.25, 1.02, 10.0, 0.5), (1.25, 1.02, 0.0, 0.5))
"""What a layout may be for: so many times the rounds that there are; and, where rounds differ, a few whose noise is
lower by such a factor than any so far; with such a spare accuracy and price of cancellation (RunningInversion). The
first that is sharp enough for the rounds that there are: frequencies are cheap beside the work on each new pair."""

SHARE = 0.02
"""Share of the rounds with less noise."""

GROUPS = 32
"""Pairs that stand for all the others where a layout is chosen: no bound depends on that choice."""

Pairs = Mapping[Mechanism, tuple[Pair, ...]]


class LedgerLayout:
    """One inversion for each order of the neighbours. What is recorded waits until `catch_up` counts it in them.

    counts: the rounds of each mechanism so far. plan: one of PLANS.
    Raises OutOfReach where the contour does not serve.
    """

    def __init__(
        self,
        counts: Mapping[Mechanism, int],
        pairs: Pairs,
        orders: int,
        log_delta: float,
        plan: tuple[float, float, float, float],
    ) -> None:
        self.ahead, louder, *price = plan
        self._pairs, self.rounds = pairs, sum(counts.values())
        by_pair = [_by_pair(counts, pairs, order) for order in range(orders)]
        self.standing = [_standing(one) for one in by_pair]
        self.inversions = [
            RunningInversion(_planned(few, self.ahead, _loud(one, louder)), log_delta, *price)
            for few, one in zip(self.standing, by_pair, strict=True)
        ]
        self.loudest = max(map(loudness, by_pair[0]), default=0.0)
        self.waiting = {step: rounds for step, rounds in counts.items() if rounds}

    def record(self, step: Mechanism, rounds: int) -> None:
        """Let rounds wait to be counted; less than 0 for rounds that are taken back."""
        self.waiting[step] = self.waiting.get(step, 0) + rounds

    def catch_up(self, most: float = math.inf) -> int:
        """Count rounds of the mechanisms that have waited longest, at most so many; how many these were."""
        counted = 0
        while self.waiting and counted < most:
            step = next(iter(self.waiting))
            rounds = self.waiting.pop(step)
            for order, inversion in enumerate(self.inversions):
                inversion.add(pair_of(self._pairs[step], order), rounds)
            counted += 1
        return counted

    def between(self) -> tuple[float, float]:
        """(at most epsilon, at least epsilon) of what was counted, over all orders."""
        ends = [inversion.between() for inversion in self.inversions]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def rehearsed(self) -> tuple[float, float]:
        """What `between` would be, about: of pairs that stand for the others. For layouts to be thrown away."""
        for inversion, few in zip(self.inversions, self.standing, strict=True):
            for pair, rounds in few.items():
                inversion.add(pair, rounds)
        return self.between()


def layout(
    counts: Mapping[Mechanism, int], pairs: Pairs, orders: int, log_delta: float, sharp: Callable[[float, float], bool]
) -> LedgerLayout:
    """The first of PLANS whose reading, of pairs that stand for all the others, is sharp; else the sharpest one.

    Raises OutOfReach where none can be had.
    """
    best, least = None, math.inf
    for plan in PLANS:
        try:
            low, high = LedgerLayout(counts, pairs, orders, log_delta, plan).rehearsed()
        except OutOfReach:
            continue
        if best is None or high - low < least:
            best, least = plan, high - low
        if sharp(low, high):
            break
    if best is None:
        raise OutOfReach("no layout serves these rounds")
    return LedgerLayout(counts, pairs, orders, log_delta, best)


def pair_of(pairs: tuple[Pair, ...], order: int) -> Pair:
    """A step with a single pair has it in every order."""
    return pairs[min(order, len(pairs) - 1)]


def _by_pair(counts: Mapping[Mechanism, int], pairs: Pairs, order: int) -> dict[Pair, int]:
    found: dict[Pair, int] = {}
    for step, rounds in counts.items():
        if rounds:
            pair = pair_of(pairs[step], order)
            found[pair] = found.get(pair, 0) + rounds
    return found


def _standing(counts: dict[Pair, int]) -> dict[Pair, int]:
    """At most GROUPS pairs of a kind that stand for all: one for each group of similar shifts."""
    few: dict[Pair, int] = {}
    squares, sampled = [], []
    for pair, rounds in counts.items():
        noise = pair.gaussian()
        if noise is None:
            few[pair] = rounds
        elif noise.coin is None:
            squares.append(rounds * noise.shift**2)
        else:
            sampled.append((noise.coin, noise.shift, noise.rate, rounds))
    if squares:
        few[GaussianPair(math.sqrt(math.fsum(squares)))] = 1
    sampled.sort(key=lambda entry: entry[:2])
    size = math.ceil(len(sampled) / GROUPS)
    for start in range(0, len(sampled), max(1, size)):
        group = sampled[start : start + size]
        total = sum(rounds for *_, rounds in group)
        coin, shift, rate, _ = group[len(group) // 2]
        if len(group) > 1:
            rate = math.sqrt(math.fsum(rounds * each**2 for *_, each, rounds in group) / total)
        stands = SubsampledPair(GaussianPair(shift), rate, coin)
        few[stands] = few.get(stands, 0) + total
    return few


def _planned(few: dict[Pair, int], ahead: float, loud: SubsampledPair | None) -> Composition:
    """So many times the rounds; with some that are louder than any so far, where rounds differ at all.

    What rounding a pair's rounds leaves over goes to the next ones.
    """
    planned: list[tuple[Pair, int]] = []
    before, total = 0, 0
    for pair, rounds in few.items():
        total += rounds
        until = math.ceil(ahead * total)
        planned.append((pair, until - before))
        before = until
    if loud is not None:
        planned.append((loud, max(1, round(SHARE * before))))
    return tuple(planned)


def _loud(counts: dict[Pair, int], louder: float) -> SubsampledPair | None:
    """A pair that is more revealing than any; None where all are alike."""
    rounds = (pair.gaussian() for pair in counts)
    sampled = [(noise, noise.coin) for noise in rounds if noise is not None and noise.coin is not None]
    if len(sampled) <= 1:
        return None
    loudest, coin = max(sampled, key=lambda each: each[0].shift)
    return SubsampledPair(GaussianPair(louder * loudest.shift), max(noise.rate for noise, _ in sampled), coin)


def loudness(pair: Pair) -> float:
    """What one participation moves, in units of the noise, where that is sampled Gaussian noise; else 0."""
    noise = pair.gaussian()
    return 0.0 if noise is None or noise.coin is None else noise.shift
