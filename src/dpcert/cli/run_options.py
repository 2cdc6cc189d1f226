"""The options that training runs share: what dpcert train, dpcert mocha and their experiments say alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NoiseStd = Annotated[
    float | None,
    typer.Option("--noise-std", help="Instead: standard deviation of the noise on the mean over who takes part."),
]
TargetEpsilon = Annotated[
    float | None,
    typer.Option("--target-epsilon", help="The least noise for which the whole run costs at most this, instead."),
]
Delta = Annotated[float, typer.Option("--delta", help="Target delta.")]
Budget = Annotated[float | None, typer.Option("--budget", help="Stop before epsilon exceeds this.")]
Seed = Annotated[
    int | None,
    typer.Option("--seed", help="Makes the run reproducible, its noise included. Default: a secret one."),
]
MochaData = Annotated[
    str,
    typer.Option("--data", help="synthetic[:NAME][,key=value], mat:FILE, har:DIR, vehicle:DIR or gleam:DIR."),
]
SplitFile = Annotated[
    Path | None,
    typer.Option("--split-file", help="JSON with train_index_0based, the recorded training samples."),
]
