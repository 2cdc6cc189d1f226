"""Section 5.1: restriction, interpolation, the rewritten objective (13), and how it differs from Algorithm 1."""

from __future__ import annotations

import numpy as np

from ....mechanisms.arrays import Floats
from ..row import EXACT, Finding, Statement, on_instances

M = 3
"""Clients in the identities below; every vector has one coordinate a block, M + 1 blocks."""


def restriction(client: int, scale: float) -> Floats:
    """R_i of (11), 2 x (M + 1), with `scale` in place of sqrt(1/M)."""
    matrix = np.zeros((2, M + 1))
    matrix[0, client], matrix[1, M] = 1.0, scale
    return matrix


def product_acts(statement: Statement) -> Finding:
    """Whether the operator product of (13) can be applied to w in V, M + 1 blocks."""
    r = restriction(0, M**-0.5)
    product = r @ r.T if statement.claim["product"] == "R_i I_i" else r.T @ r
    shape = product.shape
    return Finding(
        shape[1] == M + 1,
        f"a {shape[0]} x {shape[1]} matrix meets a vector of {M + 1} blocks",
        {"shape": shape},
        basis=EXACT,
    )


def resolution_of_identity(statement: Statement) -> Finding:
    """sum_i I_i R_i against the identity on V."""
    factor = statement.claim["factor of the shared block"]
    total = sum(restriction(i, factor).T @ restriction(i, factor) for i in range(M))
    off = float(np.abs(total - np.eye(M + 1)).max())
    return Finding(
        off < 1e-12,
        f"sum_i I_i R_i is off the identity by {off:.3g}",
        {"largest difference": off},
        basis=on_instances(1),
    )


def decomposes(statement: Statement) -> Finding:
    """Whether w with w_(M+1) != 0 is a sum of vectors from the stated subspaces: the residual of least squares."""
    w = np.ones(M + 1)
    axes = [[i] if statement.claim["v_i in"] == "V_i" else [i, M] for i in range(M)]
    basis = np.concatenate([np.eye(M + 1)[each] for each in axes])
    residual = float(np.linalg.norm(basis.T @ np.linalg.lstsq(basis.T, w, rcond=None)[0] - w))
    return Finding(
        residual < 1e-12, f"the nearest sum is {residual:.3g} away from w", {"distance": residual}, basis=EXACT
    )
