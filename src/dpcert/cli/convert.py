"""dpcert convert: from one currency of privacy to another, and whether the answer is only a bound."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from ..accounting.currencies.convert import Asked, Conversion, Known, convert
from ..mechanisms import InputError
from ..mechanisms.validate import choice
from .options import Json, required
from .output import as_given, print_json, rounded_up


def convert_command(
    rho: Annotated[float | None, typer.Option("--rho", help="Known: zero-concentrated DP.")] = None,
    mu: Annotated[float | None, typer.Option("--mu", help="Known: Gaussian DP.")] = None,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Known: pure DP, or with --known-delta.")] = None,
    known_delta: Annotated[float, typer.Option("--known-delta", help="The known delta beside --epsilon.")] = 0.0,
    to: Annotated[str | None, typer.Option("--to", help="epsilon, delta, rho, mu, tpr or advantage.")] = None,
    delta: Annotated[float | None, typer.Option("--delta", help="With --to epsilon: at this delta.")] = None,
    at_epsilon: Annotated[float | None, typer.Option("--at-epsilon", help="With --to delta: at this epsilon.")] = None,
    fpr: Annotated[float | None, typer.Option("--fpr", help="With --to tpr: at this false-positive rate.")] = None,
    as_json: Json = False,
) -> None:
    """What one guarantee says in terms of another, rounded up, and whether that is tight or an upper bound.

    Example: dpcert convert --rho 2.56 --to epsilon --delta 1e-10
    """
    known, amount = _known(rho, mu, epsilon)
    required({"to": get_args(Asked)}, to=to)
    asked = choice("--to", to, get_args(Asked))
    try:
        found = convert(known, amount, asked, known_delta=known_delta, delta=delta, epsilon=at_epsilon, fpr=fpr)  # type: ignore[arg-type] # checked above
    except InputError as problem:
        renamed = "at_epsilon" if problem.field == "epsilon" and known != "epsilon" else problem.field
        raise InputError("--" + renamed.replace("_", "-"), problem.value, problem.expected) from None
    at = {"delta": delta, "epsilon": at_epsilon, "fpr": fpr}
    if as_json:
        given = {name: value for name, value in at.items() if value is not None}
        known_as = {known: amount} | ({"delta": known_delta} if known_delta else {})
        print_json(
            {"known": known_as, "asked": asked, "at": given, "at_most": found.at_most, "direction": found.direction}
            | {"words": found.words}
        )
    else:
        _print(known, amount, known_delta, asked, at, found)


def _known(rho: float | None, mu: float | None, epsilon: float | None) -> tuple[Known, float]:
    names: tuple[Known, ...] = ("rho", "mu", "epsilon")
    given = [(name, value) for name, value in zip(names, (rho, mu, epsilon), strict=True) if value is not None]
    if len(given) != 1:
        raise InputError("options", [name for name, _ in given], "one of --rho, --mu, --epsilon: what is known")
    return given[0]


def _print(
    known: str, amount: float, known_delta: float, to: str, at: dict[str, float | None], found: Conversion
) -> None:
    beside = f", delta = {as_given(known_delta)}" if known_delta else ""
    where = [f"{name} = {as_given(value)}" for name, value in at.items() if value is not None]
    place = f" at {', '.join(where)}" if where else ""
    typer.echo(f"{known} = {as_given(amount)}{beside}: {to} <= {rounded_up(found.at_most)}{place}")
    typer.echo(f"  {found.direction}: {found.words}")
