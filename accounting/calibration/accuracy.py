"""How close a noisy number is to the truth, with which confidence; and the most noise that keeps it so close."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from ...mechanisms import InputError, Mechanism
from ...mechanisms.client_noise import brings_noise
from ...mechanisms.digits import as_given, rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.serialise import to_json
from ...mechanisms.validate import count, open_probability, positive
from ..losses.crossing import Excess, crossing
from ..rounding import down, up
from .noise_tails import ON_A_GRID, decimal, exact, jumps, tail, worst_truth

_BITS, _CLOSE = 128, 2.0**-44
_RAREST = 2.0**-100
"""How rarely a number may have to be farther: well above what tails on a grid leave out, and balls round."""

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

    Noise in a public range depends on where in the range the truth is: `distance` is the worst case, a bound for every
    truth in the range, and `worst_case` says which truth it is reached by. Noise in shares is that of the shares which
    the mechanism counts: any further one, such as a colluder's, makes the error larger.

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
        lines = [
            f"With probability {as_given(self.confidence)} or more {which} within {rounded_up(self.distance)} of the "
            f"truth{', wherever in the public range the truth is' if self.worst_case else ''}",
            f"  noise: {self.mechanism}, clip_norm {as_given(self.clip_norm)}",
        ]
        if self.worst_case:
            lines.append(f"  This is the worst case: a truth {self.worst_case}. For other truths it is a bound.")
        if brings_noise(self.mechanism):
            lines.append("  Only the shares of noise stated here are counted: more shares make the error larger.")
        return "\n".join(lines)

    @property
    def worst_case(self) -> str | None:
        """Of which truths in a public range the distance is the least; None where the error is the same of all."""
        return worst_truth(self.mechanism, decimal(self.distance) / decimal(self.clip_norm))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "distance": self.distance,
            "beyond": self.beyond,
            "confidence": self.confidence,
            "numbers": self.numbers,
            "clip_norm": self.clip_norm,
            "worst_case": self.worst_case,
            "mechanism": json.loads(to_json(self.mechanism)),
        }


def accuracy(mechanism: Mechanism, confidence: float = 0.95, *, clip_norm: float = 1.0, numbers: int = 1) -> Accuracy:
    """The least distance from the truth, rounded up, that noise exceeds with probability 1 - confidence at most.

    mechanism: Gaussian, DistributedGaussian, Laplace or TruncatedLaplace noise (in units of clip_norm); Staircase,
    BoundedLaplace, ClampedGaussian or TruncatedGaussian noise (clip_norm: the sensitivity); or whole numbers, with
    clip_norm 1: DiscreteGaussian, DiscreteLaplace, one coordinate of Skellam or DistributedDiscreteGaussian noise.
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

    make: the mechanism with this much noise: Gaussian, Laplace, lambda sigma: ClampedGaussian(sigma, width=100), ...;
    more of its argument must be more noise. Raises InputError where hardly any noise is too much, or none is.

    numbers: how many numbers the release has, at least 1; all of them are within the distance.

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
            raise InputError("distance", distance, "a smaller distance: any noise of this kind is this close")
        if noise <= 0 or not question.room(make, noise, within).value > 0 or _made(make, noise) is None:
            raise InputError("distance", distance, "a larger distance: with any noise a number is farther too often")
    found = accuracy(make(noise), confidence, clip_norm=clip_norm, numbers=numbers)
    return replace(found, distance=min(found.distance, within))


@dataclass(frozen=True, slots=True)
class _Question:
    """miss: how often each number may be farther."""

    miss: arb
    clip_norm: float

    def far(self, mechanism: Mechanism, distance: float) -> arb:
        """How often it is farther."""
        return tail(mechanism, decimal(distance) / decimal(self.clip_norm))

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
            tail(mechanism, Fraction(1))  # which refuses what is no noise on a number
            miss = 1 - exact(sure) ** (arb(1) / times)
            if not miss > _RAREST:
                expected = "fewer numbers: each would have to be farther more rarely than can be computed"
                raise InputError("numbers", numbers, expected)
            return cls(miss, unit)

    def excess(self, mechanism: Mechanism, distance: float) -> Excess:
        """At most 0 only where the noise is farther as rarely as it must be, for certain."""
        return Excess(_log(self.far(mechanism, distance).upper(), self.miss.lower()))

    def room(self, make: Callable[[float], Mechanism], size: float, distance: float) -> Excess:
        """Above 0 only where noise of this size is farther as rarely as it must be; or below the least noise."""
        made = _made(make, max(size, _LEAST)) if size < _MOST else None
        if made is None:
            return Excess(1.0)
        return Excess(min(_FAR, -self.excess(made, distance).value) or -_TINY)

    def start(self, mechanism: Mechanism) -> float:
        """A guess."""
        return self.clip_norm * 3 * float(getattr(mechanism, "noise_multiplier", 1.0))

    def real(self, mechanism: Mechanism) -> tuple[float, float]:
        """Too near for certain (or 0), and far enough for certain: `crossing` tells where in doubles, and from there on
        steps go outwards until balls decide."""
        low, high = crossing(lambda place: self.excess(mechanism, place), self.start(mechanism), close=_CLOSE)
        while low > 0 and not self.far(mechanism, low) > self.miss:
            low = down(low * (1 - _CLOSE))
        while not self.far(mechanism, high) <= self.miss:
            high = up(high * (1 + _CLOSE))
        ends = (float(place * decimal(self.clip_norm)) for place in jumps(mechanism))
        there = [end for end in ends if low < end < high and self.far(mechanism, end) <= self.miss]
        return down(low), min(
            there, default=up(high)
        )  # up, down: as decimals and as binary numbers; a jump as a decimal

    def whole(self, mechanism: Mechanism) -> tuple[float, float]:
        """The same for whole numbers: the last that is too near for certain (-1 for none), the first that is not."""
        ends = crossing(
            lambda place: self.excess(mechanism, math.floor(place))._replace(blur=0.5), self.start(mechanism)
        )
        far = math.floor(ends[1])
        last = far - 1
        while last >= 0 and not self.far(mechanism, last) > self.miss:
            last -= 1
        return float(last), float(far)


def _made(make: Callable[[float], Mechanism], size: float) -> Mechanism | None:
    """The mechanism with this much noise; None where its kind has no noise that is so small."""
    try:
        return make(size)
    except InputError:
        if size >= 1.0:  # for which it was made before
            raise
        return None


def _log(value: arb, target: arb) -> float:
    """log(value / target), upwards by a little; -inf for 0."""
    ratio = float((value / target).upper())
    return math.log(ratio) if ratio > 0 else -math.inf
