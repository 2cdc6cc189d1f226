"""dpcert epsilon and dpcert delta: the certified interval of one run."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from ..accounting import Bracket
from ..accounting import delta as delta_of
from ..accounting import epsilon as epsilon_of
from ..accounting.currencies.convert import Asked, Known, composed_amount, convert
from ..accounting.currencies.pure_dp import UNBOUNDED
from ..mechanisms import InputError
from ..mechanisms.digits import as_given, digits_for, interval, rounded_up
from ..presentation.output import print_json
from . import options
from .convert import only_known
from .estimate import limit_theorem, print_error_bar, print_estimate, simulated
from .setting import Setting, required, timed, with_run

KnownRho = Annotated[float | None, typer.Option("--rho", help="Instead of a run: its zCDP, of each of --rounds.")]
KnownMu = Annotated[float | None, typer.Option("--mu", help="Instead of a run: its Gaussian DP, of each round.")]


@with_run()
def epsilon_command(
    *,
    context: typer.Context,
    delta: options.Delta = None,
    asked: Setting,
    rho: KnownRho = None,
    mu: KnownMu = None,
    as_json: options.Json = False,
) -> None:
    """The epsilon of a run at --delta, as an interval that holds the true value.

    Example: dpcert epsilon --delta 1e-5 --rounds 10000 --noise-multiplier 1
    --sampling poisson --sampling-rate 0.01

    dpcert epsilon --delta 1e-6 --mechanism discrete-gaussian --set sigma=4 --rounds 100

    dpcert epsilon --delta 1e-6 --rho 0.1
    """
    if rho is not None or mu is not None:
        _of_guarantee(context, only_known({"rho": rho, "mu": mu}), ("epsilon", "delta", delta), asked.rounds, as_json)
        return
    run, delta = asked.run(delta=delta), delta or 0.0
    found, seconds = timed(lambda: epsilon_of(run, delta, **asked.against()))
    ends = {"epsilon_lower": found.lower, "epsilon_upper": found.upper, "delta": delta}
    estimate, bar = simulated(run, asked, delta=delta), limit_theorem(run, asked, found, found.upper)
    if as_json:
        print_json(_document(ends, asked, found, seconds) | estimate | bar)
    else:
        shown = interval(found, digits_for(asked.rtol))
        _print(f"epsilon in {shown} at delta = {as_given(delta)}", asked, found, seconds)
        print_estimate(estimate, "epsilon")
        print_error_bar(bar)
        if delta == 0.0 and math.isinf(found.upper):
            typer.echo(f"  {UNBOUNDED}")


def _of_guarantee(
    context: typer.Context,
    known: tuple[Known, float],
    asked: tuple[Asked, str, float | None],
    rounds: int | None,
    as_json: bool,
) -> None:
    """At most the epsilon (at a delta), or delta (at an epsilon), of whatever has this rho or mu in each of the rounds:
    how it was got does not matter."""
    wanted, place, at = asked
    for name in context.params:
        source = context.get_parameter_source(name)  # of click's own, or of the copy that newer typers bring
        if (
            source is not None
            and source.name == "COMMANDLINE"
            and name not in ("rho", "mu", place, "rounds", "as_json")
        ):
            option = "set" if name == "keys" else name.replace("_", "-")
            raise InputError(f"--{option}", context.params[name], f"nothing of a run beside --{known[0]}")
    required(**{place: at, "rounds": rounds})
    times = 1 if rounds is None else rounds
    if not known[1] > 0:
        raise InputError(f"--{known[0]}", known[1], "a number above 0")
    found, seconds = timed(lambda: convert(known[0], composed_amount(*known, times), wanted, **{place: at}))  # type: ignore[arg-type] # place is delta or epsilon
    if as_json:
        told = {"direction": found.direction, "words": found.words, "seconds": seconds}
        about = {place: at, "notion": "dp", known[0]: known[1], "rounds": rounds}
        ends = {f"{wanted}_lower": 0.0, f"{wanted}_upper": found.at_most}
        print_json(ends | about | {"accountant": "conversion", "certified": True, "reached": True} | told)
        return
    each = f" in each of {rounds} rounds" if rounds != 1 else ""
    typer.echo(
        f"{wanted} <= {rounded_up(found.at_most)} at {place} = {as_given(at or 0.0)}, "
        f"from {known[0]} = {as_given(known[1])}{each}"
    )
    typer.echo(f"  {found.direction}: {found.words}")


@with_run()
def delta_command(
    *,
    context: typer.Context,
    epsilon: options.Epsilon = None,
    asked: Setting,
    rho: KnownRho = None,
    mu: KnownMu = None,
    as_json: options.Json = False,
) -> None:
    """The delta of a run at --epsilon, as an interval that holds the true value.

    Example: dpcert delta --epsilon 2 --rounds 100 --noise-multiplier 4

    dpcert delta --epsilon 2 --mu 0.5
    """
    if rho is not None or mu is not None:
        _of_guarantee(context, only_known({"rho": rho, "mu": mu}), ("delta", "epsilon", epsilon), asked.rounds, as_json)
        return
    run, epsilon = asked.run(epsilon=epsilon), epsilon or 0.0
    found, seconds = timed(lambda: delta_of(run, epsilon, **asked.against()))
    ends = {"delta_lower": found.lower, "delta_upper": found.upper, "epsilon": epsilon}
    estimate, bar = simulated(run, asked, epsilon=epsilon), limit_theorem(run, asked, found, epsilon)
    if as_json:
        print_json(_document(ends, asked, found, seconds) | estimate | bar)
    else:
        shown = interval(found, digits_for(asked.rtol))
        _print(f"delta in {shown} at epsilon = {as_given(epsilon)}", asked, found, seconds)
        print_estimate(estimate, "delta")
        print_error_bar(bar)


def _document(ends: dict[str, Any], asked: Setting, found: Bracket, seconds: float) -> dict[str, Any]:
    return (
        ends
        | asked.to_json()
        | {"accountant": found.method, "certified": found.certified, "reached": found.reached, "seconds": seconds}
    )


def _print(answer: str, asked: Setting, found: Bracket, seconds: float) -> None:
    kind = "certified" if found.certified else "an estimate, not a bound"
    typer.echo(answer)
    sampled = asked.sampling if asked.max_cohort is None else f"{asked.sampling}, cohorts cut to {asked.max_cohort}"
    typer.echo(f"  {kind}, by {found.method}, in {seconds:.3g} s; {asked.notion}, {asked.relation}, sampling {sampled}")
