"""The moments by which the search chooses, in double precision: the checker proves in balls whatever it chose."""

from __future__ import annotations

import math

import pytest
from flint import arb

from dpcert.proofs_checks.certificates.checker.pairs import Pair
from dpcert.proofs_checks.certificates.evidence import log_moments


@pytest.mark.parametrize("nothing", [arb(0), arb("1e-400 +/- 1e-399")])
def test_a_loss_that_has_no_probability_counts_for_nothing(nothing: arb) -> None:
    """Its logarithm is no number, and one of them made every moment none."""
    law = {-1: arb("0.25"), 0: nothing, 1: arb("0.75")}
    found = log_moments(Pair(g=arb(2), law=law))(0.5)
    assert found == pytest.approx(math.log(0.25 * math.exp(-1) + 0.75 * math.exp(1)), rel=1e-12)


def test_a_coin_adds_the_rounds_that_reveal_nothing() -> None:
    found = log_moments(Pair(g=arb(2), law={1: arb(1)}, p=arb("0.5")))(0.5)
    assert found == pytest.approx(math.log(0.5 + 0.5 * math.exp(1)), rel=1e-12)
