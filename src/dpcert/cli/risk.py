"""dpcert risk: what the strongest attack gains from a run or a claim, in words that need no epsilon."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..accounting.currencies.gaussian_fit import gaussian_fit
from ..accounting.currencies.risk import FALSE_POSITIVE_RATES, risk
from ..mechanisms import InputError
from ..presentation.output import show
from ..presentation.plots import draw_risk, drawable
from . import options
from .declared import with_fields
from .setting import Setting, asking

Rates = Annotated[list[float] | None, "A false-positive rate; repeatable. Default: 1e-1 to 1e-8."]
Prior = Annotated[float, "How likely the attacker holds it beforehand that the unit's data were used."]
WithMu = Annotated[bool, typer.Option("--mu", help="Compute mu to a relative width of 1e-4.")]
Plot = Annotated[Path | None, "Write a plot of the curve to this image file (needs matplotlib)."]


@with_fields(Setting, left_out=("accountant",))
def risk_command(
    *,
    claim: Annotated[Path | None, options.named("CLAIM.toml", "A claim file, instead of the options of a run.")] = None,
    asked: Setting,
    fpr: Rates = None,
    prior: Prior = 0.5,
    mu: WithMu = False,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """Example: dpcert risk claims/papers/abadi16-mnist-e100.toml --plot risk.png

    dpcert risk --noise-multiplier 1 --sampling poisson --sampling-rate 0.01 --rounds 10000 --fpr 1e-5
    """
    drawable(plot)
    if asked.drop_last:
        raise InputError("--drop-last", asked.drop_last, "no batch left out: what attacks gain at least is not known")
    run, against, tangent = _of_claim(claim) if claim is not None else (asked.run(), _against(asked), None)
    rates = tuple(fpr or FALSE_POSITIVE_RATES)
    try:
        found = asking(lambda: risk(run, **against, false_positive_rates=rates, prior=prior))
    except InputError as problem:
        renamed = problem.field.replace("false-positive-rates", "fpr")
        raise problem.renamed(renamed) from None
    if plot is not None:
        draw_risk(found, plot, tangent)
    if mu:
        least = found.gaussian().error_rates_at_least
        found = replace(found, fit=gaussian_fit(run, **against, error_rates_at_least=least))
    show(found, as_json)


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
