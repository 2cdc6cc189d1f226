"""Sections 3.1 to 3.3: the formulation (2), its dual (3), Assumption 1 and Remark 1."""

from __future__ import annotations

import numpy as np
import z3

from ..row import Finding, Statement, on_instances
from ..smt import Recheck, Values, decide

W1, W2, O1, O2, A, B, C_ = z3.Reals("w1 w2 omega1 omega2 a b c")
L1, L2 = z3.Reals("lambda1 lambda2")


def jointly_convex(statement: Statement) -> Finding:
    """Midpoint convexity of one task's w^2 omega (or w^2 / omega, for comparison) on omega > 0."""
    product = statement.claim["regulariser"] == "w^2 omega"
    middle = ((W1 + W2) / 2, (O1 + O2) / 2)
    if product:
        convex = 2 * middle[0] * middle[0] * middle[1] <= W1 * W1 * O1 + W2 * W2 * O2
    else:  # 2 (mid w)^2 / (mid omega) <= w1^2/omega1 + w2^2/omega2, multiplied by omega1 omega2 (omega1 + omega2)
        convex = (W1 + W2) * (W1 + W2) * O1 * O2 <= (W1 * W1 * O2 + W2 * W2 * O1) * (O1 + O2)

    def recheck(values: Values) -> Recheck:
        w, v, o, p = (values[name] for name in ("w1", "w2", "omega1", "omega2"))
        at_middle, mean = ((w + v) / 2) ** 2 * (o + p) / 2, (w * w * o + v * v * p) / 2
        return Recheck(at_middle > mean, {"at the middle": at_middle, "mean of the ends": mean})

    found = decide(
        convex,
        [O1 > 0, O2 > 0],
        recheck,
        proof="midpoint convex, hence jointly convex",
        refutation="above the chord at a midpoint: not jointly convex",
    )
    return Finding(not found.holds, found.text, found.numbers, found.witness, basis=found.basis)


def convex_in_w(statement: Statement) -> Finding:
    """lambda1 w^T Omega w + lambda2 |w|^2 >= 0 for two tasks: the curvature in W; (2) is linear in Omega."""
    form = L1 * (A * W1 * W1 + 2 * B * W1 * W2 + C_ * W2 * W2) + L2 * (W1 * W1 + W2 * W2)
    psd = [A >= 0, C_ >= 0, A * C_ >= B * B]

    def recheck(values: Values) -> Recheck:
        omega = np.array([[values["a"], values["b"]], [values["b"], values["c"]]])
        curvature = values["lambda1"] * omega + values["lambda2"] * np.eye(2)
        least = float(np.linalg.eigvalsh(curvature)[0])
        return Recheck(least < 0, {"smallest curvature": least})

    return decide(
        form >= 0,
        [L1 > 0, L2 > 0, *(psd if statement.domain["Omega"] == "positive semidefinite" else [])],
        recheck,
        proof="convex in W for every positive semidefinite Omega",
        refutation="an indefinite Omega makes it unbounded below in W",
    )


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


def conjugate_smoothness(statement: Statement) -> Finding:
    """Strong convexity of R with respect to M^-1 against smoothness of R* with respect to M, along one eigenvector.

    R = a x^2 / 2 is strongly convex iff a >= 1/m; R* = v^2 / (2 a) is c-smooth with respect to m iff 1/a <= c m.
    """
    a, m = z3.Reals("curvature m")
    c = z3.RealVal(str(statement.claim["c"]))

    def recheck(values: Values) -> Recheck:
        true, said = 1 / values["curvature"], statement.claim["c"] * values["m"]
        return Recheck(true > said, {"curvature of R*": true, "stated": said})

    return decide(
        1 / a <= c * m,
        [a > 0, m > 0, a >= 1 / m],
        recheck,
        proof="R* is smooth with respect to M whenever R is strongly convex with respect to M^-1",
        refutation="R* has more curvature than stated where R has just enough",
    )


def vectorised(statement: Statement) -> Finding:
    """tr(W Omega W^T) = w^T (Omega (x) I) w and its curvature, with two tasks and two features."""
    w = [[z3.Real(f"w{i}{t}") for t in (1, 2)] for i in (1, 2)]
    omega = [[A, B], [B, C_]]
    trace = sum(w[i][s] * omega[s][t] * w[i][t] for i in range(2) for s in range(2) for t in range(2))
    squares = sum(w[i][t] * w[i][t] for i in range(2) for t in range(2))
    regulariser, stacked = L1 * trace + L2 * squares, [w[i][t] for t in range(2) for i in range(2)]
    kron = [[omega[s // 2][t // 2] if s % 2 == t % 2 else z3.RealVal(0) for t in range(4)] for s in range(4)]
    factor = z3.RealVal(str(statement.claim["curvature over M^-1"]))
    inverse = [[L1 * kron[s][t] + (L2 if s == t else 0) for t in range(4)] for s in range(4)]
    in_vectors = sum(stacked[s] * inverse[s][t] * stacked[t] for s in range(4) for t in range(4))

    def recheck(values: Values) -> Recheck:
        matrix = np.array([[values.get(f"w{i}{t}", 0.0) for t in (1, 2)] for i in (1, 2)])
        relation = np.array([[values["a"], values["b"]], [values["b"], values["c"]]])
        ridge = values["lambda2"] * float((matrix * matrix).sum())
        value = values["lambda1"] * float(np.trace(matrix @ relation @ matrix.T)) + ridge
        said = statement.claim["curvature over M^-1"] * value
        broken = 2 * value < said if statement.claim["relation"] == "at least" else 2 * value > said
        return Recheck(broken, {"curvature of R": 2 * value, "stated": said})

    return decide(
        z3.And(regulariser == in_vectors, 2 * regulariser >= factor * in_vectors)
        if statement.claim["relation"] == "at least"
        else 2 * regulariser <= factor * in_vectors,
        [L1 > 0, L2 > 0, A >= 0, C_ >= 0, A * C_ >= B * B],
        recheck,
        proof="the identity holds, and R has at least the stated curvature",
        refutation="R has the curvature 2 M^-1, no more and no less",
    )
