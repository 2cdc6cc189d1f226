"""A mechanism of which the distribution of its privacy loss is known, or bounds of it: one's own PMF."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, optional
from .validate import InputError, pairs_of_numbers

Law = tuple[tuple[float, float], ...]
"""(loss, mass) of a privacy loss log(P/Q) under P, in the losses' order; the last one may be infinite."""

MOST_LOSSES = 1 << 18
"""Of one law; more take seconds and hundreds of megabytes."""

_MISSING, _TOO_MUCH, _TOO_MUCH_OTHER = 1e-9, 1e-6, 1e-3
"""Mass that may be missing from 1 of what bounds from above: it is taken for an infinite loss; and what may be beyond 1
under P, and under Q, as programs that round up have it: losses are then raised until it is not."""


def _law(name: str, value: object) -> Law:
    """From below: masses may be left out. Raises InputError for what is no law of a privacy loss."""
    points = pairs_of_numbers(name, value, "loss, mass")
    if len(points) > MOST_LOSSES:
        raise InputError(name, f"{len(points)} losses", f"at most {MOST_LOSSES}: round losses up to a coarser grid")
    masses: dict[float, float] = {}
    for loss, mass in points:
        if not 0.0 <= mass <= 1.0 or loss == -math.inf:
            raise InputError(name, (loss, mass), "masses from 0 to 1, at losses that are numbers or inf")
        masses[loss] = masses.get(loss, 0.0) + mass
    total = math.fsum(masses.values())
    if not 0.0 < total <= 1.0 + _TOO_MUCH:
        raise _of_wrong_sum(name, total)
    return tuple(sorted((loss, mass) for loss, mass in masses.items() if mass > 0.0))


def _of_wrong_sum(name: str, total: float) -> InputError:
    told = f"The masses of {name} add up to {total:.10g}; they should add up to 1. An infinite loss is inf."
    return InputError(name, total, "masses that add up to 1", told)


def _pessimistic(name: str, value: object) -> Law:
    """A law of two distributions: those of Q must not add up to more than 1."""
    law = _law(name, value)
    total = math.fsum(mass for _, mass in law)
    if total < 1.0 - _MISSING:
        raise _of_wrong_sum(name, total)
    other = math.fsum(mass * math.exp(-loss) for loss, mass in law if loss > -700.0)
    if law[0][0] <= -700.0 or other > 1.0 + _TOO_MUCH_OTHER:
        told = f"No two distributions P and Q have the privacy losses {name}: Q's masses, each mass * exp(-loss), "
        told += f"would add up to {other:.10g}, and can add up to at most 1. Losses are log(P/Q), and masses are P's."
        raise InputError(name, other, "masses that, times e^-loss, add up to 1 at most", told)
    return law


@dataclass(frozen=True, slots=True)
class LossDistribution(Mechanism):
    """Any mechanism whose privacy loss these laws bound, in one round, for the stated neighbours.

    losses: (loss, mass), the law of log(P/Q) under P, of two distributions P and Q that are at least as easy to tell
    apart as the outputs with the unit and those without it (a dominating pair: Zhu, Dong, Wang 2022, arXiv 2106.08567,
    Definition 7; what a pessimistic estimate of a privacy loss distribution is). An infinite loss is written inf.
    losses_added: the same with the two data sets exchanged; left out, it is that of Q and P, where Q's mass that
    belongs to no loss is at infinity. Of a replaced unit both data sets have one, and there is one law.
    optimistic, optimistic_added: laws from below, of outputs that some two neighbours have; without them nothing is
    known from below, and no claim is refuted.

    Losses and masses are the doubles that they are. `from_outcomes` makes all four from a table of P and Q.

    >>> from dpcert import Repeat, epsilon
    >>> one = LossDistribution.from_outcomes([0.75, 0.25], [0.25, 0.75])  # randomized response with epsilon ln(3)
    >>> found = epsilon(Repeat(one, 10), 1e-5)
    >>> round(found.lower, 4), round(found.upper, 4)
    (10.9859, 10.9859)
    """

    losses: Annotated[Law, Quantity(_pessimistic, "[[loss, mass], ...]: the law of log(P/Q) under P, from above")]
    losses_added: Annotated[
        Law | None, Quantity(optional(_pessimistic), "the same with the neighbours exchanged; default: follows")
    ] = None
    optimistic: Annotated[Law | None, Quantity(optional(_law), "the same as losses, from below; default: unknown")] = (
        None
    )
    optimistic_added: Annotated[
        Law | None, Quantity(optional(_law), "the same as losses_added, from below; default: unknown")
    ] = field(default=None)

    @classmethod
    def from_outcomes(cls, p: Iterable[float], q: Iterable[float]) -> LossDistribution:
        """Of a mechanism with these probabilities of each of its outputs, with the unit (p) and without it (q), at the
        worst two neighbours: a bound from above, rounded up, and from below, rounded down.

        Raises InputError unless both add up to 1 and have as many outputs.

        p, q: probabilities of the same outcomes under the two neighbours, each adding up to 1.
        """
        left, right = tuple(p), tuple(q)
        if len(left) != len(right):
            raise InputError("q", f"{len(right)} outputs", f"as many as in p, {len(left)}")
        return cls(*(_losses(*sides, way) for way in (1, -1) for sides in ((left, right), (right, left))))


def _losses(p: tuple[float, ...], q: tuple[float, ...], way: int) -> Law:
    """log(p/q) with p's masses, each loss rounded in one direction."""
    found = []
    for one, other in zip(p, q, strict=True):
        if one > 0.0:
            loss = math.inf if other == 0.0 else math.log(one / other)
            found.append((loss if loss == math.inf else loss + way * 2.0**-50 * (1 + abs(loss)), one))
    return tuple(found)
