"""What DPFedMTL's evidence computes, against computations that share nothing with it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest
from cases import few, many
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dpcert.accounting.currencies.gdp import bu_mu, dong_mu
from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.convergence import dpfedmtl_trainer
from dpcert.proofs_checks.convergence.dpfedmtl_recursion import CURVES, Family, Step, quadratic_means, runs
from dpcert.proofs_checks.convergence.noise_law import right_noise
from dpcert.proofs_checks.papers import register
from dpcert.proofs_checks.papers.balls import gaussian_excess
from dpcert.proofs_checks.papers.dpfedmtl.algorithm import _run
from dpcert.proofs_checks.papers.dpfedmtl.composition import actual_epsilon, claimed_epsilon, multiplier
from dpcert.proofs_checks.papers.dpfedmtl.descent import expected_step
from dpcert.proofs_checks.papers.dpfedmtl.settings import CELEBA, DELTA, FEMNIST
from dpcert.proofs_checks.papers.dpfedmtl.subsampling import sampled_profile


@pytest.mark.parametrize(("mu", "rate", "epsilon"), [(0.7, 0.3, 0.2), (2.0, 0.05, 1.0), (0.4, 0.9, 0.0)])
def test_profile_of_c_p_is_the_hockey_stick_of_a_sampled_round(mu: float, rate: float, epsilon: float) -> None:
    def excess(x: float) -> float:
        first = (1 - rate) * norm.pdf(x) + rate * norm.pdf(x - mu)
        return max(0.0, float(first - math.exp(epsilon) * norm.pdf(x)))

    numeric = quad(excess, -12, 14, limit=400, epsabs=1e-13)[0]
    assert float(sampled_profile(mu, rate, epsilon).mid()) == pytest.approx(numeric, rel=1e-7)


@pytest.mark.parametrize(("sigma", "rate", "v"), [(0.65, 0.02, 0.3), (1.5, 0.1, 0.8), (1.5, 0.3, 0.5)])
def test_profile_of_the_other_order_is_its_hockey_stick(sigma: float, rate: float, v: float) -> None:
    rise, mu = math.expm1(v / sigma), 1 / sigma
    growth = 1 + rate * rise

    def excess(x: float) -> float:
        second = (1 - rate) * norm.pdf(x) + rate * norm.pdf(x - mu)
        return max(0.0, float(norm.pdf(x) - growth * second))

    numeric = quad(excess, -12, 14, limit=400, epsabs=1e-13)[0]
    c = 1 - (1 - rate) * rise
    assert c > 0
    found = rate * float(gaussian_excess(arb(growth), arb(c), arb(mu)).mid())
    assert found == pytest.approx(numeric, rel=1e-6)
    assert found < rate * gaussian.profile_below(v / sigma, mu)


def test_noise_multipliers_are_those_of_simulated_averages() -> None:
    """200 000 averages of K noisy gradients: the standard deviation is known to within 1% with certainty."""
    rng = np.random.default_rng(0)
    for sensitivity, size in (("2CK/M", 2 * FEMNIST.rate), ("2C", 2.0)):
        sums = rng.normal(0.0, 0.65 * size, (200_000, FEMNIST.cohort)).sum(axis=1)
        assert multiplier(FEMNIST, 0.65, sensitivity, "averages") == pytest.approx(float(sums.std()), rel=0.01)
    assert multiplier(CELEBA, 0.65, "2C", "uploads") == 1.3


def test_lower_and_upper_ends_of_the_whole_run() -> None:
    for sees in ("averages", "uploads"):
        low, high = (actual_epsilon(FEMNIST, 9.69, "2C", sees, side) for side in ("lower", "upper"))
        assert low <= high
    honest = claimed_epsilon(FEMNIST, 9.69)
    assert actual_epsilon(FEMNIST, 9.69, "2CK/M", "averages", "lower") > 500 * honest.upper  # 117.9 against 0.19
    assert honest.upper < 0.5


def test_the_two_limits_are_the_two_variances() -> None:
    """Per round and squared rate: that of x - 1 under Q, and that of the hybrid pair's loss, x > 1 twice."""
    sigma = 1.3

    def ratio(y: float) -> float:
        return math.exp(y / sigma - 1 / (2 * sigma**2))

    one = quad(lambda y: (ratio(y) - 1) ** 2 * norm.pdf(y), -14, 16)[0]
    both = 2 * quad(lambda y: (ratio(y) - 1) ** 2 * norm.pdf(y), 1 / (2 * sigma), 16)[0]
    assert bu_mu(sigma, 1.0, 1) == pytest.approx(math.sqrt(one), rel=1e-9)
    assert dong_mu(sigma, 1.0, 1) == pytest.approx(math.sqrt(both), rel=1e-9)
    assert DELTA == 1e-5


