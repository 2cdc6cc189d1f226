"""The options that the runs of an experiment share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from . import options, run_options

Seed = Annotated[int, "The first of the seeds."]
Seeds = Annotated[int, "How many seeds."]
Out = Annotated[
    Path | None, typer.Option(help="Folder of the results, to resume from. Default: sweep-NAME.", show_default=False)
]


@dataclass(frozen=True, slots=True)
class Federated:
    """What all runs of an experiment share; the fields are the options, in the order of --help."""

    model: run_options.Model = None
    rounds: Annotated[int, "Rounds of communication per run."] = 100
    cohort: Annotated[int, "Clients per round (expected)."] = 100
    sampling: Annotated[str, "poisson, fixed-size, random-allocation, shuffle, cyclic or full."] = "poisson"
    learning_rate: Annotated[float, "Learning rate of the clients' SGD."] = 0.1
    local_epochs: Annotated[int, "Passes over a client's samples per round."] = 1
    batch_size: run_options.BatchSize = 10
    strength: run_options.Strength = 1.0
    finetune_strength: Annotated[float, "Weight of the fine-tuning penalty."] = 1.0
    finetune_epochs: Annotated[int, "Passes over a client's samples in fine-tuning."] = 5
    clip_norm: Annotated[float, "Bound on one client's update."] = 1.0
    noise_multiplier: run_options.NoiseMultiplier = None
    epsilons: Annotated[
        str | None, "Such as 1,2,8: in place of the experiment's amounts of noise, the least that costs at most these."
    ] = None
    delta: run_options.Delta = 1e-5
    neighbouring: Annotated[str, "replace-one, zero-out or add-remove."] = "replace-one"
    data: run_options.Data = "synthetic"
    seed: Seed = 0
    seeds: Seeds = 3
    device: run_options.Device = "auto"
    dtype: Annotated[str, "float32, float64 or bfloat16 (of local steps)."] = "float32"
    solver: Annotated[str, "auto, loop, vmap, stacked, compiled or dual."] = "auto"
    threads: Annotated[int, "CPU threads of each process."] = 1
    jobs: Annotated[int, "Processes that train at once, on a GPU too."] = 1
    quick: Annotated[bool, "One seed of at most 10 rounds; fair: few trials."] = False
    out: Out = None
    quiet: options.Quiet = False


@dataclass(frozen=True, slots=True)
class Mocha:
    """What all runs of one of MOCHA's experiments share."""

    data: run_options.MochaData = "synthetic"
    split_file: run_options.SplitFile = None
    strength: run_options.Regulariser = 1.0
    seed: Seed = 0
    seeds: Seeds = 3
    quick: Annotated[bool, "One seed and a fiftieth of the rounds."] = False
    out: Out = None
    quiet: options.Quiet = False


@dataclass(frozen=True, slots=True)
class DataAlone:
    """What a table of a data set's sizes needs; nothing is trained."""

    data: Annotated[str, "As for training (dpfedmtl-table1), or as for mocha (mocha-sizes)."] = "synthetic"
    split_file: run_options.SplitFile = None
    seed: Annotated[int, "Of the split, and of synthetic data."] = 0


@dataclass(frozen=True, slots=True)
class Curves:
    """What trade-off curves need; nothing is trained."""

    quick: Annotated[bool, "Two of the four sigmas, at fewer errors: seconds."] = False
    out: Out = None
    quiet: options.Quiet = False
