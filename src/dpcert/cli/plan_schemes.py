"""Which sampling scheme needs the least noise: `dpcert plan --schemes` and `dpcert calibrate --schemes`."""

from __future__ import annotations

from collections.abc import Sequence

from ..accounting.calibration.plan_schemes import RUN_OF_SCHEME, SchemePlan, plan_schemes
from ..mechanisms import InputError
from ..presentation.progress import bar
from .setting import as_option, required


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
