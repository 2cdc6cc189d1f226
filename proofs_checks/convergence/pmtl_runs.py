"""Algorithm 1 run by the trainers on least squares without noise, whose smoothness, convexity and optimum are known.

Every round is recorded. torch is imported here when a row runs, and not before.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ...mechanisms.arrays import Floats

if TYPE_CHECKING:
    from ...trainers.data import Federation


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """l_k(w) = (1/2) (w - c_k)^T H_k (w - c_k) + constant, over the clients' training samples.

    hessians: (m, d, d), X_k^T X_k / n_k; centres: (m, d). Their extreme eigenvalues are the smoothness L and the
    strong convexity mu.
    """

    federation: Federation
    hessians: Floats
    centres: Floats

    @classmethod
    def of(cls, federation: Federation) -> Quadratic:
        """From its samples alone, whose labels are noiseless."""
        samples = [(client.train.dense(), client.train.labels[:, 0]) for client in federation.clients]
        hessians = np.stack([x.T @ x / len(x) for x, _ in samples])
        centres = np.stack([np.linalg.lstsq(x, y, rcond=None)[0] for x, y in samples])
        return cls(federation, hessians, centres)

    @property
    def smoothness(self) -> float:
        return float(np.linalg.eigvalsh(self.hessians).max())

    @property
    def strong_convexity(self) -> float:
        return float(np.linalg.eigvalsh(self.hessians).min())

    def optimum(self, strength: float) -> Floats:
        """The (m, d) minimiser of sum_k l_k(w_k) + (strength/2) ||w_k - w_bar||^2 (PMTL, TMLR, eq. (2)).

        Stationarity in w_k is H_k (w_k - c_k) + strength (w_k - w_bar) = 0, so w_k = A_k (H_k c_k + strength w_bar)
        with A_k = (H_k + strength I)^-1, and averaging over k gives a linear system for w_bar.
        """
        dimension = self.centres.shape[1]
        inverse = np.linalg.inv(self.hessians + strength * np.eye(dimension))
        pull = np.einsum("kij,kjl,kl->ki", inverse, self.hessians, self.centres)
        system = np.eye(dimension) - strength * inverse.mean(axis=0)
        mean = np.linalg.solve(system, pull.mean(axis=0))
        return np.asarray(pull + strength * inverse @ mean)

    def objective(self, models: Floats, strength: float) -> float:
        """(1/m) sum_k l_k(w_k) + (strength/2) ||w_k - w_bar||^2, up to the losses' constants."""
        gaps = models - self.centres
        losses = 0.5 * np.einsum("ki,kij,kj->k", gaps, self.hessians, gaps)
        spread = 0.5 * strength * ((models - models.mean(axis=0)) ** 2).sum(axis=1)
        return float((losses + spread).mean())


@cache
def mean_estimation(population: int, dimension: int, curvature: float = 1.0, spread: float = 1.0) -> Quadratic:
    """That of trainers.data.synthetic, always the same."""
    from ...trainers.data import synthetic  # here: torch takes seconds

    sizes = {"population": population, "dimension": dimension}
    return Quadratic.of(synthetic.mean_estimation(**sizes, curvature=curvature, spread=spread, seed=1))


@cache
def ridge_regression(population: int, dimension: int) -> Quadratic:
    """That of trainers.data.synthetic, always the same: L = 1, mu = .1, clients whose Hessians and optima differ."""
    from ...trainers.data import synthetic

    return Quadratic.of(synthetic.ridge_regression(population=population, dimension=dimension, seed=2))


Form = Literal["as-printed", "reset", "increments"]
"""Line 8 as printed; with u_k = w_k^{t+1} - w~^t, as the published code has it; with 1/m for 1/q."""

