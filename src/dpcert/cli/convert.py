"""dpcert convert: from one currency of privacy to another, and whether the answer is only a bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

import typer

from ..accounting.currencies.convert import Amount, Asked, Conversion, Conversions, Known, convert
from ..mechanisms import InputError
from ..mechanisms.tables.fields import A_VALUE, MissingKeys
from ..presentation.output import show
from . import options
from .options import Json


def convert_command(
    rho: Annotated[float | None, "Known: zero-concentrated DP."] = None,
    mu: Annotated[float | None, "Known: Gaussian DP."] = None,
    epsilon: Annotated[float | None, "Known: pure DP, or with --known-delta."] = None,
    known_delta: Annotated[float, "The known delta beside --epsilon."] = 0.0,
    renyi: Annotated[
        list[str] | None,
        typer.Option(metavar="ORDER:EPSILON", help="Known: Renyi DP at this order. Repeatable: a curve."),
    ] = None,
    to: Annotated[str | None, "epsilon, delta, rho, mu, tpr or advantage. Default: all of them."] = None,
    delta: Annotated[float | None, "With --to epsilon: at this delta."] = None,
    at_epsilon: Annotated[float | None, "With --to delta: at this epsilon."] = None,
    fpr: Annotated[float | None, "With --to tpr: at this false-positive rate."] = None,
    as_json: Json = False,
) -> None:
    """Example: dpcert convert --rho 2.56 --to epsilon --delta 1e-10

    dpcert convert --mu 0.5

    dpcert convert --renyi 8:0.2 --renyi 32:0.9 --to epsilon --delta 1e-5
    """
    points = tuple(options.two("--renyi", "ORDER:EPSILON, such as 8:0.2", point) for point in renyi or ())
    amounts: dict[Known, Amount | None] = {Known.RHO: rho, Known.MU: mu, Known.EPSILON: epsilon}
    amounts[Known.RENYI] = points or None
    places = {"delta": delta, "epsilon": at_epsilon, "fpr": fpr}
    _complete(amounts, to, places)
    known, amount = only_known(amounts)
    if to is not None:
        show(_converted(known, amount, known_delta, Asked.named("--to", to), places), as_json)
    else:
        shown = {name: _SHOWN_AT[name] if value is None else value for name, value in places.items()}
        each = (_converted(known, amount, known_delta, asked, shown) for asked in Asked)
        show(Conversions(tuple(each)), as_json)


Kind = TypeVar("Kind", bound=Amount)

_SHOWN_AT = {"delta": 1e-5, "epsilon": 1.0, "fpr": 0.01}
"""Where conversions that need a place are shown, if all are and none is named."""


def _complete(amounts: Mapping[Known, Amount | None], to: str | None, places: Mapping[str, float | None]) -> None:
    """One error for all that is missing; where one place on a curve is asked for, that place as well."""
    lacking = (
        {"--rho": "instead of it you may give --mu, --epsilon or --renyi"} if set(amounts.values()) == {None} else {}
    )
    place = None if to is None else Asked.named("--to", to).place
    if place is not None and places[place] is None:
        lacking["--at-epsilon" if place == "epsilon" else f"--{place}"] = A_VALUE
    if lacking:
        raise MissingKeys(lacking)


def _converted(
    known: Known, amount: Amount, known_delta: float, asked: Asked, places: Mapping[str, float | None]
) -> Conversion:
    """One conversion, with what is wrong under the options' names."""
    try:
        return convert(known, amount, asked, known_delta=known_delta, **places)
    except InputError as problem:
        renamed = "at_epsilon" if problem.field == "epsilon" and known != Known.EPSILON else problem.field
        raise problem.renamed("--" + renamed.replace("_", "-")) from None


def only_known(amounts: Mapping[Known, Kind | None]) -> tuple[Known, Kind]:
    """What is known, and how much of it; InputError unless it is one thing."""
    given = [(name, value) for name, value in amounts.items() if value is not None]
    if len(given) != 1:
        options, both = (", ".join(f"--{name}" for name in names) for names in (amounts, dict(given)))
        told = f"Give one of {options}: whichever is known" + (f", and not {both} together." if given else ".")
        raise InputError("options", [name for name, _ in given], f"one of {options}", told)
    return given[0]
