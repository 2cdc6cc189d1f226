"""This library's trainers under audit: clients that send the most conspicuous update that they are allowed to.

Client i of the canaries runs its algorithm and sends, in place of its update, a vector along a coordinate of its own,
far longer than the clip norm. So everything after the client is under test: clipping, sum, noise, division, server.
Included it sends plus that vector; its neighbour sends minus it (replace-one) or nothing (zero-out, add-remove).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...mechanisms import InputError, Relation
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice
from ...trainers.data import Federation
from ...trainers.engine.algorithm import Algorithm, Clients, Solve
from ...trainers.engine.billboard import RecordingBillboard
from ...trainers.engine.contribution import Contribution, as_vector
from ...trainers.engine.privacy import PrivacyGoal
from ...trainers.engine.settings import Settings
from ...trainers.engine.trainer import Trainer
from .trainer import Coins, TrainerClaim

View = Literal["coalition", "outside"]

OVERSHOOT = 10.0
"""A canary's update in units of the clip norm: what is not clipped is seen at once."""


@dataclass(frozen=True)
class FederatedCanaries:
    """An AuditableTrainer around any algorithm of this library. settings.rounds: of one short run.

    view: the "coalition" of all other clients, which knows what they send and, where cohorts do not hide it, when a
    canary took part; "outside" sees the releases alone.
    Raises InputError for runs without noise, clipping other than flat, noise that clients add themselves, and rounds
    without a release.
    """

    federation: Federation
    algorithm: Algorithm
    settings: Settings
    model: str | nn.Module = "logistic"
    goal: PrivacyGoal = field(default_factory=PrivacyGoal)
    view: View = "coalition"

    def __post_init__(self) -> None:
        choice("view", self.view, ("coalition", "outside"))
        if not self.algorithm.releases or not self.algorithm.clips or self.algorithm.noise_at != "server":
            raise InputError(
                "algorithm", self.algorithm.name, "one that releases a clipped sum with the server's noise"
            )
        if not self.settings.noise_multiplier:
            raise InputError("noise_multiplier", 0.0, "a number above 0: without noise there is no claim to audit")
        if self.settings.clipping != "flat":
            raise InputError("clipping", self.settings.clipping, "flat, in an audit")
        if not all(map(self.algorithm.releases_in, range(self.settings.rounds))):
            raise InputError("aggregation_interval", "above 1", "1, in an audit")

    @cached_property
    def _first(self) -> Trainer:
        """A trainer that is never run: what it costs and how large a contribution is."""
        return Trainer(self.federation, self.algorithm, self.model, self.settings, self.goal)

    @cached_property
    def claim(self) -> TrainerClaim:
        mechanism = self._first.mechanism()
        assert mechanism is not None  # __post_init__: there is noise, and clipping
        return TrainerClaim(mechanism, self._first.cost.relation, self._first.cost.notion)

    @property
    def canaries(self) -> int:
        """A client each, with a coordinate each."""
        shape = self.algorithm.contribution_shape(self._first.shared)
        return min(self.federation.population, shape[1])

    @property
    def _signs(self) -> tuple[float, float]:
        """What a canary and its neighbour send, in units of the clip norm."""
        return (1.0, -1.0) if self.claim.neighbouring == Relation.REPLACE_ONE else (1.0, 0.0)

    def scores(self, included: Coins, seed: int) -> Floats:
        """The log-likelihood ratios of what the view sees along each canary's coordinate."""
        sent = np.where(included, *self._signs)
        board = RecordingBillboard()
        settings = replace(self.settings, seed=seed, evaluate_clients=0, evaluate_every=0)
        algorithm = with_canaries(self.algorithm, sent * OVERSHOOT * self._clip_norm, self.view)
        trainer = Trainer(self.federation, algorithm, self.model, settings, self.goal, billboard=board)
        trainer.cost = self._first.cost  # the same for all runs, and computed once
        trainer.run()
        seen, took_part = self._seen(board, algorithm, len(sent))
        return self._likelihood_ratio(seen / self._clip_norm, took_part)

    @property
    def _clip_norm(self) -> float:
        assert self.settings.clip_norm is not None  # Settings: there is none without noise
        return self.settings.clip_norm

    def _seen(self, board: RecordingBillboard, algorithm: Algorithm, canaries: int) -> tuple[Floats, NDArray[np.bool_]]:
        """(rounds, canaries): each release along each canary's coordinate, and when the canary took part."""
        clients = np.arange(canaries)
        blocks = algorithm.block_of(clients)
        releases = np.stack(
            [release.reshape(-1, release.shape[-1])[blocks, clients] for release in board.billboard[1:]]
        )
        took_part = np.zeros(releases.shape, dtype=bool)
        for round_index, client in board.messages:
            if client < canaries:
                took_part[round_index, client] = True
        return releases, took_part

    def _likelihood_ratio(self, seen: Floats, took_part: NDArray[np.bool_]) -> Floats:
        """Summed over rounds; seen: in units of the clip norm. Hidden cohorts leave a coin for each round.

        The others know when the client took part where its place is what they leave, or public.
        """
        variance = self.settings.noise_multiplier**2
        sampler = self._first.sampler
        known = self.view == "coalition" and sampler.sampling not in ("poisson", "random-allocation")
        with np.errstate(divide="ignore"):
            away = np.log1p(-sampler.rate)
        logs = [(value * seen - value**2 / 2) / variance for value in self._signs]
        if known:
            return np.asarray(np.where(took_part, logs[0] - logs[1], 0.0).sum(axis=0))
        mixed = [np.logaddexp(away, np.log(sampler.rate) + log) for log in logs]
        return np.asarray((mixed[0] - mixed[1]).sum(axis=0))


def with_canaries(algorithm: Algorithm, sent: Floats, view: View) -> Algorithm:
    """A copy of the algorithm in which client i sends sent[i] along coordinate i.

    All others send nothing, where they are the coalition: it may send what it likes, and would subtract it. Towards a
    view from outside they train.
    """
    planted = copy.copy(algorithm)

    def client_round(
        solve: Solve, shared: Tensor, own: Tensor, clients: Clients
    ) -> tuple[Iterable[Contribution] | None, Tensor | None]:
        dimension = planted.contribution_shape(shared)[1]
        if view == "coalition":
            nothing = shared.new_zeros(len(clients), dimension)
            return _planted(nothing, clients, sent, dimension), own if planted.personal else None
        contributions, after = algorithm.client_round(solve, shared, own, clients)
        assert contributions is not None  # FederatedCanaries: the algorithm releases
        return _planted(contributions, clients, sent, dimension), after

    planted.client_round = client_round  # type: ignore[method-assign] # this copy's own
    return planted


def _planted(
    contributions: Iterable[Contribution], clients: Clients, sent: Floats, dimension: int
) -> Iterable[Contribution]:
    for client, contribution in zip(clients.tolist(), contributions, strict=True):
        if client >= len(sent):
            yield contribution
            continue
        canary = torch.zeros_like(as_vector(contribution, dimension))
        canary[client] = float(sent[client])
        yield canary
