"""A round of MOCHA written out node by node and coordinate by coordinate, against the trainer's.

What rests on runs of the trainer asks `confirm_rounds` first: a trainer that does other rounds proves nothing.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.arrays import Floats
from .mocha_problem import Problem, made_problem
from .unlike import UnlikeTheTrainer

CLOSE = 1e-9
ROUNDS = 3
ABSENT = 1
"""The node that drops out of every second round."""


def _coordinate(loss: str, old: float, prediction: float, label: float, curvature: float) -> float:
    """argmin over a of l*(-a) + (a - old) prediction + curvature (a - old)^2 / 2, in closed form."""
    if loss == "squared":
        return (label - prediction + curvature * old) / (1 + curvature)
    free = old + (label - prediction) / curvature
    return label * min(1.0, max(0.0, free * label))


def written_out(problem: Problem, loss: str, alpha: Floats, answering: list[bool], passes: int) -> Floats:
    """alpha after Algorithm 1's lines 6 to 9 from w(alpha), by cyclic passes; sigma' as the authors set it."""
    covariance, strength, samples = problem.covariance, problem.regularisation, problem.samples
    sigma = max(float(np.abs(row).sum() / row[t]) for t, row in enumerate(covariance))
    sums = np.array([x.T @ alpha[t] / samples for t, x in enumerate(problem.tasks.features)])
    after = alpha.copy()
    for t, (x, y) in enumerate(zip(problem.tasks.features, problem.tasks.labels, strict=True)):
        if not answering[t]:
            continue
        own = covariance[t] @ sums / strength
        rate = sigma * covariance[t, t] / (strength * samples)
        for _ in range(passes):
            for i in range(samples):
                new = _coordinate(loss, after[t, i], float(x[i] @ own), float(y[i]), rate * float(x[i] @ x[i]))
                own = own + rate * (new - after[t, i]) * x[i]
                after[t, i] = new
    return after


def confirm_rounds() -> None:
    """For both losses, a node absent every other round. Raises UnlikeTheTrainer where the trainer's rounds differ."""
    for loss in ("squared", "hinge"):
        problem = made_problem(3, 4, 5, loss=loss, coupling=0.7)
        state, alpha = problem.start(), problem.start().alpha
        for h in range(ROUNDS):
            answering = np.array([t != ABSENT or h % 2 == 1 for t in range(3)])
            state = problem.round(state, answering, passes=2)
            alpha = written_out(problem, loss, alpha, answering.tolist(), 2)
            apart = float(np.abs(state.alpha - alpha).max())
            if not apart < CLOSE:
                raise UnlikeTheTrainer(
                    f"the trainer's round {h + 1} is {apart:.2g} away from Algorithm 1's ({loss} loss)"
                )
