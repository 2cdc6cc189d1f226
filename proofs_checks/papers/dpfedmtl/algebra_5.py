"""Section 5's small steps, one by one: the step size, how Lemma 5.2 becomes the theorems, what L is."""

from __future__ import annotations

import z3

from ..row import Finding, Statement
from ..smt import Recheck, Values, decide

L, LAM, M, G, GAP, C, R0, NOISE, T, ETA = z3.Reals("L lambda M g e c R0 noise T eta")
POSITIVE = (L > 0, LAM > 0, M >= 1, T >= 1)


def optimal_step(statement: Statement) -> Finding:
    """-eta + lambda L eta^2/2, what the descent inequality leaves of ||g||^2, at the stated eta and at any other."""
    share = z3.RealVal(str(statement.claim["eta lambda L"]))
    at = share / (LAM * L)

    def recheck(values: Values) -> Recheck:
        lam, smooth, eta = values["lambda"], values["L"], values["eta"]
        said = statement.claim["eta lambda L"] / (lam * smooth)
        first, other = (-x + lam * smooth * x * x / 2 for x in (said, eta))
        return Recheck(first > other, {"at the stated step": first, "at another": other})

    return decide(
        -at + LAM * L * at * at / 2 <= -ETA + LAM * L * ETA * ETA / 2,
        [L > 0, LAM > 0],
        recheck,
        proof="no other step leaves less",
        refutation="another step leaves less",
    )


def telescoped(statement: Statement) -> Finding:
    """Lemma 5.2 summed over T rounds, times 2 lambda M L / T: the noise's term of Theorem 5.1 (H = 1)."""
    factor = z3.RealVal(str(statement.claim["factor"]))
    lemma = (2 + 1 / (2 * M * L)) * NOISE / (LAM * LAM)

    def recheck(values: Values) -> Recheck:
        lam, m, smooth, noise = (values[name] for name in ("lambda", "M", "L", "noise"))
        inner = 2 + 1 / (2 * m * smooth)
        true = 2 * lam * m * smooth * inner * noise / lam**2
        said = statement.claim["factor"] * 2 * m * smooth / lam * inner * noise
        return Recheck(abs(true - said) > 1e-9 * true, {"2 lambda M L times the lemma": true, "stated": said})

    return decide(
        2 * LAM * M * L * lemma == factor * (2 * M * L / LAM) * (2 + 1 / (2 * M * L)) * NOISE,
        [*POSITIVE, NOISE > 0],
        recheck,
        proof="2 lambda M L times the lemma's term",
        refutation="not 2 lambda M L times the lemma's term",
    )


def gap_to_gradient(statement: Statement) -> Finding:
    """||g||^2/(2 lambda M L) against e^2/A, given e <= R0 ||g|| (convexity on the level set)."""
    scale = z3.RealVal(str(statement.claim["A over lambda M L R0^2"])) * LAM * M * L * R0 * R0

    def recheck(values: Values) -> Recheck:
        lam, m, smooth, g, e, r = (values[name] for name in ("lambda", "M", "L", "g", "e", "R0"))
        left = g * g / (2 * lam * m * smooth)
        right = e * e / (statement.claim["A over lambda M L R0^2"] * lam * m * smooth * r * r)
        return Recheck(left < right, {"decrease": left, "e^2/A": right})

    return decide(
        GAP * GAP / scale <= G * G / (2 * LAM * M * L),
        [*POSITIVE, R0 > 0, G >= 0, GAP >= 0, GAP <= R0 * G],
        recheck,
        proof="Lemma 5.2's decrease is e^2/A at least",
        refutation="the decrease may be smaller than e^2/A",
    )


def gradient_dominance(statement: Statement) -> Finding:
    """||g||^2/(2 lambda M L) against rate (f - f*), given ||g||^2 >= 2 c (f - f*) (strong convexity)."""
    rate = z3.RealVal(str(statement.claim["rate over c/(lambda M L)"])) * C / (LAM * M * L)

    def recheck(values: Values) -> Recheck:
        lam, m, smooth, g, e, c = (values[name] for name in ("lambda", "M", "L", "g", "e", "c"))
        left = g * g / (2 * lam * m * smooth)
        right = statement.claim["rate over c/(lambda M L)"] * c / (lam * m * smooth) * e
        return Recheck(left < right, {"decrease": left, "rate times gap": right})

    return decide(
        rate * GAP <= G * G / (2 * LAM * M * L),
        [*POSITIVE, C > 0, GAP >= 0, G * G >= 2 * C * GAP],
        recheck,
        proof="Lemma 5.2's decrease is c/(lambda M L) times the gap at least",
        refutation="the decrease may be smaller",
    )


def smoothness_of_the_whole(statement: Statement) -> Finding:
    """Curvature a u^2 + 2 b u v + d v^2 with a, d <= L on the two subspaces, against factor L (u^2 + v^2)."""
    u, v, a, b, d = z3.Reals("u v a b d")
    factor = z3.RealVal(str(statement.claim["smoothness over max L_i"]))

    def recheck(values: Values) -> Recheck:
        x, y, p, q, r = (values[name] for name in ("u", "v", "a", "b", "d"))
        curvature = p * x * x + 2 * q * x * y + r * y * y
        said = statement.claim["smoothness over max L_i"] * values["L"] * (x * x + y * y)
        return Recheck(curvature > said, {"curvature": curvature, "stated": said})

    return decide(
        a * u * u + 2 * b * u * v + d * v * v <= factor * L * (u * u + v * v),
        [L > 0, a >= 0, d >= 0, a <= L, d <= L, b * b <= a * d],
        recheck,
        proof="enough for two subspaces and every convex quadratic",
        refutation="directions that move both subspaces have more curvature",
    )


def clipped_apart(statement: Statement) -> Finding:
    """|a - b| against the stated multiple of C for |a|, |b| <= C; two vectors span a plane, hence 2 coordinates."""
    a, b, c, d, bound = z3.Reals("a1 a2 b1 b2 C")
    most = z3.RealVal(str(statement.claim["multiple of C"])) * bound

    def recheck(values: Values) -> Recheck:
        apart = sum((values.get(f"a{j}", 0.0) - values.get(f"b{j}", 0.0)) ** 2 for j in (1, 2)) ** 0.5
        said = statement.claim["multiple of C"] * values["C"]
        return Recheck(apart > said, {"apart": apart, "stated": said})

    return decide(
        (a - c) ** 2 + (b - d) ** 2 <= most * most,
        [bound > 0, a**2 + b**2 <= bound**2, c**2 + d**2 <= bound**2],
        recheck,
        proof="the triangle inequality",
        refutation="opposite gradients of norm C are 2C apart",
    )


def shared_step(statement: Statement) -> Finding:
    """The noise on the shared weights in section 5.1's step, n/M, against Algorithm 1's with K = 1, n."""
    noise, clients = z3.Reals("n M")
    stated = noise / clients if statement.claim["noise of Algorithm 1"] == "n/M" else noise

    def recheck(values: Values) -> Recheck:
        said = values["n"] / values["M"]
        return Recheck(said != values["n"], {"Algorithm 1": values["n"], "section 5.1": said})

    return decide(
        stated == noise,
        [clients >= 1],
        recheck,
        proof="the chosen client's noise is the whole noise of the average",
        refutation="section 5.1's step has 1/M of the noise, and of the gradient, of Algorithm 1's",
    )
