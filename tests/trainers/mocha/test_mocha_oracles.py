"""Twins of the tests on the authors' recorded runs, on made data: the papers' formulas, literally, in 50 digits.

Nothing of trainers.mocha is used on the oracle's side. Rounds are replayed sample by sample with mpmath; the optimum
comes from scipy on the dual box; the joint optimum from tasks with one feature each, where it has a closed form.
"""

from __future__ import annotations

import json

import mpmath as mp
import numpy as np
import pytest
from reference_mocha import recorded_order, reference_round
from scipy.io import savemat
from scipy.optimize import minimize

from dpcert.cli import run
from dpcert.trainers.mocha.losses import LOSSES
from dpcert.trainers.mocha.methods import Joint, Setting, WeightStep, iterate
from dpcert.trainers.mocha.mini_batches import batch_round
from dpcert.trainers.mocha.mocha import State, federated_round, report
from dpcert.trainers.mocha.omegas import fixed_identity, mean_regularised
from dpcert.trainers.mocha.tasks import Tasks

SIZES, DIMENSION, ROUNDS, LAMBDA, SIGMA = (3, 5, 4), 2, 20, 0.05, 1.7
HINGE = LOSSES["hinge"]


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(50):
        yield


def made():
    rng = np.random.default_rng(7)
    features = tuple(rng.standard_normal((size, DIMENSION)) for size in SIZES)
    return Tasks(features, tuple(np.sign(x[:, 0] + 0.3 * rng.standard_normal(len(x))) for x in features))


def visiting():
    """Twenty rounds of permutations; a round visits entry s mod n of each, for s = 1 to n."""
    rng = np.random.default_rng(8)
    return [[rng.permutation(size).tolist() for size in SIZES] for _ in range(ROUNDS)]


class Oracle:
    """alpha, v and W for hinge losses, as lists of 50-digit numbers; Omega with its inverse Sigma."""

    def __init__(self, tasks, omega):
        self.x = [[[mp.mpf(float(e)) for e in row] for row in own] for own in tasks.features]
        self.y = [[mp.mpf(float(e)) for e in own] for own in tasks.labels]
        self.omega = mp.matrix(omega.tolist())
        self.sigma = self.omega**-1
        self.lam, self.rounds = mp.mpf(LAMBDA), 0
        self.alpha = [[mp.mpf(0)] * len(own) for own in self.y]
        self.w = [[mp.mpf(0)] * DIMENSION for _ in self.y]

    def coordinate(self, t, i, weights, scale):
        """The exact minimiser in alpha_i: y clip(alpha y + (1 - y p) / (scale ||x||^2 / n), 0, 1)."""
        x, y, n = self.x[t][i], self.y[t][i], len(self.y[t])
        curvature = scale * mp.fdot(x, x) / n
        return y * min(max(self.alpha[t][i] * y + (1 - y * mp.fdot(x, weights)) / curvature, mp.mpf(0)), mp.mpf(1))

    def reduce(self, moved):
        """w_t += sum_s Sigma_ts Delta v_s / lambda."""
        for t, w in enumerate(self.w):
            for d in range(DIMENSION):
                w[d] += mp.fsum(self.sigma[t, s] * moved[s][d] for s in range(len(self.w))) / self.lam

    def mocha(self, permutations, steps=None):
        moved = []
        for t, permutation in enumerate(permutations):
            n, scale, own = len(permutation), self.sigma[t, t] / self.lam, list(self.w[t])
            delta = [mp.mpf(0)] * DIMENSION
            for s in range(1, (n if steps is None else steps) + 1):
                i = permutation[s % n]
                new = self.coordinate(t, i, own, mp.mpf(SIGMA) * scale)
                for d in range(DIMENSION):
                    way = (new - self.alpha[t][i]) * self.x[t][i][d] / n
                    delta[d] += way
                    own[d] += mp.mpf(SIGMA) * scale * way
                self.alpha[t][i] = new
            moved.append(delta)
        self.reduce(moved)

    def mb_sdca(self, step):
        moved = []
        for t, own in enumerate(self.y):
            exact = [self.coordinate(t, i, self.w[t], self.sigma[t, t] / self.lam) for i in range(len(own))]
            ways = [mp.mpf(step) * (new - old) for new, old in zip(exact, self.alpha[t], strict=True)]
            self.alpha[t] = [old + way for old, way in zip(self.alpha[t], ways, strict=True)]
            columns = ([x[d] for x in self.x[t]] for d in range(DIMENSION))
            moved.append([mp.fdot(ways, column) / len(own) for column in columns])
        self.reduce(moved)

    def reference_sgd(self, scaling):
        """W <- W (I - scaling/h Omega) + scaling/|S| sum of y x over margins below 1, cut to radius lambda^(-1/2)."""
        self.rounds += 1
        batch, before = sum(map(len, self.y)), [list(w) for w in self.w]
        for t, w in enumerate(self.w):
            for d in range(DIMENSION):
                shrunk = before[t][d] - mp.mpf(scaling) / self.rounds * mp.fsum(
                    self.omega[s, t] * before[s][d] for s in range(len(before))
                )
                pairs = zip(self.x[t], self.y[t], strict=True)
                w[d] = shrunk + mp.mpf(scaling) / batch * mp.fsum(
                    y * x[d] for x, y in pairs if y * mp.fdot(x, before[t]) < 1
                )
            norm = mp.sqrt(self.lam * mp.fdot(w, w))
            self.w[t] = [e / max(norm, 1) for e in w]

    def primal(self):
        risk = mp.fsum(
            mp.fsum(max(mp.mpf(0), 1 - y * mp.fdot(x, self.w[t])) for x, y in zip(self.x[t], own, strict=True))
            / len(own)
            for t, own in enumerate(self.y)
        )
        m = range(len(self.w))
        return risk + self.lam / 2 * mp.fsum(self.omega[s, t] * mp.fdot(self.w[s], self.w[t]) for s in m for t in m)

    def dual(self):
        v = [
            [mp.fdot(self.alpha[t], [x[d] for x in self.x[t]]) / len(own) for d in range(DIMENSION)]
            for t, own in enumerate(self.y)
        ]
        m = range(len(v))
        gained = mp.fsum(mp.fdot(self.alpha[t], own) / len(own) for t, own in enumerate(self.y))
        return gained - mp.fsum(self.sigma[s, t] * mp.fdot(v[s], v[t]) for s in m for t in m) / (2 * self.lam)


