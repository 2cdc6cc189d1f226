"""dpcert mocha: MOCHA's multi-task optimisation and its rivals; what a method, or noise, has no use for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..mechanisms import InputError
from ..mechanisms.validate import choice, count, positive
from ..trainers.names import METHODS
from . import options, run_options

NOISE = ("noise_multiplier", "noise_std", "target_epsilon")
"""The options that ask for noise, of which one may be given."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One run; the fields are the options, in the order of --help."""

    algorithm: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="mocha, mocha-alternating (Algorithm 1 whole), cocoa, mb-sdca or mb-sgd."
        ),
    ]
    rounds: Annotated[int | None, "Rounds at most. Default: until --tolerance; 100 with --clip-norm."] = None
    tolerance: Annotated[float | None, "Stop at this duality gap, relative to the primal value. Default: 1e-4."] = None
    strength: run_options.Regulariser = 1.0
    loss: Annotated[str, "hinge, squared-hinge, logistic or squared."] = "hinge"
    omega: Annotated[
        str,
        "How tasks are related: fixed-identity, mean-regularised, clustered, graph-laplacian, known, learned, "
        "or a .npy or .csv covariance.",
    ] = "mean-regularised"
    clusters: Annotated[str, "Of a clustered Omega: a number, or a JSON file of cluster numbers."] = "1"
    ridge: Annotated[float, "Added to a mean-regularised, clustered or graph-laplacian Omega."] = 0.1
    graph: Annotated[
        Path | None, "Of a graph-laplacian Omega: a .npy or .csv adjacency matrix, or lines `task task [weight]`"
    ] = None
    covariance: Annotated[
        Path | None, "Of a known Omega: a .npy or .csv covariance matrix of the tasks; synthetic data have their own."
    ] = None
    sigma_prime: Annotated[str | None, "reference (the authors' code's, the default), lemma or tight."] = None
    work: Annotated[
        str,
        "What a node does per round: passes=P, shares=LOW:HIGH (of the smallest n_t); mocha: theta=T or "
        "theta=LOW:HIGH. Not cocoa's.",
    ] = "passes=1"
    drop: Annotated[
        str | None, "Probability of dropping out of a round, of all nodes (P), one (NODE=P), or P,NODE=P. Not cocoa's."
    ] = None
    theta: Annotated[float | None, "cocoa: the accuracy of every node's subproblem. Default: 0.5."] = None
    scaling: Annotated[
        float | None,
        "mb-sdca: of a batch's steps, 1 averages; mb-sgd: the first step (constant: every step). Default: 1.",
    ] = None
    step_rule: Annotated[str | None, "mb-sgd: decreasing (the default), constant or pegasos."] = None
    clip_norm: Annotated[float | None, "mocha: clipping bound on what one node sends; needed with noise."] = None
    noise_multiplier: Annotated[
        float | None, "Standard deviation of the noise on the sum of messages, divided by --clip-norm."
    ] = None
    noise_std: run_options.NoiseStd = None
    target_epsilon: run_options.TargetEpsilon = None
    delta: run_options.Delta = 1e-5
    neighbouring: Annotated[str | None, "replace-one or zero-out. Default: replace-one."] = None
    budget: run_options.Budget = None
    data: run_options.MochaData = "synthetic"
    split_file: run_options.SplitFile = None
    seed: run_options.Seed = None
    checkpoint: Annotated[Path | None, "Folder in which the run is saved, and from which it resumes."] = None
    evaluate_every: Annotated[
        int, "Rounds between records of the gap; 0: every round, after 1,000 fewer and fewer."
    ] = 0
    plot: Annotated[Path | None, "Write a plot of the duality gap per round to this file."] = None
    quiet: options.Quiet = False


def checked(asked: Asked) -> None:
    """InputError for what this method, or a run with noise or without, has no use for."""
    name = choice("METHOD", asked.algorithm, METHODS)
    if (processes := int(os.environ.get("WORLD_SIZE", "1"))) > 1:
        raise InputError("torchrun", processes, f"one process: {name} is not distributed")
    if asked.theta is not None and name != "cocoa":
        raise InputError("--theta", asked.theta, f"nothing: cocoa's (--work theta=T with mocha, not {name})")
    if asked.scaling is not None and not name.startswith("mb-"):
        raise InputError("--scaling", asked.scaling, "nothing: mb-sdca's and mb-sgd's")
    if asked.step_rule is not None and name != "mb-sgd":
        raise InputError("--step-rule", asked.step_rule, "nothing: mb-sgd's")
    _check_noise(asked)
    if asked.rounds is not None:
        count("--rounds", asked.rounds)
    if asked.tolerance is not None:
        positive("--tolerance", asked.tolerance)
    if asked.seed is not None:
        count("--seed", asked.seed, least=0)


def _check_noise(asked: Asked) -> None:
    given = [option for option in NOISE if getattr(asked, option) is not None]
    first, *more = ("--" + option.replace("_", "-") for option in given or [""])
    if more:
        raise InputError(more[0], getattr(asked, given[1]), f"either {first} or {more[0]}")
    if asked.budget is not None and not given:
        raise InputError("--budget", asked.budget, "noise with it")
    if asked.clip_norm is None:
        if given:
            raise InputError("--clip-norm", None, f"a bound on what a node sends, with {first}")
        return
    if asked.algorithm != "mocha":
        raise InputError("METHOD", asked.algorithm, "mocha, with --clip-norm or noise")
    if asked.tolerance is not None:
        expected = "--rounds with --clip-norm: stopping on the gap would release it"
        raise InputError("--tolerance", asked.tolerance, expected)
    if asked.evaluate_every:
        raise InputError("--evaluate-every", asked.evaluate_every, "0 with --clip-norm: one gap, at the end")
    if asked.plot is not None:
        raise InputError("--plot", str(asked.plot), "none with --clip-norm: one gap, at the end")
