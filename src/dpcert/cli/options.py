"""The options that epsilon, delta, calibrate and other commands share, as the command line declares them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib.util import find_spec
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..mechanisms import InputError
from ..mechanisms import Neighbouring as Relation
from ..mechanisms.tables.cohort import SamplingTable
from ..mechanisms.tables.kinds import KINDS
from ..mechanisms.validate import lacks


def number(text: str) -> float:
    """A number, or a fraction of two such as 1/60000. Raises InputError for anything else."""
    above, slash, below = str(text).partition("/")
    try:
        return float(Fraction(above) / Fraction(below)) if slash else float(text)
    except ZeroDivisionError:
        raise InputError("number", text, "a fraction whose denominator is not 0") from None
    except (ValueError, OverflowError):
        raise InputError("number", text, "a number, or a fraction such as 1/60000") from None


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


def real(option: str, text: str) -> Any:
    """An option that is a number; fractions are read as such."""
    return typer.Option(option, parser=number, metavar="NUMBER", help=text)


Delta = Annotated[
    float | None, real("--delta", "Target delta, below 1; 0 means pure DP. May be a fraction, such as 1/60000.")
]
Epsilon = Annotated[float | None, real("--epsilon", "Epsilon, at least 0.")]


def _whole(text: str) -> Any:
    """A whole number, 1e4 too; anything else goes on as it is, to be refused where everything is checked."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def words(*choices: str) -> Callable[[str], list[str]]:
    """For a shell that completes a value."""

    def begun_with(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return begun_with


def declared_as(command: Callable[..., None], text: str | None, parameters: Sequence[Parameter]) -> Callable[..., None]:
    """The command as typer reads it: with this docstring, these parameters, and their annotations."""
    command.__doc__, command.__annotations__ = text, {each.name: each.annotation for each in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _accountants(incomplete: str) -> list[str]:
    from ..accounting.accountants import AccountantName

    return words(*get_args(AccountantName))(incomplete)


def counted(*options: str, text: str) -> Any:
    """An option that is a whole number, 1e4 too."""
    return typer.Option(*options, parser=_whole, metavar="INTEGER", help=text)


Rounds = Annotated[
    int | None, counted("--rounds", text="Number of rounds, composed adaptively. Default: 1, or what --epochs gives.")
]
Epochs = Annotated[
    float | None,
    real("--epochs", "Passes over the population, instead of --rounds; rounded up to whole rounds."),
]
Releases = Annotated[
    int | None,
    counted("--releases", text="Releases per round that use the same sample, such as local steps. Default: 1."),
]
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
    real(
        "--rtol",
        "Relative width of the interval. Default: 1e-6; for hidden fixed-size cohorts 0.02, and at least 5e-4.",
    ),
]
NoiseMultiplier = Annotated[
    float | None,
    real("--noise-multiplier", "Standard deviation of the noise on the sum, divided by the clipping bound."),
]
NoiseStd = Annotated[
    float | None,
    real("--noise-std", "Instead of --noise-multiplier: standard deviation of the noise on the mean over the cohort."),
]
ClipNorm = Annotated[
    float | None,
    real("--clip-norm", "Clipping bound: the largest norm of one unit's contribution. Needed with --noise-std."),
]
Sampling = Annotated[
    str,
    typer.Option(
        "--sampling",
        help="How the units of a round are chosen: none, poisson, fixed-size, shuffle, cyclic or random-allocation; "
        "with matrix-factorisation also cyclic-poisson, balls-in-bins or min-separated.",
        autocompletion=words(*get_args(SamplingTable.model_fields["scheme"].annotation)),
    ),
]
SamplingRate = Annotated[
    float | None,
    real("--sampling-rate", "Poisson: each unit's probability of being in a round, such as 0.01 or 256/60000."),
]
Population = Annotated[int | None, counted("--population", "--dataset-size", text="Number of units in the data set.")]
Cohort = Annotated[
    int | None, counted("--cohort", "--batch-size", text="Units per round; with Poisson sampling the expected number.")
]
MaxCohort = Annotated[
    int | None, counted("--max-cohort", text="Poisson: larger cohorts are cut at random to this size.")
]
DropLast = Annotated[
    bool, typer.Option("--drop-last", help="Shuffled batches: leave out the incomplete last batch of each epoch.")
]
Block = Annotated[int | None, typer.Option("--block", help="Random allocation: number of rounds per block.")]
PerBlock = Annotated[
    int | None,
    typer.Option(
        "--per-block", help="Random allocation: in how many rounds of a block each unit takes part. Default: 1."
    ),
]
Bins = Annotated[
    int | None,
    typer.Option("--bins", help="Balls in bins: number of rounds per pass. Each unit draws one of them, once."),
]
Neighbouring = Annotated[
    str | None,
    typer.Option(
        "--neighbouring",
        help="How neighbouring data sets differ: add-remove (one unit more), replace-one (one unit's data) or "
        "zero-out (one unit's contribution is zero). Default: add-remove for dp; replace-one for billboard and joint, "
        "and with visible participation.",
        autocompletion=words(*get_args(Relation)),
    ),
]
Notion = Annotated[
    str,
    typer.Option(
        "--notion",
        help="Who the attacker is: dp (anyone who sees all that is released), billboard or joint (all other clients "
        "together).",
        autocompletion=words("dp", "billboard", "joint"),
    ),
]
Participation = Annotated[
    str | None,
    typer.Option(
        "--participation",
        help="visible or hidden: does the attacker see who takes part in a round? "
        "Default: hidden for dp; for billboard and joint, the other clients together know who takes part.",
        autocompletion=words("visible", "hidden"),
    ),
]
Accountant = Annotated[
    str, typer.Option("--accountant", help="best, or the name of one accountant.", autocompletion=_accountants)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]


def needs_torch(command: str) -> None:
    """InputError, before any work, where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise lacks(f"`dpcert {command}`", "PyTorch", "dpcert[train]")
