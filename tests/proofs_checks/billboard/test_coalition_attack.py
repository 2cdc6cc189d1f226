"""Fixed-size amplification fails against the coalition, empirically and with confidence; Poisson's does not.

All seeds are fixed, so results repeat; the error probabilities stated are those of a fresh seed.
"""

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy.stats import binom, ks_2samp

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import from_profile
from dpcert.proofs_checks.billboard.coalition_attack import NEIGHBOURS, Federation, coalition_attack

REGISTER = Federation(population=40, cohort=4, rounds=100, noise_multiplier=4.75)
PEERS = {"population": 10, "cohort": 2, "rounds": 20, "noise_multiplier": 2.0}  # sigma = 2 C: z = 1 for replace-one


def amplified(rate, multiplier, rounds):
    """What a peer's accountant says of the subsampled Gaussian, at its own pessimistic discretisation."""
    one = privacy_loss_distribution.from_gaussian_mechanism(
        multiplier, sampling_prob=rate, value_discretization_interval=1e-3
    )
    return one.self_compose(rounds)


@pytest.fixture(scope="module")
def amplified_curve():
    peer = amplified(0.2, 1.0, 20)
    assert peer.get_epsilon_for_delta(1e-5) == pytest.approx(6.616, abs=5e-4)
    return from_profile(peer.get_delta_for_epsilon, np.linspace(0, 12, 64), "amplified by subsampling")


def test_the_amplified_epsilon_of_the_register_is_refuted():
    # m = 40, q = 4, T = 100: the accountant's .5 at delta = 1e-3; exact 5.02 (the claims register, PMTL-C2).
    assert amplified(0.1, 4.75, 100).get_epsilon_for_delta(1e-3) == pytest.approx(0.5, abs=5e-4)
    attack = coalition_attack(REGISTER, delta=1e-3, epsilon=0.5, trials=100_000, alpha=1e-3, method="event")
    (bound,) = attack.audit.bounds
    assert bound.assumes is None
    assert 4.0 < bound.value <= attack.exact.upper  # 99.9% confidence
    assert attack.audit.refuted
    assert attack.exact.lower == pytest.approx(5.02, abs=5e-3)


@pytest.mark.nightly
def test_more_runs_come_closer_to_the_exact_coalition_epsilon():
    attack = coalition_attack(REGISTER, delta=1e-3, epsilon=0.5, trials=1_000_000, alpha=1e-3, method="event")
    assert 4.3 < attack.audit.bounds[0].value <= attack.exact.upper


def test_three_hundred_runs_reject_the_amplified_curve(amplified_curve):
    rejected = sum(
        coalition_attack(
            Federation(**PEERS), delta=1e-5, claim=amplified_curve, trials=300, alpha=0.01, method="curve", seed=seed
        ).audit.refuted
        for seed in range(20)
    )
    assert rejected == 20
    exact = coalition_attack(Federation(**PEERS), delta=1e-5, claim=amplified_curve, trials=300).exact
    assert exact.lower == pytest.approx(13.958, abs=5e-4)


def test_poisson_participation_is_not_rejected(amplified_curve):
    federation = Federation(**PEERS, scheme="poisson")
    rejected = sum(
        coalition_attack(
            federation, delta=1e-5, claim=amplified_curve, trials=3000, alpha=0.01, method="curve", seed=seed
        ).audit.refuted
        for seed in range(8)
    )
    assert rejected <= 1  # a true claim is rejected with probability .01 each: two or more of eight, .3%


def test_the_exact_coalition_curve_is_not_rejected():
    """Negative control: the attack is optimal and the auditors valid, so the true claim must survive it."""
    exact = coalition_attack(REGISTER, delta=1e-3, epsilon=5.03, trials=100_000, alpha=0.01, method="best")
    assert not exact.audit.refuted
    assert all(
        bound.value <= 5.021 for bound in exact.audit.bounds if bound.quantity == "epsilon" and not bound.assumes
    )


def test_the_coalition_really_deduces_participation():
    rng = np.random.default_rng(4)
    federation = Federation(population=6, cohort=2, rounds=400, noise_multiplier=1e-9)
    others = rng.uniform(-1, 1, 5)
    transcript = federation.transcript(1.0, others, rng)
    deduced = transcript.coalition_members.sum(axis=1) == 1
    residual = transcript.releases - transcript.coalition_members @ others
    # With next to no noise the residual is client 0's update in its rounds, and nothing in all others.
    assert np.allclose(residual, deduced.astype(float), atol=1e-6)
    assert binom(400, 1 / 3).ppf(1e-6) <= deduced.sum() <= binom(400, 1 / 3).ppf(1 - 1e-6)


@pytest.mark.parametrize("scheme", ["fixed-size", "poisson"])
@pytest.mark.parametrize("update", NEIGHBOURS)
def test_fast_scores_have_the_law_of_real_transcripts(scheme, update):
    rng = np.random.default_rng(9)
    federation = Federation(population=7, cohort=3, rounds=12, noise_multiplier=1.5, scheme=scheme)
    others = rng.uniform(-1, 1, 6)
    literal = [federation.score(federation.transcript(update, others, rng)) for _ in range(1500)]
    fast = federation.scores(update, rng, 20_000)
    assert ks_2samp(literal, fast).pvalue > 1e-3


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cohort": 11}, "cohort"),
        ({"population": 1, "cohort": 1}, "population"),
        ({"rounds": 0}, "rounds"),
        ({"noise_multiplier": 0.0}, "noise_multiplier"),
        ({"scheme": "shuffled"}, "scheme"),
    ],
)
def test_bad_input(change, field):
    with pytest.raises(InputError) as caught:
        Federation(**(PEERS | change))
    assert caught.value.field == field
