"""A [mechanism] table's noise by itself, without cohorts and rounds: what a distance from the truth depends on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from .. import DistributedGaussian, Gaussian, InputError, Mechanism
from ..validate import count, positive
from .cohort import SamplingTable
from .correlated import CorrelatedTable
from .fields import MissingKeys
from .kinds import KINDS
from .problems import first_problem

SIZES = {
    "gaussian": "noise_multiplier",
    "laplace": "noise_multiplier",
    "truncated-laplace": "noise_multiplier",
    "discrete-gaussian": "sigma",
    "discrete-laplace": "scale",
    "staircase": "epsilon",
    "skellam": "variance",
    "distributed-discrete-gaussian": "sigma",
    "bounded-laplace": "scale",
    "clamped-gaussian": "sigma",
    "truncated-gaussian": "sigma",
    "gaussian-mean": "noise_std",
    "per-client-gaussian": "noise_std",
}
"""Kinds of noise on a number, each with the key of how much it is; of a staircase less is more noise."""

VECTORS = ("skellam", "distributed-discrete-gaussian")
"""Kinds whose tables always say how many numbers a contribution has; the noise is asked about in one of them."""


_BY_STD = "to be left out: only gaussian-mean and per-client-gaussian are stated that way"
_EACH = "to be left out: the noise is on each number by itself"
_NOT_ALONE = {"noise_std": _BY_STD, "cohort": _BY_STD, "norm": _EACH, "dimension": _EACH}
"""Keys of tables that say nothing of one number's noise."""


def noise_alone(kind: str, stated: dict[str, Any]) -> Mechanism:
    """The mechanism of a claim's table; of noise_std in units of 1. InputError for keys that it has no use for."""
    if kind in _STATED_BY_STD:
        return _STATED_BY_STD[kind](**stated)
    for key in _NOT_ALONE.keys() & stated.keys():
        if kind not in VECTORS or _NOT_ALONE[key] is _BY_STD:
            raise InputError(key, stated[key], _NOT_ALONE[key])
    try:
        table = KINDS[kind].model_validate({"kind": kind} | stated)
    except ValidationError as problem:
        raise first_problem(problem) from None
    assert not isinstance(table, CorrelatedTable)  # none of SIZES is
    described: Mechanism = table.ran(SamplingTable()).upper  # type: ignore[attr-defined]
    return described


def _on_a_mean(noise_std: Any = None, **others: Any) -> Gaussian:
    """Noise on a mean, the distance from which is asked for."""
    for key, value in others.items():
        raise InputError(key, value, "to be left out: the distance is from the mean, to which noise_std is added")
    return Gaussian(_size(noise_std))


def _of_each(noise_std: Any = None, cohort: Any = None, **others: Any) -> DistributedGaussian:
    """The sum of the clients' noise, rounded up by more than the root and the product are off."""
    for key, value in others.items():
        raise InputError(key, value, "to be left out: the distance is in the units of noise_std")
    if cohort is None:
        raise MissingKeys({"cohort": "the number of clients who add noise"})
    return DistributedGaussian(_size(noise_std) * math.sqrt(count("cohort", cohort)) * (1 + 2.0**-50))


def _size(noise_std: Any) -> float:
    if noise_std is None:
        raise MissingKeys({"noise_std": "a standard deviation"})
    return positive("noise_std", noise_std)


_STATED_BY_STD: dict[str, Callable[..., Mechanism]] = {"gaussian-mean": _on_a_mean, "per-client-gaussian": _of_each}
