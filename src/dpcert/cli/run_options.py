"""The options that training runs share: what dpcert train, dpcert mocha and their experiments say alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
MochaData = Annotated[
    str, typer.Option("--data", help="synthetic[:NAME][,key=value], mat:FILE, har:DIR, vehicle:DIR or gleam:DIR.")
]
SplitFile = Annotated[Path | None, "JSON with train_index_0based, the recorded training samples."]
