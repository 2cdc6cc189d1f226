"""The billboard: where releases are published, and where a recorded run can be published again.

The engine computes every release as pre_noise + noise and hands both to a Billboard, which says what clients read.
`Billboard` publishes and forgets; `RecordingBillboard` keeps everything, and publishes a recorded sequence in place of
the computed one when it has one: the replay of proofs_checks.billboard.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats


class Billboard:
    """Publishes what was computed."""

    def publish(self, pre_noise: Tensor, noise: Tensor, sensitivity: float) -> Tensor:
        """What everybody reads: pre_noise + noise, which may take the place of pre_noise in memory.

        sensitivity: how far one client can move pre_noise.
        """
        return pre_noise.add_(noise)

    def message(self, round_index: int, client: int, contribution: Tensor) -> None:
        """A client's contribution as it enters the sum."""

    def output(self, client: int, model: Tensor) -> None:
        """The model that a client keeps at the end."""

    keeps = False
    """Whether messages and outputs are wanted at all: they take time to make."""


class RecordingBillboard(Billboard):
    """Keeps releases and messages; replays `recorded` releases where given: proofs_checks.billboard.replay.RunRecord.

    Raises InputError for a recording with fewer releases than the run has.
    """

    keeps = True

    def __init__(self, recorded: Sequence[npt.NDArray[np.floating]] | None = None) -> None:
        self.recorded = recorded
        self.billboard: list[Floats] = []
        self.pre_noise: list[Floats] = []
        self.noise: list[Floats] = []
        self.sensitivity: list[float] = []
        self.messages: dict[tuple[int, int], Floats] = {}
        self.outputs: list[Floats] = []

    def publish(self, pre_noise: Tensor, noise: Tensor, sensitivity: float) -> Tensor:
        released = pre_noise + noise
        place = len(self.billboard)
        if self.recorded is not None:
            if place >= len(self.recorded):
                raise InputError("billboard", len(self.recorded), f"at least {place + 1} releases")
            released = torch.from_numpy(np.array(self.recorded[place], dtype=np.float64)).to(released.device)
        self.billboard.append(released.cpu().numpy().copy())
        self.pre_noise.append(pre_noise.cpu().numpy().copy())
        self.noise.append(noise.cpu().numpy().copy())
        self.sensitivity.append(sensitivity)
        return released

    def message(self, round_index: int, client: int, contribution: Tensor) -> None:
        self.messages[round_index, client] = contribution.cpu().numpy().copy()

    def output(self, client: int, model: Tensor) -> None:
        self.outputs.append(model.cpu().numpy().copy())
