"""What a run is told, checked before any work, and what follows from it for a round."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from ...mechanisms import InputError, adaptive_clipping
from ...mechanisms.validate import choice, count, nonnegative, positive
from .noise import SOURCES

FORMS = "constant, halving:N (half as large every N rounds) or inverse:N (divided by 1 + t/N in round t)"


Sampling = Literal["poisson", "fixed-size", "shuffle", "random-allocation", "cyclic", "full"]
Clipping = Literal["flat", "per-layer", "adaptive"]
DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}
"""What models, updates and their norms are kept in; with bfloat16 local steps alone multiply in it (parameters.py)."""
CHOICES: dict[str, Iterable[str]] = {
    "sampling": get_args(Sampling),
    "clipping": get_args(Clipping),
    "dtype": DTYPES,
    "device": ("auto", "cpu", "cuda"),
    "solver": ("auto", "loop", "vmap", "stacked", "compiled", "dual"),
    "noise_source": SOURCES,
}


def _counted(told: LocalSteps | Settings, **least: int) -> None:
    """Check that these fields are whole numbers of at least so much, and keep them as such; None stays."""
    for name, smallest in least.items():
        if (value := getattr(told, name)) is not None:
            named = f"local_{name}" if name in ("epochs", "steps") else name
            object.__setattr__(told, name, count(named, value, least=smallest))


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
        _counted(self, epochs=1, steps=1, batch_size=1)
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
    chunk: how many clients are computed together; None: as many as fit (device.py).

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
        _counted(
            self, rounds=1, cohort=1, shards=1, evaluate_every=0, evaluate_clients=0, max_cohort=1, chunk=1, seed=0
        )
        for name, known in CHOICES.items():
            choice(name, getattr(self, name), known)
        rate_factor(self.schedule, 0)
        nonnegative("noise_multiplier", self.noise_multiplier)
        if self.max_cohort is not None and self.sampling != "poisson":
            raise InputError("max_cohort", self.max_cohort, f"nothing: {self.sampling} cohorts are not cut")
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


def rate_factor(schedule: str, round_index: int) -> float:
    """By what the learning rate is multiplied in this round, counted from 0: a function of the round alone.

    Raises InputError for anything but FORMS.

    >>> [rate_factor("halving:200", t) for t in (0, 199, 200, 400)]
    [1.0, 1.0, 0.5, 0.25]
    >>> rate_factor("inverse:10", 30)
    0.25
    """
    name, _, told = schedule.partition(":")
    if schedule == "constant":
        return 1.0
    if name not in ("halving", "inverse") or not told.isdigit() or int(told) == 0:
        raise InputError("schedule", schedule, FORMS)
    length = int(told)
    return 0.5 ** (round_index // length) if name == "halving" else length / (length + round_index)


def count_noise(settings: Settings, denominator: int) -> float:
    """The standard deviation of the noise on the count: as set, or cohort / 20 (section 3.1).

    In cohorts so small that this alone would cost as much as the whole round may, the noise multiplier itself, which
    leaves the updates 1.16 times the noise multiplier.
    """
    return settings.adaptive.count_noise or max(denominator / 20, settings.noise_multiplier)


def update_noise_multiplier(settings: Settings, denominator: int) -> float:
    """The noise multiplier left for the updates, so that both releases together cost what `noise_multiplier` says.

    Raises InputError where the count's noise alone is below what that allows.
    """
    multiplier = settings.noise_multiplier
    if settings.clipping != "adaptive" or multiplier == 0:
        return multiplier
    return adaptive_clipping.update_noise_multiplier(multiplier, count_noise(settings, denominator))


def next_clip_norm(settings: Settings, clip_norm: float, noisy_centred_count: float, denominator: int) -> float:
    """C exp(-learning_rate (b - quantile)), b the noisy share of clients below C (Algorithm 1)."""
    share = noisy_centred_count / denominator + 0.5
    return clip_norm * math.exp(-settings.adaptive.learning_rate * (share - settings.adaptive.quantile))
