"""What an algorithm is to the engine: a client's part of a round, and the server's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...mechanisms import Notion, PrivacyNotion
from ...mechanisms.validate import nonnegative
from ..data import Federation
from .contribution import Contribution
from .parameters import FlatModule
from .privacy import NoiseAt
from .settings import Settings

Clients = npt.NDArray[np.int64]
ClientRound: TypeAlias = tuple[Iterable[Contribution] | None, Tensor | None]
"""(c contributions of dimension D, own vectors (c, d)) of a chunk; None for what an algorithm has not."""


class StabilityWarning(UserWarning):
    """The run is predicted to diverge."""


class Solve(Protocol):
    """Local SGD for the clients of a chunk, from `start`, pulled towards `anchor` with `strength` (PMTL, eq. (3)).

    start: (d,) or (c, d); anchor: (d,) or (c, d). stream: a second solve in a round uses its own batches, named by a
    number other than 0.
    """

    def __call__(
        self,
        start: Tensor,
        anchor: Tensor | None = None,
        strength: float = 0.0,
        *,
        learning_rate_factor: float = 1.0,
        stream: int = 0,
    ) -> Tensor:
        """The (c, d) models, in new memory."""
        ...

    def change(self, start: Tensor, anchor: Tensor | None = None, strength: float = 0.0) -> Iterable[Contribution]:
        """What the same call would return, minus start, one client at a time: never all in memory at once."""
        ...


class Algorithm:
    """Base of all algorithms; a subclass says only where it differs.

    name: as on the command line. notion: "dp" where all outputs are released, "billboard" where each client keeps its
    own. personal: whether clients keep a vector between rounds. releases: whether anything is aggregated at all.
    noise_at: "server" for noise on the sum, "clients" where each client of the cohort adds noise of that deviation to
    its own contribution. clips: False for published listings without clipping, whose cost is then infinite.
    streams: whether contributions come one at a time, from `solve.change`, and no other models.

    Privacy rests on this contract: what reaches a client is `shared` (a function of earlier releases), its own data
    and its own vector; what reaches the server is the clipped, noisy sum alone.
    """

    name: str = ""
    notion: Notion = PrivacyNotion.DP
    personal: bool = False
    releases: bool = True
    noise_at: NoiseAt = "server"
    clips: bool = True
    streams: bool = False

    def check(self, population: int) -> None:
        """Raise InputError where the algorithm cannot work with this many clients."""

    def prepare(self, model: FlatModule, federation: Federation, settings: Settings) -> None:
        """Told once, before `begin`, what is trained on what. Raises InputError where that does not fit."""

    def releases_in(self, round_index: int) -> bool:
        """Whether this round, from 0, publishes anything; must not depend on the data."""
        return self.releases

    def advice(self, *, learning_rate: float, steps: int, sampling_rate: float) -> str | None:
        """A warning about this run, given before it begins. steps: the mean number of local steps in a round."""
        return None

    def begin(self, initial: Tensor, population: int) -> Tensor:
        """The shared state, (blocks, D), before the first round; depends on no data."""
        return initial.unsqueeze(0)

    def begin_personal(self, initial: Tensor) -> Tensor:
        """Every client's own vector before the first round; depends on no data."""
        return initial

    def contribution_shape(self, shared: Tensor) -> tuple[int, int]:
        """(blocks, D) of the sum of contributions."""
        return (shared.shape[0], shared.shape[1])

    def block_of(self, clients: Clients) -> Clients:
        """The block of the sum to which each client contributes."""
        return np.zeros_like(clients)

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        """A chunk's part. The contributions are taken one after the other, before anything else happens."""
        raise NotImplementedError

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        """The next shared state, which may overwrite both. mean: the (blocks, D) noisy sum over the constant expected
        cohort; rate: q/m."""
        return shared.add_(mean)

    def aggregate(self, shared: Tensor, total: Tensor, expected: int, members: int, rate: float) -> Tensor:
        """The next shared state from the noisy sum; both may be overwritten. members: of this round's cohort.

        Whoever uses `members` shows how many came: see DpFedMtlAsPrinted.
        """
        return self.server_round(shared, total.div_(expected), rate)

    def models(self, shared: Tensor, own: Tensor, clients: Clients) -> Tensor:
        """(c, d) models with which these clients predict; (1, d) where all use the same."""
        return shared[:1] if not self.personal else own

    def released_model(self, shared: Tensor) -> Tensor | None:
        """(d,): the one model that was released and that anybody may have; None where there is none."""
        return shared[0] if self.releases and len(shared) == 1 else None

    def reference(self, shared: Tensor, clients: Clients) -> Tensor:
        """(c, d) shared models of these clients, as fine-tuning measures distances from."""
        return shared[torch.from_numpy(self.block_of(clients))]

    def describe(self) -> str:
        """The algorithm and its parameters, by which a checkpoint recognises it."""
        parameters = {
            key: value.tolist() if isinstance(value, torch.Tensor | np.ndarray) else value
            for key, value in sorted(vars(self).items())
        }
        return f"{self.name}{parameters}"


class Pulled(Algorithm):
    """Algorithms whose local steps are pulled towards something, by a penalty of weight `strength`, at least 0."""

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = nonnegative("lambda", strength)
