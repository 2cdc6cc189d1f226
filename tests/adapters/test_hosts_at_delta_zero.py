"""Pure DP, and a noise of 0, through adapters whose hosts need not be installed: what they import is made up here.

What is made up of pfl refuses delta = 0, as pfl 0.6 does in PrivacyAccountant.__post_init__; the real hosts have
tests of their own (make nightly-hosts).
"""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import dataclass
from enum import Enum
from types import ModuleType

import pytest


@pytest.fixture
def host(monkeypatch):
    """host(adapter, {module: names}) -> the adapter, imported with these modules for its host."""

    def with_modules(adapter: str, modules: dict[str, dict[str, object]]) -> ModuleType:
        for name, names in modules.items():
            made = ModuleType(name)
            vars(made).update(names)
            monkeypatch.setitem(sys.modules, name, made)
        monkeypatch.delitem(sys.modules, f"dpcert.adapters.{adapter}", raising=False)
        monkeypatch.setitem(sys.modules, f"dpcert.adapters.{adapter}", None)
        del sys.modules[f"dpcert.adapters.{adapter}"]
        return importlib.import_module(f"dpcert.adapters.{adapter}")

    return with_modules


@dataclass
class PflAccountant:
    num_compositions: int
    sampling_probability: float
    mechanism: str
    epsilon: float | None = None
    delta: float | None = None
    noise_parameter: float | None = None
    noise_scale: float = 1.0
    min_bound_noise_parameter: float | None = None
    max_bound_noise_parameter: float | None = None

    def __post_init__(self) -> None:
        if self.delta is not None and not 0 < self.delta < 1:
            raise AssertionError("delta in (0, 1)")
        if [self.epsilon, self.delta, self.noise_parameter].count(None) > 1:
            raise AssertionError("two of three")


def pfl(host):
    module = {"PrivacyAccountant": PflAccountant}
    return host("pfl", {"pfl": {}, "pfl.privacy": {}, "pfl.privacy.privacy_accountant": module}).CertifiedAccountant


def test_pfl(host):
    certified, of_laplace = pfl(host), (10, 1.0, "laplace")
    assert certified(*of_laplace, delta=0.0, noise_parameter=20.0).epsilon == 0.5
    assert certified(*of_laplace, delta=0.0, epsilon=0.5).noise_parameter == 20.0
    assert certified(*of_laplace, epsilon=0.5, noise_parameter=20.0).delta == 0.0
    assert certified(10, 0.5, "gaussian", delta=0.0, noise_parameter=20.0).epsilon == math.inf
    with pytest.raises(ValueError, match=r"epsilon = 0\.49: expected at least 0\.5"):
        certified(*of_laplace, delta=0.0, epsilon=0.49, noise_parameter=20.0)
    with pytest.raises(ValueError, match=r"noise_parameter = 0\.0: expected a number above 0"):
        certified(*of_laplace, delta=0.5, noise_parameter=0.0)


def test_pfl_as_its_own_check_has_it_would_refuse(host, monkeypatch):
    """Planted: the placeholder that pfl is shown for delta = 0 is 0 itself."""
    certified = pfl(host)
    monkeypatch.setattr(sys.modules["dpcert.adapters.pfl"], "float_info", type("Zero", (), {"min": 0.0}))
    with pytest.raises(AssertionError, match="delta"):
        certified(10, 1.0, "laplace", delta=0.0, noise_parameter=20.0)


@dataclass(frozen=True)
class FlowerEvent:
    noise_multiplier: float
    sample_size: int
    population_size: int


@dataclass(frozen=True)
class FlowerConfig:
    target_delta: float
    population_size: int
    neighboring_relation: object
    sampling_method: object
    max_epsilon: float | None = None


@dataclass(frozen=True)
class FlowerSpent:
    epsilon: float
    delta: float
    num_releases: int
    backend: str


FlowerSampling = Enum("FlowerSampling", ["POISSON", "WITHOUT_REPLACEMENT", "NO_AMPLIFICATION"])
FlowerRelation = Enum("FlowerRelation", ["ADD_OR_REMOVE_ONE", "REPLACE_ONE"])


def flower(host):
    absent = dict.fromkeys(["Array", "ArrayRecord", "ConfigRecord", "Message", "MessageType", "MetricRecord"], object)
    events = {"GaussianPrivacyEvent": FlowerEvent, "PrivacyConfig": FlowerConfig, "PrivacySpent": FlowerSpent}
    enums = {"NeighboringRelation": FlowerRelation, "SamplingMethod": FlowerSampling, "Grid": object}
    modules = {
        "flwr": {},
        "flwr.app": {**absent, "RecordDict": object},
        "flwr.serverapp": events | enums,
        "flwr.serverapp.exception": {"PrivacyBudgetExhausted": type("PrivacyBudgetExhausted", (Exception,), {})},
        "flwr.serverapp.strategy": {"FedAvg": object},
    }
    return host("flower", modules).CertifiedAccountant.poisson(0.0, population=100)


def test_flower_without_noise(host):
    accountant = flower(host)
    accountant.compose(FlowerEvent(0.0, 10, 100), 2)
    assert accountant.get_epsilon(0.18) == math.inf  # .19 is the probability of taking part
    assert accountant.get_epsilon(0.2) == 0.0
    assert accountant.would_exceed(FlowerEvent(1.0, 10, 100), 1e6)


def test_flower(host):
    """Its events are Gaussian: no epsilon serves, and at any finite epsilon some delta is left."""
    accountant = flower(host)
    assert accountant.get_epsilon(0.0) == 0.0
    accountant.compose(FlowerEvent(2.0, 10, 100), 30)
    assert accountant.get_epsilon(0.0) == math.inf
    assert accountant.get_privacy_spent() == FlowerSpent(math.inf, 0.0, 30, "dpcert")
    assert accountant.would_exceed(FlowerEvent(2.0, 10, 100), 100.0)
    assert 0.0 < accountant.get_delta(1.0) < 1e-3


JaxSampling = Enum("JaxSampling", ["POISSON", "FIXED_BATCH_SIZE"])


@dataclass(frozen=True)
class JaxParams:
    noise_multipliers: float
    num_samples: int
    delta: float
    batch_sizes: int
    cycle_length: int | None = None
    truncated_batch_size: int | None = None
    sampling_method: object = JaxSampling.POISSON


class JaxTraining:
    def __init__(self, config: object) -> None:
        self.config = config

    def _validate_dp_params(self, params: JaxParams) -> None:
        """Whatever the host finds."""


def test_jax_privacy(host):
    pytest.importorskip("dp_accounting")
    names = {"DpAccountantConfig": object, "DpParams": JaxParams, "DpsgdTrainingAccountant": JaxTraining}
    accounting = names | {"SamplingMethod": JaxSampling}
    adapter = host("jax_privacy", {"jax_privacy": {}, "jax_privacy.accounting": accounting})
    found = adapter.CertifiedTrainingAccountant().bracket(30, JaxParams(1.0, 1000, 0.0, 10))
    assert found.lower == found.upper == math.inf
    assert found.certified