def mocha_step(oracle, tasks, state, permutations, omega):
    oracle.mocha(permutations)
    return federated_round(tasks, HINGE, state, LAMBDA, recorded_order(permutations), SIGMA)


def one_coordinate(oracle, tasks, state, permutations, omega):
    oracle.mocha(permutations, steps=1)
    return federated_round(tasks, HINGE, state, LAMBDA, recorded_order(permutations)[:, :1], SIGMA)


def mb_sdca_step(oracle, tasks, state, permutations, omega):
    oracle.mb_sdca(0.5)
    return batch_round(tasks, HINGE, state, LAMBDA, recorded_order(permutations), 0.5)


def reference_sgd_step(oracle, tasks, state, permutations, omega):
    oracle.reference_sgd(0.1)
    return reference_round(tasks, HINGE, state, omega, LAMBDA, recorded_order(permutations), 0.1)


@pytest.mark.parametrize("omega", [fixed_identity(3), mean_regularised(3, 0.2)], ids=["identity", "related"])
@pytest.mark.parametrize("step", [mocha_step, one_coordinate, mb_sdca_step, reference_sgd_step])
def test_rounds_replay_to_rounding(step, omega):
    tasks = made()
    oracle, state = Oracle(tasks, omega), State.start(tasks, omega)
    for permutations in visiting():
        state = step(oracle, tasks, state, permutations, omega)
        seen = report(tasks, HINGE, state, LAMBDA)
        assert seen.primal == pytest.approx(float(oracle.primal()), rel=1e-12)
        if step is not reference_sgd_step:
            assert seen.dual == pytest.approx(float(oracle.dual()), rel=1e-12)


def test_the_replay_notices_a_wrong_sigma_prime():
    tasks, omega = made(), mean_regularised(3, 0.2)
    oracle, state = Oracle(tasks, omega), State.start(tasks, omega)
    oracle.mocha(visiting()[0])
    state = federated_round(tasks, HINGE, state, LAMBDA, recorded_order(visiting()[0]), 1.01 * SIGMA)
    assert report(tasks, HINGE, state, LAMBDA).primal != pytest.approx(float(oracle.primal()), rel=1e-6)


