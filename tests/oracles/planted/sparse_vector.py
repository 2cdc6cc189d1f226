"""The sparse-vector algorithms of Lyu, Su, Li 2017 that are not private as stated, with those that are."""

from __future__ import annotations

from dpcert.proofs_checks.auditing import approximate_dp
from dpcert.proofs_checks.papers.svt.variants import (
    CROSSED,
    EDGE,
    algorithm_1,
    algorithm_2,
    algorithm_3,
    algorithm_4,
    algorithm_5,
    algorithm_6,
    halved,
)

from .case import Batched, Planted


def _case(name: str, broken: Batched, correct: Batched, trials: int, what: str, pair: object = CROSSED) -> Planted:
    assert isinstance(pair, tuple)
    return Planted(f"sparse vector {name}", what, approximate_dp(1.0), pair, broken, correct, trials)


CASES = (
    _case("1 with half noise", halved(1.0, 1), algorithm_1(1.0, 1), 60_000, "algorithm 1 at half its noise"),
    _case("2 with 40% of its noise", algorithm_2(2.5, 2), algorithm_2(1.0, 2), 150_000, "algorithm 2 for epsilon 2.5"),
    _case("3", algorithm_3(1.0, 1), algorithm_1(1.0, 1), 60_000, "releases the noisy answers", EDGE),
    _case("4", algorithm_4(1.0, 3), algorithm_1(1.0, 3), 10_000, "query noise does not grow with c"),
    _case("5", algorithm_5(1.0), algorithm_1(1.0, 3), 5_000, "no query noise"),
    _case("6", algorithm_6(1.0), algorithm_1(1.0, 3), 10_000, "never stops"),
)
