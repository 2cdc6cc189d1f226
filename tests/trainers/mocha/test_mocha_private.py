"""Private MOCHA: billboard replay, clipping and noise on the real code path, a canary audit, resume after a kill."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from cases import few
from scipy import stats

from dpcert.accounting.epsilon import epsilon
from dpcert.mechanisms import Gaussian, InputError, Repeat
from dpcert.proofs_checks.billboard.replay import check_billboard
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.streams import Streams
from dpcert.trainers.mocha import private
from dpcert.trainers.mocha.losses import LOSSES
from dpcert.trainers.mocha.methods import Setting, WeightStep
from dpcert.trainers.mocha.mocha import report
from dpcert.trainers.mocha.objective import images
from dpcert.trainers.mocha.omegas import clustered, fixed_identity, known_covariance, mean_regularised
from dpcert.trainers.mocha.private import PrivateRounds, Relay
from dpcert.trainers.mocha.private_run import PrivateRun, ReplayablePrivateMocha
from dpcert.trainers.mocha.tasks import Tasks, related_tasks

TASKS = 6
OMEGAS = {
    "mean": mean_regularised(TASKS, 0.1),
    "clustered": clustered([0, 0, 0, 1, 1, 1], 0.1),
    "known": known_covariance(
        np.eye(TASKS) + 0.5 * np.diag(np.ones(TASKS - 1), 1) + 0.5 * np.diag(np.ones(TASKS - 1), -1)
    ),
}


def made(seed=1):
    tasks, _ = related_tasks(
        TASKS, 4, 12, np.full((TASKS, TASKS), 0.8) + 0.2 * np.eye(TASKS), np.random.default_rng(seed)
    )
    return tasks.take([range(12 - task) for task in range(TASKS)])


def rounds_for(tasks, omega=OMEGAS["mean"], clip_norm=0.05, noise_multiplier=1.0, loss="hinge", **options):
    setting = Setting(tasks, LOSSES[loss], omega, 0.1)
    return PrivateRounds(setting, clip_norm, noise_multiplier, **options)


def test_a_relay_is_sigma():
    v = np.random.default_rng(0).standard_normal((TASKS, 4))
    for omega in OMEGAS.values():
        covariance = np.linalg.inv(omega)
        for relay in (Relay.of(covariance), Relay.everything(covariance)):
            assert relay.weights(v, relay.rows.T @ v, 0.1) == pytest.approx(v.T @ covariance / 0.1)
    assert Relay.of(np.linalg.inv(OMEGAS["mean"])).rows.shape == (TASKS, 1)
    assert Relay.of(np.linalg.inv(OMEGAS["clustered"])).rows.shape == (TASKS, 2)


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("loss", few(LOSSES, 12))
def test_without_noise_and_clipping_it_is_mocha(omega, loss):
    """A valid gap at every round, which closes."""
    tasks = made()
    rounds = rounds_for(tasks, OMEGAS[omega], clip_norm=1e3, noise_multiplier=0.0, loss=loss)
    run = PrivateRun(rounds, "t", seed=0)
    for upto in range(1, 60):
        run.solve(upto)
        assert report(tasks, LOSSES[loss], run.state, 0.1).gap >= 0
    run.solve(200)
    assert report(tasks, LOSSES[loss], run.state, 0.1).gap <= 2e-3


@pytest.mark.nightly
def test_clipping_alone_only_slows_down():
    """A shortened step is a feasible step with a larger theta: the optimum stays the same."""
    tasks = made()
    found = {}
    for clip in (0.01, 1e3):
        run = PrivateRun(rounds_for(tasks, clip_norm=clip, noise_multiplier=0.0), "t", seed=0)
        run.solve(1500)
        found[clip] = report(tasks, LOSSES["hinge"], run.state, 0.1)
    assert found[0.01].primal == pytest.approx(found[1e3].primal, rel=1e-5)
    early = PrivateRun(rounds_for(tasks, clip_norm=0.01, noise_multiplier=0.0), "t", seed=0)
    early.solve(5)
    assert report(tasks, LOSSES["hinge"], early.state, 0.1).gap > 0.01


def test_noise_solves_a_problem_that_is_off_by_the_noise():
    """With the noise n kept from some round on, W minimises P(W) - <W, xi>, Sigma xi = -mixing n; its excess over the
    optimum is at most tr(xi^T Sigma xi) / lambda (docs/mocha.md)."""
    tasks, regularisation = made(), 0.1
    rounds = rounds_for(tasks, clip_norm=1e3, noise_multiplier=0.0)
    relay = rounds.relay(np.linalg.inv(OMEGAS["mean"]))
    noise = 0.05 * np.random.default_rng(0).standard_normal((1, tasks.dimension))
    streams, state = Streams(0), rounds.start()
    state = replace(state, extra={"statistic": noise.copy()}, weights=relay.weights(state.v, noise, regularisation))
    for _ in range(800):
        release = rounds.compute(state, streams, 0)
        state = rounds.publish(state, release, release.pre_noise)
    covariance = state.covariance
    xi = np.linalg.solve(covariance, relay.mixing @ noise)
    honest = WeightStep(rounds.setting)
    best = honest.start()
    rng = np.random.default_rng(1)
    for _ in range(800):
        best = honest.round(best, rng)
    optimum = honest.report(best).primal

    def shifted(weights):
        return honest.report(replace(best, weights=weights)).primal - (weights * xi.T).sum()

    excess = honest.report(state).primal - optimum
    assert shifted(state.weights) <= shifted(best.weights) + 1e-6
    assert 1e-4 < excess <= np.einsum("td,ts,sd->", xi, covariance, xi) / regularisation


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
@pytest.mark.parametrize("omega", few(OMEGAS, 4))
def test_messages_never_exceed_the_clip_norm_and_the_noise_has_its_size(omega, loss):
    """On the real code path: exact norms of what is summed; mean square of the noise, error probability 1e-6."""
    board = RecordingBillboard()
    clip = 0.003
    PrivateRun(rounds_for(made(), OMEGAS[omega], clip, 2.0, loss), "t", seed=3, billboard=board).solve(60)
    norms = [np.linalg.norm(message) for message in board.messages.values()]
    assert max(norms) <= clip
    assert max(norms) > 0.99 * clip  # the clip norm binds, or the test shows nothing
    sums = [sum(board.messages[t, node] for node in range(TASKS)) for t in range(60)]
    for total, before in zip(sums, board.pre_noise, strict=True):
        assert before == pytest.approx(total, abs=1e-12)
    noise = np.concatenate([part.ravel() for part in board.noise]) / (2.0 * clip)
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], len(noise))
    assert low <= (noise**2).sum() <= high
    assert not low <= ((noise / 2) ** 2).sum() <= high  # planted: half the noise


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("omega_every", [0, 2])
def test_billboard_holds(omega, omega_every):
    """Client 2's data change, its number of samples included: nobody else's messages or weights do."""
    tasks = made()
    clients = list(zip(tasks.features, tasks.labels, strict=True))
    rng = np.random.default_rng(5)
    other = (30 * rng.standard_normal((40, 4)), np.ones(40))
    trainer = ReplayablePrivateMocha(lambda t: rounds_for(t, OMEGAS[omega], omega_every=omega_every), 5)
    outcome = check_billboard(trainer, clients, 2, other, seed=4)
    assert outcome.holds, outcome.leaks
    assert outcome.compared > TASKS
    assert 0 < outcome.largest_move <= 1


class Leaky(PrivateRounds):
    """Uses everybody's exact v_t for everybody's weights: MOCHA as the paper runs it, noise or not."""

    def publish(self, state, release, released):
        after = super().publish(state, release, released)
        return replace(after, weights=release.v.T @ after.covariance / self.setting.regularisation)


class Unclipped(PrivateRounds):
    """Clips the step at a hundred times the clip norm."""

    def _clipped_sum(self, relay, moved):
        return 100 * super()._clipped_sum(relay, moved)[0], super()._clipped_sum(relay, moved)[1]


@pytest.mark.parametrize("bug", [Leaky, Unclipped])
def test_planted_leaks_are_caught(bug):
    tasks = made()
    clients = list(zip(tasks.features, tasks.labels, strict=True))
    trainer = ReplayablePrivateMocha(lambda t: bug(Setting(t, LOSSES["hinge"], OMEGAS["mean"], 0.1), 0.01, 1.0), 4)
    assert not check_billboard(trainer, clients, 2, (-clients[2][0] * 9, clients[2][1])).holds


TRIALS, ERROR, DELTA, ROUNDS, MULTIPLIER = 3000, 1e-3, 0.1, 4, 4.0


def score(side, seed):
    """The sum of the releases: the log-likelihood ratio of the canary's two sides up to a factor."""
    labels = (np.full(1, side * 1e6), np.full(1, 0.1), np.full(1, -0.1))
    tasks = Tasks(tuple(np.ones((1, 1)) for _ in range(3)), labels)
    rounds = PrivateRounds(Setting(tasks, LOSSES["squared"], mean_regularised(3, 0.5), 1.0), 1.0, MULTIPLIER)
    board = RecordingBillboard()
    PrivateRun(rounds, "canary", seed=seed, billboard=board).solve(ROUNDS)
    return float(sum(release.item() for release in board.billboard)) * side_of_rows(rounds)


