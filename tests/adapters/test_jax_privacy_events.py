"""The events that jax-privacy 2.2 builds, by stand-ins of its builders, through the adapter of dp_accounting.

From 2.2 on it has no accountant of its own; what its builders emit is written down here, and composed as a user would.
"""

from __future__ import annotations

import importlib
import math
import sys
import types

import pytest

dp_accounting = pytest.importorskip("dp_accounting")
from dp_accounting import UnsupportedEventError, dp_event  # noqa: E402
from dp_accounting.mechanism_calibration import calibrate_dp_mechanism  # noqa: E402

from dpcert.accounting import epsilon  # noqa: E402
from dpcert.adapters.dp_accounting import RELATIONS, CertifiedAccountant  # noqa: E402
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat, TruncatedPoisson, Zcdp  # noqa: E402

ADD_REMOVE, REPLACE, ZERO_OUT = RELATIONS


def release(noise, zcdp):
    if not zcdp:
        return dp_event.GaussianDpEvent(noise)
    return dp_event.ZCDpEvent(math.inf if noise == 0 else 0.5 / noise**2)


def dpsgd(noise, iterations, sampling_prob, zcdp=False):
    sampled = dp_event.PoissonSampledDpEvent(sampling_prob, release(noise, zcdp))
    return dp_event.SelfComposedDpEvent(sampled, iterations)


def fixed(noise, iterations, dataset_size, batch_size, *, replace=False, zcdp=False):
    kind = dp_event.SampledWithReplacementDpEvent if replace else dp_event.SampledWithoutReplacementDpEvent
    return dp_event.SelfComposedDpEvent(kind(dataset_size, batch_size, release(noise, zcdp)), iterations)


def truncated(noise, iterations, sampling_prob, num_examples, truncated_batch_size):
    sampled = dp_event.TruncatedSubsampledGaussianDpEvent(num_examples, sampling_prob, truncated_batch_size, noise)
    return dp_event.SelfComposedDpEvent(sampled, iterations)


def amplified_bandmf(noise, iterations, num_bands, sampling_prob):
    return dpsgd(noise, math.ceil(iterations / num_bands), sampling_prob)


@pytest.mark.parametrize(
    ("event", "relation", "run"),
    [
        (dpsgd(1.0, 30, 0.1), ADD_REMOVE, Repeat(Poisson(Gaussian(1.0), 0.1), 30)),
        (dpsgd(4.0, 3, 0.1, zcdp=True), ADD_REMOVE, Repeat(Poisson(Zcdp(1 / 32), 0.1), 3)),
        (dpsgd(1.0, 3, 1.0, zcdp=True), ZERO_OUT, Repeat(Zcdp(0.5), 3)),
        (fixed(4.0, 30, 100, 10), REPLACE, Repeat(FixedSize(Gaussian(4.0), 100, 10), 30)),
        (fixed(4.0, 3, 100, 10, zcdp=True), REPLACE, Repeat(FixedSize(Zcdp(1 / 32), 100, 10), 3)),
        (truncated(1.0, 30, 0.1, 100, 20), ZERO_OUT, Repeat(TruncatedPoisson(Gaussian(1.0), 0.1, 100, 20), 30)),
        (truncated(1.0, 30, 0.1, 100, 20), ADD_REMOVE, Repeat(TruncatedPoisson(Gaussian(1.0), 0.1, 100, 20), 30)),
        (amplified_bandmf(1.0, 30, 4, 0.1), ADD_REMOVE, Repeat(Poisson(Gaussian(1.0), 0.1), 8)),
    ],
)
def test_each_event_costs_what_it_describes(event, relation, run):
    found = CertifiedAccountant(relation).compose(event).bracket(1e-5)
    assert found.certified
    assert found.upper == pytest.approx(epsilon(run, 1e-5, RELATIONS[relation]).upper, rel=1e-9)
    assert 0 < found.upper < math.inf


@pytest.mark.parametrize("zcdp", [False, True])
def test_no_noise_and_no_iterations(zcdp):
    assert CertifiedAccountant().compose(dpsgd(0.0, 3, 0.1, zcdp)).get_epsilon(0.5) == math.inf
    assert CertifiedAccountant().compose(dpsgd(1.0, 0, 0.1, zcdp)).get_epsilon(1e-5) == 0.0
    assert CertifiedAccountant().compose(dpsgd(1.0, 3, 0.0, zcdp)).get_epsilon(1e-5) == 0.0


def test_samples_with_replacement_are_refused():
    with pytest.raises(UnsupportedEventError, match="SampledWithReplacement"):
        CertifiedAccountant(REPLACE).compose(fixed(1.0, 3, 100, 10, replace=True))


def test_calibration_as_its_page_shows_it_never_misses():
    noise = calibrate_dp_mechanism(CertifiedAccountant, lambda z: dpsgd(z, 100, 0.1), 1.0, 1e-6)
    found = epsilon(Repeat(Poisson(Gaussian(noise), 0.1), 100), 1e-6)
    assert 0.99 < found.upper <= 1.0


def test_without_its_accountant_the_adapter_says_what_to_use(monkeypatch):
    """As from 2.2 on: the package is there, its accounting module is not."""
    later = types.ModuleType("jax_privacy")
    later.__path__ = []
    monkeypatch.setitem(sys.modules, "jax_privacy", later)
    for loaded in ("jax_privacy.accounting", "dpcert.adapters.jax_privacy"):
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    with pytest.raises(ImportError, match=r"From 2\.2 on .* dpcert\.adapters\.dp_accounting\.CertifiedAccountant"):
        importlib.import_module("dpcert.adapters.jax_privacy")
