"""What all forms of DPFedMTL share: a client's half of Algorithm 1, eqs. (3) to (5) but for the noise, and the cut."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ...mechanisms import InputError, Notion, PrivacyNotion
from ...mechanisms.validate import choice, count
from ..data import Client, Federation
from ..engine.algorithm import Algorithm, Clients, Solve
from ..engine.parameters import FlatModule
from ..engine.settings import Settings

LabelSets = Literal["all", "own"]

ABSENT = -1e9
"""The bias of a class that a client's task does not have. Its probability underflows to exactly 0, and with it every
gradient of its row: what is left is the narrower head, to the bit."""


def shared_size(model: FlatModule, head_layers: int) -> int:
    """How many of the model's numbers belong to the shared layers, which come first in its vector.

    A layer is a module with parameters of its own; the last `head_layers` of them are the head.
    Raises InputError where nothing would be left to share.
    """
    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in model.names))
    if head_layers >= len(layers):
        expected = f"fewer than the model's {len(layers)} layers: lower ones have to be shared (mlp and cnn have some)"
        raise InputError("head_layers", head_layers, expected)
    lower = set(layers[: len(layers) - head_layers])
    sizes = zip(model.names, model.sizes, strict=True)
    return sum(size for name, size in sizes if name.rpartition(".")[0] in lower)


def absent_classes(model: FlatModule, federation: Federation, label_sets: LabelSets) -> Tensor | None:
    """(population, classes): True where a client's task does not have the class; None where all have all of them.

    A client's task has the classes of its own samples, training and test. The client alone uses its row.
    Raises InputError for other tasks than classification, and for a model whose last numbers are not one bias a class.
    """
    if label_sets == "all":
        return None
    if federation.task != "classes":
        raise InputError("label_sets", label_sets, f"all, for {federation.task}: only classes can be absent")
    if model.shapes[-1] != (federation.outputs,):
        raise InputError("label_sets", label_sets, "all, for a model whose last parameter is not one bias for a class")
    absent = np.ones((federation.population, federation.outputs), dtype=bool)
    for place, client in enumerate(federation.clients):
        absent[place, classes_of(client)] = False
    return torch.from_numpy(absent)


def classes_of(client: Client) -> list[int]:
    """The classes that occur among the client's samples, ascending: its head has one output for each."""
    return sorted({*client.train.labels.tolist(), *client.test.labels.tolist()})


class SharedLayers(Algorithm):
    """Clients share the lower layers w_{M+1} and keep their heads w_i. Without noise: FedMTL.

    head_layers: how many top layers make the head; 0 shares everything: FedAvg, and with noise DPFedAvg.
    label_sets: "all", or "own" for heads that have their client's own classes only.
    aggregation_interval: H. Eq. (6) is for t mod H = 0 and says nothing about other rounds, while clients synchronise
        with w_{M+1}^t in every round (claims register, DPFEDMTL-ALG1-H). Here w_{M+1}^{t+1} = w_{M+1}^t then: only
        heads learn, and nothing is sent. Several local steps before one aggregation are Settings.local's business.

    What a client contributes is the gradient g_{M+1,i} of eq. (3), with several local steps their sum: the way that the
    shared layers went, over the learning rate. So clip_norm is the paper's C, a bound on gradients.
    """

    notion: Notion = PrivacyNotion.BILLBOARD
    personal = True

    def __init__(self, head_layers: int = 1, label_sets: LabelSets = "all", aggregation_interval: int = 1) -> None:
        self.head_layers = count("head_layers", head_layers, least=0)
        choice("label_sets", label_sets, ("all", "own"))
        self.label_sets: LabelSets = label_sets
        self.aggregation_interval = count("aggregation_interval", aggregation_interval)
        if not self.head_layers:
            if label_sets == "own":
                raise InputError("label_sets", label_sets, "all, where there is no head")
            self.personal, self.notion = False, PrivacyNotion.DP

    def prepare(self, model: FlatModule, federation: Federation, settings: Settings) -> None:
        if settings.clipping == "adaptive" and (self.noise_at == "clients" or not self.clips):
            raise InputError("clipping", "adaptive", f"flat for {self.name}: only a server's noise can be split")
        if settings.schedule != "constant":
            raise InputError("schedule", settings.schedule, f"constant for {self.name}: its server has the same rate")
        self.learning_rate = settings.local.learning_rate
        self.shared_size = shared_size(model, self.head_layers)
        self.absent = absent_classes(model, federation, self.label_sets)
        self.first_head = model.vector[self.shared_size :].clone()

    def releases_in(self, round_index: int) -> bool:
        return round_index % self.aggregation_interval == 0

    def begin(self, initial: Tensor, population: int) -> Tensor:
        """(1, s): w_{M+1}^0."""
        return initial[: self.shared_size].clone().unsqueeze(0)

    def begin_personal(self, initial: Tensor) -> Tensor:
        """w_i^0."""
        return initial[self.shared_size :].clone()

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Tensor, Tensor | None]:
        before = self.models(shared, own, clients)
        after = solve(before)  # eqs. (4) and (5): SGD on both from w^t
        moved = (before - after)[:, : self.shared_size]
        head = after[:, self.shared_size :] if self.personal else None
        return moved / self.learning_rate, head  # g_{M+1,i}^t of eq. (3), w_i^{t+1}

    def models(self, shared: Tensor, own: Tensor, clients: Clients) -> Tensor:
        """(c, d): (w_{M+1}, w_i)."""
        heads = own[:, own.shape[1] - len(self.first_head) :]
        models = torch.cat([shared[:1].expand(len(clients), -1), heads], dim=1)
        if self.absent is not None:
            biases = models[:, -self.absent.shape[1] :]
            biases.masked_fill_(self.absent[torch.from_numpy(clients)].to(biases.device), ABSENT)
        return models

    def released_model(self, shared: Tensor) -> Tensor | None:
        """Without heads the shared layers are a model."""
        return None if self.head_layers else shared[0]

    def reference(self, shared: Tensor, clients: Clients) -> Tensor:
        """(c, d): the shared layers under the head that all clients began with; heads have nothing else in common."""
        return self.models(shared, self.first_head.to(shared).expand(len(clients), -1), clients)

    def sensitivity(self, clip_norm: float, cohort: int, population: int) -> float:
        """S: sigma S is the standard deviation of the noise, on the sum or on each gradient (`noise_at`).

        2C, truly: how far replacing one client moves its clipped gradient, and with it any sum of them.
        """
        return 2 * clip_norm

    def describe(self) -> str:
        return f"{self.name}{(self.head_layers, self.label_sets, self.aggregation_interval)}"

    def noise_multiplier(self, sigma: float, cohort: int, population: int) -> float:
        """The paper's sigma in units of C, the library's noise multiplier."""
        return sigma * self.sensitivity(1.0, cohort, population)
