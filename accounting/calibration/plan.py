"""What privacy costs in noise: the trade-off between target epsilon and cohort, before anything is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, repeat
from typing import Any, Literal, TypeVar

from ...mechanisms import FixedSize, Gaussian, Mechanism, Poisson, Repeat
from ...mechanisms.digits import as_given, rounded_up
from ...mechanisms.epochs import rounds_in
from ...mechanisms.neighbours import Neighbouring, Notion, PrivacyNotion, Visibility, relation_meant
from ...mechanisms.notebook import InNotebook
from ...mechanisms.text_table import number_tables
from ...mechanisms.validate import InputError, count, positive
from ...mechanisms.word import Word
from ..rounding import UNIT, widened_up
from ..seconds import timed
from .calibrate import calibrations
from .search import Calibration

Found = TypeVar("Found")
Progress = Callable[[int, int, str], None]


class CohortSampling(Word):
    """How a round's cohort is drawn."""

    POISSON = "poisson"
    FIXED_SIZE = "fixed-size"

    def round_of(self, base: Mechanism, population: int, cohort: int) -> Mechanism:
        """One round, whose cohort has this size; in the mean, under Poisson sampling."""
        poisson = self == CohortSampling.POISSON
        return Poisson(base, cohort / population) if poisson else FixedSize(base, population, cohort)


@dataclass(frozen=True, slots=True)
class Option:
    """One way to meet a target.

    noise_on_mean: noise multiplier / cohort, the standard deviation of the noise on the mean in units of clip_norm:
    what an update's usefulness is weighed against.
    """

    cohort: int
    target_epsilon: float
    calibration: Calibration

    @property
    def noise_multiplier(self) -> float:
        """The least that meets the target."""
        return self.calibration.value

    @property
    def noise_on_mean(self) -> float:
        """noise_multiplier / cohort, rounded up: with it, too, the target is met."""
        return widened_up(self.calibration.value / self.cohort, 2 * UNIT)


@dataclass(frozen=True, slots=True)
class NoisePlan(InNotebook):
    """A table of options: a row per cohort, a column per target. clip_norm: the unit of the noise on the mean.
    asked: of what run, against whom."""

    options: tuple[Option, ...]
    clip_norm: float = 1.0
    asked: dict[str, Any] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        cells = {(each.cohort, each.target_epsilon): self._cell(each) for each in self.options}
        cohorts = dict.fromkeys(cohort for cohort, _ in cells)
        targets = dict.fromkeys(target for _, target in cells)
        rows = [[str(cohort), *(cells[cohort, target] for target in targets)] for cohort in cohorts]
        table = number_tables("cohort", [f"epsilon {as_given(target)}" for target in targets], rows)
        words = "noise multiplier (and standard deviation of the noise on the mean): the least that meets the target"
        return f"{table}\n{words}"

    def _cell(self, option: Option) -> str:
        noise = rounded_up(option.noise_multiplier, 5)
        return f"{noise}  ({rounded_up(option.noise_on_mean * self.clip_norm, 3)})"

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        options = [self._row(option) for option in self.options]
        return {"clip_norm": self.clip_norm, "options": options, **self.asked, "seconds": self.seconds}

    def _row(self, option: Option) -> dict[str, Any]:
        bracket = option.calibration.epsilon
        return {
            "cohort": option.cohort,
            "target_epsilon": option.target_epsilon,
            "noise_multiplier": option.noise_multiplier,
            "noise_std": option.noise_on_mean * self.clip_norm,
            "epsilon_lower": bracket.lower,
            "epsilon_upper": bracket.upper,
            "certified": bracket.certified,
        }


@timed
def plan(
    *,
    population: int,
    rounds: int | None = None,
    epochs: float | None = None,
    cohorts: Sequence[int],
    target_epsilons: Sequence[float],
    delta: float,
    sampling: CohortSampling | Literal["poisson", "fixed-size"] = CohortSampling.POISSON,
    neighbouring: Neighbouring | None = None,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    clip_norm: float = 1.0,
    progress: Progress | None = None,
) -> NoisePlan:
    """The least noise for each cohort and target epsilon, cohort by cohort; every option meets its target for certain.

    rounds: as many for each cohort; or epochs: as many passes over the population, a round that was begun included.
    sampling: "poisson" or "fixed-size". clip_norm: the unit of the noise on the mean.
    progress: is told how many of how many options are found, and what is searched.
    Raises InputError, before any work, for a cohort above the population and other values out of range.
    """
    count("population", population)
    if (rounds is None) == (epochs is None):
        raise InputError("rounds", rounds, "either rounds or epochs")
    if rounds is not None:
        count("rounds", rounds)
    if epochs is not None:
        positive("epochs", epochs)
    sampling = CohortSampling.named("sampling", sampling)
    positive("clip_norm", clip_norm)
    for cohort in cohorts:
        if count("cohorts", cohort) > population:
            raise InputError("cohorts", cohort, f"at most the population, {population}")

    def run(noise_multiplier: float, cohort: int) -> Mechanism:
        one = sampling.round_of(Gaussian(noise_multiplier), population, cohort)
        return Repeat(one, rounds_in(epochs, Fraction(cohort, population)) if rounds is None else rounds)  # type: ignore[arg-type] # one of them

    def options(cohort: int) -> Iterator[Option]:
        found = calibrations(
            lambda noise_multiplier: run(noise_multiplier, cohort),
            solve_for="noise_multiplier",
            epsilons=target_epsilons,
            delta=delta,
            neighbouring=neighbouring,
            notion=notion,
            participation=participation,
        )
        return map(Option, repeat(cohort), target_epsilons, found)

    length: dict[str, object] = {"rounds": rounds} if epochs is None else {"epochs": epochs}
    relation = relation_meant(neighbouring, notion, participation)
    against = {"neighbouring": relation, "notion": notion, "participation": participation}
    asked = {"population": population, **length, "delta": delta, "sampling": sampling, **against}
    found = chain.from_iterable(map(options, cohorts))
    works = [f"cohort {cohort}, epsilon {target:g}" for cohort in cohorts for target in target_epsilons]
    return NoisePlan(tuple(watched(found, works, progress)), clip_norm, asked)


def watched(found: Iterator[Found], works: Sequence[str], progress: Progress | None) -> Iterator[Found]:
    """The same; progress is told of each before it is searched."""
    for done, work in enumerate(works):
        if progress is not None:
            progress(done, len(works), work)
        yield next(found)