def dual_optimum(tasks, omega):
    """The box-constrained dual in b = alpha y, by L-BFGS-B from several starts: no coordinate ascent."""
    sigma = np.linalg.inv(omega)
    rows = [x * y[:, None] / len(y) for x, y in zip(tasks.features, tasks.labels, strict=True)]
    owner = np.repeat(np.arange(len(rows)), [len(own) for own in rows])
    stacked, weight = np.concatenate(rows), np.concatenate([np.full(len(own), 1 / len(own)) for own in rows])
    gram = sigma[owner][:, owner] * (stacked @ stacked.T) / LAMBDA

    def negative(b):
        return b @ gram @ b / 2 - weight @ b, gram @ b - weight

    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000, "maxfun": 100_000}
    bounds = [(0, 1)] * len(weight)
    return max(
        -minimize(negative, np.full(len(weight), start), jac=True, bounds=bounds, options=options).fun
        for start in (0.0, 0.5, 1.0)
    )


@pytest.mark.parametrize("omega", [fixed_identity(3), mean_regularised(3, 0.2)], ids=["identity", "related"])
def test_the_optimum_is_scipy_s(omega):
    tasks = made()
    method = WeightStep(Setting(tasks, HINGE, omega, LAMBDA))
    for state in iterate(method, np.random.default_rng(0)):
        if state.rounds % 50 == 0 and (seen := method.report(state)).gap <= 1e-9:
            break
        assert state.rounds < 20_000
    best = dual_optimum(tasks, omega)
    assert seen.primal == pytest.approx(best, rel=1e-8)
    assert seen.dual <= best + 1e-9 <= seen.primal + 2e-8


@pytest.mark.parametrize("regularisation", [0.3, 0.03])
def test_the_joint_optimum_of_one_feature_is_certified(regularisation):
    """With d = 1 the trace norm of the row W is its Euclidean norm: tasks part, each an SVM on the line.

    Its minimum is at a kink 1 / (y x) of a sample or where a piece's slope vanishes: all of them are looked at.
    """
    rng = np.random.default_rng(5)
    features = tuple(rng.standard_normal((size, 1)) for size in (4, 6, 5))
    tasks = Tasks(features, tuple(np.sign(rng.standard_normal(len(x))) for x in features))
    best = 0.0
    for x, y in zip(tasks.features, tasks.labels, strict=True):
        z = y * x[:, 0]
        kinks = np.sort(1 / z)
        slopes = [z[z * point < 1].mean() if (z * point < 1).any() else 0.0 for point in middles(kinks)]
        counts = [(z * point < 1).mean() for point in middles(kinks)]
        candidates = [
            *kinks,
            *(slope * count / regularisation for slope, count in zip(slopes, counts, strict=True)),
            0.0,
        ]
        best += min(np.maximum(0, 1 - z * w).mean() + regularisation / 2 * w * w for w in candidates)
    method, primal, dual = Joint(Setting(tasks, HINGE, fixed_identity(3), regularisation)), np.inf, -np.inf
    for state in iterate(method, np.random.default_rng(0)):
        seen = method.report(state)
        primal, dual = min(primal, seen.primal), max(dual, seen.dual)
        assert dual <= best * (1 + 1e-12) <= primal * (1 + 2e-12)
        if primal - dual <= 1e-4 * primal:
            break
        assert state.rounds < 5000
    assert primal == pytest.approx(best, rel=1e-4)


def middles(kinks):
    """A point inside each piece."""
    return [kinks[0] - 1, *((kinks[1:] + kinks[:-1]) / 2), kinks[-1] + 1]


def test_the_command_reads_matlab_cells_and_a_split(capsys, tmp_path):
    """Labels and features as the authors' .mat file has them; the optimum on the training samples is scipy's."""
    tasks, rng = made(), np.random.default_rng(9)
    extra = [rng.standard_normal((2, DIMENSION)) for _ in SIZES]
    cells = np.empty((2, len(SIZES)), dtype=object)
    for t, (x, y) in enumerate(zip(tasks.features, tasks.labels, strict=True)):
        cells[0, t] = np.concatenate([extra[t], x])
        cells[1, t] = np.concatenate([np.ones(2), y])[:, None]
    savemat(tmp_path / "made.mat", {"X": cells[0], "Y": cells[1]})
    split = {"train_index_0based": [list(range(2, 2 + size)) for size in SIZES]}
    (tmp_path / "split.json").write_text(json.dumps(split))
    data = ["--data", f"mat:{tmp_path / 'made.mat'}", "--split-file", str(tmp_path / "split.json")]
    more = ["--lambda", str(LAMBDA), "--omega", "fixed-identity", "--tolerance", "1e-6", "--quiet", "--json"]
    assert run(["mocha", "mocha", *data, *more]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["tasks"] == 3
    assert document["primal"] == pytest.approx(dual_optimum(tasks, fixed_identity(3)), rel=2e-6)
