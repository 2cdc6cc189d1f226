"""Steps between displays that the other modules do not cover, what Algorithm 1 puts out, and units of T."""

from __future__ import annotations

import math
from fractions import Fraction

import z3

from ...convergence.pmtl_moments import Federation, check_against_trainer
from ..row import EXACT, Finding, Statement, on_instances
from .setup import published

D, LAMBDA, GAMMA, LOG, M, EPSILON, E, B, S, P, L = z3.Reals("d lambda gamma log_1_delta m epsilon E B s p L")
T = M / (LAMBDA * D * GAMMA * GAMMA)


def selection_probability(statement: Statement) -> Finding:
    """C(m - 1, q - 1)/C(m, q) against factor q/m, exactly, for all q <= m <= 40."""
    factor = Fraction(statement.claim["factor"])
    pairs = [(m, q) for m in range(1, 41) for q in range(1, m + 1)]
    wrong = [(m, q) for m, q in pairs if Fraction(math.comb(m - 1, q - 1), math.comb(m, q)) != factor * Fraction(q, m)]
    text = f"different in {len(wrong)} of {len(pairs)} cases with m at most 40"
    return Finding(not wrong, text, {"cases": len(pairs)}, {"m, q": wrong[0]} if wrong else None, basis=EXACT)


def outputs(statement: Statement) -> Finding:
    """Line 10's output before three one-bit clients' neighbours: all models, or all but the changed client's."""
    loss, budget = published(statement.claim["seen"] == "all models")
    text = f"largest likelihood ratio {loss}, e^epsilon of the broadcasts {budget}"
    return Finding(loss <= budget, text, {"largest ratio": float(loss), "e^epsilon": float(budget)}, basis=EXACT)


def releases(statement: Statement) -> Finding:
    """How many noisy broadcasts Algorithm 1 makes for 12 local steps of a client, in a run, against 12 charged."""
    from ...convergence.pmtl_runs import run
    from ...convergence.quadratic import mean_estimation

    steps, problem = statement.domain["E"], mean_estimation(population=3, dimension=1, curvature=1.0, seed=1)
    check_against_trainer(Federation(problem, "as-printed", 1.0, 0.1, steps, sigma=0.1))
    path = run(
        problem,
        "as-printed",
        strength=1.0,
        learning_rate=0.1,
        rounds=12 // steps,
        local_steps=steps,
        noise_std=0.1,
    )
    made = int((abs(path.shared[1:] - path.shared[:-1]).max(axis=1) > 0).sum())
    over = math.sqrt(12 / made)
    text = f"{made} noisy broadcasts for 12 local steps: sigma for T = 12 is {over:.3g} times what is needed"
    return Finding(
        made == 12, text, {"broadcasts": made, "sigma / needed": over}, basis=on_instances(1, "trainer runs")
    )
