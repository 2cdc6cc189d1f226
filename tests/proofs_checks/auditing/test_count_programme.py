"""The p-value of a count by linear programming: above what any mechanism reaches, below the recursion's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import many
from counted_guesses import few_lines, law

from dpcert.proofs_checks.auditing import approximate_dp, gdp, guesses, one_run
from dpcert.proofs_checks.auditing.guesses import Guesses, bound, found, tail_bound

SMALL = [(8, 8, 6, 0.7), (7, 3, 3, 0.7), (12, 6, 5, 0.4), (12, 6, 6, 1.5), (20, 10, 9, 1.0)]


@pytest.mark.parametrize(("everyone", "guesses", "least", "mu"), SMALL)
def test_it_is_what_the_worst_mechanism_reaches(everyone, guesses, least, mu):
    claim = few_lines(gdp(mu))
    tail, _ = law(everyone, {guesses: least}, claim)
    shown = tail_bound(Guesses(everyone, guesses, least), claim)
    assert tail - 1e-9 <= shown <= tail + 1e-7
    assert shown <= one_run.curve_p_value(Guesses(everyone, guesses, least), claim) + 1e-9


@pytest.mark.parametrize(("everyone", "guesses", "least", "mu"), SMALL)
def test_any_weights_prove_a_bound(everyone, guesses, least, mu):
    """Also such as no solver gives: random ones, half of them out of their range."""
    claim, seen = few_lines(gdp(mu)), Guesses(everyone, guesses, least)
    tail, _ = law(everyone, {guesses: least}, claim)
    best, rng = found(seen, claim), np.random.default_rng(7)
    for size in (0.01, 0.1, 1.0):
        for _ in range(many(20)):
            changed = replace(
                best,
                lines=best.lines * rng.uniform(0, 1 + size, best.lines.shape),
                right=best.right + size * rng.normal(size=best.right.shape),
                wrong=best.wrong + size * rng.normal(size=best.wrong.shape),
            )
            assert bound(seen, changed) >= tail - 1e-9


def test_weights_out_of_their_range_prove_nothing(monkeypatch):
    """The planted fault: weights are taken as they come. Then larger ones bring the bound below the truth."""
    claim, seen = few_lines(gdp(0.7)), Guesses(8, 8, 6)
    tail, _ = law(8, {8: 6}, claim)
    best = found(seen, claim)
    cheap = replace(best, lines=best.lines / 2)
    assert bound(seen, cheap) >= tail - 1e-9
    monkeypatch.setattr(guesses.np, "clip", lambda values, *_: values)
    assert bound(seen, cheap) < tail - 0.01


@pytest.mark.parametrize(("made", "correct", "mu", "below"), [(100, 89, 0.55, 0.86), (400, 320, 0.5, 0.76)])
def test_it_is_below_the_recursion_where_audits_decide(made, correct, mu, below):
    """At 1,000 canaries and p-values near .05: what docs/auditing-methods.md says of it."""
    seen = Guesses(1000, made, correct)
    ours, former = tail_bound(seen, gdp(mu)), one_run.curve_p_value(seen, gdp(mu))
    assert 0.03 < former < 0.05
    assert ours < below * former


def test_a_window_only_makes_the_bound_larger(monkeypatch):
    seen = Guesses(200, 120, 85)
    whole = law(200, {120: 85}, few_lines(gdp(0.4)))[0]
    assert whole - 1e-8 <= tail_bound(seen, few_lines(gdp(0.4)))
    monkeypatch.setattr(guesses.math, "sqrt", lambda _: -7.0)
    assert whole - 1e-8 <= tail_bound(seen, few_lines(gdp(0.4))) <= 1.0


@pytest.mark.parametrize("claim", [approximate_dp(0.5), approximate_dp(1.0, 0.01), gdp(3.0)])
def test_other_claims(claim):
    for correct in (0, 1, 30, 60):
        seen = Guesses(100, 60, correct)
        assert 0 <= tail_bound(seen, claim) <= min(1.0, one_run.curve_p_value(seen, claim) * 1.05 + 1e-9)
    assert tail_bound(Guesses(100, 60, 0), claim) == 1.0


def test_a_programme_without_a_solution_proves_nothing(monkeypatch):
    monkeypatch.setattr(guesses, "found", lambda *_: None)
    assert tail_bound(Guesses(100, 60, 55), gdp(0.1)) == 1.0
