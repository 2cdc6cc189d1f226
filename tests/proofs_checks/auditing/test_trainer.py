"""audit_trainer: honest trainers stand, each planted fault of the engine falls, and every bound is below the truth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
import torch
from cases import few

from dpcert.cli import run
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat, draw_schedule
from dpcert.proofs_checks import audit_trainer
from dpcert.proofs_checks.auditing import alike_canaries
from dpcert.proofs_checks.auditing.federated import FederatedCanaries
from dpcert.proofs_checks.auditing.result import LowerBound
from dpcert.proofs_checks.auditing.trainer import TrainerAudit, TrainerClaim
from dpcert.trainers.engine import noise as noise_module
from dpcert.trainers.engine.clipping import ClippedSum
from dpcert.trainers.engine.cohort import CohortSampler
from dpcert.trainers.federated import DpFedAvg, LocalOnly, Pmtl, Settings, load_federation

torch.set_num_threads(1)
GUIDE = Path(__file__).parents[3] / "docs" / "trainers" / "your-algorithm.md"


@dataclass(frozen=True)
class Sums:
    """Noisy sums of canaries, each along its own direction; `noise` is what is truly added, 1 what is claimed."""

    noise: float = 1.0
    canaries: int = 400

    @cached_property
    def claim(self):
        return TrainerClaim(Repeat(Gaussian(1.0), 2), "zero-out")

    def scores(self, included, seed):
        rng = np.random.default_rng(seed)
        return sum(included + rng.normal(0.0, self.noise, len(included)) for _ in range(2))


@dataclass(frozen=True)
class Deaf(Sums):
    """No canary is heard: every run has the same scores."""

    def scores(self, included, seed):
        return np.zeros(len(included))


@dataclass(frozen=True)
class Quiet(Sums):
    """So much noise that 400 right guesses would be too many."""

    noise: float = 8.0

    @cached_property
    def claim(self):
        return TrainerClaim(Repeat(Gaussian(8.0), 2), "zero-out")


def test_a_trainer_that_hears_no_canary_is_not_checked():
    """It is said in words, in JSON (which an attestation refuses then), and by neither attack alone."""
    found = audit_trainer(Deaf(), runs=200, seed=1)
    assert not found.refuted
    assert "all canaries had the score 0" in found.unchecked
    assert f"Nothing was checked: {found.unchecked}" in str(found)
    assert found.to_json()["unchecked"] == found.unchecked
    heard = audit_trainer(Deaf(), single=Quiet(), runs=200, seed=1)
    assert heard.unchecked == ""
    few_runs = audit_trainer(Sums(canaries=3), runs=10, seed=1)
    assert "cannot refute" in few_runs.runs.unchecked
    assert "One run of 3 canaries cannot refute" in few_runs.unchecked


def test_bounds_are_below_the_truth():
    """Error probability 1e-3; the truth is sqrt(2)-GDP."""
    found = audit_trainer(Sums(), runs=2000, alpha=1e-3, seed=1)
    assert not found.refuted
    assert found.mu_claimed == pytest.approx(2**0.5, rel=1e-9)
    assert 0.85 * 2**0.5 < found.runs.mu_lower < 2**0.5
    assert 0.2 < found.single.mu_lower < 2**0.5
    assert 0.2 < found.share < 1
    epsilon, mu = found.single.if_alike  # these canaries are
    assert (epsilon.quantity, mu.quantity) == ("epsilon", "mu")
    assert found.single.mu_lower < mu.value < 2**0.5
    assert epsilon.value < found.certified.upper
    assert json.loads(json.dumps(found.to_json()))["refuted"] is False


def test_what_supposes_alike_canaries_decides_nothing(monkeypatch):
    """However large: the claim stands, and no bound but the one that says so has it. Planted: one that believes it."""
    huge = tuple(LowerBound(name, 98765.25, None, 0.005, "alike", "alike canaries") for name in ("epsilon", "mu"))
    monkeypatch.setattr(alike_canaries, "bounds", lambda *_: huge)
    found = audit_trainer(Sums(), runs=5, seed=1)
    told = found.to_json()
    assert [bound.pop("assumes") for bound in told["one_run"].pop("bounds")] == ["alike canaries"] * 2
    assert not found.refuted
    assert "98765" not in json.dumps(told)
    monkeypatch.setattr(TrainerAudit, "epsilon_lower", property(lambda audit: audit.single.if_alike[0].value))
    assert found.refuted


@pytest.mark.parametrize("noise", [0.5, 0.7])
def test_missing_noise_is_refuted(noise):
    found = audit_trainer(Sums(noise), runs=2000, seed=1)
    assert found.runs.refuted
    assert found.refuted


def test_one_run_refutes_by_itself():
    """A third of the noise: the short runs are too few to see it, the canaries of the one run are not."""
    found = audit_trainer(Sums(0.3, canaries=2000), runs=5, seed=1)
    assert not found.runs.refuted
    assert found.single.refuted
    assert found.refuted


def test_what_cannot_be_audited_is_refused():
    with pytest.raises(InputError, match="canaries"):
        audit_trainer(Sums(), canaries=401)
    with pytest.raises(InputError, match="runs"):
        audit_trainer(Sums(), runs=0)
    federation = load_federation("synthetic:related,population=4,samples=4")
    noisy = Settings(noise_multiplier=1.0, clip_norm=1.0, cohort=2)
    for algorithm, settings, named in (
        (LocalOnly(), noisy, "algorithm"),
        (Pmtl(), Settings(cohort=2), "noise_multiplier"),
        (Pmtl(), Settings(noise_multiplier=1.0, clip_norm=1.0, clipping="adaptive"), "clipping"),
    ):
        with pytest.raises(InputError, match=named):
            FederatedCanaries(federation, algorithm, settings)


def canaries(algorithm, sampling="full", noise=1.0, **options):
    federation = load_federation("synthetic:related,population=6,samples=2,features=10")
    settings = Settings(rounds=2, cohort=3, sampling=sampling, noise_multiplier=noise, clip_norm=0.5, solver="loop")
    return FederatedCanaries(federation, algorithm, settings, **options)


@pytest.mark.parametrize(
    ("sampling", "view"),
    few(
        [
            *(("full", "coalition"), ("fixed-size", "coalition"), ("poisson", "coalition"), ("full", "outside")),
            ("shuffle", "coalition"),
        ],
        8,
    ),
)
def test_the_library_s_trainers_stand(sampling, view):
    found = audit_trainer(canaries(Pmtl(), sampling, view=view), runs=40, alpha=1e-3)
    assert not found.refuted
    assert found.claim.notion == "billboard"


@pytest.mark.parametrize(("sampling", "known"), [("random-allocation", False), ("shuffle", True)])
def test_who_allocates_itself_is_not_known_to_the_others(sampling, known):
    """A score that knew it would refute honest runs: their claim is amplified, what is left by the others is not."""
    told = canaries(Pmtl(), sampling)
    seen, here = np.full((2, 10), 0.5), np.zeros((2, 10), dtype=bool)
    one, other = (told._likelihood_ratio(seen, np.asarray(took_part)) for took_part in (here, ~here))
    assert bool((one != other).all()) == known
    assert known or (one == other).all()


def halved_noise(monkeypatch):
    real = noise_module.grid_noise

    def half(rng, shape, deviation, *rest):
        return real(rng, shape, deviation / 2, *rest)

    monkeypatch.setattr(noise_module, "grid_noise", half)


def forgotten_clip(monkeypatch):
    monkeypatch.setattr(ClippedSum, "_scale", lambda self, norm: 1.0)


def twice_the_cohort(monkeypatch):
    def drawn(self, streams, attempt, round_index):
        coins = Poisson(Gaussian(1.0), 2 * self.rate)
        return np.array(draw_schedule(coins, self.population, streams.bits("cohort", attempt, round_index))[0], int)

    monkeypatch.setattr(CohortSampler, "draw", drawn)


@pytest.mark.parametrize(
    ("fault", "sampling", "noise"),
    few([(halved_noise, "full", 1.0), (forgotten_clip, "full", 1.0), (twice_the_cohort, "poisson", 0.5)], 6),
)
def test_faults_of_the_engine_are_refuted(monkeypatch, fault, sampling, noise):
    assert not audit_trainer(canaries(DpFedAvg(), sampling, noise), runs=30, seed=2).refuted
    fault(monkeypatch)
    assert audit_trainer(canaries(DpFedAvg(), sampling, noise), runs=200, seed=2).refuted


def test_the_command(capsys):
    asked = ["audit-training", "pmtl", "--runs", "40", "--canaries", "20", "--quiet", "--sampling", "fixed-size"]
    assert run([*asked, "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert "One run of 20 canaries cannot refute the claim" in found["unchecked"]
    assert found["one_run"]["canaries"] == 20
    assert found["epsilon_lower"] <= found["certified"]["epsilon_upper"]
    assert run(asked) == 4
    assert "which is not shown and refutes nothing: epsilon at least" in capsys.readouterr().out
    for bad, named in (
        (["mocha"], "tests alone"),
        (["local"], "releases nothing"),
        (["dpfedmtl-as-printed"], "nothing is clipped"),
        (["dpfedmtl-clipped"], "clients add the noise"),
        (["nothing"], "ALGORITHM"),
        (["pmtl", "--view", "nobody"], "view"),
        (["pmtl", "--alpha", "2"], "alpha"),
    ):
        assert run(["audit-training", *bad]) == 2
        assert named in capsys.readouterr().err


def test_the_command_refutes(capsys, monkeypatch):
    halved_noise(monkeypatch)
    assert (
        run(["audit-training", "dp-fedavg", "--sampling", "full", "--runs", "200", "--canaries", "40", "--quiet"]) == 1
    )
    assert "REFUTED" in capsys.readouterr().out


def test_the_guide_s_code_runs():
    blocks = [part.split("```")[0] for part in GUIDE.read_text().split("```python\n")[1:]]
    names = {}
    for block in blocks:
        exec(block, names)
    assert (names["found"].refuted, names["honest"], names["halved"]) == (False, False, True)
