"""One process, or many under torchrun that share the clients of a run.

Clients are dealt to `shards` by number, shards to processes. Contributions are integers (clipping.py), whose sums
are exact in every order: one all-reduce a round gives every process the same bits, whatever their number. Every
process then draws the same noise from the same stream, so noise enters once.

NCCL takes tensors from GPU to GPU, where each process has one of its own, which it asks for; gloo everything else.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, cuda
from torch import distributed as dist

from ...mechanisms import InputError
from ...mechanisms.validate import count
from .streams import new_seed

SHARDS = 12
"""Of several processes at least so many: divisible by most small numbers of them, and the result depends on it."""

GLOO, NCCL = "gloo", "cpu:gloo,cuda:nccl"


def backend(gpus: int, processes: int) -> str:
    """What torch.distributed is to run on, for so many processes on a machine with so many GPUs."""
    return NCCL if dist.is_nccl_available() and processes <= gpus else GLOO


def launched() -> int:
    """How many processes torchrun started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def shards_for(processes: int, shards: int | None = None) -> int:
    """The units of work for so many processes. InputError for so few that a process would have nothing to do."""
    if shards is None:
        return 1 if processes == 1 else processes * math.ceil(SHARDS / processes)
    if count("shards", shards) < processes:
        raise InputError("shards", shards, f"at least the number of processes, {processes}")
    return shards


@contextmanager
def joined() -> Iterator[None]:
    """Join the other processes of torchrun, if there are any."""
    if launched() == 1:
        yield
        return
    gpus, here = cuda.device_count(), int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))
    if gpus:
        cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % gpus)
    dist.init_process_group(backend(gpus, here))
    try:
        yield
    finally:
        dist.destroy_process_group()


class Processes:
    """The processes of a run. Without torch.distributed being initialised there is one."""

    def __init__(self) -> None:
        active = dist.is_available() and dist.is_initialized()
        self.rank = dist.get_rank() if active else 0
        self.size = dist.get_world_size() if active else 1
        self._on_gpus = active and "nccl" in dist.get_backend_config()

    def owns(self, shard: int) -> bool:
        """Whether this process computes the clients of this shard."""
        return shard % self.size == self.rank

    def total(self, tensor: Tensor) -> Tensor:
        """The sum over processes, exact for integers below 2^53."""
        if self.size > 1:
            there = tensor if self._on_gpus else tensor.cpu()  # the tensor itself where it is there already
            dist.all_reduce(there)
            if there is not tensor:
                tensor.copy_(there)
        return tensor

    def least(self, value: int, device: torch.device) -> int:
        """The smallest of the processes' numbers."""
        if self.size == 1:
            return value
        found = torch.tensor([value], device=device if self._on_gpus else "cpu")
        dist.all_reduce(found, op=dist.ReduceOp.MIN)
        return int(found)

    def barrier(self) -> None:
        """Wait for all processes."""
        if self.size > 1:
            dist.barrier()

    def agree_on_seed(self, seed: int | None) -> int:
        """The given seed, or one secret seed for all processes."""
        chosen = new_seed() if seed is None else seed
        if self.size == 1:
            return chosen
        words = torch.tensor([(chosen >> shift) & 0xFFFFFFFF for shift in range(0, 128, 32)], dtype=torch.int64)
        dist.broadcast(words, src=0)
        return sum(int(word) << shift for word, shift in zip(words, range(0, 128, 32), strict=True))
