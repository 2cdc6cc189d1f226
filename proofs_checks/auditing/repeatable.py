"""Whether the same seed gives the same outputs: what native code draws by itself is seen in nothing else."""

from __future__ import annotations

import numpy as np
from numpy.random import SeedSequence

from .calling import Mechanism, batched, style_of
from .global_generators import SYSTEM
from .outputs import Encoder
from .trials import run_side

CALLS = 8


def why_not(mechanism: Mechanism, pair: tuple[object, object], seed: int, generators: tuple[str, ...]) -> str:
    """Why another run of the same audit gives other counts, in a sentence; empty where it gives the same."""
    if SYSTEM in generators:
        source = f"{SYSTEM} (os.urandom, secrets, or a generator without a seed)"
    elif not _same_again(mechanism, pair, seed):
        source = "a generator of its own, which dpcert cannot seed"
    else:
        return ""
    return (
        f"The mechanism draws from {source}: this audit cannot be replayed, another run gives other counts. "
        "Its error probability holds once per run."
    )


def _same_again(mechanism: Mechanism, pair: tuple[object, object], seed: int) -> bool:
    style, seeds = style_of(mechanism), SeedSequence([seed, 0xA6A1]).spawn(2)
    rows = []
    for _ in range(2):
        raw = [run_side(mechanism, side, one, CALLS, style).outputs for side, one in zip(pair, seeds, strict=True)]
        encoder = Encoder()
        both = [encoder.batch(one, CALLS) if batched(style) else encoder.each(one) for one in raw]  # type: ignore[arg-type]
        rows.append([side.keys() for side in both])
    return all(np.array_equal(a, b) for a, b in zip(*rows, strict=True))
