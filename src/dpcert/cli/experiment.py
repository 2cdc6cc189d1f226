"""dpcert experiment: the papers' tables and figures as grids of runs, each a command with the options that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

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


EXPERIMENTS: dict[type[Any], dict[str, str]] = {
    Federated: {
        "fair": "Every method with its settings tuned on validation data, without noise and at several epsilons.",
        "privacy-utility": "Accuracy against epsilon (PMTL, Figures 1, 3 and 7).",
        "rounds": "Loss and epsilon against rounds (PMTL, Figure 2).",
        "combinations": "One epsilon from several amounts of noise and clip norms (PMTL, Figures 4 to 6).",
        "finetuning": "Fine-tuning by four objectives, and local training (PMTL, Tables 1 and 3).",
        "pp-sgd": "PP-SGD against PMTL over epsilon (PMTL, Figure 8).",
        "dpfedmtl": "Accuracy against sigma, with and without heads (DPFedMTL, Tables 2 and 3).",
        "dpfedmtl-rounds": "Loss by round, with and without heads and noise (DPFedMTL, Figure 4).",
    },
    Mocha: {
        "mocha-table1": "Error of global, local and multi-task SVMs, lambda by cross-validation, "
        "every seed with a split of its own.",
        "mocha-table4": "The same on highly skewed data: some tasks keep a hundredth "
        "of their samples (MOCHA, appendix, Table 4).",
        "mocha-figure1": "Sub-optimality by round and work, for each method (MOCHA, Figure 1).",
        "mocha-figure2": "The same with nodes that do a random share of the work (MOCHA, Figure 2).",
        "mocha-figure3": "The same with nodes that drop out (MOCHA, Figure 3).",
        "mocha-private": "Private rounds: accuracy against noise (ours, no experiment of the paper).",
    },
    DataAlone: {
        "dpfedmtl-table1": "How many samples clients have, beside the paper's data (DPFedMTL, Table 1).",
        "mocha-sizes": "How many samples tasks have, beside the paper's data; also highly skewed (MOCHA, appendix).",
    },
    Curves: {
        "dpfedmtl-figure3": "Trade-off curves: the paper's limit beside certified bounds (DPFedMTL, Figure 3).",
    },
}
"""What each is, by the options that it has."""

SETS = {
    "fair": ("strength", "clip_norm", "learning_rate", "rounds", "noise_multiplier"),
    "combinations": ("noise_multiplier", "clip_norm", "epsilons"),
    **dict.fromkeys(("privacy-utility", "pp-sgd", "dpfedmtl", "dpfedmtl-rounds"), ("noise_multiplier",)),
    **dict.fromkeys(("mocha-table1", "mocha-table4"), ("split_file", "strength")),
    "dpfedmtl-table1": ("split_file",),
}
"""The options that an experiment sets for itself."""