def side_of_rows(rounds):
    """The sign of the canary's row of B, an eigenvector whose sign is the linear algebra library's choice."""
    return float(np.sign(rounds.relay(rounds.start().covariance).rows[0, 0]))


def audited_epsilon():
    """A lower bound of epsilon at DELTA, above the truth with probability at most ERROR; threshold on other runs."""
    rng = np.random.default_rng(1)
    seen = {side: np.array([score(side, int(rng.integers(2**60))) for _ in range(TRIALS)]) for side in (1.0, -1.0)}
    half = TRIALS // 2

    def bound(rows, threshold):
        hits, alarms = ((seen[side][rows] > threshold).sum() for side in (1.0, -1.0))
        least = stats.beta.ppf(ERROR / 2, hits, half - hits + 1) if hits else 0.0
        most = stats.beta.ppf(1 - ERROR / 2, alarms + 1, half - alarms) if alarms < half else 1.0
        return math.log((least - DELTA) / most) if least > DELTA else 0.0

    pooled = np.concatenate([seen[1.0][:half], seen[-1.0][:half]])
    best = max(np.quantile(pooled, np.linspace(0.02, 0.98, 49)), key=lambda value: bound(slice(0, half), value))
    return bound(slice(half, None), best)


@pytest.mark.nightly
def test_canary_audit_refutes_halved_noise_only(monkeypatch):
    claimed = epsilon(Repeat(Gaussian(MULTIPLIER), ROUNDS), DELTA, "replace-one", notion="billboard")
    assert 0.2 < audited_epsilon() <= claimed.upper
    honest = private.grid_noise
    monkeypatch.setattr(
        private, "grid_noise", lambda rng, shape, deviation, *rest: honest(rng, shape, deviation / 2, *rest)
    )
    assert audited_epsilon() > claimed.upper


