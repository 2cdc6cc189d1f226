"""What a bracket answers, in words and as plain data: a quantity at a place, of which run, against whom."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..mechanisms import (
    BallsInBins,
    Cyclic,
    FixedSize,
    Mechanism,
    MinSeparated,
    NoNoise,
    Notion,
    Poisson,
    RandomAllocation,
    Shuffled,
    TruncatedPoisson,
    WithReplacement,
    rounds_by_step,
)
from ..mechanisms.composition import parts_of
from ..mechanisms.digits import as_given, digits_for, interval, rounded_down, rounded_up
from .accountants import CENTRAL_LIMIT
from .bracket import Bracket
from .currencies.gdp import error_bar
from .currencies.pure_dp import UNBOUNDED
from .pricing.cut_cohorts import cut_law
from .quantity import Quantity
from .question import Question

_OFTEN_FULL = 0.05
"""Share of rounds with a full cohort above which that is why the ends are apart."""

WITHOUT_NOISE = "there is no noise: the release reveals exactly what each unit that takes part contributed"
"""Why an epsilon is infinite, or a delta the probability of taking part."""

NAME_OF_SCHEME: dict[type[Mechanism], str] = {
    Poisson: "poisson",
    TruncatedPoisson: "poisson",
    FixedSize: "fixed-size",
    Shuffled: "shuffle",
    Cyclic: "cyclic",
    RandomAllocation: "random-allocation",
    BallsInBins: "balls-in-bins",
    MinSeparated: "min-separated",
    WithReplacement: "with-replacement",
}
"""As claims, --sampling and logs of schedules call them."""


@dataclass(frozen=True)
class BracketReport:
    """Of a bracket. at: the delta (of epsilon) or epsilon (of delta). seconds: that it took."""

    question: Question
    at: float
    notion: Notion
    seconds: float

    @cached_property
    def _parts(self) -> tuple[Mechanism, ...]:
        """The run's releases, and what says who is drawn for them."""
        return tuple(part for step in rounds_by_step(self.question.run) for part in parts_of(step))

    @property
    def sampling(self) -> str:
        """How the units of a round are chosen, as claims call it."""
        named = dict.fromkeys(NAME_OF_SCHEME[type(part)] for part in self._parts if type(part) in NAME_OF_SCHEME)
        return ", ".join(named) or "none"

    @property
    def without_noise(self) -> bool:
        """Whether something is released as it is."""
        return any(isinstance(part, NoNoise) for part in self._parts)

    def words(self, found: Bracket) -> str:
        """The bracket as the command line prints it."""
        question = self.question
        first = f"{question.quantity} in {interval(found, digits_for(question.rtol))} at {question.quantity.place}"
        cut = [f", cohorts cut to {part.max_cohort}" for part in self._parts if isinstance(part, TruncatedPoisson)]
        against = f"{self.notion}, {question.neighbouring}, sampling {self.sampling}{''.join(dict.fromkeys(cut))}"
        how = f"{found.kind}, by {found.method}, in {self.seconds:.3g} s; {against}"
        return "\n  ".join([f"{first} = {as_given(self.at)}", how, *self._remarks(found)])

    def _remarks(self, found: Bracket) -> Iterator[str]:
        if found.certified and not found.reached and math.isfinite(found.upper):
            yield self._gap(found)
        if bar := self._error_bar(found):
            least, most = rounded_down(bar["delta_lower"], 3), rounded_up(bar["delta_upper"], 3)
            yield (
                f"error bar (Berry-Esseen, moments in double precision): delta between {least} and {most} at epsilon = "
                f"{bar['epsilon']:.6g}"
            )
        if self.without_noise:
            yield WITHOUT_NOISE
        if self.question.quantity == Quantity.EPSILON and self.at == 0.0 and math.isinf(found.upper):
            yield UNBOUNDED

    def _gap(self, found: Bracket) -> str:
        """Why the ends are further apart than was asked for."""
        if found.lower == 0.0:
            return "Nothing better than 0 is known for the lower end (KNOWN_LIMITS.md)."
        share = 100 * found.width / found.upper
        apart = f"The ends are {min(share, 99.9):.{2 if share < 99 else 3}g}% apart"
        times = max((part.participations for part in self._parts if isinstance(part, RandomAllocation)), default=1)
        if times > 1:
            return f"{apart}: the upper end treats each block as {times} smaller ones."
        full = max((cut_law(part).full for part in self._parts if isinstance(part, TruncatedPoisson)), default=0.0)
        if full > _OFTEN_FULL:
            share_of_rounds = f"in {100 * full:.2g}% of the rounds the other units alone fill the cohort"
            return f"{apart}: {share_of_rounds}. The ends are closer if cohorts are cut at a larger size."
        return f"{apart}: dpcert knows no closer bounds (KNOWN_LIMITS.md)."

    def _error_bar(self, found: Bracket) -> dict[str, Any]:
        """Between what deltas the Berry-Esseen theorem leaves the truth, where the central limit was asked for."""
        epsilon = found.upper if self.question.quantity == Quantity.EPSILON else self.at
        if found.certified or not self.question.asks_alone(CENTRAL_LIMIT) or math.isinf(epsilon):
            return {}
        bars = [error_bar(product, epsilon) for product in self.question.pairs().upper]
        ends = {"delta_lower": max(bar.lower for bar in bars), "delta_upper": max(bar.upper for bar in bars)}
        return ends | {"epsilon": epsilon, "certified": False, "by": bars[0].method}

    def to_json(self, found: Bracket) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        question, bar = self.question, self._error_bar(found)
        against = {"notion": self.notion, "neighbouring": question.neighbouring, "sampling": self.sampling}
        ends = {f"{question.quantity}_lower": found.lower, f"{question.quantity}_upper": found.upper}
        known = found.to_json(question.quantity)
        document = ends | {question.quantity.place: self.at} | against | known | {"seconds": self.seconds}
        reason = {"reason": WITHOUT_NOISE} if self.without_noise else {}
        return document | ({"error_bar": bar} if bar else {}) | reason
