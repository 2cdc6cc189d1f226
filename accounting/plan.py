"""What privacy costs in noise: the trade-off between target epsilon and cohort, before anything is trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal

from ..mechanisms import FixedSize, Gaussian, InputError, Mechanism, Neighbouring, Notion, Poisson, Repeat, Visibility
from ..mechanisms.validate import choice, count
from .calibrate import Calibration, calibrations
from .rounding import UNIT, widened_up

Sampling = Literal["poisson", "fixed-size"]
SAMPLINGS: tuple[Sampling, ...] = ("poisson", "fixed-size")


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


def plan(
    *,
    population: int,
    rounds: int,
    cohorts: Sequence[int],
    target_epsilons: Sequence[float],
    delta: float,
    sampling: Sampling = "poisson",
    neighbouring: Neighbouring | None = None,
    notion: Notion = "dp",
    participation: Visibility | None = None,
) -> Iterator[Option]:
    """The least noise for each cohort and target epsilon, cohort by cohort; every option meets its target for certain.

    Raises InputError, before any work, for a cohort above the population and other values out of range.
    """
    count("population", population)
    count("rounds", rounds)
    choice("sampling", sampling, SAMPLINGS)
    for cohort in cohorts:
        if count("cohort", cohort) > population:
            raise InputError("cohort", cohort, f"at most the population, {population}")

    def run(noise_multiplier: float, cohort: int) -> Mechanism:
        base = Gaussian(noise_multiplier)
        sampled = Poisson(base, cohort / population) if sampling == "poisson" else FixedSize(base, population, cohort)
        return Repeat(sampled, rounds)

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

    return chain.from_iterable(map(options, cohorts))
