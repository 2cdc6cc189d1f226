"""dpcert accuracy: how close a noisy number is to the truth, and the noise that keeps it so close."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ValidationError

from ..accounting import accuracy, noise_within
from ..mechanisms import InputError, Mechanism
from ..mechanisms.tables.cohort import SamplingTable
from ..mechanisms.tables.correlated import CorrelatedTable
from ..mechanisms.tables.kinds import KINDS
from ..mechanisms.tables.problems import first_problem
from ..mechanisms.validate import choice
from ..presentation.output import show
from . import options
from .setting import as_option, set_keys

SIZES = {
    "gaussian": "noise_multiplier",
    "laplace": "noise_multiplier",
    "truncated-laplace": "noise_multiplier",
    "discrete-gaussian": "sigma",
    "discrete-laplace": "scale",
    "staircase": "epsilon",
    "skellam": "variance",
}
"""Kinds of noise on a number, each with the key of how much it is; of a staircase less is more noise."""

Within = Annotated[float | None, "Instead of noise: find the most noise that keeps the number within this distance."]
Confidence = Annotated[float, "Probability that the number is that close."]
Clip = Annotated[float, "Clipping bound, which the noise multiplier multiplies; for staircase noise the sensitivity."]
Numbers = Annotated[int, "How many numbers are released together, all of which must be that close."]


def accuracy_command(
    mechanism: options.Kind = "gaussian",
    noise_multiplier: options.NoiseMultiplier = None,
    keys: options.Keys = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    clip_norm: Clip = 1.0,
    numbers: Numbers = 1,
    as_json: options.Json = False,
) -> None:
    """Example: dpcert accuracy --mechanism laplace --noise-multiplier 2 --clip-norm 10

    dpcert accuracy --mechanism laplace --within 5 --confidence 0.95 --clip-norm 1

    dpcert accuracy --mechanism discrete-gaussian --set sigma=4 --numbers 10
    """
    size = SIZES[choice("--mechanism", mechanism, SIZES)]
    for key in {"norm", "dimension"} & set_keys(keys).keys() if mechanism != "skellam" else ():
        raise InputError(f"--set {key}", set_keys(keys)[key], "to be left out: the noise is on each number by itself")
    stated = set_keys(keys) | ({} if noise_multiplier is None else {"noise_multiplier": noise_multiplier})
    asked: dict[str, Any] = {"clip_norm": clip_norm, "numbers": numbers}
    try:
        if within is None:
            found = accuracy(_mechanism(mechanism, stated), confidence, **asked)
        elif size in stated:
            raise InputError(size, stated[size], "to be left out beside --within, which looks for it")
        else:
            rises = mechanism != "staircase"
            found = noise_within(
                lambda noise: _mechanism(mechanism, stated | {size: noise if rises else 1 / noise}),
                within,
                confidence,
                **asked,
            )
    except InputError as problem:
        raise _named(problem) from None
    show(found, as_json)


def _mechanism(kind: str, stated: dict[str, Any]) -> Mechanism:
    """The mechanism of a claim's table."""
    try:
        table = KINDS[kind].model_validate({"kind": kind} | stated)
    except ValidationError as problem:
        raise first_problem(problem) from None
    assert not isinstance(table, CorrelatedTable)  # none of SIZES is
    described: Mechanism = table.ran(SamplingTable()).upper  # type: ignore[attr-defined]
    return described


def _named(problem: InputError) -> InputError:
    """The problem under its option's name."""
    if problem.field in ("distance", "confidence", "numbers", "clip_norm"):
        option = "within" if problem.field == "distance" else problem.field.replace("_", "-")
        return InputError(f"--{option}", problem.value, problem.expected)
    return as_option(problem)
