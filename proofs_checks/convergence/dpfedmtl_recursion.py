"""Algorithm 1 on problems with known L, c, B and optimum: many independent runs side by side, in plain numpy.

f_i(w_i, w_s) = sum of phi over the coordinates of w_i and of w_s - centre_i, phi convex or not with |phi''| <= L. With
one cohort for H local steps between synchronisations, and one noise on what is uploaded then (H = 1 is Algorithm 1; for
H > 1 it leaves w_(M+1) undefined). What is computed here is what the trainer does: dpfedmtl_trainer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats

Curve = tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]

CURVES: dict[str, Curve] = {
    "quadratic": (lambda x: x * x / 2, lambda x: x),
    "log cosh": (lambda x: np.logaddexp(x, -x) - np.log(2.0), np.tanh),
    "cosine": (lambda x: 1 - np.cos(x), np.sin),
}
"""phi and its derivative for L = 1: strongly convex, convex with |phi'| <= 1, not convex with |phi'| <= 1."""


@dataclass(frozen=True)
class Family:
    """M clients; one head coordinate each, `dimension` shared ones; centres (M, dimension) of the shared part."""

    curve: str
    smoothness: float
    clients: int
    dimension: int = 1
    spread: float = 0.0

    @property
    def centres(self) -> Floats:
        """(M, dimension): `spread` apart on both sides of 0."""
        signs = np.where(np.arange(self.clients) % 2 == 0, 1.0, -1.0)
        if self.clients % 2:
            signs[-1] = 0.0
        return self.spread * signs[:, None] * np.ones(self.dimension)

    @property
    def modulus(self) -> float:
        """c of Assumption 5.2 on V, for the quadratic: L/M, the heads' curvature in f = (1/M) sum f_i."""
        return self.smoothness / self.clients

    def value(self, heads: Floats, shared: Floats) -> Floats:
        """f, for heads (runs, M) and shared (runs, dimension)."""
        phi = CURVES[self.curve][0]
        apart = phi(shared[:, None, :] - self.centres).sum(axis=2)
        result: Floats = self.smoothness * (phi(heads) + apart).mean(axis=1)
        return result

    def head_slopes(self, heads: Floats) -> Floats:
        """(runs, M): the gradient of f_i in w_i."""
        return self.smoothness * CURVES[self.curve][1](heads)

    def shared_slopes(self, shared: Floats) -> Floats:
        """(runs, M, dimension): the gradient of f_i in w_s, for shared (runs, M or 1, dimension)."""
        return self.smoothness * CURVES[self.curve][1](shared - self.centres)

    def squared_gradient(self, heads: Floats, shared: Floats) -> Floats:
        """(runs,): ||grad f||^2 on V."""
        of_heads = (self.head_slopes(heads) / self.clients) ** 2
        of_shared = self.shared_slopes(shared[:, None, :]).mean(axis=1) ** 2
        result: Floats = of_heads.sum(axis=1) + of_shared.sum(axis=1)
        return result


@dataclass(frozen=True)
class Step:
    """step: eta. noise: S sigma. cohort: K, drawn uniformly without replacement. local: H."""

    step: float
    noise: float = 0.0
    cohort: int = 1
    local: int = 1


def advance(
    family: Family, how: Step, heads: Floats, shared: Floats, chosen: NDArray[np.intp], noise: Floats
) -> Floats:
    """One round of `chosen` (runs, K): w_s after it, noise (runs, d) on the mean gradient; moves `heads` in place."""
    rows = np.arange(len(heads))[:, None]
    local = np.repeat(shared[:, None, :], chosen.shape[1], axis=1)
    centres = family.centres[chosen]
    for _ in range(how.local):
        local = local - how.step * family.smoothness * CURVES[family.curve][1](local - centres)
        heads[rows, chosen] -= how.step * family.head_slopes(heads[rows, chosen])
    result: Floats = local.mean(axis=1) - how.step * noise
    return result


def runs(family: Family, how: Step, count: int, start: float, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """(heads, shared) at every synchronisation, from w = start, for `count` independent runs, without end."""
    rng = np.random.default_rng(seed)
    heads = np.full((count, family.clients), start)
    shared = np.full((count, family.dimension), start)
    while True:
        yield heads, shared
        chosen = np.argsort(rng.random((count, family.clients)), axis=1)[:, : how.cohort]
        noise = how.noise / np.sqrt(how.cohort) * rng.standard_normal(shared.shape)
        heads = heads.copy()
        shared = advance(family, how, heads, shared, chosen, noise)


def quadratic_means(family: Family, how: Step, start: float, rounds: int) -> tuple[Floats, Floats]:
    """E f(w^t) - f* and E ||grad f(w^t)||^2 exactly, t < rounds, for identical quadratic clients.

    The mean squares of the heads and of w_s follow lines.
    """
    smooth, m, d = family.smoothness, family.clients, family.dimension
    shrink, shared, head = (1 - how.step * smooth) ** 2, start**2, start**2
    values, squares = [], []
    for _ in range(rounds):
        values.append(smooth / 2 * (head + d * shared))
        squares.append(smooth**2 * (head / m + d * shared))
        shared = shrink * shared + how.step**2 * how.noise**2 / how.cohort
        head = (1 - how.cohort / m) * head + how.cohort / m * shrink * head
    return np.array(values), np.array(squares)
