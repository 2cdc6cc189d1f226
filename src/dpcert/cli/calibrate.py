"""dpcert calibrate: the least noise, the most rounds, the largest cohort, rate or clip that a target allows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..accounting.currencies.allowance import largest
from ..accounting.currencies.convert import Known
from ..mechanisms import InputError
from ..mechanisms.validate import delta_below_one, number, positive
from ..presentation.output import show
from ..proofs_checks.claims import currency
from ..proofs_checks.claims.targets import OfCurrency, OfEpsilon, OfErrorRates, Target
from . import options
from .calibrate_problem import SOLVED, problem_of
from .declared import with_fields
from .plan import compared
from .setting import Setting, asking, refuse_others, required

GUARANTEES = (Known.RHO, Known.MU, Known.EPSILON)

Asked = Annotated[
    str | None,
    typer.Option(
        "--solve-for",
        help="noise-multiplier, noise-std, rounds, cohort, sampling-rate or clip-norm: leave that one out. Or, without "
        "a run, rho, mu or epsilon (with --known-delta): the most that is certain to meet --epsilon and --delta.",
        autocompletion=options.words(*SOLVED, *GUARANTEES),
    ),
]
ScheduleFile = Annotated[
    Path | None,
    typer.Option(
        "--schedule",
        help="Instead of the options for one phase: a TOML file with the [[phase]] tables of a claim. Solves for "
        "noise-multiplier or clip-norm (a factor for every phase's), rounds or cohort (of the last phase).",
    ),
]


Tpr = Annotated[
    float | None, "Instead of --epsilon and --delta: the largest allowed true-positive rate of an attack ..."
]
Fpr = Annotated[
    float | None, "... at this false-positive rate. With --mu: the smallest error rate at which mu must hold."
]
Rho = Annotated[
    float | None, "Instead of --epsilon: a target in zCDP; with --delta only at the orders that this delta needs."
]
Mu = Annotated[
    float | None, "Instead of --epsilon: a target in Gaussian DP; with --delta only at deltas of at least that."
]


@with_fields(Setting)
def calibrate_command(
    *,
    context: typer.Context,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    solve_for: Asked = None,
    asked: Setting,
    schedule: ScheduleFile = None,
    tpr: Tpr = None,
    fpr: Fpr = None,
    rho: Rho = None,
    mu: Mu = None,
    known_delta: Annotated[float, "With --solve-for epsilon: the delta of that epsilon."] = 0.0,
    schemes: Annotated[
        str | None, "Compare the least noise under several sampling schemes: all, or a list such as poisson,shuffle."
    ] = None,
    as_json: options.Json = False,
) -> None:
    """The target is --epsilon and --delta, --tpr and --fpr, --rho, or --mu. The result is rounded to the safe side.

    Example: dpcert calibrate --epsilon 3 --delta 1e-5 --solve-for noise-multiplier --rounds 10000
    --sampling poisson --sampling-rate 0.01

    Example: dpcert calibrate --epsilon 3 --delta 1e-5 --solve-for rho

    Example: dpcert calibrate --mu 0.5 --solve-for noise-multiplier --rounds 10

    Example: dpcert calibrate --epsilon 3 --delta 1e-5 --schemes all --dataset-size 60000 --batch-size 256 --epochs 5
    """
    if schemes is not None:
        if solve_for not in (None, "noise-multiplier"):
            raise InputError("--solve-for", solve_for, "noise-multiplier, or nothing, beside --schemes")
        sizes = asked.population, asked.cohort, asked.epochs, delta
        required(**dict(zip(("population", "batch_size", "epochs", "delta"), sizes, strict=True)), epsilon=epsilon)
        show(compared(schemes, [epsilon or 0.0], *sizes, asked.neighbouring), as_json)
    elif solve_for in GUARANTEES:
        given = ("solve_for", "epsilon", "delta", "known_delta", "as_json")
        refuse_others(context, given, f"to be left out with --solve-for {solve_for}: nothing of a run is asked")
        required(epsilon=epsilon, delta=delta)
        show(asking(lambda: largest(Known(solve_for), epsilon or 0.0, delta or 0.0, known_delta)), as_json)
    elif known_delta:
        raise InputError("--known-delta", known_delta, "--solve-for epsilon beside it")
    else:
        target = target_of(asked, {"tpr": tpr, "rho": rho, "mu": mu, "epsilon": epsilon}, delta, fpr)
        problem = problem_of(asked, solve_for, schedule, **target.needed())
        found = asking(lambda: target.solved(problem, asked.against()))
        show(found, as_json, **problem.at(found.value))


def target_of(asked: Setting, named: dict[str, float | None], delta: float | None, fpr: float | None) -> Target:
    """The one that the options state. InputError for two, and for options that another one has a use for."""
    tpr, rho, mu, epsilon = named.values()
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        raise _left_out(given[1], named[given[1]], f": --{given[0]} already states the target")
    if rho is None and mu is None and tpr is None and fpr is None:
        return OfEpsilon(epsilon, delta)
    if asked.accountant != "best":
        raise _left_out("accountant", asked.accountant, ", unless the target is an epsilon")
    if rho is not None or mu is not None:
        return OfCurrency(_rho(rho, delta, fpr) if rho is not None else _mu(mu, delta, fpr))
    if delta is not None:
        raise _left_out("delta", delta, ": --tpr and --fpr already state the target")
    return OfErrorRates(tpr, fpr)


def _rho(stated: float, delta: float | None, fpr: float | None) -> currency.Currency:
    if fpr is not None:
        raise _left_out("fpr", fpr, " beside --rho: limit its range with --delta, or state --mu instead")
    rho = positive("--rho", stated)
    return currency.Rho.for_delta(rho, delta_below_one("--delta", delta)) if delta else currency.Rho(rho)


def _mu(stated: float | None, delta: float | None, fpr: float | None) -> currency.Currency:
    if fpr is not None:
        if delta is not None:
            raise _left_out("delta", delta, ": --fpr already limits the range")
        if not 0.0 < number("--fpr", fpr) < 0.5:
            raise InputError("--fpr", fpr, "an error rate above 0 and below 1/2")
    floor = 0.0 if delta is None else delta_below_one("--delta", delta)
    return currency.Mu(positive("--mu", stated), fpr or 0.0, floor)


def _left_out(option: str, value: object, why: str) -> InputError:
    return InputError(f"--{option}", value, f"to be left out{why}")
