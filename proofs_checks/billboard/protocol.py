"""What a trainer must offer so that `check_billboard` can replay it. Structural: implementing it needs no import.

The billboard is everything that all clients read, in order: one array a release (the initial broadcast included).
A client's side of the protocol may use its own data, its own randomness and the billboard, nothing else.

Rules of a replay, `run(clients, seed, billboard=recorded)`:

1. Wherever a run would publish release t, the replay publishes recorded[t] instead; clients, and later rounds
   at the server, read that. What the run would have published is still computed, as pre_noise[t] and noise[t].
2. Common random numbers: every random draw is a function of `seed` and of where it is used (server, client,
   round), never of how many draws came before it elsewhere. A replay then meets the same cohorts, the same noise
   and the same coins at every client, so that a difference is caused by data and by nothing else.
3. Nothing is carried over between two calls of `run`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Value = NDArray[Any] | Mapping[str, Any] | Sequence[Any]
"""An array (anything numpy.asarray takes), or a mapping or sequence of values."""


@runtime_checkable
class RunRecord(Protocol):
    """One run, as seen by somebody who sees everything.

    billboard: the releases, in order, as the clients read them.
    pre_noise: for each release, what this run would have published but for the noise, given the releases before it.
    noise: what was added: in a run that is not a replay, billboard[t] is pre_noise[t] + noise[t] to the bit.
    sensitivity: for each release, the L2 distance by which one client's data may move pre_noise[t] while the releases
        before it stay the same; 0 where it must not move at all (an initial broadcast that depends on no data).
    messages: (round, client) -> what that client uploaded in that round, as it enters the aggregate (clipped,
        weighted, before any noise). Rounds count from 0; a client that took no part has no entry.
    outputs: for each client, in the order of `clients`, what it keeps at the end (its personal model).
    """

    @property
    def billboard(self) -> Sequence[NDArray[np.floating[Any]]]: ...
    @property
    def pre_noise(self) -> Sequence[NDArray[np.floating[Any]]]: ...
    @property
    def noise(self) -> Sequence[NDArray[np.floating[Any]]]: ...
    @property
    def sensitivity(self) -> Sequence[float]: ...
    @property
    def messages(self) -> Mapping[tuple[int, int], Value]: ...
    @property
    def outputs(self) -> Sequence[Value]: ...


@runtime_checkable
class TrainerProtocol(Protocol):
    """A trainer that can be run, and run again against a recorded billboard (the rules are above)."""

    def run(
        self, clients: Sequence[Any], seed: int, billboard: Sequence[NDArray[np.floating[Any]]] | None = None
    ) -> RunRecord: ...
