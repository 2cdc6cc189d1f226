"""The trainer on the clients of dpfedmtl_recursion.py, and the recursion driven by the trainer's own cohorts and noise.

A client's samples are one row a coordinate; its loss (1/n) sum (prediction)^2/2 is f_i for predictions
sqrt(n L) g(w - c) with g^2/2 = phi. What the trainer and the recursion compute from the same cohorts and noise must
agree, so that means over many runs of the recursion are means over runs of the trainer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.arrays import Floats
from .dpfedmtl_recursion import Family, Step, advance
from .noise_law import ENOUGH, right_noise

if TYPE_CHECKING:
    import torch

    from ...trainers.dpfedmtl import DpFedMtlLocalNoise
    from ...trainers.federated import Trainer

CLIP = 64.0
"""C in units of the slopes and the noise: so large that nothing is clipped."""

ROUNDS, AGREEMENT = 12, 1e-4
"""Rounds compared at least; the largest relative difference left to single precision."""


@dataclass(frozen=True, eq=False)
class Trained:
    """heads (T+1, M) and shared (T+1, d) along a run of the trainer, its cohorts, and (T, d) the sums' noise."""

    heads: Floats
    shared: Floats
    cohorts: tuple[tuple[int, ...], ...]
    noise: Floats


def _root(curve: str, x: torch.Tensor) -> torch.Tensor:
    """g with g(x)^2 / 2 = phi(x), smooth at 0."""
    import torch

    if curve == "quadratic":
        return x
    if curve == "cosine":
        return 2 * torch.sin(x / 2)
    near = x.abs() < 0.3
    close = torch.where(near, x, torch.zeros_like(x))
    square = close * close
    series = close * torch.sqrt(1 - square / 6 + 2 * square**2 / 45 - 17 * square**3 / 1260)
    far = torch.where(near, torch.ones_like(x), x)
    size = far.abs()
    root = torch.sqrt(2 * (size + torch.log1p(torch.exp(-2 * size)) - float(np.log(2.0))))
    return torch.where(near, series, torch.sign(far) * root)


def _model(family: Family, start: float) -> torch.nn.Module:
    """Shared layer: one weight a coordinate; head: one weight. A row (e_j, is it the head's, centre) asks for one."""
    import torch

    d, scale = family.dimension, float(np.sqrt((family.dimension + 1) * family.smoothness))

    class Shared(torch.nn.Module):
        """The d lower weights."""

        def __init__(self) -> None:
            super().__init__()
            self.lower = torch.nn.Parameter(torch.full((d,), start))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            own = x[:, d]
            return torch.stack([_root(family.curve, x[:, :d] @ self.lower - x[:, d + 1]) * (1 - own), own], dim=1)

    class Head(torch.nn.Module):
        """The client's own weight."""

        def __init__(self) -> None:
            super().__init__()
            self.own = torch.nn.Parameter(torch.full((1,), start))

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            return scale * (z[:, :1] + z[:, 1:] * _root(family.curve, self.own))

    return torch.nn.Sequential(Shared(), Head())


def _watched() -> tuple[DpFedMtlLocalNoise, dict[str, Any]]:
    """The algorithm with the noise at the clients, which notes down who uploads what."""
    from ...trainers.dpfedmtl import DpFedMtlLocalNoise

    seen: dict[str, Any] = {"cohorts": [], "clean": [], "noisy": []}

    class Watched(DpFedMtlLocalNoise):
        """Notes down uploads before their noise, and sums with it."""

        def client_round(self, solve: Any, shared: torch.Tensor, own: torch.Tensor, clients: Any) -> Any:
            moved, head = super().client_round(solve, shared, own, clients)
            seen["cohorts"].append(tuple(int(client) for client in clients))
            seen["clean"].append(moved.double().sum(dim=0).numpy())
            return moved, head

        def aggregate(
            self, shared: torch.Tensor, total: torch.Tensor, expected: int, members: int, rate: float
        ) -> torch.Tensor:
            seen["noisy"].append(total.double().numpy().reshape(-1).copy())
            return super().aggregate(shared, total, expected, members, rate)

    return Watched(), seen


