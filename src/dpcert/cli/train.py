"""dpcert train: one run of a federated algorithm, its options, and what an algorithm has no use for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..mechanisms import InputError
from ..mechanisms.validate import choice, count
from ..presentation.output import say
from ..trainers.names import ALGORITHMS, METHODS, UNRELATED
from . import options, run_options
from .declared import Read, keyed

ENGINE: dict[str, Read] = {
    "dtype": str,
    "solver": str,
    "chunk": int,
    "noise-source": str,
    "shards": int,
    "threads": int,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One run; the fields are the options, in the order of --help."""

    algorithm: Annotated[str, typer.Argument(metavar="ALGORITHM", help="One of " + ", ".join(ALGORITHMS) + ".")]
    model: run_options.Model = None
    rounds: Annotated[int, "Rounds of communication."] = 100
    cohort: Annotated[
        int | None, "Expected number of clients per round. Default: 100, or all clients where there are fewer."
    ] = None
    sampling: Annotated[
        str,
        "poisson, fixed-size, random-allocation, shuffle, cyclic (an epoch is clients / cohort rounds, "
        "rounded up) or full.",
    ] = "poisson"
    max_cohort: Annotated[int | None, "Poisson: larger cohorts are cut at random to this size."] = None
    learning_rate: Annotated[
        str,
        typer.Option(
            metavar="RATE[,SCHEDULE]",
            help="Learning rate of the clients' SGD. It may fall over rounds: 0.1,halving:N or 0.1,inverse:N. Not for "
            "dpfedmtl.",
        ),
    ] = "0.1"
    local_epochs: Annotated[int | None, "Passes over a client's samples per round. Default: 1."] = None
    local_steps: Annotated[int | None, "Number of local steps per round, instead of --local-epochs."] = None
    batch_size: run_options.BatchSize = 10
    strength: run_options.Strength = 1.0
    own: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the algorithm's own; repeatable. pp-sgd: alpha (local over global learning rate). "
            "clustered-pmtl: clusters (a number, or a JSON file of cluster numbers). fixed-omega: omega "
            "(mean-regularised, or a .npy or .csv matrix). dpfedmtl: head-layers (that stay with the clients), "
            "label-sets (all or own), aggregation-interval (H).",
        ),
    ] = None
    finetune: Annotated[
        str | None,
        typer.Option(
            metavar="KIND[,KEY=VALUE]",
            help="What clients do alone after training: vanilla, mean-regularised, symmetrised-kl or ewc; "
            "strength=1 of its penalty, epochs=5 over a client's samples.",
        ),
    ] = None
    clip_norm: Annotated[float | None, "Bound on one client's update (dpfedmtl: on its gradient)."] = None
    clipping: Annotated[str, "flat, per-layer or adaptive."] = "flat"
    noise_multiplier: run_options.NoiseMultiplier = None
    noise_std: run_options.NoiseStd = None
    sigma: Annotated[float | None, "dpfedmtl: the paper's sigma, instead of --noise-multiplier."] = None
    target_epsilon: run_options.TargetEpsilon = None
    delta: run_options.Delta = 1e-5
    neighbouring: Annotated[
        str | None,
        "replace-one, zero-out or add-remove. Default: replace-one where the others see who takes part "
        "(billboard privacy), add-remove for dp.",
    ] = None
    budget: run_options.Budget = None
    data: run_options.Data = "synthetic"
    seed: run_options.Seed = None
    device: run_options.Device = "auto"
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="How it is computed; repeatable. dtype: float32, float64 or bfloat16 (of local steps). "
            "solver: auto, loop, vmap, stacked, compiled or dual. chunk: clients "
            "computed together. noise-source: auto, host or device. shards: units of work that processes share "
            "(1; under torchrun 12, or the next multiple of the processes). threads: of the CPU (1).",
        ),
    ] = None
    checkpoint: Annotated[Path | None, "Folder in which every round is saved, and from which a run resumes."] = None
    evaluate_every: Annotated[int, "Rounds between evaluations; 0 means at the end only."] = 0
    evaluate_clients: Annotated[
        int | None, "Evaluate only this many clients, drawn by the seed; 0 means none. Default: all."
    ] = None
    plot: Annotated[Path | None, "Write a plot of loss, accuracy and certified epsilon per round to this file."] = None
    save: Annotated[
        Path | None, "Save the released model, a torch state_dict, to this file; personal models stay private."
    ] = None
    attest: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write an attestation into this folder, with the model, claim, schedule log and ledger.",
        ),
    ] = None
    key: Annotated[Path | None, typer.Option(metavar="KEY.pem", help="Sign the attestation with this private key.")] = (
        None
    )
    schedule_log: Annotated[
        Path | None, "Write who took part in which round to this file, for dpcert audit --schedule. Keep it secret."
    ] = None
    quiet: options.Quiet = False

    def rate(self) -> float:
        """The learning rate of the first round."""
        text = self.learning_rate.partition(",")[0]
        try:
            return float(text)
        except ValueError:
            raise InputError("--learning-rate", self.learning_rate, "a number") from None

    def schedule(self) -> str:
        """How it falls."""
        return self.learning_rate.partition(",")[2] or "constant"

    def machine(self) -> dict[str, Any]:
        """What --engine says."""
        return keyed("--engine", self.engine, ENGINE, "the engine")

    def settings(self) -> dict[str, Any]:
        """What --set says."""
        return keyed("--set", self.own, ALGORITHMS.get(self.algorithm, {}), self.algorithm)


def checked(asked: Asked) -> None:
    """InputError for another algorithm than there is, and for settings that it has not; of lambda only a warning, which
    comparisons give to all algorithms alike."""
    if asked.algorithm in METHODS:
        raise InputError("ALGORITHM", asked.algorithm, f"an algorithm of this command: dpcert mocha {asked.algorithm}")
    choice("ALGORITHM", asked.algorithm, ALGORITHMS)
    asked.settings()
    count("--engine threads", asked.machine().get("threads", 1))
    if asked.strength != 1.0 and asked.algorithm in UNRELATED:
        say(f"warning: --lambda {asked.strength} is not used: {asked.algorithm} has none", err=True)
    if asked.cohort is not None and asked.sampling == "full":
        say(f"warning: --cohort {asked.cohort} is not used: with --sampling full everybody takes part", err=True)
    if asked.local_steps is not None and asked.local_epochs is not None:
        raise InputError("--local-epochs", asked.local_epochs, "either --local-steps or --local-epochs")
