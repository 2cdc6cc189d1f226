"""Multi-task relationship learning with any fixed Omega (PMTL, eq. (1) with R = lambda_1 tr(W Omega W^T)).

Write Omega = c I - B S B^T, with c an eigenvalue of Omega and B S B^T the rest: an m x r matrix B and signs S. Then
client k's part of the penalty's gradient is 2 lambda_1 (c w_k - M S b_k), b_k its row of B, with the statistic
M = sum_j w_j b_j^T, a (d, r) matrix. Given M it is a pull of strength 2 lambda_1 c towards a_k = M S b_k / c, so all
that the billboard has to show is M. For Omega = I - 11^T/m that is one column, M = sqrt(m) w_bar and a_k = w_bar: PMTL.

As in Pmtl a client sends its distance from its anchor, u_k = w_k - a_k, here as the matrix u_k b_k^T / b, with
b = max_j ||b_j||, which the engine clips and sums; and M becomes sum_k a_k b_k^T (public) plus (m/q) b times that sum.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ...mechanisms import InputError, PrivacyNotion
from ...mechanisms.arrays import Floats
from ..engine.algorithm import ClientRound, Clients, Pulled, Solve

ROUNDING = 1e-9


class FixedOmega(Pulled):
    """omega: (m, m), symmetric, positive semi-definite, not zero. strength: 2 lambda_1, so that Omega = I - 11^T/m
    with the same strength is Pmtl.

    largest: the largest eigenvalue of omega.
    """

    name = "fixed-omega"
    notion = PrivacyNotion.BILLBOARD
    personal = True

    def __init__(self, omega: Floats, strength: float = 1.0) -> None:
        super().__init__(strength)
        matrix = np.asarray(omega, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
            raise InputError("omega", matrix.shape, "a symmetric square matrix")
        self.level, self.signs, self.rows = decompose(matrix)
        self.largest = float(np.linalg.norm(self.rows, axis=1).max())

    def check(self, population: int) -> None:
        if len(self.rows) != population:
            raise InputError("omega", self.rows.shape[0], f"one row for each of {population} clients")

    def begin(self, initial: Tensor, population: int) -> Tensor:
        """(1, r d): M of the initial models, all equal."""
        return torch.outer(self._tensor(self.rows.sum(axis=0), initial), initial).reshape(1, -1)

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        rows = self._tensor(self.rows[clients], own)
        anchor = self._anchors(shared, rows)
        after = solve(own, anchor, self.strength * self.level)
        contribution = torch.einsum("cd,cr->crd", after - anchor, rows / self.largest)
        return contribution.flatten(1), after

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        rows = self._tensor(self.rows, shared)
        expected = torch.einsum("kd,kr->rd", self._anchors(shared, rows), rows)
        return expected.reshape(1, -1) + len(rows) * self.largest * mean

    def released_model(self, shared: Tensor) -> None:
        """None: W B is no model."""

    def reference(self, shared: Tensor, clients: Clients) -> Tensor:
        return self._anchors(shared, self._tensor(self.rows[clients], shared))

    def _anchors(self, shared: Tensor, rows: Tensor) -> Tensor:
        """(c, d): a_k = M S b_k / c for these rows of B."""
        statistic = shared.view(rows.shape[1], -1)
        return (rows * self._tensor(self.signs, rows)) @ statistic / self.level

    @staticmethod
    def _tensor(array: Floats, like: Tensor) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(like)


def decompose(omega: Floats) -> tuple[float, Floats, Floats]:
    """(c, signs (r,), B (m, r)) with omega = c I - B diag(signs) B^T, c the most frequent positive eigenvalue.

    That leaves the fewest columns to publish. Raises InputError for a matrix with a negative or no positive
    eigenvalue, and for a multiple of the identity, where tasks have nothing to do with each other.
    """
    values, vectors = np.linalg.eigh(omega)
    tolerance = ROUNDING * max(1.0, float(np.abs(values).max()))
    if values[0] < -tolerance or values[-1] <= tolerance:
        raise InputError("omega", float(values[0]), "a positive semi-definite matrix other than zero")
    positive = values[values > tolerance]
    frequency = [int((np.abs(values - candidate) <= tolerance).sum()) for candidate in positive]
    level = float(positive[int(np.argmax(frequency))])
    rest = level - values
    kept = np.abs(rest) > tolerance
    if not kept.any():
        raise InputError("omega", level, "a matrix that relates tasks; for a multiple of the identity train locally")
    return level, np.sign(rest[kept]), vectors[:, kept] * np.sqrt(np.abs(rest[kept]))
