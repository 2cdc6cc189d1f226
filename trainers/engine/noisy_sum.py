"""What a round would release: the clients' clipped sum and the noise on it, of which nothing has been published yet."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .adaptive import count_noise, update_noise_multiplier
from .algorithm import Clients
from .clipping import ClippedSum, Grid
from .cohort import CohortSampler
from .cohort_sum import CohortSum, Own
from .local import LocalSide
from .noise import round_noise
from .release import Release


class NoisySum:
    """Draws a round's cohort, has its clients compute, and draws the noise. Raises InputError as `round_noise` does."""

    def __init__(self, cohort_sum: CohortSum, sampler: CohortSampler, local: LocalSide) -> None:
        self.cohort_sum, self.sampler, self.processes = cohort_sum, sampler, cohort_sum.processes
        self.settings, self.streams, self.algorithm = local.settings, local.streams, cohort_sum.algorithm
        self.multiplier = update_noise_multiplier(self.settings, sampler.denominator)
        self.noise = round_noise(self.settings.noise_source, self.streams, self.settings.torch_device())
        self.dtype = local.dtype

    def of(self, round_index: int, attempt: int, shared: Tensor, own: Own, clip_norm: float | None) -> Release:
        """The round's release. shared: as clients read it; own: clients to their own vectors."""
        cohort = self.sampler.draw(self.streams, attempt, round_index)
        clipped = clip_norm if self.algorithm.clips else None
        grid = Grid.for_round(clipped, self.sampler.population, self.dtype)
        shape = self.algorithm.contribution_shape(shared)
        noise = self._noise(round_index, attempt, cohort, shape, (clip_norm or 0.0, grid.unit))
        total, rows = self.cohort_sum.of(cohort, round_index, shared, own, grid)
        pre_noise = self.processes.total(total.total).mul_(grid.unit)
        count, noise_on_count = self._count(total, attempt, round_index)
        return Release(pre_noise, noise(), 2 * (clip_norm or float("inf")), count, noise_on_count, cohort, rows)

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
