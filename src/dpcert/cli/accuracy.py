"""dpcert accuracy: how close a noisy number is to the truth, and the noise that keeps it so close."""

from __future__ import annotations

from typing import Annotated, Any

from ..accounting import accuracy, noise_within
from ..mechanisms import InputError
from ..mechanisms.tables.noise_alone import SIZES, noise_alone
from ..mechanisms.validate import choice
from ..presentation.output import show
from . import options
from .setting import as_option, set_keys

Within = Annotated[float | None, "Instead of noise: find the most noise that keeps the number within this distance."]
Confidence = Annotated[float, "Probability that the number is that close."]
Clip = Annotated[
    float,
    "Clipping bound, which the noise multiplier multiplies; for staircase noise and noise in a public range the "
    "sensitivity.",
]
NoiseStd = Annotated[
    float | None,
    "Standard deviation of the noise on a mean (gaussian-mean), or of each client's own noise (per-client-gaussian), "
    "in the units of --within.",
]
Cohort = Annotated[
    int | None, "per-client-gaussian: the number of clients who add noise. The distance is from the sum of all uploads."
]
Numbers = Annotated[int, "How many numbers are released together, all of which must be that close."]


def accuracy_command(
    mechanism: options.Kind = "gaussian",
    noise_multiplier: options.NoiseMultiplier = None,
    noise_std: NoiseStd = None,
    cohort: Cohort = None,
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

    dpcert accuracy --mechanism clamped-gaussian --set width=100 --within 5
    """
    size = SIZES[choice("--mechanism", mechanism, SIZES)]
    given = {"noise_multiplier": noise_multiplier, "noise_std": noise_std, "cohort": cohort}
    stated = set_keys(keys) | {key: value for key, value in given.items() if value is not None}
    if size == "noise_std" and clip_norm != 1:
        raise InputError("--clip-norm", clip_norm, "to be left out: noise_std is in the released number's own units")
    asked: dict[str, Any] = {"clip_norm": clip_norm, "numbers": numbers}
    try:
        if within is None:
            found = accuracy(noise_alone(mechanism, stated), confidence, **asked)
        elif size in stated:
            raise InputError(size, stated[size], "to be left out beside --within, which looks for it")
        else:
            rises = mechanism != "staircase"
            found = noise_within(
                lambda noise: noise_alone(mechanism, stated | {size: noise if rises else 1 / noise}),
                within,
                confidence,
                **asked,
            )
    except InputError as problem:
        raise _named(problem) from None
    show(found, as_json)


def _named(problem: InputError) -> InputError:
    """The problem under its option's name."""
    if problem.field in ("distance", "confidence", "numbers", "clip_norm"):
        option = "within" if problem.field == "distance" else problem.field.replace("_", "-")
        return InputError(f"--{option}", problem.value, problem.expected)
    return as_option(problem)
