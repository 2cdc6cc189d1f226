"""Random streams that are functions of where they are used, never of what was drawn before.

A stream is keyed by the run's seed, its purpose and its place (round, client, ...). So a resumed run, a replayed
billboard and a run over several processes meet the same cohorts, batches and noise, with no state to save.

Privacy needs the seed to be secret: whoever knows it can subtract the noise. Without a seed 128 bits come from the
operating system. Philox is a statistical generator, not a cryptographic one (KNOWN_LIMITS); cohorts are drawn
from SHAKE-256 of the seed instead: a secret part of them is what amplification rests on.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import numpy as np
import torch

from ...mechanisms.randomness import BitSource, KeyedSource
from ...mechanisms.validate import count

Purpose = Literal[
    "initial", "cohort", "batches", "noise", "quantile", "module", "personal", "finetune", "client-noise", "evaluation"
]
PURPOSES: dict[Purpose, int] = {purpose: number for number, purpose in enumerate(get_args(Purpose))}
"""Their numbers are where their streams begin: new ones go to the end."""


def new_seed() -> int:
    """128 unpredictable bits."""
    return secrets.randbits(128)


class Streams:
    """The random streams of one run: one key, and for each purpose and place its own part of the counter."""

    def __init__(self, seed: int) -> None:
        self.seed = count("seed", seed, least=0)
        self._key = np.random.SeedSequence(self.seed).generate_state(2, np.uint64)

    @property
    def key(self) -> tuple[int, int]:
        """Of Philox: 128 bits."""
        return int(self._key[0]), int(self._key[1])

    def counter(self, purpose: Purpose, first: int = 0, second: int = 0, third: int = 0) -> list[int]:
        """Where the stream for this purpose and place begins."""
        return [0, first, second, (PURPOSES[purpose] << 32) | third]

    def generator(self, purpose: Purpose, first: int = 0, second: int = 0, third: int = 0) -> np.random.Generator:
        """The stream for this purpose and place, 2^64 blocks long; first and second below 2^64, third below 2^32."""
        counter = self.counter(purpose, first, second, third)
        return np.random.Generator(np.random.Philox(key=self._key, counter=counter))

    def bits(self, purpose: Purpose, first: int = 0, second: int = 0) -> BitSource:
        """Uniform bits for exact samplers, at this purpose and place; as good as the operating system's where the seed
        is secret."""
        return KeyedSource(f"{self.seed}/{PURPOSES[purpose]}/{first}/{second}".encode())

    def generators(
        self, purpose: Purpose, first: int, seconds: Iterable[int], third: int = 0
    ) -> Iterator[np.random.Generator]:
        """generator(purpose, first, second, third) for each second in turn, to be used before the next one is taken:
        it is one object whose counter is set, which takes a tenth of making a new one."""
        rng = self.generator(purpose, first, 0, third)
        begin = rng.bit_generator.state
        for second in seconds:
            begin["state"]["counter"][2] = second
            rng.bit_generator.state = begin
            yield rng

    def torch_seed(self, purpose: Purpose, first: int = 0, second: int = 0, third: int = 0) -> int:
        """A seed for torch's own generators (initial weights, dropout): never for noise, it has only 64 bits."""
        return int(self.generator(purpose, first, second, third).integers(2**63))

    def seed_torch(self, purpose: Purpose) -> None:
        """Seed torch's global generator; use inside torch.random.fork_rng()."""
        torch.manual_seed(self.torch_seed(purpose))
