"""Which sampling scheme needs the least noise, for one batch size, number of epochs and target."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    RandomAllocation,
    Repeat,
    Shuffled,
    TruncatedPoisson,
)
from ..mechanisms.validate import choice, count, positive
from .answer import answer
from .bracket import Bracket
from .calibrate import Calibration, Search, calibrate
from .question import Question

Build = Callable[[float, int, int, int], Mechanism]


def rarely_cut(noise_multiplier: float, population: int, batch_size: int, epochs: int) -> Mechanism:
    """Poisson cohorts cut at four standard deviations above their mean: one in 30,000 is."""
    spread = math.sqrt(batch_size * (1 - batch_size / population))
    largest = min(population, math.ceil(batch_size + 4 * spread))
    cohort = TruncatedPoisson(Gaussian(noise_multiplier), batch_size / population, population, largest)
    return Repeat(cohort, epochs * (population // batch_size))


SCHEMES: dict[str, Build] = {
    "poisson": lambda z, n, b, epochs: Repeat(Poisson(Gaussian(z), b / n), epochs * (n // b)),
    "truncated-poisson": rarely_cut,
    "random-allocation": lambda z, n, b, epochs: Repeat(RandomAllocation(Gaussian(z), n // b, 1), epochs),
    "fixed-size": lambda z, n, b, epochs: Repeat(FixedSize(Gaussian(z), n, b), epochs * (n // b)),
    "shuffle": lambda z, n, b, epochs: Repeat(Shuffled(Gaussian(z), n // b), epochs),
    "cyclic": lambda z, n, b, epochs: Repeat(Cyclic(Gaussian(z), n // b), epochs),
}
"""By the name that claims and --sampling use (truncated-poisson: poisson with max_cohort): noise multiplier,
population, batch size and epochs to a run."""
RTOL = 1e-3
"""Of the noise, and of each epsilon on the way."""


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


def plan_schemes(
    *,
    population: int,
    batch_size: int,
    epochs: int,
    target_epsilons: Sequence[float],
    delta: float,
    schemes: Sequence[str] = tuple(SCHEMES),
    neighbouring: Neighbouring = "zero-out",
) -> Iterator[SchemeOption]:
    """The least Gaussian noise multiplier by scheme and target, hidden cohorts, notion "dp"; target by target.

    Raises InputError, before any work, for a batch size that does not divide the population and values out of range.
    """
    count("population", population)
    count("epochs", epochs)
    if population % count("batch_size", batch_size):
        raise InputError("batch_size", batch_size, f"a divisor of the population, {population}: batches of equal size")
    for scheme in schemes:
        choice("schemes", scheme, tuple(SCHEMES))
    for target in target_epsilons:
        positive("target_epsilons", target)

    def option(scheme: str, target: float) -> SchemeOption:
        def build(noise_multiplier: float) -> Mechanism:
            return SCHEMES[scheme](noise_multiplier, population, batch_size, epochs)

        try:
            Question.about(build(1.0), "epsilon", neighbouring, "dp", None, "best", RTOL).pairs()
        except InputError as problem:
            return SchemeOption(scheme, target, None, None, str(problem))
        found = calibrate(
            build, solve_for="noise_multiplier", epsilon=target, delta=delta, neighbouring=neighbouring, rtol=RTOL
        )
        needed = found.beyond if found.epsilon.narrower_than(2 * RTOL) else _needed(build, target, delta, neighbouring)
        return SchemeOption(scheme, target, found, needed)

    return (option(scheme, target) for target in target_epsilons for scheme in schemes)


def _needed(
    build: Callable[[float], Mechanism], target: float, delta: float, neighbouring: Neighbouring
) -> float | None:
    """A noise at which the lower end of epsilon is above the target; with less noise it is larger still."""

    def lower_end(noise_multiplier: float) -> Bracket:
        question = Question.about(build(noise_multiplier), "epsilon", neighbouring, "dp", None, "best", RTOL)
        found = answer(question, delta)
        return Bracket(found.lower, found.lower, found.certified, found.method)

    return Search(lower_end, "noise_multiplier", target, RTOL).from_start(math.inf).beyond
