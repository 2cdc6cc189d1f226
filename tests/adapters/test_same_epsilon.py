"""One sequence of events, one epsilon, to 1e-6, through every adapter whose host is installed."""

from __future__ import annotations

import pytest

from dpcert.accounting.ledger import Ledger
from dpcert.mechanisms import Gaussian, Poisson, Repeat

NOISE, CLIENTS, COHORT, ROUNDS, DELTA = 1.0, 32, 2, 16, 1e-5
RATE = COHORT / CLIENTS
EPSILON = 2.2422886082
"""The true one, to these digits, proved by the checker (test below); every example prints it too."""


def through_the_ledger() -> float:
    ledger = Ledger()
    for index in range(ROUNDS):
        ledger.record(Poisson(Gaussian(NOISE), RATE), f"round {index}")
    return ledger.epsilon(DELTA).upper


def through_dp_accounting() -> float:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent

    from dpcert.adapters.dp_accounting import CertifiedAccountant

    accountant = CertifiedAccountant()
    for _ in range(ROUNDS):
        accountant.compose(PoissonSampledDpEvent(RATE, GaussianDpEvent(NOISE)))
    return accountant.get_epsilon(DELTA)


def through_opacus() -> float:
    pytest.importorskip("opacus", reason="no Opacus here")
    import dpcert.adapters.opacus as adapter

    accountant = adapter.CertifiedAccountant()
    for _ in range(ROUNDS):
        accountant.step(noise_multiplier=NOISE, sample_rate=RATE)
    return accountant.get_epsilon(DELTA)


def through_flower() -> float:
    pytest.importorskip("flwr", reason="make nightly-hosts")
    from dpcert.adapters import flower

    relation, sampling = flower.NeighboringRelation.ADD_OR_REMOVE_ONE, flower.SamplingMethod.POISSON
    accountant = flower.CertifiedAccountant(flower.PrivacyConfig(DELTA, CLIENTS, relation, sampling))
    for _ in range(ROUNDS):
        accountant.compose(flower.GaussianPrivacyEvent(NOISE, COHORT, CLIENTS))
    return accountant.get_privacy_spent().epsilon


def through_pfl() -> float:
    pytest.importorskip("pfl", reason="make nightly-hosts")
    from dpcert.adapters.pfl import CertifiedAccountant

    return float(CertifiedAccountant(ROUNDS, RATE, "gaussian", delta=DELTA, noise_parameter=NOISE).epsilon)


def through_jax_privacy() -> float:
    pytest.importorskip("jax_privacy", reason="make nightly-hosts")
    from jax_privacy.accounting import DpParams

    from dpcert.adapters.jax_privacy import CertifiedTrainingAccountant

    params = DpParams(noise_multipliers=NOISE, num_samples=CLIENTS, delta=DELTA, batch_size=COHORT)
    return float(CertifiedTrainingAccountant().compute_epsilon(ROUNDS, params))


def through_tff() -> float:
    pytest.importorskip("tensorflow_federated", reason="make nightly-hosts")
    import numpy as np
    import tensorflow_federated as tff

    from dpcert.adapters.dp_accounting import CertifiedAccountant
    from dpcert.adapters.tff import event

    factory = tff.aggregators.DifferentiallyPrivateFactory.gaussian_fixed(NOISE, float(COHORT), clip=1.0)
    process = factory.create(tff.TensorType(np.float32, [2]))
    state, accountant = process.initialize(), CertifiedAccountant()
    for _ in range(ROUNDS):
        state = process.next(state, [np.ones(2, np.float32)] * COHORT).state
        accountant.compose(event(state, sampling_rate=RATE))
    return accountant.get_epsilon(DELTA)


@pytest.mark.parametrize(
    "through",
    [
        through_the_ledger,
        through_dp_accounting,
        through_opacus,
        through_flower,
        through_pfl,
        through_jax_privacy,
        through_tff,
    ],
)
def test_the_same_epsilon(through) -> None:
    assert 0.0 <= through() - EPSILON <= 1e-6 * EPSILON  # an upper end, as narrow as the default tolerance


def test_the_reference_is_proved() -> None:
    pytest.importorskip("pydantic", reason="not in every host's environment, but in ours")
    from dpcert.proofs_checks.certificates.checker.format import phase
    from dpcert.proofs_checks.certificates.checker.pairs import products
    from dpcert.proofs_checks.certificates.evidence import Search

    step = {
        "mechanism": {"kind": "gaussian", "noise_multiplier": str(NOISE)},
        "sampling": {"scheme": "poisson", "population": None, "cohort": None, "sampling_rate": str(RATE)},
        "rounds": Repeat(Gaussian(NOISE), ROUNDS).rounds,
    }
    for worst, epsilon in ((True, EPSILON + 5e-10), (False, EPSILON - 5e-10)):
        pairs = products([phase(step)], "add-remove", "hidden", worst)
        proofs = [Search(product, DELTA).evidence(name, repr(epsilon), worst) for name, product in pairs.items()]
        assert all(proofs) if worst else any(proofs)
