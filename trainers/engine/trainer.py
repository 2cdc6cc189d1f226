"""The round loop: cohorts, local solvers, clipped sums, noise, accounting, checkpoints."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...mechanisms import InputError, Mechanism
from ..data import Federation
from .algorithm import Algorithm, Clients
from .billboard import Billboard
from .checkpoint import Checkpoint, Rows, State
from .clipping import Layers
from .cohort import CohortSampler
from .evaluation import ClientScores, record
from .identity import identity_of
from .local import Evaluated, LocalSide, warn_beforehand
from .losses import LOSSES, Loss
from .noisy_sum import NoisySum, Release
from .outcome import Attests, Outcome
from .paid_round import Paid, paid_round
from .personal import PersonalModels
from .privacy import PrivacyCost, PrivacyGoal
from .processes import Processes
from .progress import round_progress
from .settings import Settings, next_clip_norm
from .streams import Streams


class Trainer:
    """Trains one algorithm on one federation.

    model: a name of models.MODELS, or any module without running statistics; its initial weights must not depend on
    the clients' data. checkpoint: a folder to save to after every round, and to resume from.
    All input is checked here, before any work and before the checkpoint's folder is made: raises InputError.
    shared: the server's state, (blocks, D), in double precision; the next round overwrites its memory.
    """

    def __init__(
        self,
        federation: Federation,
        algorithm: Algorithm,
        model: str | nn.Module = "logistic",
        settings: Settings = Settings(),  # noqa: B008 - frozen
        goal: PrivacyGoal = PrivacyGoal(),  # noqa: B008 - frozen
        *,
        loss: Loss | None = None,
        checkpoint: str | Path | None = None,
        billboard: Billboard | None = None,
    ) -> None:
        self.federation, self.algorithm, self.settings = federation, algorithm, settings
        self.processes = Processes()
        self.billboard = billboard or Billboard()
        self.sampler = CohortSampler(settings, federation.population)
        algorithm.check(federation.population)
        bounds: Any = {"noise_at": algorithm.noise_at, "bounded": algorithm.clips}
        self.cost = PrivacyCost.of(settings, self.sampler, algorithm.notion, goal, algorithm.releases, **bounds)
        self.checkpoint: Checkpoint | None = None
        if checkpoint is not None:
            identity = identity_of(algorithm, settings, model, federation)
            self.checkpoint = Checkpoint(checkpoint, identity, settings.seed, self.processes, algorithm.releases_in)
        seed = self.checkpoint.seed if self.checkpoint else self.processes.agree_on_seed(settings.seed)
        self.streams = Streams(seed)
        self.local = LocalSide(
            federation, model, settings, self.streams, loss or LOSSES[federation.task], self.processes
        )
        self.evaluated = Evaluated(self.local, settings, self.streams, self.processes)
        flat = self.local.model
        algorithm.prepare(flat, federation, settings)
        self.layers = Layers(flat.sizes if settings.clipping == "per-layer" else (flat.dimension,))
        self._noisy_sum = NoisySum(self.local, algorithm, self.layers, self.sampler, self.processes, self.billboard)
        begin = self._initial_state()
        warn_beforehand(algorithm, settings.local, federation, self.sampler.rate)
        if self.checkpoint:
            self.checkpoint.create()
        self._begin(begin)

    def _initial_state(self) -> Tensor:
        """The shared state before the first round, in memory of its own."""
        begin = self.algorithm.begin(self.local.initial.to(torch.float64, copy=True), self.federation.population)
        _, dimension = self.algorithm.contribution_shape(begin)
        if self.settings.clipping == "per-layer" and dimension != sum(self.layers.sizes):
            raise InputError("clipping", "per-layer", f"flat clipping for {self.algorithm.name}")
        return begin

    def _begin(self, begin: Tensor) -> None:
        """The state before the first round, or the checkpoint's."""
        self.rounds = 0
        self.paid = Paid(self.sampler.period, self.checkpoint.record if self.checkpoint else None)
        self.clip_norm = self.settings.clip_norm
        self.history: list[dict[str, Any]] = []
        self._broadcast = begin.to(self.local.dtype)
        self._share(self.billboard.publish(begin, torch.zeros_like(begin), 0.0))
        self.personal: PersonalModels | None = None
        if self.algorithm.personal:
            file = self.checkpoint.personal_file if self.checkpoint else None
            start = self.algorithm.begin_personal(self.local.initial)
            self.personal = PersonalModels(self.federation.population, start, file)
        if self.checkpoint is None:
            return
        state, rows = self.checkpoint.load()
        if state is not None:
            self._restore(state, rows)

    def _restore(self, state: State, rows: list[Rows]) -> None:
        self.rounds = state.rounds
        self._share(torch.from_numpy(state.arrays["shared"]).to(self.local.device))
        self.clip_norm, self.history = state.notes["clip_norm"], state.notes["history"]
        if self.personal is not None:
            self.personal.written[:] = state.arrays["written"]
            if self.processes.rank == 0:
                for clients, vectors in rows:
                    self.personal.stage(clients, vectors)
                self.personal.apply()
            self.processes.barrier()

    def _share(self, shared: Tensor) -> None:
        """The shared state, kept in double precision, and as clients read it."""
        self.shared = shared
        same = self._broadcast.dtype == shared.dtype
        self._broadcast = shared if same else self._broadcast.copy_(shared)

    def mechanism(self) -> Mechanism | None:
        """The whole run's description, which the accountants consume; None without noise or without releases."""
        releasing = filter(self.algorithm.releases_in, range(self.settings.rounds))
        return self.cost.mechanism(self.sampler.drawings(releasing))

    @property
    def spent(self) -> int:
        """How many drawings of cohorts, one a release or one an epoch, have been paid for."""
        return self.paid.drawings

    def run(self, *, progress: bool = False, attest: Attests | None = None) -> Outcome:
        """Train, from the checkpoint's last round if there is one, until the rounds or the budget are used up.

        attest: told before the first round and after the last one (dpcert.attest.AttestRun writes an attestation).
        """
        if attest is not None:
            attest.begin(self)
        outcome = self._trained(progress)
        if attest is not None and self.processes.rank == 0:
            attest.end(self, outcome)
        return outcome

    def _trained(self, progress: bool) -> Outcome:
        began = time.perf_counter()
        with round_progress(self.algorithm.name, self.settings.rounds, self.cost, visible=progress) as told:
            while self.rounds < self.settings.rounds and self._round():
                told(self.rounds, self.spent)
        self._evaluate()
        if self.billboard.keeps:
            for client in range(self.federation.population):
                self.billboard.output(client, self.client_model(client))
        released = self.cost.between(self.spent, self.paid.whole), self.cost.mechanism(self.spent)
        stopped, seconds = self.rounds < self.settings.rounds, time.perf_counter() - began
        return Outcome(self.rounds, self.spent, *released, stopped, tuple(self.history), seconds)

    def _round(self) -> bool:
        """One round; False where the budget does not allow it, and then nothing is released."""
        if self.algorithm.releases_in(self.rounds):
            return paid_round(self)
        self.commit(self.compute(0))
        return True

    def affordable(self, attempt: int) -> bool:
        """Whether the budget allows this attempt at the next round."""
        limit = self.cost.affordable
        return limit is None or self.spent < limit or self.paid.covers(self.rounds, attempt)

    def compute(self, attempt: int) -> Release:
        """All clients' part of the round and the noise, of which nothing has been published yet."""
        return self._noisy_sum.of(self.rounds, attempt, self._broadcast, self._own, self.clip_norm)

    def publish(self, release: Release) -> None:
        """The server's part of the round, from what the billboard shows."""
        released = self.billboard.publish(release.pre_noise, release.noise, release.sensitivity)
        members, expected = len(release.cohort), self.sampler.denominator
        self._share(self.algorithm.aggregate(self.shared, released, expected, members, self.sampler.rate))
        if release.count is not None and release.count_noise is not None and self.clip_norm is not None:
            shown = self.billboard.publish(release.count, release.count_noise, 1.0)
            self.clip_norm = next_clip_norm(self.settings, self.clip_norm, float(shown), self.sampler.denominator)

    def _own(self, clients: Clients) -> Tensor:
        if self.personal is None:
            return self.local.initial.unsqueeze(0).expand(len(clients), -1)
        return self.personal.get(clients)

    def commit(self, release: Release) -> None:
        """Make the round permanent. The personal vectors' file changes only after their redo log is safe."""
        self.rounds += 1
        if self.personal is not None:
            for clients, vectors in release.rows:
                self.personal.stage(clients, vectors)
        if self.settings.evaluate_every and self.rounds % self.settings.evaluate_every == 0:
            self._evaluate()
        if self.checkpoint is not None:
            arrays = {"shared": self.shared.cpu().numpy()}
            if self.personal is not None:
                arrays["written"] = self.personal.written.copy()
                arrays["written"][release.cohort] = True
            notes = {"clip_norm": self.clip_norm, "history": self.history}
            self.checkpoint.commit(State(self.rounds, arrays, notes), release.rows)
        if self.personal is not None:
            self.personal.apply()
            self.personal.written[release.cohort] = True
        if self.checkpoint is not None:
            self.checkpoint.settle(self.rounds)

    def _evaluate(self) -> None:
        if not self.history or self.history[-1]["round"] != self.rounds:
            self.history.append(record(self.rounds, self.scores(test=True), self.scores(test=False)))

    def client_model(self, client: int) -> Tensor:
        """The (d,) vector with which this client predicts, in new memory."""
        return self.client_models(np.array([client]))[0].clone()

    def client_models(self, clients: Clients) -> Tensor:
        """(c, d): with which these clients predict."""
        return self.algorithm.models(self._broadcast, self._own(clients), clients).expand(len(clients), -1)

    def released_state(self) -> dict[str, Tensor] | None:
        """The released model as a state_dict for the module; None where the algorithm releases no single model."""
        released = self.algorithm.released_model(self._broadcast)
        if released is None:
            return None
        self.local.model.vector.copy_(released)
        return {name: value.detach().cpu().clone() for name, value in self.local.model.module.state_dict().items()}

    def reference_models(self, clients: Clients) -> Tensor:
        """(c, d): the shared models that these clients' are measured against."""
        return self.algorithm.reference(self._broadcast, clients)

    def scores(self, *, test: bool = True) -> ClientScores:
        """Accuracy and loss of each evaluated client's model. test: on its test samples, else its training ones."""
        return self.evaluated.scores(self.client_models, test=test)