def test_the_cost_is_that_of_the_mechanism_against_every_observer():
    run = PrivateRun(rounds_for(made(), noise_multiplier=8.0), "t", PrivacyGoal(delta=1e-3), seed=0)
    outcome = run.solve(20)
    assert outcome.mechanism == Repeat(Gaussian(8.0), 20)
    expected = epsilon(Repeat(Gaussian(8.0), 20), 1e-3, "replace-one")
    coalition, outside, server = run.observed()
    assert outcome.privacy.upper == pytest.approx(expected.upper)
    assert coalition.epsilon.upper == pytest.approx(expected.upper)
    assert outside.epsilon.upper == pytest.approx(expected.upper)
    assert math.isinf(server.epsilon.upper)


def test_the_budget_stops_the_run():
    goal = PrivacyGoal(delta=1e-3, budget=1.0)
    outcome = PrivateRun(rounds_for(made(), noise_multiplier=8.0), "t", goal, seed=0).solve(500)
    assert outcome.stopped_by_budget
    assert outcome.privacy.upper <= 1.0
    assert epsilon(Repeat(Gaussian(8.0), outcome.rounds + 1), 1e-3, "replace-one").upper > 1.0


TOLD = """
from pathlib import Path
replace = Path.replace
def told(*arguments):
    replace(*arguments)
    print("saved", flush=True)
Path.replace = told
from dpcert.cli import main
main()
"""
"""The command line, saying so whenever it has saved something."""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.nightly
def test_killed_for_real_it_resumes_to_the_bit(tmp_path):
    """SIGKILL soon after its first saves in a command-line run; the same command finishes it as one never stopped."""
    command = ["mocha", "mocha", "--data", "synthetic:mean,tasks=5,samples=10"]
    command += ["--noise-multiplier", "3", "--clip-norm", "0.1", "--rounds", "400", "--seed", "3", "--json", "--quiet"]
    saved = [*command, "--checkpoint", str(tmp_path / "run")]
    child = subprocess.Popen([sys.executable, "-c", TOLD, *saved], stdout=subprocess.PIPE, text=True)
    with child.stdout:
        for _ in range(4):
            assert child.stdout.readline() == "saved\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
    documents = [
        json.loads(
            subprocess.run([sys.executable, "-m", "dpcert", *line], capture_output=True, check=True, text=True).stdout
        )
        for line in (saved, command)
    ]
    for document in documents:
        document.pop("seconds")
        document["privacy"].pop("seconds")
    assert documents[0] == documents[1]


def test_bad_input_is_named():
    tasks = made()
    with pytest.raises(InputError, match="omega"):
        rounds_for(tasks, fixed_identity(TASKS)).start()
    with pytest.raises(InputError, match="clip_norm"):
        rounds_for(tasks, clip_norm=0.0)
    with pytest.raises(InputError, match="budget"):
        PrivateRun(rounds_for(tasks, noise_multiplier=0.0), "t", PrivacyGoal(budget=1.0))
    with pytest.raises(InputError, match="neighbouring"):
        PrivateRun(rounds_for(tasks), "t", PrivacyGoal(neighbouring="add-remove"))


def test_noise_never_touches_the_dual_point():
    """v stays X alpha and alpha feasible, whatever is published: the gap is valid for noisy weights too."""
    tasks = made()
    run = PrivateRun(rounds_for(tasks, clip_norm=0.01, noise_multiplier=5.0), "t", seed=0)
    run.solve(30)
    assert run.state.v == pytest.approx(images(tasks, run.state.alpha), abs=1e-12)
    seen = report(tasks, LOSSES["hinge"], run.state, 0.1)
    assert 0 < seen.gap == pytest.approx(seen.primal - seen.dual, rel=1e-9)
