"""dpcert epsilon and dpcert delta: the certified interval of one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from ..accounting import Bracket
from ..accounting import delta as delta_of
from ..accounting import epsilon as epsilon_of
from ..accounting.currencies.convert import Asked, ComposedConversion, Known, convert_composed
from ..mechanisms import InputError
from ..presentation.output import say, show
from . import options
from .convert import only_known
from .declared import with_fields
from .setting import Setting, asking, refuse_others, required

SIMULATED = ("balls-in-bins", "min-separated")
"""Ways to sample of which a simulation may say more than the accountants."""

KnownRho = Annotated[float | None, "Instead of describing a run: the rho (zCDP) of each round."]
KnownMu = Annotated[float | None, "Instead of describing a run: the mu (Gaussian DP) of each round."]


@with_fields(Setting)
def epsilon_command(
    *,
    context: typer.Context,
    delta: options.Delta = None,
    asked: Setting,
    rho: KnownRho = None,
    mu: KnownMu = None,
    as_json: options.Json = False,
) -> None:
    """Example: dpcert epsilon --delta 1e-5 --rounds 10000 --noise-multiplier 1
    --sampling poisson --sampling-rate 0.01

    dpcert epsilon --delta 1/60000 --noise-multiplier 1.1 --sampling poisson --dataset-size 60000 --batch-size 256
    --epochs 60

    dpcert epsilon --delta 1e-6 --mechanism discrete-gaussian --set sigma=4 --rounds 100

    dpcert epsilon --delta 1e-6 --rho 0.1
    """
    if rho is None and mu is None:
        _show(asked, epsilon_of, {"delta": delta}, as_json)
    else:
        show(_of_guarantee(context, only_known({Known.RHO: rho, Known.MU: mu}), Asked.EPSILON, asked.rounds), as_json)


@with_fields(Setting)
def delta_command(
    *,
    context: typer.Context,
    epsilon: options.Epsilon = None,
    asked: Setting,
    rho: KnownRho = None,
    mu: KnownMu = None,
    as_json: options.Json = False,
) -> None:
    """Example: dpcert delta --epsilon 2 --rounds 100 --noise-multiplier 4

    dpcert delta --epsilon 2 --mu 0.5
    """
    if rho is None and mu is None:
        _show(asked, delta_of, {"epsilon": epsilon}, as_json)
    else:
        show(_of_guarantee(context, only_known({Known.RHO: rho, Known.MU: mu}), Asked.DELTA, asked.rounds), as_json)


def _show(asked: Setting, quantity: Callable[..., Bracket], place: dict[str, float | None], as_json: bool) -> None:
    """The run's epsilon or delta at the place, with a simulation beside a wide interval."""
    asked.run(**place)  # says what is missing
    (at,) = place.values()
    found, beside = asking(lambda: asked.answered(quantity, at or 0.0)), None
    if asked.sampling in SIMULATED:
        from ..proofs_checks.simulation.estimates import estimate_beside  # here: it loads what only it needs

        beside = estimate_beside(found)
    more = {} if beside is None else {"estimate": asdict(beside)}
    show(found, as_json, **asked.to_json(), **more, **asked.warn())
    if beside is not None and not as_json:
        say(f"  {beside}")


def _of_guarantee(
    context: typer.Context, known: tuple[Known, float], asked: Asked, rounds: int | None
) -> ComposedConversion:
    """At most the epsilon, or delta, of whatever has this rho or mu in each of the rounds."""
    place = str(asked.place)
    refuse_others(context, ("rho", "mu", place, "rounds", "as_json"), f"nothing of a run beside --{known[0]}")
    at = context.params[place]
    required(**{place: at})
    if not known[1] > 0:
        raise InputError(f"--{known[0]}", known[1], "a number above 0")
    return asking(lambda: convert_composed(*known, 1 if rounds is None else rounds, asked, **{place: at}))
