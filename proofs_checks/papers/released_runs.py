"""What one round of a trainer releases: how far one client can move it, and what noise is on it.

Both compare released sums with each other. What the trainer records of its own sensitivity and noise is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats
from ..convergence.noise_law import right_noise
from .row import Finding, Statement, of_a_bound, on_instances, resting_on

CLIENTS, WIDE, CLIP, NOISE = 3, 20_000, 0.5, 1.5
"""Coordinates: so many that noise 5% off is noticed."""

Data = Sequence[tuple[Floats, Floats]]
"""(features, targets) a client."""


def _engine(algorithm: Callable[[], Any], deep: bool) -> Callable[[Data, float], Floats]:
    """What a round of an algorithm of the engine releases. deep: with a head on the shared layer."""

    def released(data: Data, noise: float) -> Floats:
        import torch

        from ...trainers.data import Client, Federation, Samples
        from ...trainers.federated import LocalSteps, Settings
        from ...trainers.training import ReplayableTrainer

        lower, head = torch.nn.Linear(data[0][0].shape[1], 1, bias=False), torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.zeros_(lower.weight)
        torch.nn.init.ones_(head.weight)
        clients = [Client(str(k), own, own) for k, own in enumerate(Samples(x, y[:, None]) for x, y in data)]
        told = Settings(
            rounds=1,
            cohort=len(data),
            sampling="full",
            noise_multiplier=noise,
            clip_norm=CLIP,
            dtype="float64",
            device="cpu",
            local=LocalSteps(learning_rate=1.0, steps=1, batch_size=None),
        )
        template = Federation("released", tuple(clients), "regression", 1)
        model = torch.nn.Sequential(lower, head) if deep else lower
        return ReplayableTrainer(template, algorithm, told, model).run(clients, seed=3).billboard[-1]

    return released


def _pmtl(data: Data, noise: float) -> Floats:
    from ...trainers.federated import Pmtl

    return _engine(lambda: Pmtl(1.0), deep=False)(data, noise)


def _dpfedmtl(data: Data, noise: float) -> Floats:
    from ...trainers.dpfedmtl import DpFedMtl

    return _engine(DpFedMtl, deep=True)(data, noise)


def _mocha(data: Data, noise: float) -> Floats:
    from ...trainers.mocha.losses import LOSSES
    from ...trainers.mocha.methods import Setting
    from ...trainers.mocha.omegas import mean_regularised
    from ...trainers.mocha.private import PrivateRounds
    from ...trainers.mocha.private_run import ReplayablePrivateMocha

    omega = mean_regularised(len(data), 0.1)
    run = ReplayablePrivateMocha(
        lambda tasks: PrivateRounds(Setting(tasks, LOSSES["squared"], omega, 1.0), CLIP, noise), rounds=1
    )
    return run.run(list(data), seed=3).billboard[-1]


RELEASE: dict[str, Callable[[Data, float], Floats]] = {"pmtl": _pmtl, "dpfedmtl": _dpfedmtl, "mocha": _mocha}
"""By trainer: the round's release on these clients' data, with this noise multiplier."""


def _clients(width: int, first: float) -> Data:
    """One sample a client; the first one's target is far out."""
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((CLIENTS, 1, width)) / np.sqrt(width)
    return [(row, np.array([first if k == 0 else 0.1 * k])) for k, row in enumerate(rows)]


@resting_on(on_instances(1, "trainer runs"))
def moved_by_a_client(statement: Statement) -> Finding:
    """How far a release without noise moves when a client's target goes from -10^3 to 10^3, in clip norms."""
    release = RELEASE[statement.domain["trainer"]]
    apart = release(_clients(4, 1e3), 0.0) - release(_clients(4, -1e3), 0.0)
    moved = float(np.linalg.norm(apart)) / CLIP
    text = f"the released sum moves by {moved:.7g} clip norms"
    stated = statement.claim["clip norms"]
    return of_a_bound(moved <= stated, text, {"clip norms": moved}, [moved / stated])


@resting_on(on_instances(1, "trainer runs"))
def noise_on_a_release(statement: Statement) -> Finding:
    """The variance of what a noise multiplier adds to a release of the same seed, by a chi-square test."""
    release = RELEASE[statement.domain["trainer"]]
    noise = release(_clients(WIDE, 1.0), NOISE) - release(_clients(WIDE, 1.0), 0.0)
    told = statement.claim["deviation in noise multipliers times clip norms"] * NOISE * CLIP
    found = float(np.sqrt((noise**2).mean()))
    text = f"the released sum has noise of deviation {found / NOISE / CLIP:.4f} z gamma in {noise.size} coordinates"
    return Finding(right_noise(noise, told), text, {"deviation": found, "stated": told}, error_probability=1e-7)