def _trainer(family: Family, how: Step, start: float, rounds: int, seed: int) -> tuple[Trainer, dict[str, Any]]:
    """The trainer with clients' noise, and what it is seen to do: uploads before noise, and noisy sums."""
    from ...trainers.data import Client, Federation, Samples
    from ...trainers.federated import LocalSteps, Settings, Trainer

    d, clients, clip = family.dimension, [], CLIP * max(family.smoothness, how.noise)
    for name, centre in enumerate(family.centres):
        rows = np.zeros((d + 1, d + 2))
        rows[:, : d + 1] = np.eye(d + 1)
        rows[:d, d + 1] = centre
        own = Samples(rows, np.zeros((d + 1, 1)))
        clients.append(Client(str(name), own, own))
    algorithm, seen = _watched()
    settings = Settings(
        rounds=rounds,
        cohort=how.cohort,
        sampling="fixed-size",
        noise_multiplier=algorithm.noise_multiplier(how.noise / (2 * clip), how.cohort, family.clients),
        clip_norm=clip,
        seed=seed,
        local=LocalSteps(learning_rate=how.step, steps=how.local, batch_size=None),
    )
    federation = Federation("known", tuple(clients), "regression", 1)
    return Trainer(federation, algorithm, _model(family, start), settings), seen


def trained(family: Family, how: Step, start: float, rounds: int = ROUNDS, seed: int = 0) -> Trained:
    """A run of the trainer. Raises RuntimeError if it does not make one upload a round of every chosen client."""
    trainer, seen = _trainer(family, how, start, rounds, seed)
    assert trainer.personal is not None
    everybody, heads, shared = np.arange(family.clients), [], []
    for t in range(rounds + 1):
        heads.append(trainer.personal.get(everybody).numpy()[:, -1].astype(float))
        shared.append(trainer.shared.numpy().reshape(-1).astype(float))
        if t < rounds:
            trainer._round()
    if len(seen["noisy"]) != rounds or len(seen["clean"]) != rounds:
        raise RuntimeError(f"{len(seen['clean'])} uploads and {len(seen['noisy'])} sums in {rounds} rounds")
    noise = np.array(seen["noisy"]) - np.array(seen["clean"])
    return Trained(np.array(heads), np.array(shared), tuple(seen["cohorts"]), noise)


@cache
def distance_from_trainer(family: Family, how: Step, start: float) -> float:
    """The largest difference of any weight in any round, relative to the largest weight met; inf for wrong noise.

    The recursion gets the trainer's cohorts and noise, and nothing else. The noise is wrong where its variance is not
    K (S sigma)^2 a coordinate, and so are cohorts of another size than K.
    """
    rounds = max(ROUNDS, math.ceil(ENOUGH / family.dimension)) if how.noise else ROUNDS
    run = trained(family, how, start, rounds)
    heads, shared = np.full((1, family.clients), start), np.full((1, family.dimension), start)
    worst = 0.0
    for t, cohort in enumerate(run.cohorts):
        chosen = np.array([cohort], dtype=np.intp)
        shared = advance(family, how, heads, shared, chosen, run.noise[t : t + 1] / how.cohort)
        worst = max(worst, float(np.abs(heads[0] - run.heads[t + 1]).max()))
        worst = max(worst, float(np.abs(shared[0] - run.shared[t + 1]).max()))
    largest = max(float(np.abs(run.heads).max()), float(np.abs(run.shared).max()), 1e-300)
    deviation = float(np.sqrt(how.cohort)) * how.noise
    right = right_noise(run.noise, deviation, AGREEMENT * family.smoothness)
    return worst / largest if right and all(len(cohort) == how.cohort for cohort in run.cohorts) else float("inf")


def unlike_the_trainer(settings: Iterable[tuple[Family, Step, float]]) -> str:
    """Why the recursion does not stand for the trainer in one of these settings (clients, step, start); else empty."""
    for family, how, start in settings:
        apart = distance_from_trainer(family, how, start)
        if not apart <= AGREEMENT:
            return f"the recursion is {apart:.3g} away from the trainer's run with {family}, {how}"
    return ""
