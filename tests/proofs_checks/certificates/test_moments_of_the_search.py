"""The moments by which the search chooses, in double precision: the checker proves in balls whatever it chose."""

from __future__ import annotations

import math

import pytest
from cases import few
from flint import arb, ctx

from dpcert.proofs_checks.certificates.checker import bounds
from dpcert.proofs_checks.certificates.checker.pairs import Pair
from dpcert.proofs_checks.certificates.checker.transforms import line
from dpcert.proofs_checks.certificates.evidence import Search
from dpcert.proofs_checks.certificates.moments import left_out, log_moments
from dpcert.proofs_checks.certificates.moments import rounds as rounds_of


@pytest.mark.parametrize("nothing", [arb(0), arb("1e-400 +/- 1e-399")])
def test_a_loss_that_has_no_probability_counts_for_nothing(nothing: arb) -> None:
    """Its logarithm is no number, and one of them made every moment none."""
    law = {-1: arb("0.25"), 0: nothing, 1: arb("0.75")}
    found = log_moments(Pair(g=arb(2), law=law))(0.5)
    assert found == pytest.approx(math.log(0.25 * math.exp(-1) + 0.75 * math.exp(1)), rel=1e-12)


def test_a_coin_adds_the_rounds_that_reveal_nothing() -> None:
    found = log_moments(Pair(g=arb(2), law={1: arb(1)}, p=arb("0.5")))(0.5)
    assert found == pytest.approx(math.log(0.5 + 0.5 * math.exp(1)), rel=1e-12)


GAUSSIAN = ("both", "visible", "remove", "add", "replace", "hybrid", "opposed", "zeroed remove", "zeroed add")


@pytest.mark.parametrize("order", few(GAUSSIAN, 8))
def test_moments_and_what_is_left_out_are_about_what_the_checker_proves(order: str) -> None:
    """Or the search would ask for too few terms, and its proofs fail, or for too many."""
    product = [(Pair(mu=arb(0.5), p=arb(1 if order == "both" else 0.2), order=order), 30)]
    moments = [(log_moments(product[0][0]), 30)]
    with ctx.workprec(192):
        lines = [(line(product[0][0], arb(3)), 30)]
        proved = [float(bounds.tail(lines, arb(start)).log()) for start in (0.5, 4.0)]
    (m, _), *_ = lines[0][0].at(arb(0), 1)
    assert moments[0][0](3.0) == pytest.approx(float(m.real.log()), abs=1e-5)
    rounds = rounds_of(product, moments, 3.0, None)
    assert [left_out(rounds, start) for start in (0.5, 4.0)] == pytest.approx(proved, abs=0.01)


@pytest.mark.parametrize("order", ["remove", "hybrid"])
def test_losses_that_are_split_off_are_left_out(order: str) -> None:
    product = [(Pair(mu=arb(1), p=arb(0.001), order=order), 10)]
    with ctx.workprec(192):
        lines = [(line(product[0][0], arb(4), arb(0.01)), 10)]
        proved = [float(bounds.tail(lines, arb(start)).log()) for start in (0.5, 20.0)]
    rounds = rounds_of(product, [(log_moments(product[0][0]), 10)], 4.0, 0.01)
    assert [left_out(rounds, start) for start in (0.5, 20.0)] == pytest.approx(proved, abs=0.05)


def test_few_terms_are_found_where_few_are_enough() -> None:
    """Below sixteen the halving has nothing left to halve, and went on for ever."""
    product = [(Pair(mu=arb(1), p=arb("0.2"), order="replace"), 1)]
    search = Search(product, "0.01", schedule=[(1e-4, 65536)])
    with ctx.workprec(192):
        counts = {search._terms(1.0, c, h, None, 1e-4, 65536) for c in (1.0, 3.0) for h in (0.5, 2.0, 8.0, 20.0)}
    assert min(counts) < 16
