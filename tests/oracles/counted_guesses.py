"""The worst law of a number of right guesses that a claim allows, by a linear programme over all its probabilities."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from dpcert.proofs_checks.auditing.curve import ClaimedCurve


def few_lines(claim):
    return ClaimedCurve(claim.epsilons[::5], claim.deltas[::5], claim.text)


def law(canaries: int, least: dict[int, int], claim) -> tuple[float, dict[tuple[int, int], float]]:
    """The largest P(k >= least[r]) of mechanisms that keep the claim, and the law of (r guesses, k right) that has it.

    The mechanism draws (r, k), then evenly which canaries it guesses and which of these rightly. Flipping one coin
    turns "this canary right, k right in all" into "wrong, k - 1 right": of each such pair the excess over e^epsilon
    times the other, in both directions, all summed up, is what a line bounds by delta. By linear programming.
    """
    cells = {cell: i for i, cell in enumerate((r, k) for r in least for k in range(r + 1))}
    mine, other = np.zeros((2, len(cells), len(cells)))
    for (r, k), i in cells.items():
        if k:
            mine[i, i], other[i, cells[r, k - 1]] = k / canaries, (r - k + 1) / canaries
    lines = list(zip(claim.epsilons, claim.deltas, strict=True))
    size, extra = len(cells), 2 * len(cells)
    rows, bounds = [], []
    for number, (epsilon, delta) in enumerate(lines):
        odds, start = math.exp(epsilon), size + number * extra
        for part, over in ((0, mine - odds * other), (1, other - odds * mine)):
            block = np.zeros((size, size + len(lines) * extra))
            block[:, :size] = over
            block[:, start + part * size : start + (part + 1) * size] = -np.eye(size)
            rows += list(block)
            bounds += [0.0] * size
        rows.append(np.zeros(size + len(lines) * extra))
        rows[-1][start : start + extra] = 1.0
        bounds.append(delta)
    wanted = np.zeros(size + len(lines) * extra)
    wanted[:size] = [-float(k >= least[r]) for r, k in cells]
    total = np.concatenate([np.ones(size), np.zeros(len(lines) * extra)])[None]
    solved = linprog(wanted, A_ub=np.array(rows), b_ub=bounds, A_eq=total, b_eq=[1.0], method="highs")
    assert solved.status == 0
    return -solved.fun, dict(zip(cells, solved.x[:size], strict=True))
