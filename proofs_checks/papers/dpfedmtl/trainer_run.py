"""The corrected Theorem 5.1 along runs of the trainer: clients' noise, S = 2C, clients that disagree.

f_i = (w_s + w_i - y_i)^2 / 2: shared weight and head interact, the joint Hessian is ((1, 1), (1, 1)), so L = 2, f* = 0
and d = 1. C is so large that nothing is clipped. Summing the decay lemma for disagreeing clients over the rounds,

    mean of E (K |grad_heads f|^2 + |grad_s f|^2) <= 2 E (f(first) - f(last))/(eta T)
                                                     + L eta (mean of E zeta_t^2 (M-K)/(K(M-1)) + d (S sigma)^2/K)

over any T rounds; the heads' part counts K times because all K chosen heads move (docs/theory/dpfedmtl.md). Clients
whose heads and shared weights do not interact, run by the trainer and by the recursion that equals it, come within a
few percent of the bound.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from ....mechanisms.arrays import Floats
from ...convergence.dpfedmtl_recursion import Family, Step, runs
from ...convergence.dpfedmtl_trainer import unlike_the_trainer
from ..row import Finding, Statement, Undecided, looseness, on_instances, resting_on

if TYPE_CHECKING:
    from ....trainers.federated import Trainer

CLIENTS, COHORT, SMOOTH, STEP, CLIP, NOISE = 12, 3, 2.0, 0.5, 100.0, 0.8
ROUNDS, SEEDS, ALPHA = 40, 12, 1e-4
WINDOWS = ((0, 10), (0, 20), (0, ROUNDS), (ROUNDS // 2, ROUNDS))
"""Rounds from and to; the last one has nothing but noise left."""
TARGETS = np.linspace(-2.0, 3.0, CLIENTS)


def _trainer(cohort: int, seed: int) -> Trainer:
    """torch is imported when the row runs, and not before."""
    import torch

    from ....trainers.data import Client, Federation, Samples
    from ....trainers.dpfedmtl import DpFedMtlLocalNoise
    from ....trainers.federated import LocalSteps, Settings, Trainer

    class Head(torch.nn.Module):
        """Adds its one number."""

        def __init__(self) -> None:
            super().__init__()
            self.by = torch.nn.Parameter(torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.by

    shared = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(shared.weight)
    model = torch.nn.Sequential(shared, Head())
    own = [Samples(np.ones((1, 1)), np.full((1, 1), target)) for target in TARGETS]
    federation = Federation("line", tuple(Client(str(k), s, s) for k, s in enumerate(own)), "regression", 1)
    algorithm = DpFedMtlLocalNoise()
    settings = Settings(
        rounds=ROUNDS,
        cohort=cohort,
        sampling="fixed-size",
        noise_multiplier=algorithm.noise_multiplier(NOISE / (2 * CLIP), cohort, CLIENTS),
        clip_norm=CLIP,
        seed=seed,
        local=LocalSteps(learning_rate=STEP, steps=1, batch_size=None),
    )
    return Trainer(federation, algorithm, model, settings)


@cache
def _statistics(cohort: int) -> Floats:
    """(SEEDS, ROUNDS): K |grad_heads f|^2 + |grad_s f|^2 - L eta zeta^2 (M-K)/(K(M-1)) - (2/eta)(f(w) - f(w+))."""
    values = np.zeros((SEEDS, ROUNDS))
    for seed in range(SEEDS):
        trainer = _trainer(cohort, seed)
        assert trainer.personal is not None
        residuals = []
        for _ in range(ROUNDS + 1):
            heads = trainer.personal.get(np.arange(CLIENTS)).numpy()[:, 0].astype(float)
            residuals.append(float(trainer.shared[0, 0]) + heads - TARGETS)
            trainer._round()
        r = np.array(residuals)
        squared = cohort * ((r / CLIENTS) ** 2).sum(axis=1) + r.mean(axis=1) ** 2
        spread = r.var(axis=1) * (CLIENTS - cohort) / (cohort * (CLIENTS - 1))
        decrease = -np.diff((r**2).mean(axis=1) / 2)
        values[seed] = (squared - SMOOTH * STEP * spread)[:-1] - 2 / STEP * decrease
    return values


APART, HOW = Family("quadratic", 1.0, 12, 20, spread=0.3), Step(0.95, NOISE, 3)
"""Clients that disagree, heads apart from the shared weights, eta slightly below 1/L; 20 shared coordinates."""


@cache
def _statistics_apart(count: int = 200) -> Floats:
    """The same of APART, (count, ROUNDS), by the recursion."""
    family, how, values, squares = APART, HOW, [], []
    for heads, shared in islice(runs(family, how, count, 1.0, 1), ROUNDS + 1):
        values.append(family.value(heads, shared))
        own = (family.head_slopes(heads) / family.clients) ** 2
        mean = family.shared_slopes(shared[:, None, :]).mean(axis=1) ** 2
        squares.append(how.cohort * own.sum(axis=1) + mean.sum(axis=1))
    variance = family.dimension * float(family.centres[:, 0].var()) * family.smoothness**2
    spread = variance * (family.clients - how.cohort) / (how.cohort * (family.clients - 1))
    decrease = -np.diff(np.array(values), axis=0)
    result: Floats = (np.array(squares)[:-1] - family.smoothness * how.step * spread - 2 / how.step * decrease).T
    return result


@resting_on(on_instances(SEEDS, "trainer runs"))
def bound_along_runs(statement: Statement) -> Finding:
    """What the noise's term has to cover, over that term, in every window; a Student bound of error ALPHA each."""
    unlike = unlike_the_trainer([(APART, HOW, 1.0)])
    if unlike:
        return Finding(False, unlike)
    apart = APART.smoothness * HOW.step * APART.dimension * NOISE**2 / HOW.cohort
    cases = ((_statistics(COHORT), SMOOTH * STEP * NOISE**2 / COHORT), (_statistics_apart(), apart))
    worst, shares = [], []
    for covered, noise in cases:
        for first, last in WINDOWS:
            left = covered[:, first:last].mean(axis=1) / (statement.claim["factor of the noise"] * noise)
            reach = float(student.isf(ALPHA, len(left) - 1)) * float(left.std(ddof=1)) / np.sqrt(len(left))
            worst.append((float(left.mean() - reach), float(left.mean() + reach)))
            shares.append(float(left.mean()))
    low, high = (max(side) for side in zip(*worst, strict=True))
    text = f"what the noise's term has to cover is at most {high:.3f} times it, and {low:.3f} times or more at some T"
    if low <= 1 < high:
        raise Undecided(text)
    numbers = {"measured over stated noise, at least": low, "measured over stated noise, at most": high}
    return Finding(
        bool(high <= 1),
        text,
        numbers,
        error_probability=len(worst) * ALPHA,
        loose=looseness(shares) if high <= 1 else None,
    )
