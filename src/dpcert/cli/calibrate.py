"""dpcert calibrate: the least noise, the most rounds or the largest rate that a privacy target allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, cast

import typer

from ..accounting.calibrate import calibrate
from ..mechanisms import InputError, Mechanism
from . import options
from .options import Setting, missing, timed
from .output import interval, print_json, rounded_down, rounded_up

Solved = Literal["noise_multiplier", "rounds", "sampling_rate"]
SolveFor = Annotated[
    str | None, typer.Option("--solve-for", help="noise-multiplier, rounds or sampling-rate: leave that one out.")
]


def calibrate_command(
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    solve_for: SolveFor = None,
    noise_multiplier: options.NoiseMultiplier = None,
    rounds: options.Rounds = None,
    sampling: options.Sampling = "none",
    sampling_rate: options.SamplingRate = None,
    population: options.Population = None,
    cohort: options.Cohort = None,
    neighbouring: options.Neighbouring = "add-remove",
    notion: options.Notion = "dp",
    participation: options.Participation = None,
    accountant: options.Accountant = "best",
    as_json: options.Json = False,
) -> None:
    """The most favourable value that still meets (--epsilon, --delta): it never misses, not by a rounding.

    Example: dpcert calibrate --epsilon 3 --delta 1e-5 --solve-for noise-multiplier --rounds 10000
    --sampling poisson --sampling-rate 0.01
    """
    if epsilon is None:
        raise missing("epsilon")
    if delta is None:
        raise missing("delta")
    if solve_for is None:
        raise missing("solve_for")
    asked = Setting(
        noise_multiplier,
        rounds,
        sampling,
        sampling_rate,
        population,
        cohort,
        neighbouring,
        notion,
        participation,
        accountant,
    )
    solved = _left_out(asked, solve_for)

    def run_at(value: float) -> Mechanism:
        return _with(asked, solved, value).run()

    found, seconds = timed(
        lambda: calibrate(
            run_at,
            solve_for=solved,
            epsilon=epsilon,
            delta=delta,
            **asked.against(),
        )
    )
    bracket = found.epsilon
    if as_json:
        print_json(
            _with(asked, solved, found.value).to_json()
            | {
                "solve_for": solve_for,
                "value": found.value,
                "epsilon": epsilon,
                "epsilon_lower": bracket.lower,
                "epsilon_upper": bracket.upper,
                "delta": delta,
                "beyond": found.beyond,
                "accountant": bracket.method,
                "certified": bracket.certified,
                "seconds": seconds,
            }
        )
        return
    value = str(found.value) if solved == "rounds" else _safe_side(solved, found.value)
    typer.echo(f"{solve_for} = {value} meets ({epsilon:g}, {delta:g})")
    kind = "certified" if bracket.certified else "an estimate, not a bound"
    typer.echo(f"  epsilon in {interval(bracket)}; {kind}, by {bracket.method}, in {seconds:.3g} s")


def _with(asked: Setting, field: Solved, value: float) -> Setting:
    """The setting with the field that is solved for."""
    given: dict[str, Any] = {field: value}
    return replace(asked, **given)


def _left_out(asked: Setting, solve_for: str) -> Solved:
    """The field to solve for; InputError when it is unknown or was given too."""
    fields = {"noise-multiplier": "noise_multiplier", "rounds": "rounds", "sampling-rate": "sampling_rate"}
    if solve_for not in fields:
        raise InputError("--solve-for", solve_for, "one of " + ", ".join(fields))
    field = fields[solve_for]
    if getattr(asked, field) is not None:
        raise InputError(f"--{solve_for}", getattr(asked, field), "to be left out: it is what --solve-for asks for")
    if field == "sampling_rate" and asked.sampling != "poisson":
        raise InputError("--sampling", asked.sampling, "poisson, to solve for the sampling rate")
    return cast(Solved, field)


def _safe_side(field: Solved, value: float) -> str:
    """Ten digits, rounded to the side that still meets the target: noise up, a rate down."""
    return rounded_up(value, 10) if field == "noise_multiplier" else rounded_down(value, 10)
