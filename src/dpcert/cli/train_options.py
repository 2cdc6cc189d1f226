"""The options of dpcert train, by what they are about: each class lists the names, types, help and defaults of some."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, get_type_hints

import typer

from . import options

ALGORITHMS = (
    "pmtl",
    "pmtl-as-printed",
    "pmtl-increments",
    "dp-fedavg",
    "dp-fedprox",
    "local",
    "naive-joint",
    "ditto",
    "pp-sgd",
    "clustered-pmtl",
    "fixed-omega",
    "dpfedmtl",
    "dpfedmtl-local-noise",
    "dpfedmtl-clipped",
    "dpfedmtl-as-printed",
)
"""Those of trainers.build, named here because the help must not load torch."""

MOCHA_FAMILY = ("mocha", "mocha-alternating", "cocoa", "mb-sdca", "mb-sgd")
"""Those of trainers.mocha, likewise."""

ROUNDS = 100
"""Of every algorithm but the MOCHA family, which stops on its duality gap."""


class What:
    """What is trained on what."""

    algorithm: Annotated[str, typer.Argument(help="One of " + ", ".join(ALGORITHMS + MOCHA_FAMILY) + ".")]
    data: Annotated[
        str,
        typer.Option(
            help="synthetic[:NAME][,key=value], leaf:PATH, stackoverflow:PATH, csv:PATH, parquet:PATH, store:PATH; "
            "MOCHA: mat:FILE, har:DIR, vehicle:DIR, gleam:DIR."
        ),
    ] = "synthetic"
    variant: Annotated[
        str | None, typer.Option(help="Another form of the algorithm: dpfedmtl --variant clipped is dpfedmtl-clipped.")
    ] = None
    model: Annotated[
        str | None, typer.Option(help="logistic, mlp or cnn. Default: logistic, and mlp for dpfedmtl.")
    ] = None


class Rounds:
    """How long, with whom, and how each client trains."""

    rounds: Annotated[
        int | None, typer.Option(help=f"Rounds of communication. Default: {ROUNDS}; MOCHA: until --tolerance.")
    ] = None
    cohort: Annotated[int | None, typer.Option(help="Clients a round (expected); by default 100 at most.")] = None
    sampling: Annotated[
        str,
        typer.Option(
            help="poisson, fixed-size, random-allocation, shuffle, cyclic (epochs of clients / cohort rounds, rounded "
            "up) or full."
        ),
    ] = "poisson"
    max_cohort: Annotated[int | None, typer.Option(help="Poisson cohorts above this size are cut to it.")] = None
    learning_rate: Annotated[float, typer.Option(help="Of the clients' SGD.")] = 0.1
    schedule: Annotated[
        str, typer.Option(help="Of --learning-rate over rounds: constant, halving:N or inverse:N; not dpfedmtl's.")
    ] = "constant"
    local_epochs: Annotated[int, typer.Option(help="Passes over a client's samples in a round.")] = 1
    local_steps: Annotated[int | None, typer.Option(help="Exactly so many steps, instead.")] = None
    batch_size: Annotated[int, typer.Option(help="Samples in a step.")] = 10


class Privacy:
    """Clipping, noise, and how what they cost is stated."""

    clip_norm: Annotated[
        float | None, typer.Option(help="Bound on one client's update (dpfedmtl: on its gradient).")
    ] = None
    clipping: Annotated[str, typer.Option(help="flat, per-layer or adaptive.")] = "flat"
    noise_multiplier: Annotated[
        float | None, typer.Option(help="Noise on the sum of updates, in units of --clip-norm.")
    ] = None
    noise_std: Annotated[float | None, typer.Option(help="Noise on the mean over the cohort, instead.")] = None
    sigma: Annotated[float | None, typer.Option(help="dpfedmtl: the paper's sigma, in units of the form's S.")] = None
    target_epsilon: Annotated[
        float | None, typer.Option(help="The least noise for which the whole run costs at most this, instead.")
    ] = None
    delta: Annotated[float, typer.Option(help="Target delta.")] = 1e-5
    neighbouring: Annotated[
        str | None,
        typer.Option(
            help="replace-one, zero-out or add-remove. Default: replace-one where the others see who takes part "
            "(billboard privacy), add-remove for dp."
        ),
    ] = None
    budget: Annotated[float | None, typer.Option(help="Stop before epsilon exceeds this.")] = None


class Relations:
    """How tasks are related, in the algorithms that say so."""

    strength: Annotated[float, typer.Option("--lambda", help="Strength of the pull towards the shared model.")] = 1.0
    alpha: Annotated[float, typer.Option(help="pp-sgd: local over global learning rate.")] = 1.0
    clusters: Annotated[str, typer.Option(help="Of clustered tasks: a number, or a JSON file of cluster numbers.")] = (
        "1"
    )
    omega: Annotated[
        str,
        typer.Option(
            help="fixed-omega: mean-regularised, or a .npy or .csv matrix; MOCHA: fixed-identity, mean-regularised, "
            "clustered, graph-laplacian, known, learned, or a .npy or .csv covariance."
        ),
    ] = "mean-regularised"


class SharedLayers:
    """Of the dpfedmtl family."""

    head_layers: Annotated[int, typer.Option(help="dpfedmtl: top layers that stay with the clients; 0: none.")] = 1
    label_sets: Annotated[str, typer.Option(help="dpfedmtl: all, or own for heads with the client's classes.")] = "all"
    aggregation_interval: Annotated[int, typer.Option(help="dpfedmtl: H, the rounds to an aggregation.")] = 1


class Mocha:
    """Of the MOCHA family."""

    split_file: Annotated[
        Path | None, typer.Option(help="MOCHA: JSON with train_index_0based, the recorded training samples.")
    ] = None
    tolerance: Annotated[
        float | None, typer.Option(help="MOCHA: stop at this duality gap, relative to the primal value (1e-4).")
    ] = None
    loss: Annotated[str, typer.Option(help="MOCHA: hinge, squared-hinge, logistic or squared.")] = "hinge"
    theta: Annotated[float, typer.Option(help="cocoa: the accuracy of every node's subproblem.")] = 0.5
    ridge: Annotated[
        float, typer.Option(help="MOCHA: added to a mean-regularised, clustered or graph-laplacian Omega.")
    ] = 0.1
    graph: Annotated[
        Path | None,
        typer.Option(
            help="MOCHA, --omega graph-laplacian: a .npy or .csv adjacency matrix, or lines `task task [weight]`."
        ),
    ] = None
    covariance: Annotated[
        Path | None,
        typer.Option(
            help="MOCHA, --omega known: a .npy or .csv covariance matrix of the tasks; synthetic data have their own."
        ),
    ] = None
    sigma_prime: Annotated[
        str | None, typer.Option(help="MOCHA: reference (the authors' code's, the default), lemma or tight.")
    ] = None
    work: Annotated[
        str,
        typer.Option(
            help="mocha, mb-*: what a node does in a round: passes=P, shares=LOW:HIGH (of the smallest n_t); mocha: "
            "theta=T or theta=LOW:HIGH."
        ),
    ] = "passes=1"
    scaling: Annotated[
        float,
        typer.Option(help="mb-sdca: of a batch's steps, 1 averages; mb-sgd: the first step (constant: every step)."),
    ] = 1.0
    step_rule: Annotated[str, typer.Option(help="mb-sgd: decreasing, constant or pegasos.")] = "decreasing"
    drop: Annotated[
        str | None,
        typer.Option(
            help="mocha, mb-*: probability of dropping out of a round, of all nodes (P), one (NODE=P), or P,NODE=P."
        ),
    ] = None


class FineTuning:
    """What clients do alone after training."""

    finetune: Annotated[
        str | None, typer.Option(help="vanilla, mean-regularised, symmetrised-kl or ewc, after training.")
    ] = None
    finetune_strength: Annotated[float, typer.Option(help="Weight of the fine-tuning penalty.")] = 1.0
    finetune_epochs: Annotated[int, typer.Option(help="Passes over a client's samples in fine-tuning.")] = 5


class Execution:
    """On what it runs, what is kept and what is shown."""

    seed: Annotated[
        int | None, typer.Option(help="Makes the run reproducible, its noise included. Default: a secret one.")
    ] = None
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto"
    dtype: Annotated[str, typer.Option(help="float32, float64 or bfloat16 (of local steps).")] = "float32"
    solver: Annotated[str, typer.Option(help="auto, loop, vmap, stacked, compiled or dual.")] = "auto"
    chunk: Annotated[int | None, typer.Option(help="Clients computed together. Default: what memory holds.")] = None
    noise_source: Annotated[
        str, typer.Option(help="Where noise is drawn: auto, host or device (auto: the device where it is a GPU).")
    ] = "auto"
    shards: Annotated[
        int | None,
        typer.Option(
            help="Units that processes share. Default: 1; under torchrun 12, or the next multiple of the processes."
        ),
    ] = None
    threads: Annotated[
        int,
        typer.Option(help="CPU threads: so many clients of a CNN or MLP at a time. Results may differ in last bits."),
    ] = 1
    checkpoint: Annotated[Path | None, typer.Option(help="Folder to save to every round and to resume from.")] = None
    evaluate_every: Annotated[
        int,
        typer.Option(
            help="Rounds between evaluations (MOCHA: between records of the gap); 0: at the end only "
            "(MOCHA: every round, after 1,000 fewer and fewer)."
        ),
    ] = 0
    evaluate_clients: Annotated[
        int | None,
        typer.Option(help="Evaluate so many clients only, drawn by the seed; 0: none. Default: all of them."),
    ] = None
    sweep: Annotated[
        str | None,
        typer.Option(
            help="Run an experiment instead: fair (every method tuned on validation data), privacy-utility, rounds, "
            "combinations, finetuning, pp-sgd, dpfedmtl or dpfedmtl-rounds; "
            "mocha: table1 (global, local and multi-task SVMs, lambda by cross-validation whatever --lambda says), "
            "figure1, figure2, figure3 or private."
        ),
    ] = None
    seeds: Annotated[int, typer.Option(help="--sweep: how many seeds.")] = 3
    quick: Annotated[bool, typer.Option("--quick", help="--sweep: one seed and few rounds; fair: few trials.")] = False
    out: Annotated[Path | None, typer.Option(help="--sweep: folder of the results, to resume from.")] = None
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw loss, accuracy and certified epsilon by round (MOCHA: the duality gap) to this file."),
    ] = None
    save: Annotated[
        Path | None,
        typer.Option(help="Save the released model, a torch state_dict, to this file; personal models stay private."),
    ] = None
    schedule_log: Annotated[
        Path | None,
        typer.Option(
            help="Write who took part in which round to this file, for dpcert audit --schedule. Keep it secret."
        ),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False
    as_json: options.Json = False


GROUPS = (What, Rounds, Privacy, Relations, SharedLayers, Mocha, FineTuning, Execution)


def names_of(group: type) -> tuple[str, ...]:
    """The options of one of GROUPS."""
    return tuple(group.__annotations__)


DEFAULTS: dict[str, Any] = {name: getattr(group, name, None) for group in GROUPS for name in names_of(group)}
"""What an option is where it was not given."""


def with_options(body: Callable[[SimpleNamespace], None], groups: tuple[type, ...] = GROUPS) -> Callable[..., None]:
    """A command with the options of the groups, which calls the body with their values."""

    def command(**given: Any) -> None:
        body(SimpleNamespace(**given))

    hints = {name: hint for group in groups for name, hint in get_type_hints(group, include_extras=True).items()}
    defaults = {name: value for group in groups for name, value in vars(group).items()}
    declared = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name, Parameter.empty), annotation=hint)
        for name, hint in hints.items()
    ]
    return options.declared_as(command, body.__doc__, declared)
