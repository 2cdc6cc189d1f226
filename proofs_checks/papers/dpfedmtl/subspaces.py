"""Section 5.1: restriction, interpolation, the rewritten objective (13), and how it differs from Algorithm 1."""

from __future__ import annotations

import numpy as np
import z3

from ....mechanisms.arrays import Floats
from ..row import EXACT, Finding, Statement, on_instances
from ..smt import Recheck, Values, decide

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


def client_sees(statement: Statement) -> Finding:
    """f_i's arguments in (13): it must be given client i's own (w_i, w_(M+1))."""
    w = np.array([1.0, 2.0, 3.0, 4.0])
    scale = {"R_i": M**-0.5, "R_i without the root": 1.0}[statement.claim["operator"]]
    given = restriction(1, scale) @ w
    wanted = np.array([w[1], w[M]])
    off = float(np.abs(given - wanted).max())
    text = f"client 2 is given ({given[0]:.4g}, {given[1]:.4g}) in place of ({wanted[0]:.4g}, {wanted[1]:.4g})"
    return Finding(
        off < 1e-12,
        text if off >= 1e-12 else "client 2 is given its own weights and the shared ones",
        {"off": off},
        basis=EXACT,
    )


def stable_decomposition(statement: Statement) -> Finding:
    """sum_i ||I_i R_i w||^2 <= C_s ||w||^2: the projections are (w_i, w_(M+1)/M), for M clients; by coordinates.

    The sum is sum_i w_i^2 + w_(M+1)^2 / M; z3 has M as a variable, and the sum of the w_i^2 as one.
    """
    heads, shared, clients = z3.Reals("heads shared M")
    constant = z3.RealVal(str(statement.claim["C_s"]))

    def recheck(values: Values) -> Recheck:
        left = values["heads"] ** 2 + values["shared"] ** 2 / values["M"]
        right = statement.claim["C_s"] * (values["heads"] ** 2 + values["shared"] ** 2)
        return Recheck(left > right, {"sum of squares": left, "stated": right})

    return decide(
        heads * heads + shared * shared / clients <= constant * (heads * heads + shared * shared),
        [clients >= 1],
        recheck,
        proof="sum_i w_i^2 + w_(M+1)^2 / M is at most ||w||^2 for every M",
        refutation="the heads alone attain C_s = 1",
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


def redundant(statement: Statement) -> Finding:
    """The sum (10) is direct iff its dimensions add up: sum (d_i + d_s) = sum d_i + d_s."""
    heads, shared, clients = z3.Reals("heads shared M")

    def recheck(values: Values) -> Recheck:
        extra = (values["M"] - 1) * values["shared"]
        return Recheck(extra <= 0, {"redundant dimensions": extra})

    return decide(
        heads + clients * shared > heads + shared,
        [heads >= 1, shared >= 1, clients >= statement.domain["M at least"]],
        recheck,
        proof="(M - 1) d_s dimensions are counted more than once",
        refutation="with one client the sum is direct",
    )


def head_gradient(statement: Statement) -> Finding:
    """The head's gradient in section 5.1's update, of f = (1/M) sum f_i, against Algorithm 1's (5), of f_i."""
    gradient, clients = z3.Reals("gradient M")
    stated = gradient if statement.claim["section 5.1 over (5)"] == "1" else gradient / clients

    def recheck(values: Values) -> Recheck:
        true, said = values["gradient"] / values["M"], values["gradient"]
        return Recheck(true != said, {"of f": true, "of f_i": said})

    return decide(
        gradient / clients == stated,
        [clients >= 1],
        recheck,
        proof="the gradient of f is 1/M of the one of f_i, which Algorithm 1 follows",
        refutation="Algorithm 1's head gradients are M times those that are analysed",
    )
