"""The options that training runs share: what dpcert train, dpcert mocha and their experiments say alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ..presentation.output import Result, show
from . import INTERRUPTED

Model = Annotated[str | None, "logistic, mlp or cnn. Default: logistic; mlp for dpfedmtl."]
BatchSize = Annotated[int, "Samples per step."]
Strength = Annotated[
    float, typer.Option("--lambda", help="Strength of the penalty that pulls personal models towards the shared model.")
]
Regulariser = Annotated[float, typer.Option("--lambda", help="Strength of the regulariser.")]
NoiseMultiplier = Annotated[
    float | None, "Standard deviation of the noise on the sum of updates, divided by --clip-norm."
]
NoiseStd = Annotated[
    float | None,
    "Instead of --noise-multiplier: standard deviation of the noise on the mean over the clients of a round.",
]
TargetEpsilon = Annotated[
    float | None, "Instead of noise: use the least noise for which the whole run has at most this epsilon."
]
Delta = Annotated[float, "Target delta."]
Budget = Annotated[float | None, "Stop the run before its epsilon exceeds this."]
Seed = Annotated[int | None, "Makes the run reproducible, including its noise. Default: a secret seed."]
Data = Annotated[
    str, "synthetic[:NAME][,key=value], leaf:PATH, stackoverflow:PATH, csv:PATH, parquet:PATH or store:PATH."
]
MochaData = Annotated[
    str, typer.Option("--data", help="synthetic[:NAME][,key=value], mat:FILE, har:DIR, vehicle:DIR or gleam:DIR.")
]
Device = Annotated[str, "auto, cpu or cuda."]
SplitFile = Annotated[Path | None, "JSON with train_index_0based, the recorded training samples."]


@contextmanager
def said_when_stopped(known: Callable[[], Result], as_json: bool, by: bool = True) -> Iterator[None]:
    """known: what is said, as text or as the one JSON document; by: whether this process is the one that says it.
    Leaves with typer.Exit."""
    try:
        yield
    except KeyboardInterrupt:
        if by:
            show(known(), as_json)
        raise typer.Exit(INTERRUPTED) from None
