"""What a device has to be told so that it gives the same result twice, and the CPU's to rounding."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def reproducible_kernels(device: torch.device) -> AbstractContextManager[Any]:
    """On CUDA: deterministic convolutions, in full single precision (cuDNN's default rounds to 10 bits)."""
    if device.type != "cuda":
        return nullcontext()
    flags: AbstractContextManager[Any] = torch.backends.cudnn.flags(
        enabled=True, benchmark=False, deterministic=True, allow_tf32=False
    )
    return flags
