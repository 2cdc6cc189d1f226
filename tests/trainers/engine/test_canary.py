"""Auditing whole training runs with a canary: below the certified epsilon; above it when the noise is halved."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from dpcert.accounting.epsilon import epsilon
from dpcert.trainers.data import Client, Federation, Samples
from dpcert.trainers.engine import noise as noise_module
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.federated import DpFedAvg, LocalSteps, Pmtl, Settings, Trainer
from dpcert.trainers.models import Linear

torch.set_num_threads(1)
DELTA = 0.1
TRIALS = 1500
ERROR = 1e-3
"""Probability that the lower bound of an audit exceeds the truth."""


def federation(canary):
    """Three clients; the first one's data pull its updates to the clipping sphere, to one side or the other."""
    own = [Samples(np.ones((1, 1)), np.full((1, 1), target)) for target in (canary * 1e6, 0.1, -0.1)]
    clients = tuple(Client(str(place), samples, samples) for place, samples in enumerate(own))
    return Federation("canary", clients, "regression", 1)


SIDES = {side: federation(side) for side in (-1.0, 1.0)}


def score(algorithm, side, seed):
    """The log-likelihood ratio of the canary's two sides, up to a constant factor: the sum of the noisy releases."""
    settings = Settings(
        rounds=4,
        sampling="full",
        noise_multiplier=4.0,
        clip_norm=1.0,
        seed=seed,
        local=LocalSteps(learning_rate=0.5, steps=1, batch_size=None),
    )
    board = RecordingBillboard()
    trainer = Trainer(SIDES[side], algorithm(), Linear(1, 1, bias=False), settings, billboard=board)
    while trainer.rounds < 4:
        trainer._round()
    return float(sum(release.item() for release in board.billboard[1:])), trainer


def audited_epsilon(algorithm):
    """A lower bound of epsilon at DELTA that exceeds the truth with probability at most ERROR.

    The threshold is chosen on the first half of the runs, the bound computed on the second.
    """
    rng = np.random.default_rng(1)
    scores = {
        side: np.array([score(algorithm, side, int(rng.integers(2**60)))[0] for _ in range(TRIALS)]) for side in SIDES
    }
    half = TRIALS // 2
    thresholds = np.quantile(np.concatenate([scores[1.0][:half], scores[-1.0][:half]]), np.linspace(0.02, 0.98, 49))

    def bound(rows, threshold):
        hits, alarms = ((scores[side][rows] > threshold).sum() for side in (1.0, -1.0))
        count = len(scores[1.0][rows])
        least = stats.beta.ppf(ERROR / 2, hits, count - hits + 1) if hits else 0.0
        most = stats.beta.ppf(1 - ERROR / 2, alarms + 1, count - alarms) if alarms < count else 1.0
        return math.log((least - DELTA) / most) if least > DELTA else 0.0

    best = max(thresholds, key=lambda threshold: bound(slice(0, half), threshold))
    return bound(slice(half, None), best)


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", [DpFedAvg, Pmtl])
def test_canary(algorithm, monkeypatch):
    trainer = score(algorithm, 1.0, 0)[1]
    claimed = epsilon(trainer.mechanism(), DELTA, "replace-one", notion=trainer.algorithm.notion)
    assert 0.2 < audited_epsilon(algorithm) <= claimed.upper
    honest = noise_module.grid_noise
    monkeypatch.setattr(
        noise_module, "grid_noise", lambda rng, shape, deviation, *rest: honest(rng, shape, deviation / 2, *rest)
    )
    assert audited_epsilon(algorithm) > claimed.upper
