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

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap

from ...mechanisms import InputError
from ...mechanisms.validate import choice, nonnegative
from ..engine.client_tensors import ClientTensors, batch_plan
from ..engine.evaluation import ClientScores
from ..engine.losses import Loss, cross_entropy
from ..engine.settings import LocalSteps
from ..engine.trainer import Trainer
from ..solvers import Work
from ..solvers.loop import LoopSolver

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
    clients = trainer.evaluated.clients
    scores = ClientScores.empty(len(clients))
    for place, client in enumerate(clients.tolist()):
        model = tuned_model(trainer, tuning, client)
        scores.accuracy[place], scores.loss[place] = trainer.local.scores(client, model, test=True).tolist()
    samples = np.array([len(trainer.local.test(client)) for client in clients.tolist()], dtype=np.int64)
    return replace(scores, samples=samples)


def tuned_model(trainer: Trainer, tuning: FineTuning, client: int) -> Tensor:
    """One client's (d,) model after fine-tuning."""
    local = trainer.local
    samples = local.train(client)
    reference = trainer.reference_model(client)
    loss: Loss = local.loss
    anchor, strength, curvature = None, 0.0, None
    if tuning.penalty == "symmetrised-kl":
        samples = samples.with_targets(_outputs(trainer, reference, samples))
        loss = _kl_penalised(local.loss, tuning.strength)
    elif tuning.penalty != "vanilla":
        anchor, strength = reference, tuning.strength
        if tuning.penalty == "ewc":
            curvature = fisher_diagonal(trainer, reference, samples).unsqueeze(0)
    rng = trainer.streams.generator("finetune", client)
    work = Work(
        [samples],
        [batch_plan(len(samples), tuning.local, rng)],
        loss,
        trainer.client_model(client),
        tuning.local.learning_rate,
        anchor,
        strength,
        curvature,
        tuning.local.weight_decay,
        [trainer.streams.torch_seed("finetune", client)],
    )
    return LoopSolver(local.model).solve(work)[0]


def fisher_diagonal(trainer: Trainer, reference: Tensor, samples: ClientTensors) -> Tensor:
    """(d,) mean over the samples of the squared gradient of each sample's loss at the reference model.

    The empirical Fisher information: with the observed labels.
    """
    model = trainer.local.model
    model.module.eval()

    def sample_loss(vector: Tensor, features: Tensor, *targets: Tensor) -> Tensor:
        outputs = functional_call(model.module, model.named(vector), (features.unsqueeze(0),))
        return trainer.local.loss(outputs, *(target.unsqueeze(0) for target in targets)).sum()

    in_axes = (None, 0, *(0 for _ in samples.targets))
    slopes = vmap(grad(sample_loss), in_dims=in_axes)(reference, samples.rows(slice(None)), *samples.targets)
    return torch.as_tensor(slopes.square().mean(dim=0))


@torch.no_grad()
def _outputs(trainer: Trainer, vector: Tensor, samples: ClientTensors) -> Tensor:
    model = trainer.local.model
    model.module.eval()
    model.vector.copy_(vector)
    return torch.as_tensor(model.module(samples.rows(slice(None)))).clone()


def _kl_penalised(loss: Loss, strength: float) -> Loss:
    """The loss plus the symmetrised KL divergence from the reference model's outputs, given as a second target."""

    def penalised(outputs: Tensor, labels: Tensor, reference: Tensor) -> Tensor:
        own, other = torch.log_softmax(outputs, dim=1), torch.log_softmax(reference, dim=1)
        # KL(p||q) + KL(q||p) = sum (p - q)(log p - log q).
        return loss(outputs, labels) + strength * ((own.exp() - other.exp()) * (own - other)).sum(dim=1)

    return penalised
