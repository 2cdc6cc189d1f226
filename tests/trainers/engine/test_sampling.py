"""Trainers' cohorts: drawn by the sampler of the very scheme that is accounted, and seen so in the log of a run."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import few

from dpcert.accounting import epsilon
from dpcert.cli import run
from dpcert.mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Poisson,
    RandomAllocation,
    Repeat,
    Shuffled,
    TruncatedPoisson,
)
from dpcert.proofs_checks.schedules.logged import audited
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.dpfedmtl import DpFedMtlLocalNoise
from dpcert.trainers.engine import cohort as cohorts
from dpcert.trainers.engine.checkpoint import RECORD, Checkpoint
from dpcert.trainers.engine.cohort import CohortSampler
from dpcert.trainers.engine.paid_round import Paid
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.processes import Processes
from dpcert.trainers.engine.settings import LocalSteps, Settings
from dpcert.trainers.engine.spent import Spent, SpentRecord
from dpcert.trainers.engine.streams import Streams
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.federated import DpFedAvg
from dpcert.trainers.training import keep_schedule, schedule_of

torch.set_num_threads(1)
FEDERATION = related_tasks(population=24, features=2, classes=2, samples=4)
GOAL = PrivacyGoal(delta=1e-5, neighbouring="zero-out")
STEP = LocalSteps(steps=1)
ERROR = 1e-6
"""Of every audit of a schedule here."""

NOISE = Gaussian(3.0)
SCHEMES = {
    "poisson": Poisson(NOISE, 4 / 24),
    "cut": TruncatedPoisson(NOISE, 4 / 24, 24, 5),
    "fixed-size": FixedSize(NOISE, 24, 4),
    "shuffle": Shuffled(NOISE, 6, full_batches=6),
    "random-allocation": RandomAllocation(NOISE, 6),
    "cyclic": Cyclic(NOISE, 6),
}
DEALT = ("shuffle", "random-allocation", "cyclic")


def build(scheme, rounds=90, folder=None, goal=GOAL, federation=FEDERATION, **changed):
    told = {"sampling": "poisson", "max_cohort": 5} if scheme == "cut" else {"sampling": scheme}
    base = {"rounds": rounds, "cohort": 4, "noise_multiplier": 3.0, "clip_norm": 0.5, "seed": 2, "local": STEP}
    settings = Settings(**(base | told | changed), evaluate_clients=1)
    return Trainer(federation, DpFedAvg(), "logistic", settings, goal, checkpoint=folder)


def log_of(trainer):
    keep_schedule(trainer)
    trainer.run()
    return schedule_of(trainer)


def verdict(log, folder, **sampling):
    path = folder / "log.json"
    path.write_text(json.dumps(log | ({"sampling": sampling} if sampling else {})))
    return audited(path, ERROR)


@pytest.mark.parametrize("scheme", few(SCHEMES, 4))
def test_a_run_s_cohorts_are_of_its_scheme_and_no_poisson_ones(tmp_path, scheme):
    """An honest log is refuted with probability at most 1e-6; the seed is fixed."""
    trainer = build(scheme)
    assert trainer.mechanism() == Repeat(SCHEMES[scheme], 90 // trainer.sampler.period)
    log = log_of(trainer)
    assert not verdict(log, tmp_path).refuted
    as_poisson = verdict(log, tmp_path, scheme="poisson", sampling_rate=4 / 24)
    assert as_poisson.refuted == (scheme != "poisson")


@pytest.mark.parametrize("scheme", [*DEALT, "cut"])
def test_the_cost_is_that_of_what_was_drawn(scheme):
    trainer = build(scheme, rounds=6)
    outcome = trainer.run()
    assert outcome.mechanism == Repeat(SCHEMES[scheme], 6 // trainer.sampler.period)
    assert outcome.privacy == epsilon(outcome.mechanism, 1e-5, "zero-out")


def test_the_log_is_of_the_cohorts_that_trained(monkeypatch):
    seen = []
    trainer = build("shuffle", rounds=7)
    whole = trainer._noisy_sum.clipped
    monkeypatch.setattr(
        trainer._noisy_sum, "clipped", lambda cohort, *rest: seen.append(cohort.tolist()) or whole(cohort, *rest)
    )
    log = log_of(trainer)
    assert log["rounds"] == seen[:6]  # the seventh is of an epoch that was only begun
    assert len(seen) == 7


@pytest.mark.parametrize("scheme", ["shuffle", "random-allocation"])
def test_planted_cohorts_drawn_anew_in_every_round_are_caught(monkeypatch, tmp_path, scheme):
    honest = cohorts.draw_schedule

    def anew(run, population, source):
        return [honest(run, population, source)[0] for _ in range(6)]

    monkeypatch.setattr(cohorts, "draw_schedule", anew)
    found = verdict(log_of(build(scheme)), tmp_path)
    (never,) = (check for check in found.checks if check.name.startswith("once a"))
    assert found.refuted
    assert never.p_value == 0.0


def test_a_planted_epoch_dealt_once_for_all_is_caught(monkeypatch, tmp_path):
    honest = Streams.bits
    monkeypatch.setattr(Streams, "bits", lambda self, purpose, attempt, block: honest(self, purpose, attempt, 0))
    found = verdict(log_of(build("shuffle")), tmp_path)
    assert found.refuted
    assert next(check for check in found.checks if check.name == "same place").p_value < ERROR / 3


@pytest.mark.parametrize("scheme", DEALT)
def test_resumed_within_an_epoch_to_the_bit(tmp_path, scheme):
    plain, log = build(scheme, rounds=12), None
    log = log_of(plain)
    for rounds in (4, 9):
        build(scheme, rounds=rounds, folder=tmp_path / "run").run()
    resumed = build(scheme, rounds=12, folder=tmp_path / "run")
    assert resumed.rounds == 9
    assert log_of(resumed) == log
    assert resumed.shared.numpy().tobytes() == plain.shared.numpy().tobytes()
    assert resumed.spent == plain.spent == 2


@pytest.mark.parametrize("scheme", DEALT)
def test_an_epoch_that_was_begun_is_charged_whole_and_known_from_below_without_it(scheme):
    begun = build(scheme, rounds=8).run()
    assert begun.spent == 2
    charged, certain = (epsilon(Repeat(SCHEMES[scheme], epochs), 1e-5, "zero-out") for epochs in (2, 1))
    assert begun.privacy.upper == charged.upper
    assert begun.privacy.lower == certain.lower


def test_a_round_that_is_repeated_is_of_another_drawing_and_charged_as_one(tmp_path, monkeypatch):
    """Its cohort tells nothing of the first drawing's, and what it costs is a whole epoch more."""
    crashing = build("shuffle", rounds=12, folder=tmp_path / "run")

    def crash(self, *arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            crashing.run()
    for file in (tmp_path / "run").glob(f"{RECORD}*"):
        file.unlink()
    SpentRecord.at(tmp_path / "run" / RECORD, Processes()).extend([Spent(0, 0, "0" * 64)])
    resumed = build("shuffle", rounds=12, folder=tmp_path / "run")
    keep_schedule(resumed)
    outcome = resumed.run()
    assert (resumed.paid.releases, outcome.spent, resumed.paid.whole) == (13, 3, 2)
    whole = epsilon(Repeat(SCHEMES["shuffle"], 3), 1e-5, "zero-out")
    assert outcome.privacy.upper == whole.upper
    assert outcome.privacy.lower < whole.lower
    fresh = CohortSampler(resumed.settings, 24)
    again = fresh.draw(resumed.streams, 1, 0).tolist()
    assert resumed.sampler.kept[0].tolist() == again != fresh.draw(resumed.streams, 0, 0).tolist()
    assert resumed.sampler.kept[1].tolist() == fresh.draw(resumed.streams, 0, 1).tolist()


def paid(period, releases):
    found = Paid(period)
    for round_index, attempt in releases:
        found.spend(round_index, attempt, "a digest")
    return found


def test_paid():
    rounds = paid(1, [(0, 0), (1, 0), (1, 1)])
    assert (rounds.releases, rounds.drawings, rounds.whole) == (3, 3, 3)
    epochs = paid(3, [(0, 0), (1, 0), (1, 1), (2, 1), (2, 0)])
    assert (epochs.releases, epochs.drawings, epochs.whole) == (5, 2, 1)
    assert epochs.covers(0, 1)
    assert not epochs.covers(3, 0)


def test_a_budget_ends_with_an_epoch():
    two = epsilon(Repeat(SCHEMES["shuffle"], 2), 1e-5, "zero-out").upper
    outcome = build("shuffle", goal=replace(GOAL, budget=two)).run()
    assert (outcome.rounds, outcome.spent, outcome.stopped_by_budget) == (12, 2, True)


def test_uneven_batches_and_their_rate():
    uneven = CohortSampler(Settings(sampling="shuffle", cohort=10), 24)
    assert (uneven.period, uneven.denominator, uneven.rate) == (3, 8, 1 / 3)
    assert sorted(np.concatenate([uneven.draw(Streams(1), 0, t) for t in range(3)])) == list(range(24))


def test_refused_before_any_work():
    with pytest.raises(InputError, match=r"max_cohort.*fixed-size cohorts are not cut"):
        Settings(sampling="fixed-size", max_cohort=3)
    with pytest.raises(InputError, match="max_cohort"):
        Settings(max_cohort=0)
    with pytest.raises(InputError, match=r"neighbouring.*zero-out or replace-one"):
        build("shuffle", goal=PrivacyGoal(delta=1e-5, neighbouring="add-remove"))
    told = Settings(sampling="shuffle", cohort=4, noise_multiplier=1.0, clip_norm=1.0)
    with pytest.raises(InputError, match=r"sampling.*where clients add their own noise"):
        Trainer(FEDERATION, DpFedMtlLocalNoise(), "mlp", told)
    with pytest.raises(InputError, match="no schedule to log"):
        keep_schedule(build("full"))


def test_the_command_writes_a_log_that_audit_reads(tmp_path, capsys):
    log = tmp_path / "log.json"
    asked = ["train", "dp-fedavg", "--data", "synthetic:related,population=24", "--rounds", "20", "--cohort", "4"]
    asked += [
        "--sampling",
        "random-allocation",
        "--clip-norm",
        "1",
        "--noise-multiplier",
        "3",
        "--neighbouring",
        "zero-out",
    ]
    assert run([*asked, "--seed", "1", "--quiet", "--schedule-log", str(log), "--json"]) == 0
    shown = capsys.readouterr()
    privacy = json.loads(shown.out)["privacy"]
    assert privacy["sampling"] == "random-allocation"
    assert "the last 2 rounds are not in it" in shown.err
    assert len(json.loads(log.read_text())["rounds"]) == 18
    assert run(["audit", "--schedule", str(log), "--alpha", "1e-6"]) == 0
    assert run([*asked, "--schedule-log", str(tmp_path / "nowhere" / "log")]) == 2
