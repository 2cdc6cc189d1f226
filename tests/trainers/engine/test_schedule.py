"""--schedule: the rate of every round, exactly; and who does without."""

from __future__ import annotations

import numpy as np
import pytest

from dpcert.mechanisms import InputError
from dpcert.trainers.data.synthetic import mean_estimation
from dpcert.trainers.dpfedmtl import DpFedMtl
from dpcert.trainers.engine.evaluation import ClientScores
from dpcert.trainers.engine.identity import identity_of
from dpcert.trainers.federated import DpFedAvg, LocalSteps, Settings, Trainer
from dpcert.trainers.models import Linear


def settings(schedule: str = "constant", rounds: int = 5) -> Settings:
    local = LocalSteps(learning_rate=0.5, steps=1, batch_size=None)
    return Settings(
        rounds=rounds, sampling="full", dtype="float64", device="cpu", local=local, seed=1, schedule=schedule
    )


@pytest.mark.parametrize(("schedule", "rates"), [("halving:2", (0.5, 0.5, 0.25, 0.25, 0.125)), ("inverse:1", None)])
def test_every_round_has_its_rate(schedule: str, rates: tuple[float, ...] | None) -> None:
    """On identical quadratics a step leaves 1 - rate of the distance; the planted bug is a round off by one."""
    problem = mean_estimation(population=2, dimension=1, spread=0.0)
    model = Linear(1, 1, bias=False)
    model.weight.data.fill_(1.0)
    trainer = Trainer(problem, DpFedAvg(), model, settings(schedule))
    trainer.run()
    told = rates or tuple(0.5 / (1 + t) for t in range(5))
    assert float(trainer.shared[0, 0]) == pytest.approx(float(np.prod([1 - rate for rate in told])), rel=1e-12)
    assert float(trainer.shared[0, 0]) != pytest.approx(float(np.prod([1 - rate for rate in told[1:]])), rel=1e-2)


@pytest.mark.parametrize("schedule", ["halving", "halving:0", "inverse:-1", "cosine", "constant:3", "halving:2.5"])
def test_other_words_are_refused(schedule: str) -> None:
    with pytest.raises(InputError, match=r"schedule .*halving:N"):
        settings(schedule)


def test_the_servers_rate_has_no_schedule() -> None:
    problem = mean_estimation(population=2, dimension=1)
    with pytest.raises(InputError, match="schedule"):
        Trainer(problem, DpFedMtl(head_layers=0), Linear(1, 1), settings("halving:2"))


def test_a_checkpoint_knows_its_schedule() -> None:
    problem = mean_estimation(population=2, dimension=1)
    names = {identity_of(DpFedAvg(), settings(each), "logistic", problem) for each in ("constant", "halving:2")}
    assert len(names) == 2


def test_accuracy_by_sample_weighs_clients_by_their_samples() -> None:
    scores = ClientScores(np.array([1.0, 0.5, np.nan]), np.zeros(3), np.array([1, 3, 0]))
    assert scores.by_sample() == 0.625
    assert scores.means()[0] == 0.75
    assert ClientScores(np.full(1, np.nan), np.zeros(1), np.ones(1, dtype=np.int64)).by_sample() is None
