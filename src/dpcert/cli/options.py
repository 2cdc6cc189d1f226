"""The options that epsilon, delta, calibrate and other commands share, as the command line declares them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..mechanisms import InputError, Relation
from ..mechanisms.tables.kinds import KINDS
from ..mechanisms.tables.scheme import Scheme
from ..mechanisms.text_input import number, whole
from ..mechanisms.validate import choice, lacks


def two(option: str, expected: str, text: str) -> tuple[float, float]:
    """Two numbers with a colon between them. Raises InputError, with what is expected, for anything else."""
    first, _, second = text.partition(":")
    try:
        return number(first), number(second)
    except InputError:
        raise InputError(option, text, expected) from None


def path(text: str) -> Path:
    """A path that is named. Raises InputError for an empty text, which would be the current folder."""
    if not str(text):
        raise InputError("path", text, "a path; the current folder is .")
    return Path(text)


def named(metavar: str, text: str) -> Any:
    """An argument, or several, that are paths."""
    return typer.Argument(parser=path, metavar=metavar, help=text, show_default=False)


Delta = Annotated[float | None, "Target delta, below 1; 0 means pure DP. May be a fraction, such as 1/60000."]
Epsilon = Annotated[float | None, "Epsilon, at least 0."]


def words(*choices: str) -> Callable[[str], list[str]]:
    """For a shell that completes a value."""
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


def _accountants(incomplete: str) -> list[str]:
    from ..accounting.accountants import AccountantName

    return words(*get_args(AccountantName))(incomplete)


def counted(option: str, other: str, text: str) -> Any:
    """An option of two names that is a whole number."""
    return typer.Option(option, other, parser=whole, metavar="INTEGER", help=text)


Rounds = Annotated[int | None, "Number of rounds, composed adaptively. Default: 1, or what --epochs gives."]
Epochs = Annotated[float | None, "Passes over the population, instead of --rounds; rounded up to whole rounds."]
Releases = Annotated[int | None, "Releases per round that use the same sample, such as local steps. Default: 1."]
Kind = Annotated[
    str,
    typer.Option(
        "--mechanism",
        help="The kind of noise, as in claim files: gaussian, laplace, discrete-gaussian, ...",
        autocompletion=words(*KINDS),
    ),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A key of that kind of noise, as in claim files, such as sigma=3. Repeatable. A list may be in a "
        "file: losses=@FILE. For contributions of several numbers: norm=l1, or norm=l2 or norm=linf with dimension=D.",
    ),
]
Rtol = Annotated[
    float | None,
    "Relative width of the interval. Default: 1e-6; for hidden fixed-size cohorts 0.02, and at least 5e-4.",
]
NoiseMultiplier = Annotated[float | None, "Standard deviation of the noise on the sum, divided by the clipping bound."]
NoiseStd = Annotated[
    float | None, "Instead of --noise-multiplier: standard deviation of the noise on the mean over the cohort."
]
ClipNorm = Annotated[
    float | None, "Clipping bound: the largest norm of one unit's contribution. Needed with --noise-std."
]
Sampling = Annotated[
    str,
    typer.Option(
        help="How the units of a round are chosen: none, poisson, fixed-size, shuffle, cyclic or random-allocation; "
        "with matrix-factorisation also cyclic-poisson, balls-in-bins or min-separated.",
        autocompletion=words(*Scheme),
    ),
]
SamplingRate = Annotated[
    float | None, "Poisson: each unit's probability of being in a round, such as 0.01 or 256/60000."
]
Population = Annotated[int | None, counted("--population", "--dataset-size", "Number of units in the data set.")]
Cohort = Annotated[
    int | None, counted("--cohort", "--batch-size", "Units per round; with Poisson sampling the expected number.")
]
MaxCohort = Annotated[int | None, "Poisson: larger cohorts are cut at random to this size."]
DropLast = Annotated[bool, "Shuffled batches: leave out the incomplete last batch of each epoch."]
Block = Annotated[int | None, "Random allocation: number of rounds per block."]
PerBlock = Annotated[int | None, "Random allocation: in how many rounds of a block each unit takes part. Default: 1."]
Bins = Annotated[int | None, "Balls in bins: number of rounds per pass. Each unit draws one of them, once."]
Neighbouring = Annotated[
    str | None,
    typer.Option(
        help="How neighbouring data sets differ: add-remove (one unit more), replace-one (one unit's data) or "
        "zero-out (one unit's contribution is zero). Default: add-remove for dp; replace-one for billboard and joint, "
        "and with visible participation.",
        autocompletion=words(*Relation),
    ),
]
Notion = Annotated[
    str,
    typer.Option(
        help="Who the attacker is: dp (anyone who sees all that is released), billboard or joint (all other clients "
        "together).",
        autocompletion=words("dp", "billboard", "joint"),
    ),
]
Participation = Annotated[
    str | None,
    typer.Option(
        help="visible or hidden: does the attacker see who takes part in a round? "
        "Default: hidden for dp; for billboard and joint, the other clients together know who takes part.",
        autocompletion=words("visible", "hidden"),
    ),
]
Accountant = Annotated[str, typer.Option(help="best, or the name of one accountant.", autocompletion=_accountants)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, and nothing else.")]
Quiet = Annotated[bool, "Print no progress."]


def needs_torch(command: str) -> None:
    """InputError, before any work, where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise lacks(f"`dpcert {command}`", "PyTorch", "dpcert[train]")


def form(named: str, known: Sequence[str], as_json: bool) -> str:
    """How to print, of --format and --json. Raises InputError for an unknown format, and for both at once."""
    if as_json and choice("--format", named, known) not in (known[0], "json"):
        raise InputError("--format", named, "json, or no --json beside it")
    return "json" if as_json else choice("--format", named, known)


def folder(option: str, place: Path | None) -> None:
    """The folder is there, or InputError, before any work."""
    if place is not None:
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(option, str(place), f"a folder to write to ({problem})") from None