UNCLIPPED = 1e4
"""A clip norm that no update of a row's run without clipping reaches; runs that diverge leave it behind at the end."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """shared: (T + 1, d), w~^t; models: (T + 1, m, d), w_k^t; problem: the Quadratic that was solved.

    cohorts: S_t of every round.
    """

    problem: Any
    strength: float
    shared: Floats
    models: Floats
    cohorts: tuple[npt.NDArray[np.int64], ...]

    def gaps(self) -> Floats:
        """(T + 1,) F(W^t) - F*, the objective (2) over its minimum."""
        best = self.problem.objective(self.problem.optimum(self.strength), self.strength)
        return np.array([self.problem.objective(models, self.strength) - best for models in self.models])

    def gradients(self) -> Floats:
        """(T + 1, d): the squared entries of grad (m F)(W^t), summed over clients."""
        return self._squares(self.models.mean(axis=1))

    def broadcast_gradients(self) -> Floats:
        """(T + 1, d): the squared entries of grad f_k(w_k^t; w~^t), summed over clients, as on (29)'s left."""
        return self._squares(self.shared)

    def _squares(self, centres: Floats) -> Floats:
        local = np.einsum("kij,tkj->tki", self.problem.hessians, self.models - self.problem.centres)
        return np.asarray(((local + self.strength * (self.models - centres[:, None])) ** 2).sum(axis=1))

    def values(self) -> Floats:
        """(T + 1, m) f_k(w_k^t; w~^t)."""
        gaps = self.models - self.problem.centres
        losses = 0.5 * np.einsum("tki,kij,tkj->tk", gaps, self.problem.hessians, gaps)
        return np.asarray(losses + 0.5 * self.strength * ((self.models - self.shared[:, None]) ** 2).sum(axis=2))


def run(
    problem: Any,
    form: Form,
    *,
    strength: float,
    learning_rate: float,
    rounds: int,
    local_steps: int = 1,
    cohort: int | None = None,
    noise_std: float = 0.0,
    clip_norm: float | None = None,
    seed: int = 0,
    start: Floats | None = None,
) -> Path:
    """Train and record. cohort: None for all clients. noise_std: sigma, on the mean. start: (d,) initial model."""
    from ...trainers.federated import LocalSteps, Settings

    population, dimension = problem.centres.shape
    taking_part = population if cohort is None else cohort
    bound = clip_norm or (UNCLIPPED if noise_std else None)
    told = Settings(
        rounds=rounds,
        cohort=taking_part,
        sampling="full" if cohort is None else "fixed-size",
        noise_multiplier=noise_std * taking_part / bound if bound else 0.0,
        clip_norm=bound,
        dtype="float64",
        seed=seed,
        device="cpu",
        local=LocalSteps(learning_rate=learning_rate, steps=local_steps, batch_size=None),
    )
    algorithm, steps = _recorded(form, strength)
    begin = np.zeros(dimension) if start is None else start
    trainer = _trained(problem, algorithm, told, begin)
    shared = np.stack([broadcast for broadcast, _, _ in steps] + [trainer.shared[0].numpy()])
    models = _models(steps, np.repeat(begin[None], population, axis=0))
    return Path(problem, strength, shared, models, tuple(np.asarray(clients) for _, clients, _ in steps))


def _trained(problem: Any, algorithm: Any, told: Any, begin: Floats) -> Any:
    """The trainer after its run. Step sizes that it warns of are what some rows are about."""
    import torch

    from ...trainers.federated import StabilityWarning, Trainer
    from ...trainers.models import Linear

    model = Linear(len(begin), 1, bias=False)
    model.weight.data = torch.from_numpy(begin[:, None].copy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)
        trainer = Trainer(problem.federation, algorithm, model, told)
        trainer.run()
    return trainer


def _models(steps: list[tuple[Floats, Any, Floats]], begin: Floats) -> Floats:
    """(T + 1, m, d): every client's model, which stays as it is where it does not take part."""
    found = [begin]
    for _, clients, after in steps:
        found.append(found[-1].copy())
        found[-1][clients] = after
    return np.array(found)


def _recorded(form: Form, strength: float) -> tuple[Any, list[tuple[Floats, Any, Floats]]]:
    """The algorithm, and the list to which each round adds (w~^t, cohort, the cohort's models after the round)."""
    from ...trainers.federated import Pmtl, PmtlAsPrinted, PmtlIncrements

    steps: list[tuple[Floats, Any, Floats]] = []
    base: Any = {"as-printed": PmtlAsPrinted, "reset": Pmtl, "increments": PmtlIncrements}[form]

    class Recorded(base):  # type: ignore[misc]
        def client_round(self, solve: Any, shared: Any, own: Any, clients: Any) -> Any:
            sent, after = super().client_round(solve, shared, own, clients)
            steps.append((shared[0].numpy().copy(), clients.copy(), after.numpy().copy()))
            return sent, after

    return Recorded(strength), steps
