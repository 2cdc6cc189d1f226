"""What is drawn: each kind of noise, where it has mass, and what a shift by one costs.

Two kinds are no noise: a "part" is the output of a function that is taken to be private, and a "computed" value is a
function of others (tracer.computed), which are shown to be the same in both runs. Neither is shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from .forms import Form, Sign, noise_index
from .refusals import Refused
from .rounding import logarithm_up


@dataclass(frozen=True)
class Kind:
    """smooth: a density; whole: integers, shifted by integers only. upwards: shifts below 0 have no bounded cost;
    one_sided: the cost of a shift is signed, so that only one of its sides needs a bound. shifted: may be shifted.
    scaling: its scale may be proportional to the number of entries. priced: a shift costs something. vector: noise for
    every entry of a record, shifted by records: Gaussian noise costs by their Euclidean norm, Laplace's by the sum of
    absolute values."""

    smooth: bool = True
    whole: bool = False
    upwards: bool = False
    one_sided: bool = False
    shifted: bool = True
    scaling: bool = False
    priced: bool = True
    vector: bool = False


KINDS = {
    "laplace": Kind(scaling=True),
    "exponential": Kind(one_sided=True, scaling=True),
    "gumbel": Kind(upwards=True, one_sided=True, scaling=True),
    "gaussian": Kind(),
    "laplace vector": Kind(scaling=True, vector=True),
    "gaussian vector": Kind(vector=True),
    "uniform": Kind(priced=False),
    "unused": Kind(priced=False),
    "geometric": Kind(smooth=False, whole=True, upwards=True, one_sided=True),
    "discrete-laplace": Kind(smooth=False, whole=True),
    "coin": Kind(smooth=False, whole=True),
    "die": Kind(smooth=False, whole=True, priced=False),
    "part": Kind(smooth=False, shifted=False, priced=False),
    "computed": Kind(smooth=False, shifted=False, priced=False),
    "computed vector": Kind(smooth=False, shifted=False, priced=False, vector=True),
}
COMPUTED = ("computed", "computed vector")
GAUSSIAN = ("gaussian", "gaussian vector")
T = TypeVar("T")
Draw = tuple[str, str]
"""A kind, and its parameter as text."""


def noise_of(draws: Sequence[Draw], values: Sequence[T]) -> tuple[T, ...]:
    """What belongs to noise, of values for every draw: not what is computed."""
    return tuple(value for (kind, _), value in zip(draws, values, strict=True) if kind not in COMPUTED)


def smooth(form: Form, draws: Sequence[Draw]) -> bool:
    """Whether it hangs on smooth noise, and on nothing computed of it: then it is 0 with probability 0."""
    places = [k for name in form.slopes if (k := noise_index(name)) is not None and k < len(draws)]
    kinds = [draws[k][0] for k in places]
    return any(KINDS[kind].smooth for kind in kinds) and not any(kind in COMPUTED for kind in kinds)


def checked(kind: str, parameter: Fraction) -> Fraction:
    """The parameter, if it is one. Raises Refused."""
    least = parameter > 0 and (parameter < 1 or kind not in ("geometric", "coin"))
    if not least:
        raise Refused(f"{kind} noise whose parameter is {float(parameter):g}")
    return parameter


def support(kind: str, parameter: str, value: Form) -> list[Sign]:
    """Where the noise has mass."""
    if kind == "exponential":
        return [Sign(value, False)]
    if kind in ("uniform", "coin"):
        return [Sign(value, False), Sign(1 - value, False)]
    if kind == "die":
        return [Sign(value, False), Sign(int(parameter) - 1 - value, False)]
    return [Sign(value - 1, False)] if kind == "geometric" else []


def weight(kind: str, parameter: Fraction) -> Fraction:
    """What a shift by 1 costs at most, rounded up where it is irrational.

    Laplace-like: 1 / scale. Geometric: -log(1 - p). A coin that falls 1 with probability p: |log(p / (1 - p))|.
    """
    if not KINDS[kind].priced:
        return Fraction(0)
    if kind == "geometric":
        return logarithm_up(1 / (1 - parameter))
    if kind == "coin":
        return logarithm_up(max(parameter / (1 - parameter), (1 - parameter) / parameter))
    return 1 / parameter