def test_replay_moves_only_what_depends_on_the_changed_client() -> None:
    data = np.array([0.0, 1.0, 2.0])
    broadcasts, heads = _run(data, None, seed=1)
    again, replayed = _run(data, broadcasts, seed=9)
    assert np.array_equal(again, broadcasts)
    assert np.array_equal(heads, replayed)  # heads are functions of data and broadcasts, whatever the noise


@pytest.mark.parametrize("cohort", [1, 3])
def test_closed_form_of_quadratic_runs(cohort: int) -> None:
    """4000 runs: each mean within five standard errors of the closed form (false alarm below 1e-4 in all)."""
    family = Family("quadratic", 0.5, 3, 2)
    how = Step(1.2, 0.4, cohort)
    gaps, squares = quadratic_means(family, how, 1.0, 12)
    for t, (heads, shared) in enumerate(islice(runs(family, how, 4000, 1.0, 3), 12)):
        for values, exact in ((family.value(heads, shared), gaps), (family.squared_gradient(heads, shared), squares)):
            assert abs(values.mean() - exact[t]) <= 5 * values.std() / math.sqrt(4000) + 1e-12


@pytest.mark.parametrize("curve", list(CURVES))
def test_enumerated_step_against_simulated_ones(curve: str) -> None:
    """40 000 runs of one round, within five standard errors."""
    family = Family(curve, 2.0, 4, spread=0.8)
    exact, _ = expected_step(family, 0.7, 0.7, 0.5, 0.4, cohort=2)
    first, second = islice(runs(family, Step(0.4, 0.5, 2), 40_000, 0.7, 5), 2)
    values = family.value(*second) - family.value(*first)
    assert abs(values.mean() - exact) <= 5 * values.std() / 200


@settings(deadline=None, max_examples=many(60))
@given(seed=st.integers(0, 10**6), clients=st.integers(2, 5), share=st.floats(0.05, 1.0), noise=st.floats(0.0, 2.0))
def test_decay_lemma_where_heads_and_shared_weights_interact(
    seed: int, clients: int, share: float, noise: float
) -> None:
    """The lemma for disagreeing clients on random quadratics, of any curvature up to L = 1 in size, exactly.

    The rows' clients are separable; here every f_i couples w_i and w_s, and some directions are concave.
    """
    rng = np.random.default_rng(seed)
    cohort, heads_size, shared_size = int(rng.integers(1, clients + 1)), 2, 3
    size, total = heads_size + shared_size, clients * heads_size + shared_size
    hessian, slope_rows = np.zeros((total, total)), []
    for i in range(clients):
        h = rng.standard_normal((size, size))
        h = (h + h.T) / np.abs(np.linalg.eigvalsh(h + h.T)).max()
        where = [*range(i * heads_size, (i + 1) * heads_size), *range(total - shared_size, total)]
        hessian[np.ix_(where, where)] += h / clients
        slope = np.zeros(total)
        slope[where] = rng.standard_normal(size)
        slope_rows.append(slope)
    slopes = np.array(slope_rows)
    gradient = slopes.mean(axis=0)
    changes = []
    for chosen in combinations(range(clients), cohort):
        move = slopes[list(chosen)].sum(axis=0)
        move[-shared_size:] /= cohort
        move *= -share
        changes.append(gradient @ move + move @ hessian @ move / 2)
    shared_part = hessian[-shared_size:, -shared_size:]
    exact = np.mean(changes) + share**2 * noise**2 / cohort * np.trace(shared_part) / 2
    g = slopes[:, -shared_size:]
    variance = float(((g - g.mean(axis=0)) ** 2).sum(axis=1).mean())
    spread = variance * (clients - cohort) / (cohort * (clients - 1)) + shared_size * noise**2 / cohort
    assert exact <= -share / 2 * gradient @ gradient + share**2 / 2 * spread + 1e-12


