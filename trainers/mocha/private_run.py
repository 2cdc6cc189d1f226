"""Runs private MOCHA: every release is paid for, on disk, before anybody sees it (engine.paid_round)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ...accounting.billboard import Observed, Observer, observer_epsilon
from ...accounting.bracket import Bracket
from ...mechanisms import Gaussian, InputError, Mechanism, PrivacyNotion, Relation
from ...mechanisms.aggregation import UniformMean
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count
from ..engine.billboard import Billboard, RecordingBillboard
from ..engine.checkpoint import State as Saved
from ..engine.paid_round import Paid, paid_round
from ..engine.privacy import PrivacyCost, PrivacyGoal
from .private import PrivateRounds, Release
from .run import opened, restored_state, saved_arrays
from .tasks import Tasks

OBSERVERS = (Observer("coalition"), Observer("outside"), Observer("server"))


@dataclass(frozen=True, eq=False)
class PrivateOutcome:
    """weights (d, m): every node's own. spent: releases paid for; more than rounds only after a crash."""

    weights: Floats
    rounds: int
    spent: int
    privacy: Bracket | None
    mechanism: Mechanism | None
    stopped_by_budget: bool
    seconds: float


class PrivateRun:
    """Rounds of private MOCHA under a goal. Raises InputError for a budget without noise."""

    def __init__(
        self,
        rounds: PrivateRounds,
        identity: str,
        goal: PrivacyGoal = PrivacyGoal(),  # noqa: B008 - frozen
        *,
        seed: int | None = None,
        checkpoint: str | Path | None = None,
        billboard: Billboard | None = None,
    ) -> None:
        self.private, self.goal = rounds, goal
        noisy = Gaussian(rounds.noise_multiplier) if rounds.noise_multiplier > 0 else None
        if noisy is None and goal.budget is not None:
            raise InputError("budget", goal.budget, "a noise multiplier above 0 with it")
        if goal.neighbouring == Relation.ADD_REMOVE:
            raise InputError("neighbouring", goal.neighbouring, "replace-one or zero-out: Omega has a row a client")
        self.cost = PrivacyCost(noisy, PrivacyNotion.BILLBOARD, goal, releases=True)
        self.checkpoint, self.streams = opened(checkpoint, identity, seed, lambda _: True)
        self.billboard = billboard or Billboard()
        self.state = rounds.start()
        if self.checkpoint:
            self.checkpoint.create()
        saved, _ = self.checkpoint.load() if self.checkpoint else (None, [])
        if saved is not None:
            self.state = restored_state(saved)
        self.paid = Paid(record=self.checkpoint.record if self.checkpoint else None)

    @property
    def spent(self) -> int:
        """How many releases have been paid for."""
        return self.paid.drawings

    def solve(self, rounds: int, *, watch: Callable[[int], None] = lambda _: None) -> PrivateOutcome:
        """Exactly `rounds` rounds unless the budget ends first: stopping on the gap would be a release of its own."""
        count("rounds", rounds)
        began = time.perf_counter()
        while self.state.rounds < rounds and paid_round(self):
            watch(self.state.rounds)
        if self.billboard.keeps:
            for node, weights in enumerate(self.state.weights.T):
                self.billboard.output(node, torch.from_numpy(weights.copy()))
        stopped = self.state.rounds < rounds
        paid = self.cost.spent(self.spent), self.cost.mechanism(self.spent)
        return PrivateOutcome(
            self.state.weights, self.state.rounds, self.spent, *paid, stopped, time.perf_counter() - began
        )

    def observed(self) -> tuple[Observed, ...]:
        """What everybody who may look can tell, one entry an observer; the server without secure aggregation."""
        run = self.cost.mechanism(self.spent)
        if run is None:
            return ()
        members = self.private.setting.tasks.count
        noise_std = self.private.noise_multiplier * self.private.clip_norm / members
        mean = UniformMean(self.private.clip_norm, noise_std, members)
        return tuple(
            observer_epsilon(run, observer, self.goal.delta, self.cost.relation, aggregation=mean)
            for observer in OBSERVERS
        )

    @property
    def rounds(self) -> int:
        """How many rounds are done."""
        return self.state.rounds

    def affordable(self, attempt: int) -> bool:
        """Whether the budget allows one more release; any attempt is one."""
        limit = self.cost.affordable
        return limit is None or self.spent < limit

    def compute(self, attempt: int) -> Release:
        """The next round's release, of which nothing has been published yet."""
        return self.private.compute(self.state, self.streams, attempt)

    def publish(self, release: Release) -> None:
        """Show the messages and their sum, and move on to the state that everybody then has."""
        if self.billboard.keeps:
            for node, message in enumerate(release.messages):
                self.billboard.message(self.state.rounds, node, torch.from_numpy(message))
        shown = self.billboard.publish(
            torch.from_numpy(release.pre_noise), torch.from_numpy(release.noise), self.private.sensitivity
        )
        self.state = self.private.publish(self.state, release, shown.numpy())

    def commit(self, release: Release) -> None:
        """Make the round permanent."""
        if self.checkpoint:
            self.checkpoint.commit(Saved(self.state.rounds, saved_arrays(self.state), {}), [])
            self.checkpoint.settle(self.state.rounds)


@dataclass(frozen=True)
class ReplayablePrivateMocha:
    """Private MOCHA as proofs_checks.billboard.replay.TrainerProtocol; clients are (features, labels) pairs."""

    rounds_of: Callable[[Tasks], PrivateRounds]
    rounds: int

    def run(
        self,
        clients: Sequence[tuple[Floats, Floats]],
        seed: int,
        billboard: Sequence[NDArray[np.floating]] | None = None,
    ) -> RecordingBillboard:
        """A run's record: releases, noise, sensitivities, messages and the nodes' final weights."""
        tasks = Tasks(tuple(x for x, _ in clients), tuple(y for _, y in clients))
        board = RecordingBillboard(billboard)
        PrivateRun(self.rounds_of(tasks), "replay", seed=seed, billboard=board).solve(self.rounds)
        return board
