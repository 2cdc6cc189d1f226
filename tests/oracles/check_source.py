"""What every way to an answer must satisfy, whoever it is: one function, for accountants and for sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpcert.accounting import Bracket
from dpcert.accounting.bracket import OutOfReach
from dpcert.mechanisms import InputError

Ask = Callable[[float], Bracket]
NEAR = 1e-9
"""Of the doubles that a target and a truth are."""


def check_source(
    delta: Ask,
    epsilon: Ask,
    truth: Callable[[float], float] | None,
    others: Sequence[Ask] = (),
    epsilons: Sequence[float] = (0.1, 0.8, 2.5),
    deltas: Sequence[float] = (1e-6, 1e-3, 0.05),
) -> int:
    """How many questions it answers; AssertionError where an answer is wrong.

    delta, epsilon: the source's, of one product pair or run. truth: delta of the same, by enumeration or in closed
    form. others: delta, as other sources have it, whose brackets must not exclude each other's.
    """
    answered = 0
    known: list[tuple[float, Bracket]] = []
    for at in sorted(epsilons):
        try:
            found = delta(at)
        except (InputError, OutOfReach):
            continue
        answered += 1
        assert found.certified
        assert 0.0 <= found.lower <= found.upper <= 1.0
        assert all(found.lower <= before.upper for _, before in known), "delta rises with epsilon"
        known.append((at, found))
        if truth is not None:
            assert found.lower * (1 - NEAR) <= truth(at) <= found.upper * (1 + NEAR), (at, found, truth(at))
        for other in others:
            found.intersect(other(at))  # EmptyBracket where they exclude each other
    for at in deltas:
        try:
            found = epsilon(at)
        except (InputError, OutOfReach):
            continue
        answered += 1
        assert found.certified
        assert found.lower >= 0.0
        if found.upper < 1e300:  # the inverse of delta, and of the truth
            assert delta(found.upper).lower <= at * (1 + NEAR), (at, found)
            assert truth is None or truth(found.upper) <= at * (1 + NEAR), (at, found)
        if 0.0 < found.lower < 1e300:
            assert delta(found.lower * (1 - NEAR)).upper >= at * (1 - NEAR), (at, found)
            assert truth is None or truth(found.lower * (1 - NEAR)) >= at * (1 - NEAR), (at, found)
    return answered
