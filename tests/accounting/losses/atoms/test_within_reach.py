"""Asking for more than the frequencies allow never answers worse: against enumeration in 40 digits."""

from __future__ import annotations

from collections.abc import Mapping

import mpmath
import pytest

from dpcert import Cyclic, DiscreteLaplace, Poisson, Repeat, Sequence, VisibleParticipation, delta, epsilon

RATE, RARE, OFTEN = 4.25e-4, 0.2215, 11.5
RUN = Sequence(
    Repeat(VisibleParticipation(Poisson(DiscreteLaplace(RARE, 2), RATE)), 6),
    Repeat(Cyclic(DiscreteLaplace(OFTEN, 2), 7), 6),
)
"""Six rounds that hardly anybody takes part in, and that tell nearly all; six that everybody does."""

Law = Mapping[int, mpmath.mpf]


def one_round(scale: float) -> Law:
    """Probabilities of 2 x - 2 over scale, the loss of two steps of discrete Laplace noise, at x = 0, 1, 2."""
    ratio = mpmath.exp(-1 / mpmath.mpf(scale))
    share = (1 - ratio) / (1 + ratio)
    return {-2: share * ratio**2 / (1 - ratio), 0: share * ratio, 2: share / (1 - ratio)}


def repeated(law: Law, rounds: int) -> Law:
    found = {0: mpmath.mpf(1)}
    for _ in range(rounds):
        longer: dict[int, mpmath.mpf] = {}
        for x, p in found.items():
            for y, q in law.items():
                longer[x + y] = longer.get(x + y, 0) + p * q
        found = longer
    return found


def true_delta(epsilon_: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        shown = {x: p * mpmath.mpf(RATE) for x, p in one_round(RARE).items()}
        shown[0] += 1 - mpmath.mpf(RATE)
        rare, often = repeated(shown, 6), repeated(one_round(OFTEN), 6)
        return mpmath.fsum(
            p * q * max(0, 1 - mpmath.exp(mpmath.mpf(epsilon_) - x / mpmath.mpf(RARE) - y / mpmath.mpf(OFTEN)))
            for x, p in rare.items()
            for y, q in often.items()
        )


@pytest.mark.parametrize("at", [0.5, 1.0, 5.0, 9.5, 9.914, 10.2])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_delta_is_bracketed_as_closely_as_asked(at, rtol):
    found = delta(RUN, at, "zero-out", rtol=rtol)
    assert found.lower <= true_delta(at) <= found.upper <= (1 + max(rtol, 2e-6)) * found.lower


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-6])
def test_epsilon_is_bracketed_as_closely_as_asked(rtol):
    """A finer question was answered by [.57, 10.17] where a coarser one was within a thousandth."""
    found = epsilon(RUN, 1e-5, "zero-out", rtol=rtol)
    assert true_delta(found.upper) <= 1e-5 <= true_delta(found.lower)
    assert found.upper <= (1 + rtol) * found.lower
