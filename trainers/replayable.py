"""Any trainer as proofs_checks.billboard.replay.TrainerProtocol, so that check_billboard can replay it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from torch import nn

from .data import Client, Federation
from .engine.algorithm import Algorithm
from .engine.billboard import RecordingBillboard
from .engine.settings import Settings
from .engine.trainer import Trainer


@dataclass(frozen=True, slots=True, eq=False)
class ReplayableTrainer:
    """Runs `algorithm()` on whichever clients it is given, on the code path of every other run.

    template: gives the task and the number of outputs; its clients are not used.

    algorithm: a function that makes a fresh algorithm.
    """

    template: Federation
    algorithm: Callable[[], Algorithm]
    settings: Settings
    model: str | nn.Module = "logistic"

    def run(
        self, clients: Sequence[Client], seed: int, billboard: Sequence[npt.NDArray[np.floating]] | None = None
    ) -> RecordingBillboard:
        """A run's record: releases, noise, sensitivities, messages and the clients' final models.

        clients: their data. billboard: releases of an earlier run, which are shown in the place of its own; None: none.
        """
        federation = Federation(self.template.name, tuple(clients), self.template.task, self.template.outputs)
        board = RecordingBillboard(billboard)
        told = replace(self.settings, seed=seed)
        Trainer(federation, self.algorithm(), self.model, told, billboard=board).run()
        return board
