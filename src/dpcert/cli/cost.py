"""dpcert epsilon and dpcert delta: the certified interval of one run."""

from __future__ import annotations

import math
from typing import Any

import typer

from ..accounting import Bracket
from ..accounting import delta as delta_of
from ..accounting import epsilon as epsilon_of
from ..accounting.currencies.pure_dp import UNBOUNDED
from . import options
from .options import Setting, timed
from .output import as_given, interval, print_json


def epsilon_command(
    context: typer.Context,
    delta: options.Delta = None,
    mechanism: options.Kind = "gaussian",
    keys: options.Keys = None,
    noise_multiplier: options.NoiseMultiplier = None,
    noise_std: options.NoiseStd = None,
    clip_norm: options.ClipNorm = None,
    rounds: options.Rounds = 1,
    sampling: options.Sampling = "none",
    sampling_rate: options.SamplingRate = None,
    population: options.Population = None,
    cohort: options.Cohort = None,
    block: options.Block = None,
    per_block: options.PerBlock = None,
    neighbouring: options.Neighbouring = None,
    notion: options.Notion = "dp",
    participation: options.Participation = None,
    accountant: options.Accountant = "best",
    rtol: options.Rtol = None,
    as_json: options.Json = False,
) -> None:
    """The epsilon of a run at --delta, as an interval that holds the true value.

    Example: dpcert epsilon --delta 1e-5 --rounds 10000 --noise-multiplier 1
    --sampling poisson --sampling-rate 0.01

    dpcert epsilon --delta 1e-6 --mechanism discrete-gaussian --set sigma=4 --rounds 100
    """
    asked = Setting.given(context)
    run, delta = asked.run(delta=delta), delta or 0.0
    found, seconds = timed(lambda: epsilon_of(run, delta, **asked.against()))
    ends = {"epsilon_lower": found.lower, "epsilon_upper": found.upper, "delta": delta}
    if as_json:
        print_json(_document(ends, asked, found, seconds))
    else:
        _print(f"epsilon in {interval(found)} at delta = {as_given(delta)}", asked, found, seconds)
        if delta == 0.0 and math.isinf(found.upper):
            typer.echo(f"  {UNBOUNDED}")


def delta_command(
    context: typer.Context,
    epsilon: options.Epsilon = None,
    mechanism: options.Kind = "gaussian",
    keys: options.Keys = None,
    noise_multiplier: options.NoiseMultiplier = None,
    noise_std: options.NoiseStd = None,
    clip_norm: options.ClipNorm = None,
    rounds: options.Rounds = 1,
    sampling: options.Sampling = "none",
    sampling_rate: options.SamplingRate = None,
    population: options.Population = None,
    cohort: options.Cohort = None,
    block: options.Block = None,
    per_block: options.PerBlock = None,
    neighbouring: options.Neighbouring = None,
    notion: options.Notion = "dp",
    participation: options.Participation = None,
    accountant: options.Accountant = "best",
    rtol: options.Rtol = None,
    as_json: options.Json = False,
) -> None:
    """The delta of a run at --epsilon, as an interval that holds the true value.

    Example: dpcert delta --epsilon 2 --rounds 100 --noise-multiplier 4
    """
    asked = Setting.given(context)
    run, epsilon = asked.run(epsilon=epsilon), epsilon or 0.0
    found, seconds = timed(lambda: delta_of(run, epsilon, **asked.against()))
    ends = {"delta_lower": found.lower, "delta_upper": found.upper, "epsilon": epsilon}
    if as_json:
        print_json(_document(ends, asked, found, seconds))
    else:
        _print(f"delta in {interval(found)} at epsilon = {as_given(epsilon)}", asked, found, seconds)


def _document(ends: dict[str, Any], asked: Setting, found: Bracket, seconds: float) -> dict[str, Any]:
    return (
        ends
        | asked.to_json()
        | {"accountant": found.method, "certified": found.certified, "reached": found.reached, "seconds": seconds}
    )


def _print(answer: str, asked: Setting, found: Bracket, seconds: float) -> None:
    kind = "certified" if found.certified else "an estimate, not a bound"
    typer.echo(answer)
    typer.echo(
        f"  {kind}, by {found.method}, in {seconds:.3g} s; {asked.notion}, {asked.relation}, sampling {asked.sampling}"
    )
