"""Sections 3.1 to 3.3: the formulation (2), its dual (3), Assumption 1 and Remark 1."""

from __future__ import annotations

import numpy as np

from ..row import Finding, Statement, on_instances


def minimised_in_omega(statement: Statement) -> Finding:
    """tr(W Omega W^T), W with five features and four tasks: is it bounded below in Omega, and attained off 0?

    Under 0 <= Omega <= I and trace Omega = 1 the minimum is the smallest eigenvalue of W^T W, attained at its
    projector; 500 random feasible Omega are compared with it.
    """
    rng = np.random.default_rng(2)
    weights = rng.standard_normal((5, 4))
    gram = weights.T @ weights
    if statement.domain["Omega"] == "symmetric":
        lowest = [float(np.trace(-size * gram)) for size in (1.0, 10.0, 100.0)]
        text = f"tr(W Omega W^T) is {lowest[-1]:.3g} at Omega = -100 I, and so on (and 0 is best among Omega >= 0)"
        return Finding(False, text, {"values at -1, -10, -100": lowest}, basis=on_instances(500))
    least, others = float(np.linalg.eigvalsh(gram)[0]), []
    for _ in range(500):
        basis, _ = np.linalg.qr(rng.standard_normal((4, 4)))
        others.append(float(np.trace(gram @ (basis * rng.dirichlet(np.ones(4))) @ basis.T)))
    holds = least <= min(others) + 1e-12
    return Finding(
        holds,
        f"the minimum is {least:.3g}, at a projector",
        {"minimum": least, "best of 500": min(others)},
        basis=on_instances(500),
    )


def strong_duality(statement: Statement) -> Finding:
    """P(w*) + D(alpha*) = 0 with w* and alpha* from two separate linear systems, squared loss, random problems.

    R(w) = w^T A w with A = lambda1 Omega (x) I + lambda2 I; R*(v) = factor v^T A^-1 v; w(alpha) = grad R*(X alpha).
    """
    factor, rng, worst = statement.claim["R* over v^T A^-1 v"], np.random.default_rng(4), 0.0
    for _ in range(20):
        root = rng.standard_normal((3, 3))
        weight = 0.7 * np.kron(root @ root.T, np.eye(2)) + 0.4 * np.eye(6)
        x = np.zeros((6, 12))
        for t in range(3):
            x[2 * t : 2 * t + 2, 4 * t : 4 * t + 4] = rng.standard_normal((2, 4))
        y = rng.standard_normal(12)
        w = np.linalg.solve(x @ x.T + 2 * weight, x @ y)
        primal = float(((x.T @ w - y) ** 2).sum() / 2 + w @ weight @ w)
        inverse = np.linalg.inv(weight)
        alpha = np.linalg.solve(np.eye(12) + 2 * factor * x.T @ inverse @ x, y)
        v = x @ alpha
        dual = float((alpha**2 / 2 - alpha * y).sum() + factor * v @ inverse @ v)
        mapped = 2 * factor * inverse @ v
        worst = max(worst, abs(primal + dual) / primal, float(np.abs(mapped - w).max()))
    holds = worst < 1e-10
    text = f"|P(w*) + D(alpha*)| and |w(alpha*) - w*| are at most {worst:.3g}"
    return Finding(holds, text, {"largest deviation": worst}, basis=on_instances(20))
