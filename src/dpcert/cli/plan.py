"""dpcert plan: how much noise every cohort and target epsilon would take, as a table and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ..accounting.calibration.plan import NoisePlan, plan
from ..accounting.calibration.plan_schemes import RUN_OF_SCHEME, SchemePlan, plan_schemes
from ..mechanisms import InputError
from ..mechanisms.text_input import numbers
from ..mechanisms.validate import count, positive
from ..presentation.output import show
from ..presentation.plots import draw_plan, draw_schemes, drawable
from ..presentation.progress import bar
from . import options
from .declared import with_fields
from .setting import as_option, required


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be compared; the fields are the options, in the order of --help."""

    population: options.Population = None
    rounds: options.Rounds = None
    epochs: options.Epochs = None
    delta: options.Delta = None
    epsilons: Annotated[str, "Target epsilons, such as 1,2,4."] = "1,2,4,8"
    cohorts: Annotated[str | None, "Cohort sizes to compare, such as 100,300,1000. Default: six sizes."] = None
    sampling: Annotated[str, "poisson or fixed-size."] = "poisson"
    clip_norm: Annotated[float, "Clipping bound, to which the noise on the mean is proportional."] = 1.0
    neighbouring: options.Neighbouring = None
    notion: options.Notion = "dp"
    participation: options.Participation = None
    schemes: Annotated[str | None, "Compare sampling schemes instead: all, or a list such as poisson,shuffle."] = None
    batch_size: Annotated[
        int | None, "Units per batch: plans this cohort size alone; with --schemes, for each of them."
    ] = None
    plot: Annotated[Path | None, "Write a plot of the table to this image file (needs matplotlib)."] = None

    def targets(self) -> tuple[float, ...]:
        """The epsilons."""
        return tuple(positive("epsilons", target) for target in numbers("--epsilons", self.epsilons))

    def sizes(self) -> tuple[int, ...]:
        """The cohorts as given, or six powers of ten and their halves up to the population."""
        population = count("population", self.population)
        if self.batch_size is not None:
            return (count("batch_size", self.batch_size),)
        if self.cohorts is not None:
            return tuple(count("cohorts", size) for size in numbers("--cohorts", self.cohorts))
        shares = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
        return tuple(dict.fromkeys(max(1, round(share * population)) for share in shares))


@with_fields(Asked)
def plan_command(asked: Asked, as_json: options.Json = False) -> None:
    """With --schemes: the least noise multiplier for each sampling scheme, for one batch size and number of epochs.

    Example: dpcert plan --population 100000 --rounds 1000 --delta 1e-6 --epsilons 1,3,8 --plot plan.png

    Example: dpcert plan --dataset-size 60000 --batch-size 256 --epochs 5 --delta 1e-5 --schemes all --epsilons 2
    """
    drawable(asked.plot)
    found = _noise(asked) if asked.schemes is None else _schemes(asked.schemes, asked)
    if asked.plot is not None:
        draw_plan(found, asked.plot) if isinstance(found, NoisePlan) else draw_schemes(found, asked.plot)
    show(found, as_json)


def _schemes(named: str, asked: Asked) -> SchemePlan:
    sizes = asked.population, asked.batch_size, asked.epochs, asked.delta
    return compared(named, asked.targets(), *sizes, asked.neighbouring)


def _noise(asked: Asked) -> NoisePlan:
    """By cohort, with a bar."""
    if asked.batch_size is not None and asked.cohorts is not None:
        raise InputError(
            "--batch-size",
            asked.batch_size,
            "to be left out beside --cohorts: it means one cohort size, --cohorts a list",
        )
    length = asked.rounds if asked.epochs is None else asked.epochs
    required(population=asked.population, rounds=length, delta=asked.delta)
    positive("clip_norm", asked.clip_norm)
    with bar("planning") as progress:
        return plan(
            population=asked.population or 0,
            rounds=asked.rounds,
            epochs=asked.epochs,
            cohorts=asked.sizes(),
            target_epsilons=asked.targets(),
            delta=asked.delta or 0.0,
            sampling=asked.sampling,  # type: ignore[arg-type]
            neighbouring=asked.neighbouring,  # type: ignore[arg-type]
            notion=asked.notion,  # type: ignore[arg-type]
            participation=asked.participation,  # type: ignore[arg-type]
            clip_norm=asked.clip_norm,
            progress=progress,
        )


def compared(
    schemes: str,
    targets: Sequence[float],
    population: int | None,
    batch_size: int | None,
    epochs: float | None,
    delta: float | None,
    neighbouring: str | None,
) -> SchemePlan:
    """The plan. Raises InputError, naming the option."""
    required(population=population, batch_size=batch_size, epochs=epochs, delta=delta)
    with bar("planning") as progress:
        try:
            return plan_schemes(
                population=population or 0,
                batch_size=batch_size or 0,
                epochs=epochs or 0,  # type: ignore[arg-type] # which checks it
                delta=delta or 0.0,
                target_epsilons=targets,
                schemes=tuple(RUN_OF_SCHEME) if schemes == "all" else tuple(schemes.split(",")),
                neighbouring=neighbouring or "zero-out",  # type: ignore[arg-type] # which checks it
                progress=progress,
            )
        except InputError as problem:
            raise as_option(problem) from None
