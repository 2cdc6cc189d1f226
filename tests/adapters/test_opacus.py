"""The Opacus adapter in the real Opacus: accounting, calibration, training, state, accumulated gradients."""

from __future__ import annotations

import copy
import math

import pytest

pytest.importorskip("opacus")
import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant, create_accountant
from opacus.accountants.utils import get_noise_multiplier
from opacus.utils.batch_memory_manager import BatchMemoryManager

import dpcert.adapters.opacus as adapter
from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat, Sequence

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # Opacus warns about its random numbers.


def test_registered_and_equal_to_the_bracket():
    accountant = create_accountant("dpcert")
    assert isinstance(accountant, adapter.CertifiedAccountant)
    for noise in (1.0, 1.0, 2.0, 1.0):
        accountant.step(noise_multiplier=noise, sample_rate=0.1)
    assert accountant.history == [(1.0, 0.1, 2), (2.0, 0.1, 1), (1.0, 0.1, 1)]
    assert len(accountant) == 4
    run = Sequence((Repeat(Poisson(Gaussian(1.0), 0.1), 3), Poisson(Gaussian(2.0), 0.1)))
    assert accountant.get_epsilon(1e-5) == pytest.approx(epsilon(run, 1e-5).upper, rel=1e-12)
    assert accountant.get_epsilon(1e-5, neighbouring="replace-one") == epsilon(run, 1e-5, "replace-one").upper


def test_calibration_through_opacus_meets_the_target():
    """get_noise_multiplier assigns `history` and reads epsilon, again and again."""
    noise = get_noise_multiplier(accountant="dpcert", target_epsilon=3.0, target_delta=1e-5, sample_rate=0.01, epochs=2)
    spent = epsilon(Repeat(Poisson(Gaussian(noise), 0.01), 200), 1e-5)
    assert 2.98 < spent.upper <= 3.0


@pytest.mark.parametrize("history", [[], [(1.0, 0.0, 5)], [(1.0, 0.1, 0)]])
def test_nothing_happened(history):
    accountant = adapter.CertifiedAccountant()
    accountant.history = history
    assert accountant.get_epsilon(1e-5) == 0


def test_no_noise_is_no_privacy():
    accountant = adapter.CertifiedAccountant()
    accountant.step(noise_multiplier=0.0, sample_rate=0.1)
    assert accountant.get_epsilon(1e-5) == math.inf


@pytest.mark.parametrize(
    "history", [[(1.0, 0.1)], [(-1.0, 0.1, 1)], [(1.0, 1.5, 1)], [(1.0, 0.1, 0.5)], [(math.inf, 0.1, 1)], ["abc"]]
)
def test_a_history_out_of_range_is_an_error(history):
    accountant = adapter.CertifiedAccountant()
    accountant.history = history
    with pytest.raises(InputError):
        accountant.get_epsilon(1e-5)


def test_arguments_of_other_accountants_are_refused():
    """`poisson=False` would mean another sampling scheme: ignoring it would under-report."""
    with pytest.raises(TypeError, match="poisson"):
        adapter.CertifiedAccountant().get_epsilon(1e-5, poisson=False)


def test_state_round_trip_shares_nothing():
    accountant = adapter.CertifiedAccountant()
    accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    state = accountant.state_dict()
    other = adapter.CertifiedAccountant()
    other.load_state_dict(state)
    assert other.get_epsilon(1e-5) == accountant.get_epsilon(1e-5)
    other.step(noise_multiplier=1.0, sample_rate=0.1)
    assert state["history"] == accountant.history == [(1.0, 0.1, 1)]
    for bad in (None, {}, {**state, "mechanism": "another"}, {**state, "history": [(1.0, -1.0, 1)]}):
        kept = copy.deepcopy(other.history)
        with pytest.raises(ValueError):  # noqa: PT011  (Opacus's own errors name neither field nor class)
            other.load_state_dict(bad)
        assert other.history == kept


def test_never_above_the_host_s_rdp_number():
    ours, theirs = adapter.CertifiedAccountant(), RDPAccountant()
    for accountant in (ours, theirs):
        accountant.history = [(1.0, 0.01, 1000), (2.0, 0.02, 100)]
    assert 0 < ours.get_epsilon(1e-5) < theirs.get_epsilon(1e-5)


@pytest.fixture(params=[True, False], ids=["whole batches", "BatchMemoryManager"])
def physical_batch(request):
    return 64 if request.param else 5


def _private(
    poisson: bool,
) -> tuple[PrivacyEngine, torch.nn.Module, torch.optim.Optimizer, torch.utils.data.DataLoader]:
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,)))
    model = torch.nn.Linear(4, 2)
    engine = PrivacyEngine(accountant="dpcert")
    return engine, *engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=16),
        noise_multiplier=2.0,
        max_grad_norm=1.0,
        poisson_sampling=poisson,
    )


def test_training_records_every_logical_step(physical_batch):
    engine, model, optimizer, loader = _private(poisson=True)
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=physical_batch, optimizer=optimizer) as batches:
        for x, y in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    assert engine.accountant.history == [(2.0, 0.25, 4)]
    assert engine.get_epsilon(1e-5) == epsilon(Repeat(Poisson(Gaussian(2.0), 0.25), 4), 1e-5).upper


def test_accumulated_gradients_are_refused():
    _, model, optimizer, loader = _private(poisson=False)
    for x, y in loader:
        torch.nn.functional.cross_entropy(model(x), y).backward()
    with pytest.raises(InputError, match="accumulated_iterations = 4"):
        optimizer.step()
