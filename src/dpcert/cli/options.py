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


Delta = Annotated[float | None, real("--delta", "Target delta, below 1; 0 is pure DP. Fractions are read: 1/60000.")]
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
    int | None, counted("--rounds", text="Rounds, composed adaptively; 1e4 is 10000. Default: 1, or as --epochs says.")
]
Epochs = Annotated[
    float | None,
    real("--epochs", "Instead of --rounds: passes over the population; a round that was begun counts."),
]
Releases = Annotated[
    int | None,
    counted("--releases", text="Releases of a round, all about the same sample: local steps, say. Default: 1."),
]
Kind = Annotated[
    str,
    typer.Option(
        "--mechanism",
        help="The kind of noise, as in claim files: gaussian, laplace, discrete-gaussian, ... (see --set).",
        autocompletion=words(*KINDS),
    ),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A further key of that kind: --set sigma=3. Repeatable. A list may be in a file: --set losses=@FILE. "
        "Where a contribution is several numbers: --set norm=l1, or norm=l2 or linf with dimension=D.",
    ),
]
Rtol = Annotated[
    float | None,
    real("--rtol", "Relative width of the interval. Default: 1e-6; for hidden fixed cohorts .02, or 5e-4 at finest."),
]
NoiseMultiplier = Annotated[
    float | None,
    real("--noise-multiplier", "Standard deviation of the noise on the sum, divided by clip_norm."),
]
NoiseStd = Annotated[
    float | None,
    real("--noise-std", "Instead: standard deviation of the noise on the mean over the cohort."),
]
ClipNorm = Annotated[float | None, real("--clip-norm", "With --noise-std: bound on one contribution.")]
Sampling = Annotated[
    str,
    typer.Option(
        "--sampling",
        help="none, poisson, fixed-size, shuffle, cyclic or random-allocation; with matrix-factorisation "
        "cyclic-poisson, balls-in-bins or min-separated.",
        autocompletion=words(*get_args(SamplingTable.model_fields["scheme"].annotation)),
    ),
]
SamplingRate = Annotated[float | None, real("--sampling-rate", "Poisson: rate in (0, 1], such as 0.01 or 256/60000.")]
Population = Annotated[int | None, counted("--population", "--dataset-size", text="Number of units.")]
Cohort = Annotated[int | None, counted("--cohort", "--batch-size", text="Units in one round; Poisson: expected.")]
MaxCohort = Annotated[
    int | None, counted("--max-cohort", text="Poisson: cohorts that are larger are cut to so many, at random.")
]
DropLast = Annotated[
    bool, typer.Option("--drop-last", help="Shuffled batches: the smaller last batch of an epoch is left out.")
]
Block = Annotated[
    int | None, typer.Option("--block", help="Random allocation: rounds of a block, among which each unit picks.")
]
PerBlock = Annotated[
    int | None, typer.Option("--per-block", help="Random allocation: how many of them it picks. Default: 1.")
]
Bins = Annotated[int | None, typer.Option("--bins", help="Balls in bins: rounds of a pass; each unit draws one, once.")]
Neighbouring = Annotated[
    str | None,
    typer.Option(
        "--neighbouring",
        help="add-remove, replace-one or zero-out. "
        "Default: add-remove for dp; replace-one for billboard and joint, and with visible participation.",
        autocompletion=words(*get_args(Relation)),
    ),
]
Notion = Annotated[
    str, typer.Option("--notion", help="dp, billboard or joint.", autocompletion=words("dp", "billboard", "joint"))
]
Participation = Annotated[
    str | None,
    typer.Option(
        "--participation",
        help="visible or hidden: does the observer see who takes part? "
        "Default: hidden for dp; for billboard and joint, the coalition of all others.",
        autocompletion=words("visible", "hidden"),
    ),
]
Accountant = Annotated[
    str, typer.Option("--accountant", help="best, or one accountant by name.", autocompletion=_accountants)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout, and nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]


def needs_torch(command: str) -> None:
    """InputError, before any work, where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise lacks(f"`dpcert {command}`", "PyTorch", "dpcert[train]")