DRIVEN = Family("log cosh", 1.0, 5, 3, 0.4), Step(1.0, 0.3, 2)


def test_the_recursion_is_the_trainers() -> None:
    assert dpfedmtl_trainer.distance_from_trainer(*DRIVEN, 1.0) < 1e-6


@pytest.mark.parametrize("wrong", ["a smoothness that is off by a percent", "heads that stay", "noise that is added"])
def test_a_recursion_that_is_not_the_trainers_is_noticed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = dpfedmtl_trainer.advance

    def planted(family: Family, how: Step, heads: Floats, shared: Floats, *rest: Any) -> Floats:
        if wrong.startswith("a smoothness"):
            return right(replace(family, smoothness=1.01), how, heads, shared, *rest)
        if wrong.startswith("heads"):
            return right(family, how, heads.copy(), shared, *rest)
        return right(family, how, heads, shared, rest[0], -rest[1])

    monkeypatch.setattr(dpfedmtl_trainer, "advance", planted)
    dpfedmtl_trainer.distance_from_trainer.cache_clear()
    assert "away from the trainer's run" in dpfedmtl_trainer.unlike_the_trainer([(*DRIVEN, 1.0)])
    dpfedmtl_trainer.distance_from_trainer.cache_clear()


@pytest.mark.parametrize(("factor", "right"), [(1.0, True), (1.35, False), (0.7, False)])
def test_noise_of_another_size_is_noticed(factor: float, right: bool) -> None:
    """500 draws: right noise is accused with probability 1e-7."""
    noise = factor * 0.3 * math.sqrt(2) * np.random.default_rng(0).standard_normal((100, 5))
    assert right_noise(noise, 0.3 * math.sqrt(2)) is right


SHARP = {
    "DPFEDMTL-L4.1": {"formula": "apart <= (K*(1.94*C/K))**2"},
    "DPFEDMTL-L4.1-box": {"formula": "r*r + s*s - 2*r*s*cos(t) <= 4*0.97*0.97"},
    "DPFEDMTL-L4.2-box": {"formula": "1/0.97 < 1"},
    "DPFEDMTL-SIG-domain": {"scale": 0.97},
    "DPFEDMTL-T4.2-source": {"mu": "1.03 nu sqrt(e^(1/sigma^2) - 1)", "order": "remove"},
    "DPFEDMTL-L5.2": {"right-hand side": "0.97 of the corrected noise"},
    "DPFEDMTL-T5.3": {"right-hand side": "corrected", "noise factor": 0.97, "rate factor": 1.0},
    "DPFEDMTL-SIG": {"s8": 0.60},
}


@pytest.mark.parametrize("id", few(SHARP, 4))
def test_a_corrected_statement_that_is_off_fails_too(id: str) -> None:
    """By a few percent."""
    (row,) = register(only=id)
    assert row.repaired is not None
    assert row.evidence(row.repaired).holds
    assert not row.evidence(replace(row.repaired, claim={**row.repaired.claim, **SHARP[id]})).holds
