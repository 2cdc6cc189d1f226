"""dpcert risk: what the strongest attack gains from a run or a claim, in words that need no epsilon."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    about = _of_options(asked) if claim is None else _of_claim(claim)
    rates = tuple(fpr or FALSE_POSITIVE_RATES)
    try:
        found = asking(lambda: risk(about.run, **about.against, false_positive_rates=rates, prior=prior))
    except InputError as problem:
        renamed = problem.field.replace("false-positive-rates", "fpr")
        raise problem.renamed(renamed) from None
    if mu:
        least = found.gaussian().error_rates_at_least
        found = replace(found, fit=gaussian_fit(about.run, **about.against, error_rates_at_least=least))
    found = found if about.exact else found.from_above()
    if plot is not None:
        draw_risk(found, plot, about.claimed)
    show(found, as_json, **(asked.warn() if claim is None else {}))


@dataclass(frozen=True, slots=True)
class About:
    """What ran, against whom. exact: whether just that ran, or at most that. claimed: a claim's (epsilon, delta)."""

    run: Any
    against: dict[str, Any]
    exact: bool
    claimed: tuple[float, float] | None = None


def _of_options(asked: Setting) -> About:
    run, against = asked.run(), {name: value for name, value in asked.against().items() if name != "accountant"}
    return About(run, against, asked.attained() == run)


def _of_claim(path: Path) -> About:
    from ..proofs_checks.claims.claim import load_claim
    from ..proofs_checks.claims.observers import certifiable
    from ..proofs_checks.verification.exposure import covering

    claim = load_claim(path)
    if not certifiable(claim):
        raise InputError("claim.observer", claim.statement.observer, "no observer but the notion's own, for a risk")
    stated = (worse := covering(claim)).statement
    names = ("neighbouring", "notion", "participation")
    claimed = None if stated.epsilon is None or stated.delta is None else (stated.epsilon, stated.delta)
    exact = worse is claim and claim.run == claim.attained_run
    return About(claim.run, {name: getattr(stated, name) for name in names}, exact, claimed)
