"""Algorithm 1 (Section 4.1): whether its lines solve the objective that they are meant to; what the released code does.

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
from ...convergence.pmtl_moments import Federation, check_against_trainer
from ...convergence.pmtl_runs import Form, mean_estimation, run
from ..row import Finding, Statement, Undecided, on_instances, resting_on

APART = 0.05
"""Between predicted and measured growth a round: cohorts are drawn, and what does not grow stays at their floor."""


def _federation(form: Form, curvature: float, strength: float, cohort: int, scale: float) -> Federation:
    problem = mean_estimation(20, 1, curvature)
    chosen = None if cohort == 20 else cohort
    own = Federation(problem, form, strength, 0.3, 5, chosen, start=np.zeros(1), scale=scale)
    check_against_trainer(own)
    return own


def solves_objective(statement: Statement) -> Finding:
    """E F(W^T) - F*, exactly, after 400 rounds of 5 exact-gradient steps without noise, by cohort size and curvature.

    An increment's weight in w~ is 1/|S_t| as printed, or `weight` times 1/m.
    """
    form, scale, numbers = _line_8(statement), statement.claim["times"], {}
    for curvature, strength in ((1.0, 0.2), (0.2, 1.0)):
        for cohort in statement.domain["cohorts of 20"]:
            gap = float(_federation(form, curvature, strength, cohort, scale).moments(400).gaps()[-1])
            numbers[f"curvature {curvature:g}, lambda {strength:g}, cohort {cohort}: E F - F*"] = gap
            if not abs(gap) <= 1e-9:
                text = f"curvature {curvature:g}, lambda {strength:g}, cohort {cohort}: E F - F* = {gap:.3g} at the end"
                return Finding(
                    False, text, numbers, basis=on_instances(len(numbers), "recursions equal to the trainer")
                )
    return Finding(
        True,
        "E F - F* below 1e-9 after 400 rounds in every run",
        numbers,
        basis=on_instances(len(numbers), "recursions equal to the trainer"),
    )


def _line_8(statement: Statement) -> Form:
    forms: dict[str, Form] = {"1/|S_t|": "as-printed", "1/m": "increments"}
    return forms[statement.claim["weight of an increment"]]


@resting_on(on_instances(2, "recursions equal to the trainer"))
def tracks_mean(statement: Statement) -> Finding:
    """The root of E||w~^t - w_bar^t||^2, exactly, at its largest over a run, against that of the models' distance."""
    numbers = {}
    for cohort in (10, 5):
        moments = _federation(_line_8(statement), 1.0, 0.2, cohort, 1.0).moments(100)
        ratio = float(np.sqrt(np.abs(moments.errors()).max() / moments.distances().max()))
        numbers[f"cohort {cohort}: distance of w~ / distance of the models"] = ratio
    worst = max(numbers.values())
    return Finding(worst < 1e-6, f"w~ is off the mean model by {worst:.3g} times the models' distance", numbers)


def stays_bounded(statement: Statement) -> Finding:
    """Spectral radius of a round's mean map (trainers.algorithms.stability) and a run: rho m/q > 1 diverges."""
    from ....trainers.algorithms.stability import growth_factor

    form, numbers = statement.claim["line 8"], {}
    problem, rounds = mean_estimation(20, 3, 0.2), 60
    for cohort in (10, 4, 2):
        growth = growth_factor(
            "reference" if form == "reset" else form,
            curvature=0.2,
            strength=1.0,
            learning_rate=0.3,
            steps=5,
            sampling_rate=cohort / 20,
        )
        path = run(problem, form, strength=1.0, learning_rate=0.3, rounds=rounds, local_steps=5, cohort=cohort, seed=3)
        off = np.linalg.norm(path.shared - problem.centres.mean(axis=0), axis=1)
        measured = float((off[-1] / off[rounds // 3]) ** (1 / (rounds - rounds // 3)))
        numbers[f"cohort {cohort}: predicted, measured growth a round"] = [growth, measured]
        if abs(measured - max(growth, 1.0)) > APART:
            raise Undecided(f"the trainer's models grow {measured:.3f}-fold a round, predicted {growth:.3f}")
        if growth > 1 + 1e-9:
            text = f"cohort {cohort} of 20: the distance grows {measured:.3f}-fold a round (predicted {growth:.3f})"
            return Finding(False, text, numbers, basis=on_instances(len(numbers), "trainer runs"))
    return Finding(
        True,
        "spectral radius at most 1 and no growth in any run",
        numbers,
        basis=on_instances(len(numbers), "trainer runs"),
    )


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


@resting_on(on_instances(1, "a run"))
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
    return Finding(pulled == steps, text, {"pulled": pulled})
