"""Local fine-tuning after any algorithm (PMTL, section 5.3, Table 1): each client alone, on its own samples.

It uses a client's own data and what the billboard already showed, so it costs no further privacy under the billboard
notion (claims register, PMTL-A7p); a global model that was differentially private as such becomes personal by it.

Penalties, all towards the reference model, the last shared one:
- vanilla: none;
- mean-regularised: (strength/2) ||w - w~||^2;
- symmetrised KL: strength (KL(p_w || p_w~) + KL(p_w~ || p_w)) of the predicted class probabilities, mean over samples;
- ewc: (strength/2) sum_i F_i (w_i - w~_i)^2, F the diagonal Fisher information of the reference model on the client's
  own samples (Kirkpatrick et al. 2017; Yu, Bagdasaryan, Shmatikov 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ...mechanisms import InputError
from ...mechanisms.validate import choice, nonnegative
from ..engine.algorithm import Clients
from ..engine.client_tensors import ClientTensors, batch_plan
from ..engine.evaluation import ClientScores
from ..engine.local import LocalSide
from ..engine.losses import Loss, cross_entropy
from ..engine.settings import LocalSteps
from ..engine.trainer import Trainer
from ..solvers import Work
from ..solvers.together import StackedSolver, VmapSolver

Penalty = Literal["vanilla", "mean-regularised", "symmetrised-kl", "ewc"]
STEPS = LocalSteps(learning_rate=0.1, epochs=5)
PENALTIES: tuple[Penalty, ...] = ("vanilla", "mean-regularised", "symmetrised-kl", "ewc")


@dataclass(frozen=True, slots=True)
class FineTuning:
    """How to fine-tune. strength: the penalty's weight, ignored by "vanilla".

    penalty: "vanilla", "mean-regularised", "symmetrised-kl" or "ewc". local: the local steps of every client.
    """

    penalty: Penalty = "vanilla"
    local: LocalSteps = STEPS
    strength: float = 1.0

    def __post_init__(self) -> None:
        choice("finetune", self.penalty, PENALTIES)
        nonnegative("finetune_strength", self.strength)


def fine_tune(trainer: Trainer, tuning: FineTuning) -> ClientScores:
    """Test scores of each evaluated client's model after fine-tuning it; the trainer's own models stay as they are.

    Raises InputError for symmetrised KL on a task without class probabilities.

    tuning: how.
    """
    if tuning.penalty == "symmetrised-kl" and trainer.local.loss is not cross_entropy:
        raise InputError("finetune", tuning.penalty, "another penalty: the task does not predict class probabilities")
    return trainer.evaluated.scores(partial(tuned_models, trainer, tuning), test=True)


def tuned_models(trainer: Trainer, tuning: FineTuning, clients: Clients) -> Tensor:
    """(c, d): these clients' models after fine-tuning, by the trainer's solver where it can do the work."""
    local, steps, each = trainer.local, tuning.local, clients.tolist()
    samples = [local.train(client) for client in each]
    reference = trainer.reference_models(clients)
    loss: Loss = local.loss
    anchor, strength, curvature = None, 0.0, None
    if tuning.penalty == "symmetrised-kl":
        shown = torch.split(local.predicted(reference, samples), [len(own) for own in samples])
        samples = [own.with_targets(outputs) for own, outputs in zip(samples, shown, strict=True)]
        loss = _kl_penalised(local.loss, tuning.strength)
    elif tuning.penalty != "vanilla":
        anchor, strength = reference, tuning.strength
        if tuning.penalty == "ewc":
            curvature = fisher_diagonals(local, reference, samples)
    generators = (trainer.streams.generator("finetune", client) for client in each)
    plans = [batch_plan(len(own), steps, rng) for own, rng in zip(samples, generators, strict=True)]
    seeds = [trainer.streams.torch_seed("finetune", client) for client in each]
    start = trainer.client_models(clients)
    work = Work(
        samples, plans, loss, start, steps.learning_rate, anchor, strength, curvature, steps.weight_decay, seeds
    )
    return local.solver_for(work).solve(work)


def fisher_diagonals(local: LocalSide, references: Tensor, samples: Sequence[ClientTensors]) -> Tensor:
    """(c, d): for each client the mean, over its samples, of the squared gradient of a sample's loss at its reference.

    The empirical Fisher information: with the observed labels. references: (c, d).
    """
    one_by_one = [[np.array([row]) for row in range(len(own))] for own in samples]
    work = Work(samples, one_by_one, local.loss, references, 0.0)
    stacked = StackedSolver(local.model)
    squares = (VmapSolver(local.model) if stacked.refuses(work) else stacked).squares(work)
    return squares / squares.new_tensor([len(own) for own in samples]).unsqueeze(1)


@cache
def _kl_penalised(loss: Loss, strength: float) -> Loss:
    """The loss plus the symmetrised KL divergence from the reference model's outputs, given as a second target."""

    def penalised(outputs: Tensor, labels: Tensor, reference: Tensor) -> Tensor:
        own, other = torch.log_softmax(outputs, dim=1), torch.log_softmax(reference, dim=1)
        # KL(p||q) + KL(q||p) = sum (p - q)(log p - log q).
        return loss(outputs, labels) + strength * ((own.exp() - other.exp()) * (own - other)).sum(dim=1)

    return penalised
