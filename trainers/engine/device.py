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
