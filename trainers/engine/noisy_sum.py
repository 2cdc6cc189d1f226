"""What a round would release: the clients' clipped contributions in one exact sum, and the noise on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .algorithm import Algorithm, Clients
from .billboard import Billboard
from .checkpoint import Rows
from .clipping import ClippedSum, Grid, Layers
from .cohort import CohortSampler
from .contribution import Contribution, Differences, as_vector
from .device import Fetched, reproducible_kernels, works_on_its_own
from .device_noise import DeviceNoise
from .local import LocalSide
from .noise import HostNoise, RoundNoise
from .processes import Processes
from .settings import count_noise, update_noise_multiplier
from .spent import digest_of
from .streams import Streams


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """pre_noise, noise: (blocks, D). sensitivity: how far one client can move pre_noise. count, count_noise: (1,), of
    adaptive clipping. rows: the personal vectors that the round changes."""

    pre_noise: Tensor
    noise: Tensor
    sensitivity: float
    count: Tensor | None
    count_noise: Tensor | None
    cohort: Clients
    rows: list[Rows]

    def digest(self) -> str:
        """By which a repeated round is recognised."""
        parts = [(self.pre_noise + self.noise).cpu().numpy()]
        if self.count is not None and self.count_noise is not None:
            parts.append((self.count + self.count_noise).cpu().numpy())
        return digest_of(*parts)


Own = Callable[[Clients], Tensor]
"""Clients to their own vectors, (c, d)."""


class NoisySum:
    """Draws a round's cohort, has this process's clients compute, and draws the noise.

    What is computed together depends on the shards, not on the processes.
    """

    def __init__(
        self,
        local: LocalSide,
        algorithm: Algorithm,
        layers: Layers,
        sampler: CohortSampler,
        processes: Processes,
        billboard: Billboard,
    ) -> None:
        self.local, self.algorithm, self.layers, self.sampler = local, algorithm, layers, sampler
        self.settings, self.streams = local.settings, local.streams
        self.processes, self.billboard = processes, billboard
        self.multiplier = update_noise_multiplier(self.settings, sampler.denominator)
        self.noise = round_noise(self.settings.noise_source, self.streams, self.settings.torch_device())
        self._earlier: ClippedSum | None = None

    def of(self, round_index: int, attempt: int, shared: Tensor, own: Own, clip_norm: float | None) -> Release:
        """The round's release. shared: as clients read it; own: clients to their own vectors."""
        cohort = self.sampler.draw(self.streams, attempt, round_index)
        clipped = clip_norm if self.algorithm.clips else None
        grid = Grid.for_round(clipped, self.sampler.population, self.local.dtype)
        shape = self.algorithm.contribution_shape(shared)
        noise = self._noise(round_index, attempt, cohort, shape, (clip_norm or 0.0, grid.unit))
        total, rows = self.clipped(cohort, round_index, shared, own, grid)
        pre_noise = self.processes.total(total.total).mul_(grid.unit)
        count, noise_on_count = self._count(total, attempt, round_index)
        return Release(pre_noise, noise(), 2 * (clip_norm or float("inf")), count, noise_on_count, cohort, rows)

    def clipped(
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
            for chunk in self.local.chunks(cohort, self.algorithm):
                solve = self.local.solver(chunk, round_index)
                contributions, after = self.algorithm.client_round(solve, shared, own(chunk), chunk)
                if contributions is not None and self.algorithm.releases_in(round_index):
                    self._add(contributions, chunk, round_index, total)
                if after is not None:
                    changed.append(chunk)
                    fetched.fetch(after)
        return total, list(zip(changed, fetched.arrays(), strict=True))

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

    def _noise(
        self, round_index: int, attempt: int, cohort: Clients, shape: tuple[int, int], scale: tuple[float, float]
    ) -> Callable[[], Tensor]:
        """What gives the (blocks, D) noise on the sum, the same in every process; begun already where it is long."""
        clip_norm, unit = scale
        deviation = self.multiplier * clip_norm
        if self.algorithm.noise_at == "server":
            return self.noise.begin(attempt, round_index, shape, deviation, unit)
        own = [client for client in cohort.tolist() if self.processes.owns(client % self.settings.shards)]
        drawn = self.noise.of_clients(attempt, round_index, own, shape[1], deviation, unit)
        return lambda: self.processes.total(drawn)

    def _count(self, total: ClippedSum, attempt: int, round_index: int) -> tuple[Tensor | None, Tensor | None]:
        """Adaptive clipping: the centred count of clients within the clip norm, and its noise."""
        if self.settings.clipping != "adaptive":
            return None, None
        count = torch.tensor([float(total.within) - total.counts / 2], dtype=torch.float64)
        deviation = count_noise(self.settings, self.sampler.denominator) if self.multiplier else 0.0
        noise = self.streams.generator("quantile", attempt, round_index).standard_normal(1) * deviation
        return self.processes.total(count), torch.from_numpy(noise)


def _in_one(contributions: Iterable[Contribution], dimension: int) -> Tensor:
    """(c, D): each is read before the next overwrites it."""
    if isinstance(contributions, Tensor):
        return contributions
    if isinstance(contributions, Differences):
        return contributions.together()
    return torch.stack([as_vector(each, dimension).clone() for each in contributions])


def round_noise(source: str, streams: Streams, device: torch.device) -> RoundNoise:
    """source: one of SOURCES; "auto" is the device where that is no CPU, on which numpy is faster."""
    if source == "device" or (source == "auto" and device.type != "cpu"):
        return DeviceNoise(streams, device)
    return HostNoise(streams, device)
