"""What the released code does otherwise than the paper, in trainers of our own that do the same.

Read in models/server.py, model.py and main.py of github.com/s-huu/PMTL (commit b63f3ae). One client model serves all
clients; in personalised runs a client's own weights are put into it when it comes again, and nothing is when it comes
for the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....mechanisms.arrays import Floats
from ...billboard.example_trainers import PersonalMeans, Record
from ...billboard.replay import check_billboard
from ..row import Finding, Statement, on_instances

FIRST = 3
"""Who comes first, with the seed that the replay takes."""


@dataclass(frozen=True, slots=True)
class Newcomers(PersonalMeans):
    """Mean estimation whose clients share a model. reset: it is w~ again for whoever comes for the first time."""

    reset: bool = False

    def run(self, clients: Sequence[Any], seed: int, billboard: Sequence[Any] | None = None) -> Record:
        record, models = Record(), [None] * len(clients)  # type: tuple[Record, list[Any]]
        left: Floats = np.zeros(np.asarray(clients[0]).shape[1])
        current = self._publish(record, billboard, left, np.zeros_like(left), 0.0)
        for t in range(self.rounds):
            cohort = np.random.default_rng([seed, t]).permutation(len(clients))[: self.cohort].tolist()
            for k in cohort:
                begin = (current if self.reset else left) if models[k] is None else models[k]
                left = models[k] = self._local(clients, k, {k: begin}, current, seed, t)  # type: ignore[arg-type]
                record.messages[t, k] = self._clipped(left - current)
            mean: Floats = np.stack([record.messages[t, k] for k in cohort]).mean(axis=0)
            noise = np.random.default_rng([seed, t, 1]).normal(0.0, self.noise_std, left.shape)
            current = self._publish(record, billboard, current + mean, noise, 2 * self.clip_norm / self.cohort)
        record.outputs = [current if model is None else model for model in models]
        return record


def newcomers(statement: Statement) -> Finding:
    """Replays the broadcasts with the first client's data altered: what changes of the others has no noise at all."""
    data = [np.full((4, 2), float(k)) for k in range(6)]
    trainer = Newcomers(reset=statement.domain["a newcomer starts at"] == "w~")
    report = check_billboard(trainer, data, FIRST, data[FIRST] + 50.0)
    text = f"{len(report.leaks)} of {report.compared} outputs and messages of the others change in a replay"
    basis = on_instances(report.compared, "a replay")
    return Finding(report.holds, text, {"leaks": len(report.leaks)}, basis=basis)


def pulled_steps(statement: Statement) -> Finding:
    """In how many of E local steps the penalty pulls; after each the code lets w~'s tensors be those of the model."""
    steps, rate, curvature = statement.domain["E"], 0.1, 1.0
    model, centre, pulls = 3.0, 0.0, []
    for _ in range(steps):
        pull = np.sign(model - centre)  # of the norm, which is not squared
        pulls.append(float(abs(pull)))
        model -= rate * (curvature * (model - 5.0) + pull)
        centre = model if statement.claim["w~ after a step"] == "the client's model" else centre
    pulled = sum(pull > 0 for pull in pulls)
    text = f"the penalty pulls in {pulled} of {steps} local steps"
    return Finding(pulled == steps, text, {"pulled": pulled}, basis=on_instances(1, "a run"))
