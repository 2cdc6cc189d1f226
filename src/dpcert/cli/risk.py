"""dpcert risk: what the strongest attack gains from a run or a claim, in words that need no epsilon."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from ..accounting.currencies.gaussian_fit import GaussianFit, gaussian_fit
from ..accounting.risk import FALSE_POSITIVE_RATES, Risk, risk
from ..mechanisms import InputError
from ..mechanisms.digits import interval, rounded_up
from ..presentation.output import output_console, print_json
from . import options
from .setting import Setting, timed, with_run

Rates = Annotated[
    list[float] | None, typer.Option("--fpr", help="A false-positive rate; repeatable. Default: 1e-1 to 1e-8.")
]
Prior = Annotated[float, typer.Option("--prior", help="The attacker's probability beforehand.")]
WithMu = Annotated[bool, typer.Option("--mu", help="Narrow the mu that is told to a relative 1e-4.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Draw the curve into this image file (needs matplotlib).")]


@with_run(left_out="accountant")
def risk_command(
    *,
    claim: Annotated[Path | None, typer.Argument(help="A claim file, instead of the options of a run.")] = None,
    asked: Setting,
    fpr: Rates = None,
    prior: Prior = 0.5,
    mu: WithMu = False,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """What the strongest attack can gain: true-positive rates, advantage, posterior, as certified intervals.

    Example: dpcert risk claims/papers/abadi16-mnist-e100.toml --plot risk.png

    dpcert risk --noise-multiplier 1 --sampling poisson --sampling-rate 0.01 --rounds 10000 --fpr 1e-5
    """
    if plot is not None:
        from ..presentation.drawing import drawable

        drawable(plot)
    run, against, tangent = _of_claim(claim) if claim is not None else (asked.run(), _against(asked), None)
    rates = tuple(fpr or FALSE_POSITIVE_RATES)
    try:
        found, seconds = timed(lambda: risk(run, **against, false_positive_rates=rates, prior=prior))
    except InputError as problem:
        renamed = problem.field.replace("false-positive-rates", "fpr")
        raise InputError(renamed, problem.value, problem.expected) from None
    if plot is not None:
        from ..presentation.risk_plot import draw

        draw(found, plot, tangent)
    fit = found.gaussian()
    if mu:
        fit = gaussian_fit(run, **against, error_rates_at_least=fit.error_rates_at_least)
    if as_json:
        print_json(found.to_json() | _fitted(fit) | against | {"seconds": seconds})
        return
    _print(found)
    output_console().print(
        f"The Gaussian curve that describes it best from above, at error rates from {fit.error_rates_at_least:g} on, "
        f"has mu in {interval(fit.mu, 5)}: it overstates what an attack finds out by at most "
        f"{rounded_up(fit.off.upper, 2)}."
    )


def _fitted(fit: GaussianFit) -> dict[str, Any]:
    return {
        "mu": [fit.mu.lower, fit.mu.upper],
        "mu_error_rates_at_least": fit.error_rates_at_least,
        "mu_off": [fit.off.lower, fit.off.upper],
    }


def _against(asked: Setting) -> dict[str, Any]:
    return {name: value for name, value in asked.against().items() if name != "accountant"}


def _of_claim(path: Path) -> tuple[Any, dict[str, Any], tuple[float, float] | None]:
    """What the claim says ran, against whom, and the (epsilon, delta) that it claims."""
    from ..proofs_checks.claims.claim import load_claim
    from ..proofs_checks.claims.observers import certifiable

    claim = load_claim(path)
    if not certifiable(claim):
        raise InputError("claim.observer", claim.statement.observer, "no observer but the notion's own, for a risk")
    statement = claim.statement
    against = {
        "neighbouring": statement.neighbouring,
        "notion": statement.notion,
        "participation": statement.participation,
    }
    if statement.epsilon is None or statement.delta is None:
        return claim.run, against, None
    return claim.run, against, (statement.epsilon, statement.delta)


def _print(found: Risk) -> None:
    console = output_console()
    before = max(found.prior, 1 - found.prior)
    console.print("The strongest attack, which knows everything but whether this one unit's data were used:")
    console.print(
        f"  it guesses right with probability at most {rounded_up(found.bayes_success.upper, 4)} "
        f"(without looking: {before:g}); advantage {interval(found.advantage, 5)}"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("accused wrongly", "found out", "times", f"sure after a yes (prior {found.prior:g})"):
        table.add_column(title, justify="right")
    for row in found.rates:
        times = row.true_positive_rate.upper / row.false_positive_rate
        table.add_row(
            f"{row.false_positive_rate:g}",
            interval(row.true_positive_rate, 5),
            rounded_up(times, 3),
            interval(row.posterior, 5),
        )
    console.print(table)
    console.print(
        "A row: an attack that accuses this share of those whose data were not used finds out that share of those "
        "whose data were. Who would guess a secret with the first probability guesses it with at most the second."
    )
