"""The witness of a refuted claim in the words of the mechanism: datasets, output, counts, what the claim allows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

import numpy as np

from ...mechanisms.arrays import Floats
from .calling import shortened
from .layout import Layout
from .literals import written
from .scores import Interval, Scorer, either, said


class Guess(Protocol):
    """A rule of either kind (rules.Rule, weighted.Weighted)."""

    def intervals(self) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]: ...


@dataclass(frozen=True, slots=True)
class Seen:
    """One event, and how often it was seen: (times, runs) on the dataset and on its neighbour. speaks_for: which."""

    event: str
    speaks_for: Literal["dataset", "neighbour"]
    on_dataset: tuple[int, int]
    on_neighbour: tuple[int, int]

    def rates(self) -> tuple[float, float]:
        """The event's share of the runs, on the side it speaks for and on the other."""
        first, second = (times / max(1, runs) for times, runs in (self.on_dataset, self.on_neighbour))
        return (first, second) if self.speaks_for == "dataset" else (second, first)

    def excess(self, epsilon: float, delta: float) -> float:
        """By how much its share is above what (epsilon, delta)-DP allows, were the shares probabilities."""
        often, seldom = self.rates()
        return often - _times(epsilon) * seldom - delta


@dataclass(frozen=True, slots=True)
class AuditWitness:
    """What refutes a claim: neighbours, an event, its counts, and how to see it again.

    correct, wrong: how often the event's guess was right and wrong, over `trials` fresh trials with fair coins
    for the side. line: the (epsilon, delta) of the claim that they contradict, with the exact p-value. seen: the part
    of the event that shows most, with its counts on either dataset. once: why another run gives other counts, if so.
    """

    dataset: str
    neighbour: str
    event: str
    correct: int
    wrong: int
    trials: int
    line: tuple[float, float]
    p_value: float
    method: str
    seed: int
    replay: str
    mechanism: str
    seen: Seen
    once: str = ""

    def to_json(self) -> dict[str, object]:
        """Plain data, under the names of the fields, and the sentence."""
        return asdict(self) | {"sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        (epsilon, delta), seen = self.line, self.seen
        often, seldom = seen.rates()
        here, there = (self.dataset, self.neighbour), (seen.on_dataset, seen.on_neighbour)
        if seen.speaks_for == "neighbour":
            here, there = here[::-1], there[::-1]
        allowed = min(1.0, _times(epsilon) * seldom + delta)
        more = f" and {delta:.3g} more" if delta > 0 else ""
        return (
            f"{self.mechanism}: {seen.event} in {there[0][0]} of {there[0][1]} runs on {here[0]} ({_percent(often)}), "
            f"but in {there[1][0]} of {there[1][1]} on its neighbour {here[1]} ({_percent(seldom)}); ({epsilon:.6g}, "
            f"{delta:.3g})-DP allows {_times(epsilon):.4g} times as often{more}: {_percent(allowed)}."
        )

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.details}"

    @property
    def details(self) -> str:
        """All else, a line each."""
        epsilon, delta = self.line
        return (
            f"Were the claim true, such counts would come up with probability {self.p_value:.3g} at most (p-value).\n"
            f"neighbours: {self.dataset}\n       and: {self.neighbour}\n"
            f"event: {self.event}\n"
            f"right {self.correct} times and wrong {self.wrong} times in {self.trials} trials, "
            f"against ({epsilon:.6g}, {delta:.3g})-DP ({self.method})\n"
            + (self.once or f"replay (seed {self.seed}): {self.replay}")
        )


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _times(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, as a witness tells it: the mechanism's name, the pair, the seed, a replay, the columns."""

    mechanism: str
    pair: tuple[object, object]
    seed: int
    replay: str
    layout: Layout

    def witness(
        self,
        scorer: Scorer,
        name: str,
        rule: Guess,
        scores: tuple[Floats, Floats],
        counts: tuple[int, int],
        line: tuple[float, float],
        p_value: float,
        method: str,
    ) -> AuditWitness:
        """Of a rule on a score (by its name), with the scores of the trials on either side, and its counts there."""
        first, second = (written(dataset) or repr(dataset) for dataset in self.pair)
        sides = [self._seen(scorer, name, side, some, scores) for side, some in enumerate(rule.intervals()) if some]
        event = ", ".join(f"{seen.event} speaks for the {seen.speaks_for}" for seen in sides)
        telling = max(sides, key=lambda seen: seen.excess(*line))
        trials = len(scores[0]) + len(scores[1])
        return AuditWitness(
            shortened(first), shortened(second), event, *counts, trials, line, p_value, method, self.seed,
            self.replay, self.mechanism, telling,
        )  # fmt: skip

    def _seen(
        self, scorer: Scorer, name: str, side: int, some: tuple[Interval, ...], scores: tuple[Floats, Floats]
    ) -> Seen:
        told = either([said(scorer, name, interval, self.layout) for interval in some])
        times = [
            (int(np.count_nonzero(np.any([interval.holds(values) for interval in some], axis=0))), len(values))
            for values in scores
        ]
        return Seen(told, "neighbour" if side else "dataset", times[0], times[1])
