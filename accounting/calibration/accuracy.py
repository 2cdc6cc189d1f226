"""How close a noisy number is to the truth, with which confidence; and the most noise that keeps it so close."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flint import arb, ctx

from ...mechanisms import InputError, Mechanism
from ...mechanisms.digits import as_given, rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.serialise import to_json
from ...mechanisms.validate import count, open_probability, positive
from ..losses.crossing import Excess, crossing
from ..rounding import down, up
from .noise_tails import ON_A_GRID, tail

_BITS, _CLOSE = 128, 2.0**-44
_LEAST, _MOST = 1e-9, 1e12
"""Between which noise is looked for."""

_FAR, _TINY = 1e3, 1e-300
"""Stand for infinity and for 0, which a search by slopes has no use for."""


@dataclass(frozen=True, slots=True)
class Accuracy(InNotebook):
    """A number with this noise is within `distance` of the truth with probability `confidence`, or more.

    mechanism: one release of one number. clip_norm: what its numbers are multiples of. numbers: so many with
    independent noise are all within it. beyond: of no smaller distance is that true, up to rounding: at `beyond` the
    probability is certainly below the confidence (for whole numbers: the distance before).

    >>> from dpcert import accuracy
    >>> from dpcert.mechanisms import Laplace
    >>> found = accuracy(Laplace(noise_multiplier=2.0), confidence=0.95)
    >>> round(found.distance, 4)
    5.9915
    """

    mechanism: Mechanism
    confidence: float
    clip_norm: float
    numbers: int
    distance: float
    beyond: float

    def __str__(self) -> str:
        which = "the released number is" if self.numbers == 1 else f"all {self.numbers} released numbers are"
        return (
            f"With probability {as_given(self.confidence)} or more {which} within {rounded_up(self.distance)} of the "
            f"truth\n  noise: {self.mechanism}, clip_norm {as_given(self.clip_norm)}"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "distance": self.distance,
            "beyond": self.beyond,
            "confidence": self.confidence,
            "numbers": self.numbers,
            "clip_norm": self.clip_norm,
            "mechanism": json.loads(to_json(self.mechanism)),
        }


def accuracy(mechanism: Mechanism, confidence: float = 0.95, *, clip_norm: float = 1.0, numbers: int = 1) -> Accuracy:
    """The least distance from the truth, rounded up, that noise exceeds with probability 1 - confidence at most.

    mechanism: Gaussian, Laplace, TruncatedLaplace or Staircase noise (in units of clip_norm, Staircase in units of the
    sensitivity), or DiscreteGaussian, DiscreteLaplace or one coordinate of Skellam noise (whole numbers, clip_norm 1).
    numbers: released together, each with noise of its own; all of them are to be that close.
    Raises InputError for other mechanisms and for values out of range.

    >>> from dpcert.mechanisms import DiscreteLaplace
    >>> accuracy(DiscreteLaplace(scale=2.0), confidence=0.95).distance
    6.0
    """
    question = _Question.about(confidence, clip_norm, numbers, mechanism)
    with ctx.workprec(_BITS):
        beyond, distance = question.whole(mechanism) if isinstance(mechanism, ON_A_GRID) else question.real(mechanism)
    return Accuracy(mechanism, confidence, clip_norm, numbers, distance, beyond)


def noise_within(
    make: Callable[[float], Mechanism],
    distance: float,
    confidence: float = 0.95,
    *,
    clip_norm: float = 1.0,
    numbers: int = 1,
) -> Accuracy:
    """The most noise that keeps a number within `distance` of the truth with this confidence.

    make: the mechanism with this much noise: Gaussian, Laplace, lambda sigma: DiscreteGaussian(sigma), ...; more of its
    argument must be more noise. Raises InputError where hardly any noise is too much.

    >>> from dpcert import epsilon, noise_within
    >>> from dpcert.mechanisms import Laplace
    >>> found = noise_within(Laplace, distance=5.0, confidence=0.95, clip_norm=1.0)
    >>> round(found.mechanism.noise_multiplier, 4), round(epsilon(found.mechanism, 0).upper, 4)
    (1.669, 0.5991)
    """
    within = positive("distance", distance)
    question = _Question.about(confidence, clip_norm, numbers, make(1.0))
    with ctx.workprec(_BITS):
        noise = crossing(lambda size: question.room(make, size, within), within / clip_norm / 3, close=_CLOSE)[0]
        if noise >= _MOST:
            raise InputError("distance", distance, "a smaller distance: no noise of this kind is ever farther")
        if noise <= 0 or not tail(make(noise), within, question.clip_norm) <= question.miss:
            raise InputError("distance", distance, "a larger distance: with any noise a number is farther too often")
    found = accuracy(make(noise), confidence, clip_norm=clip_norm, numbers=numbers)
    return replace(found, distance=min(found.distance, within))


@dataclass(frozen=True, slots=True)
class _Question:
    """miss: how often each number may be farther."""

    miss: arb
    clip_norm: float

    @classmethod
    def about(cls, confidence: float, clip_norm: float, numbers: int, mechanism: Mechanism) -> _Question:
        sure, unit, times = (
            open_probability("confidence", confidence),
            positive("clip_norm", clip_norm),
            count("numbers", numbers),
        )
        if isinstance(mechanism, ON_A_GRID) and unit != 1:
            raise InputError("clip_norm", clip_norm, "1: noise on the integers is in units of the grid")
        with ctx.workprec(_BITS):
            tail(mechanism, 1.0, unit)  # which refuses what is no noise on a number
            return cls(1 - arb(repr(sure)) ** (arb(1) / times), unit)

    def excess(self, mechanism: Mechanism, distance: float) -> Excess:
        """At most 0 only where the noise is farther as rarely as it must be, for certain."""
        return Excess(_log(tail(mechanism, distance, self.clip_norm).upper(), self.miss.lower()))

    def room(self, make: Callable[[float], Mechanism], size: float, distance: float) -> Excess:
        """Above 0 only where noise of this size is farther as rarely as it must be, for certain."""
        least = _LEAST if size <= 0 else size
        return Excess(1.0) if size >= _MOST else Excess(min(_FAR, -self.excess(make(least), distance).value) or -_TINY)

    def real(self, mechanism: Mechanism) -> tuple[float, float]:
        """Too near for certain (or 0), and far enough for certain."""
        start = self.clip_norm * 3 * float(getattr(mechanism, "noise_multiplier", 1.0))
        low, high = crossing(lambda place: self.excess(mechanism, place), start, close=_CLOSE)
        while low > 0 and not tail(mechanism, low, self.clip_norm) > self.miss:
            low = down(low * (1 - _CLOSE))
        while not tail(mechanism, high, self.clip_norm) <= self.miss:
            high = up(high * (1 + _CLOSE))
        return down(low), up(high)  # as decimals and as binary numbers

    def whole(self, mechanism: Mechanism) -> tuple[float, float]:
        """The same for whole numbers: the last that is too near for certain (-1 for none), the first that is not."""
        near, far = -1, 1
        while not tail(mechanism, far, 1.0) <= self.miss:
            near, far = far, 2 * far
        while far - near > 1:  # far: far enough for certain
            middle = (near + far) // 2
            near, far = (near, middle) if tail(mechanism, middle, 1.0) <= self.miss else (middle, far)
        last = near
        while last >= 0 and not tail(mechanism, last, 1.0) > self.miss:
            last -= 1
        return float(last), float(far)


def _log(value: arb, target: arb) -> float:
    """log(value / target), upwards by a little; -inf for 0."""
    ratio = float((value / target).upper())
    return math.log(ratio) if ratio > 0 else -math.inf
