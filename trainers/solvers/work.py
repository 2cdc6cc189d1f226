"""The interface of local solvers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ..engine.client_tensors import ClientTensors
from ..engine.contribution import Contribution
from ..engine.losses import Loss


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The local problems of c clients.

    Client k takes, for each of its batches (rows of its samples) in turn, the step
        w <- w - learning_rate (mean over the batch of grad loss + strength curvature * (w - anchor) + weight_decay w)
    from start[k]. curvature: ones by default; EWC's Fisher information otherwise.

    start: (c, d), or (d,) for all; anchor: (c, d) or (d,), used where strength > 0; curvature: (c, d) or None.
    module_seeds: torch seeds for models that draw random numbers (dropout), one a client.
    """

    clients: Sequence[ClientTensors]
    batches: Sequence[Sequence[npt.NDArray[np.int64]]]
    loss: Loss
    start: Tensor
    learning_rate: float
    anchor: Tensor | None = None
    strength: float = 0.0
    curvature: Tensor | None = None
    weight_decay: float = 0.0
    module_seeds: Sequence[int] = ()


class LocalSolver(Protocol):
    """Runs the steps of a chunk of clients. All solvers give the same models, up to rounding.

    streams: whether `changes` makes them one at a time.
    """

    name: str
    streams: bool

    def refuses(self, work: Work) -> str | None:
        """Why this solver cannot do this work; None where it can."""
        ...

    def solve(self, work: Work) -> Tensor:
        """The (c, d) models after the last step, in new memory."""
        ...

    def changes(self, work: Work) -> Iterable[Contribution]:
        """Each client's model after the last step minus its start: a (c, d) tensor, or one at a time.

        One at a time, a change may live in memory that the next one overwrites.
        """
        ...

    def predict(self, work: Work) -> Tensor:
        """(n, outputs): each client's model at its start on its samples, client by client, as the model predicts.

        The batches must hold each sample once: they say which of a client's samples may go together.
        """
        ...


def per_client(vector: Tensor, clients: int) -> Tensor:
    """A (d,) or (c, d) tensor as (c, d), without copying."""
    return vector if vector.dim() == 2 else vector.unsqueeze(0).expand(clients, -1)
