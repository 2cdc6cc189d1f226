"""How many clients are computed together.

On a CPU as many models as take 64 MiB: more only leave the caches. On a GPU as many as half of its free memory holds
when the run begins, rounded down to a power of two, so that a little more or less of it changes nothing; what is
computed together may decide last bits, so all processes take the least that one of them found, and Settings.chunk
says a number where a run is to be repeated on a GPU that others use.
"""

from __future__ import annotations

import torch

from .processes import Processes

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
