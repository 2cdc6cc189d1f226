"""The sources (sources.py) that know lower ends alone: what some neighbours reveal, where product pairs leave a gap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..mechanisms import BestOfSeveral, rounds_by_step
from .allocation import shuffled_event as shuffled
from .bracket import Bracket
from .question import Question
from .rounding import down, up, widened_down
from .sources import Ask, Direct, settled


class FromBelow(Direct):
    """Lower ends of what some neighbours reveal, where the product pairs that are known leave a gap."""

    def serves(self, asked: Question, at: float) -> bool:
        """Nothing is to be had where the pairs are tight."""
        if settled(asked):
            return False
        pairs = asked.pairs()
        return pairs.lower != pairs.upper

    def bracket(self, asked: Question, at: float, found: Bracket | None) -> Bracket:
        """An estimate stays one, and the upper end's name stands for both."""
        assert found is not None
        own = self.own(asked, at).lower
        return Bracket(max(found.lower, own), found.upper, found.certified, found.method) if own > 0.0 else found


class Epochs(FromBelow):
    """What one shuffled epoch reveals by itself, by a single event (shuffled_event.py)."""

    def epsilon(self, asked: Question, delta: float) -> Bracket:
        epochs = shuffled.epochs(asked.run, asked.neighbouring) if delta else ()
        return Bracket(max((shuffled.epsilon_lower(each, delta) for each in epochs), default=0.0), math.inf, True, "")

    def delta(self, asked: Question, epsilon: float) -> Bracket:
        epochs = shuffled.epochs(asked.run, asked.neighbouring)
        return Bracket(max((shuffled.delta_lower(each, epsilon) for each in epochs), default=0.0), 1.0, True, "")


@dataclass(frozen=True)
class Searches(FromBelow):
    """A Poisson distributed number of runs: all results are equally good and the first is kept, so that with
    probability 1 - e^-mean, which no data change, one run is seen."""

    ask: Ask

    def _of(self, asked: Question) -> Iterator[tuple[float, Question]]:
        for part in rounds_by_step(asked.run):
            if isinstance(part, BestOfSeveral) and part.poisson_mean is not None:
                yield widened_down(-math.expm1(-part.poisson_mean), 2.0**-45), asked.of(part.mechanism)

    def epsilon(self, asked: Question, delta: float) -> Bracket:
        """Of one run, at the share of delta that is left."""
        shares = [(up(delta / some) if delta else 0.0, one) for some, one in self._of(asked)]
        return Bracket(
            max((self.ask(one, at).lower for at, one in shares if at < 1.0), default=0.0), math.inf, True, ""
        )

    def delta(self, asked: Question, epsilon: float) -> Bracket:
        """So much of one run's."""
        found = (down(some * self.ask(one, epsilon).lower) for some, one in self._of(asked))
        return Bracket(max(found, default=0.0), 1.0, True, "")
