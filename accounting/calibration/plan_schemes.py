"""Which sampling scheme needs the least noise, for one batch size, number of epochs and target."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ...mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    Mechanism,
    Poisson,
    RandomAllocation,
    Repeat,
    Shuffled,
    TruncatedPoisson,
)
from ...mechanisms.digits import as_given, rounded_down, rounded_up
from ...mechanisms.epochs import rounds_in
from ...mechanisms.neighbours import Neighbouring, PrivacyNotion, Relation, neighbouring_relation
from ...mechanisms.notebook import InNotebook
from ...mechanisms.text_table import number_tables
from ...mechanisms.validate import InputError, choice, count, delta_below_one, positive
from ..answer import answer, lower_end
from ..bracket import Bracket
from ..quantity import Quantity
from ..question import Question
from ..seconds import timed
from .plan import Progress, watched
from .search import Calibration, Search
from .solve_for import SolveFor

Build = Callable[[float, int, int, int], Mechanism]


def rarely_cut(noise_multiplier: float, population: int, batch_size: int, epochs: int) -> Mechanism:
    """Poisson cohorts cut at four standard deviations above their mean: one in 30,000 is."""
    spread = math.sqrt(batch_size * (1 - batch_size / population))
    largest = min(population, math.ceil(batch_size + 4 * spread))
    cohort = TruncatedPoisson(Gaussian(noise_multiplier), batch_size / population, population, largest)
    return Repeat(cohort, _drawn(population, batch_size, epochs))


def _drawn(population: int, batch_size: int, epochs: int) -> int:
    """Rounds that each draw a cohort: the last one counts whole."""
    return rounds_in(epochs, Fraction(batch_size, population))


def _batches(population: int, batch_size: int) -> int:
    """Of one epoch: the last one may be smaller."""
    return -(-population // batch_size)


RUN_OF_SCHEME: dict[str, Build] = {
    "poisson": lambda z, n, b, epochs: Repeat(Poisson(Gaussian(z), b / n), _drawn(n, b, epochs)),
    "truncated-poisson": rarely_cut,
    "random-allocation": lambda z, n, b, epochs: Repeat(RandomAllocation(Gaussian(z), _batches(n, b), 1), epochs),
    "fixed-size": lambda z, n, b, epochs: Repeat(FixedSize(Gaussian(z), n, b), _drawn(n, b, epochs)),
    "shuffle": lambda z, n, b, epochs: Repeat(Shuffled(Gaussian(z), _batches(n, b), n // b), epochs),
    "cyclic": lambda z, n, b, epochs: Repeat(Cyclic(Gaussian(z), _batches(n, b)), epochs),
}
"""By the name that claims and --sampling use (truncated-poisson: poisson with max_cohort): noise multiplier,
population, batch size and epochs to a run."""
RTOL = 1e-3
"""Of the noise, and of each epsilon on the way."""
ROUGH = 0.05
"""The same where the search begins: ten times faster, and next to where it ends."""
_OF_WIDTH = 0.01
"""How exactly the noise that is needed at least is sought, as a share of how far apart the ends of epsilon are."""


@dataclass(frozen=True, slots=True)
class SchemeOption:
    """What one scheme takes to meet a target.

    calibration: the least noise that meets it for certain. needed: any less noise than this misses it for certain;
    between the two nobody knows. reason: why there is neither, for a relation that the scheme has no analysis for.
    """

    scheme: str
    target_epsilon: float
    calibration: Calibration | None
    needed: float | None
    reason: str = ""

    @property
    def noise(self) -> float:
        """That meets the target for certain; infinite where none is known to."""
        return math.inf if self.calibration is None else self.calibration.value

    def shown(self) -> str:
        """The noise, and what is needed at least where that is apart."""
        if self.calibration is None or self.needed is None:
            return "-"
        least, most = rounded_down(self.needed, 4), rounded_up(self.noise, 4)
        return f"{most}  (at least {least})" if self.noise > 1.01 * self.needed else most

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        found = self.calibration
        return {
            "scheme": self.scheme,
            "target_epsilon": self.target_epsilon,
            "noise_multiplier": None if found is None else found.value,
            "noise_multiplier_lower": self.needed,
            "epsilon_lower": None if found is None else found.epsilon.lower,
            "epsilon_upper": None if found is None else found.epsilon.upper,
            "certified": found is not None and found.epsilon.certified,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class SchemePlan(InNotebook):
    """A table of options: a row per scheme, a column per target. asked: of what run, against whom."""

    options: tuple[SchemeOption, ...]
    asked: dict[str, Any] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        targets = list(dict.fromkeys(each.target_epsilon for each in self.options))
        cells = {(each.scheme, each.target_epsilon): each.shown() for each in self.options}
        rows = [[name, *(cells[name, target] for target in targets)] for name in dict.fromkeys(key[0] for key in cells)]
        titles = [f"epsilon {as_given(target)}" for target in targets]
        words = (
            "The noise multiplier that is guaranteed to meet the target. "
            "In brackets: any smaller value is guaranteed to miss it."
        )
        first = (each for each in self.options if each.target_epsilon == targets[0])
        reasons = [f"{each.scheme}: {each.reason}" for each in first if each.reason]
        return "\n".join(
            [
                number_tables({"header": "scheme"}, titles, rows),
                words,
                *reasons,
                *filter(None, map(self._best, targets)),
            ]
        )

    def _best(self, target: float) -> str:
        """Which scheme needs the least noise, if that is certain."""
        entries = [each for each in self.options if each.target_epsilon == target and each.calibration]
        if not entries:
            return ""
        best = min(entries, key=lambda each: each.noise)
        known = all(best.noise <= (each.needed or 0.0) for each in entries if each is not best)
        words = "needs the least noise" if known else "needs the least noise of what is proved"
        return f"epsilon {as_given(target)}: {best.scheme} {words}"

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        return {"options": [each.to_json() for each in self.options], **self.asked, "seconds": self.seconds}


@timed
def plan_schemes(
    *,
    population: int,
    batch_size: int,
    epochs: int,
    target_epsilons: Sequence[float],
    delta: float,
    schemes: Sequence[str] = tuple(RUN_OF_SCHEME),
    neighbouring: Neighbouring = Relation.ZERO_OUT,
    progress: Progress | None = None,
) -> SchemePlan:
    """The least Gaussian noise multiplier by scheme and target, hidden cohorts, notion "dp"; target by target.

    Where the batch size does not divide the population, rounds are counted as claims count them: a round that was begun
    counts, and the last of an epoch's batches is smaller.
    progress: is told how many of how many options are found, and what is searched.
    Raises InputError, before any work, for values out of range.
    """
    count("population", population)
    passes = count("epochs", epochs)
    delta_below_one("delta", delta)
    if count("batch_size", batch_size) > population:
        raise InputError("batch_size", batch_size, f"at most the population, {population}")
    for scheme in schemes:
        choice("schemes", scheme, tuple(RUN_OF_SCHEME))
    for target in target_epsilons:
        positive("target_epsilons", target)

    relation = neighbouring_relation(neighbouring)
    searched = {scheme: _Searched(scheme, population, batch_size, passes, delta, relation) for scheme in schemes}
    found = (searched[scheme].option(target) for target in target_epsilons for scheme in schemes)
    asked = {"population": population, "batch_size": batch_size, "epochs": passes, "delta": delta}
    works = [f"{scheme}, epsilon {target:g}" for target in target_epsilons for scheme in schemes]
    options = tuple(watched(found, works, progress))
    return SchemePlan(options, asked | {"neighbouring": relation})


@dataclass(frozen=True, slots=True)
class _Searched:
    """One scheme, and the brackets at all noise multipliers tried for it: all targets' searches share them."""

    scheme: str
    population: int
    batch_size: int
    epochs: int
    delta: float
    neighbouring: Relation
    rough: dict[float, Bracket] = field(default_factory=dict)
    seen: dict[float, Bracket] = field(default_factory=dict)
    below: dict[float, Bracket] = field(default_factory=dict)

    def option(self, target: float) -> SchemeOption:
        """The least noise for this target, and the noise that it needs at least."""
        try:
            self._question(1.0, RTOL).pairs()
        except InputError as problem:
            return SchemeOption(self.scheme, target, None, None, str(problem))
        near = Search(self._roughly, SolveFor.NOISE_MULTIPLIER, target, ROUGH, seen=self.rough).found()
        found = Search(self._bracket, SolveFor.NOISE_MULTIPLIER, target, RTOL, seen=self.seen).found(near=near.value)
        return SchemeOption(self.scheme, target, found, self._needed(found))

    def _needed(self, found: Calibration) -> float | None:
        """A noise at which the lower end of epsilon is above the target: with less noise it is larger still."""
        for noise, bracket in (self.rough | self.seen).items():
            self.below.setdefault(noise, replace(bracket, upper=bracket.lower))
        least = max(found.epsilon.lower, 0.1 * found.epsilon.upper)
        gap = max(RTOL, _OF_WIDTH * math.log(found.epsilon.upper / least))
        search = Search(self._from_below, SolveFor.NOISE_MULTIPLIER, found.target, gap, seen=self.below)
        return search.found().beyond

    def _question(self, noise_multiplier: float, rtol: float) -> Question:
        run = RUN_OF_SCHEME[self.scheme](noise_multiplier, self.population, self.batch_size, self.epochs)
        return Question.about(run, Quantity.EPSILON, self.neighbouring, PrivacyNotion.DP, None, "best", rtol)

    def _roughly(self, noise_multiplier: float) -> Bracket:
        return answer(self._question(noise_multiplier, ROUGH), self.delta)

    def _bracket(self, noise_multiplier: float) -> Bracket:
        return answer(self._question(noise_multiplier, RTOL), self.delta)

    def _from_below(self, noise_multiplier: float) -> Bracket:
        return lower_end(self._question(noise_multiplier, RTOL), self.delta)
