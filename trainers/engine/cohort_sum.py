"""The clients' part of a round: each one's contribution, clipped, in one exact sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from .algorithm import Algorithm, Clients
from .billboard import Billboard
from .checkpoint import Rows
from .clipping import ClippedSum, Grid, Layers
from .contribution import Contribution, Differences, as_vector
from .device import Fetched, reproducible_kernels, works_on_its_own
from .local import LocalSide
from .processes import Processes

Own = Callable[[Clients], Tensor]
"""Clients to their own vectors, (c, d)."""


class CohortSum:
    """Computes this process's part of every round's sum; what is computed together depends on the shards, not on the
    processes."""

    def __init__(
        self,
        local: LocalSide,
        algorithm: Algorithm,
        layers: Layers,
        shards: int,
        processes: Processes,
        billboard: Billboard,
    ) -> None:
        self.local, self.algorithm, self.layers = local, algorithm, layers
        self.shards, self.processes, self.billboard = shards, processes, billboard
        self._earlier: ClippedSum | None = None

    def of(
        self, cohort: Clients, round_index: int, shared: Tensor, own: Own, grid: Grid
    ) -> tuple[ClippedSum, list[Rows]]:
        """The sum over this process's clients, in memory that the next one reuses, and what becomes of their own
        vectors. shared: as clients read it."""
        blocks, dimension = self.algorithm.contribution_shape(shared)
        total = ClippedSum(blocks, dimension, self.layers, grid, self.local.device, self._earlier)
        self._earlier = total
        changed: list[Clients] = []
        fetched = Fetched(self.local.device)
        with reproducible_kernels(self.local.device):
            for chunk in self._chunks(cohort):
                solve = self.local.solver(chunk, round_index)
                contributions, after = self.algorithm.client_round(solve, shared, own(chunk), chunk)
                if contributions is not None and self.algorithm.releases_in(round_index):
                    self._add(contributions, chunk, round_index, total)
                if after is not None:
                    changed.append(chunk)
                    fetched.fetch(after)
        return total, list(zip(changed, fetched.arrays(), strict=True))

    def _chunks(self, cohort: Clients) -> list[Clients]:
        shards = [shard for shard in range(self.shards) if self.processes.owns(shard)]
        return [
            chunk
            for shard in shards
            for chunk in self.local.chunks(cohort[cohort % self.shards == shard], self.algorithm)
        ]

    def _add(self, contributions: Iterable[Contribution], chunk: Clients, round_index: int, total: ClippedSum) -> None:
        """Clip and add: at once on a GPU; on a CPU one at a time, which stays in its caches."""
        blocks = self.algorithm.block_of(chunk)
        if works_on_its_own(self.local.device):
            added = total.add_all(_in_one(contributions, total.dimension), blocks)
            if self.billboard.keeps:
                for client, integers in zip(chunk, added, strict=True):
                    self._tell(round_index, client, integers, total.grid)
            return
        for client, contribution, block in zip(chunk, contributions, blocks, strict=True):
            if self.billboard.keeps:
                self._tell(round_index, client, total.alone(contribution), total.grid)
            total.add(contribution, int(block))

    def _tell(self, round_index: int, client: np.int64, integers: Tensor, grid: Grid) -> None:
        self.billboard.message(round_index, int(client), integers * grid.unit)


def _in_one(contributions: Iterable[Contribution], dimension: int) -> Tensor:
    """(c, D): each is read before the next overwrites it."""
    if isinstance(contributions, Tensor):
        return contributions
    if isinstance(contributions, Differences):
        return contributions.together()
    return torch.stack([as_vector(each, dimension).clone() for each in contributions])
