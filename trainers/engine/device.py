"""What a device has to be told so that it gives the same result twice, and the CPU's to rounding; and how not to wait.

A GPU works on while the host goes on, until the host asks for a number. So what is one number a client is asked for
once a round or a chunk, and vectors are moved through pinned memory, which the GPU fills by itself.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .processes import Processes


def reproducible_kernels(device: torch.device) -> AbstractContextManager[Any]:
    """On CUDA: deterministic convolutions, in full single precision (cuDNN's default rounds to 10 bits)."""
    if device.type != "cuda":
        return nullcontext()
    flags: AbstractContextManager[Any] = torch.backends.cudnn.flags(
        enabled=True, benchmark=False, deterministic=True, allow_tf32=False
    )
    return flags


def plain_convolutions(device: torch.device) -> AbstractContextManager[Any]:
    """On CUDA: torch's own convolutions. Grouped ones, which vmap makes of a client's, go through cuDNN's Winograd
    kernels, whose single precision was off by up to 4e-3 where others are within 2e-7 (docs/trainers/speed.md, On a
    GPU)."""
    return torch.backends.cudnn.flags(enabled=False) if device.type == "cuda" else nullcontext()


def works_on_its_own(device: torch.device) -> bool:
    """Whether the host must not wait for it once a client: contributions are clipped together then."""
    return device.type != "cpu"


def on_device(rows: npt.NDArray[Any], device: torch.device) -> Tensor:
    """The array on the device; on a GPU by way of pinned memory, without waiting."""
    host = torch.from_numpy(rows)
    return host.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else host.to(device)


class Fetched:
    """Tensors on their way to the host."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._host: list[Tensor] = []

    def fetch(self, tensor: Tensor) -> None:
        """Begin to copy."""
        if tensor.device.type == "cuda":
            host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            self._host.append(host.copy_(tensor, non_blocking=True))
        else:
            self._host.append(tensor)

    def arrays(self) -> list[npt.NDArray[np.floating[Any]]]:
        """All of them, in order, after waiting once; without waiting where there are none."""
        if self._host and self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return [host.numpy() for host in self._host]


CHUNK_FLOATS = 2**24
"""Of models on a CPU (64 MiB in single precision)."""
LARGEST_CHUNK, LARGEST_GPU_CHUNK = 128, 4096
BYTES_A_NUMBER = 64
"""Of every weight of every client on a GPU: start, anchor, model, gradient and change in the training dtype, the change
twice in doubles and once in integers while it is clipped, and room to spare; activations have the other half."""


def chunk_of(dimension: int, device: torch.device, processes: Processes) -> int:
    """The number for models of this dimension; at least 1."""
    if device.type == "cpu":
        return max(1, min(LARGEST_CHUNK, CHUNK_FLOATS // dimension))
    fits = gpu_chunk(dimension, torch.cuda.mem_get_info(device)[0])
    return processes.least(fits, device)


def gpu_chunk(dimension: int, free: int) -> int:
    """The same from so many free bytes: a power of two."""
    fits = free // 2 // (BYTES_A_NUMBER * dimension)
    return 1 << (max(1, min(LARGEST_GPU_CHUNK, fits)).bit_length() - 1)
