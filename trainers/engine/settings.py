"""What a run is told, checked before any work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from ...mechanisms import InputError
from ...mechanisms.validate import choice, count, nonnegative, positive
from .noise import SOURCES
from .schedule import rate_factor

Sampling = Literal["poisson", "fixed-size", "shuffle", "random-allocation", "cyclic", "full"]
SAMPLINGS: tuple[Sampling, ...] = ("poisson", "fixed-size", "shuffle", "random-allocation", "cyclic", "full")
Clipping = Literal["flat", "per-layer", "adaptive"]
SOLVERS = ("auto", "loop", "vmap", "stacked", "compiled", "dual")
DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}
"""What models, updates and their norms are kept in; with bfloat16 local steps alone multiply in it (parameters.py)."""


@dataclass(frozen=True, slots=True)
class LocalSteps:
    """Plain SGD on a client: w <- w - learning_rate (gradient of the batch's mean loss + weight_decay w + ...).

    epochs over the client's samples in batches of batch_size (None: all of them at once); with `steps` instead,
    exactly that many steps, over as many epochs as they need.

    learning_rate: step size, above 0. epochs: passes over a client's samples in one round, at least 1. steps: number of
    steps in their place. batch_size: samples per step; None: all. weight_decay: at least 0.
    """

    learning_rate: float = 0.1
    epochs: int = 1
    steps: int | None = None
    batch_size: int | None = 10
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        positive("learning_rate", self.learning_rate)
        object.__setattr__(self, "epochs", count("local_epochs", self.epochs))
        if self.steps is not None:
            object.__setattr__(self, "steps", count("local_steps", self.steps))
        if self.batch_size is not None:
            object.__setattr__(self, "batch_size", count("batch_size", self.batch_size))
        nonnegative("weight_decay", self.weight_decay)


@dataclass(frozen=True, slots=True)
class AdaptiveClip:
    """Adaptive quantile clipping (Andrew, Thakkar, McMahan, Ramaswamy 2021, arXiv 1905.03871v5, Algorithm 1).

    The clip norm starts at Settings.clip_norm and follows the `quantile` of the update norms, by geometric steps of
    `learning_rate`. count_noise: standard deviation of the noise on the number of clients below the clip norm; by
    default cohort / 20, as the paper recommends, or the noise multiplier where that is larger.

    quantile: the share of updates that should be below the clip norm, in (0, 1).
    """

    quantile: float = 0.5
    learning_rate: float = 0.2
    count_noise: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= nonnegative("quantile", self.quantile) <= 1:
            raise InputError("quantile", self.quantile, "a number from 0 to 1")
        positive("quantile_learning_rate", self.learning_rate)
        if self.count_noise is not None:
            positive("count_noise", self.count_noise)


@dataclass(frozen=True, slots=True)
class Settings:
    """One run of one algorithm.

    cohort: clients in a round (the expected number under Poisson sampling, and the constant by which sums are
        divided); ignored under full participation. sampling: as in a claim's [sampling]; an epoch of shuffled or cyclic
        batches, a block of random allocation, is population / cohort rounds, rounded up. max_cohort: Poisson cohorts
        above it are cut to it. noise_multiplier: standard deviation of the noise on the sum of clipped updates, divided
        by clip_norm. clip_norm: None trains without clipping, hence without privacy.
    seed: None draws a secret one. A seed that somebody knows protects nothing from that somebody.
    shards: clients are dealt to this many shards, the units of work that processes share: the result depends on the
        number of shards (in the last bits), never on the number of processes.
    evaluate_clients: how many clients are evaluated, the same ones every time; None for all of them.
    schedule: of the local learning rate over rounds, schedule.FORMS.
    noise_source: where noise is drawn: "host", "device", or "auto", the device where it is no CPU. It is other noise.
    chunk: how many clients are computed together; None: as many as fit (chunks.py).

    rounds: how many to train for, at least 1. clipping: "flat" bounds the whole update, "per-layer" each layer,
    "adaptive" lets the bound follow a quantile. adaptive: how it does so. dtype: number format of the local steps.
    device: "auto", "cpu" or "cuda". solver: which of the solvers runs local steps; "auto" chooses. evaluate_every:
    rounds between two evaluations; 0: only at the end.
    """

    rounds: int = 100
    cohort: int = 100
    sampling: Sampling = "poisson"
    noise_multiplier: float = 0.0
    clip_norm: float | None = None
    clipping: Clipping = "flat"
    adaptive: AdaptiveClip = AdaptiveClip()
    local: LocalSteps = LocalSteps()
    seed: int | None = None
    dtype: str = "float32"
    device: str = "auto"
    solver: str = "auto"
    shards: int = 1
    evaluate_every: int = 0
    evaluate_clients: int | None = None
    schedule: str = "constant"
    noise_source: str = "auto"
    chunk: int | None = None
    max_cohort: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("rounds", 1), ("cohort", 1), ("shards", 1), ("evaluate_every", 0)):
            object.__setattr__(self, name, count(name, getattr(self, name), least=least))
        if self.evaluate_clients is not None:
            object.__setattr__(self, "evaluate_clients", count("evaluate_clients", self.evaluate_clients, least=0))
        choice("sampling", self.sampling, SAMPLINGS)
        if self.max_cohort is not None:
            if self.sampling != "poisson":
                raise InputError("max_cohort", self.max_cohort, f"nothing: {self.sampling} cohorts are not cut")
            object.__setattr__(self, "max_cohort", count("max_cohort", self.max_cohort))
        choice("clipping", self.clipping, ("flat", "per-layer", "adaptive"))
        choice("dtype", self.dtype, DTYPES)
        rate_factor(self.schedule, 0)
        choice("device", self.device, ("auto", "cpu", "cuda"))
        choice("solver", self.solver, SOLVERS)
        choice("noise_source", self.noise_source, SOURCES)
        if self.chunk is not None:
            object.__setattr__(self, "chunk", count("chunk", self.chunk))
        nonnegative("noise_multiplier", self.noise_multiplier)
        if self.seed is not None:
            count("seed", self.seed, least=0)
        if self.clip_norm is not None:
            positive("clip_norm", self.clip_norm)
        elif self.noise_multiplier > 0:
            raise InputError("clip_norm", None, "a number above 0: noise protects nothing without a bound")
        elif self.clipping != "flat":
            raise InputError("clip_norm", None, f"a number above 0 for {self.clipping} clipping")

    def torch_device(self) -> torch.device:
        """The device to train on. Raises InputError for cuda where there is none."""
        if self.device == "cuda" and not torch.cuda.is_available():
            raise InputError("device", "cuda", "auto or cpu: torch sees no CUDA device")
        return torch.device("cuda" if self.device != "cpu" and torch.cuda.is_available() else "cpu")
