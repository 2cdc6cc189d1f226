"""Sections 3.1 and 3.2: objective, definitions, figures that the text alone does not decide; derivations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from scipy.stats import norm

from ....accounting import epsilon as epsilon_of
from ....accounting.calibration.calibrate import calibrate
from ....mechanisms import Gaussian, Relation, Repeat
from ...convergence.exponents import fitted_exponent
from ...convergence.pmtl_moments import Federation, check_against_trainer
from ...convergence.pmtl_runs import mean_estimation, run
from ..row import CERTIFIED, EXACT, Finding, Statement, on_instances, resting_on


@resting_on(EXACT)
def events(statement: Statement) -> Finding:
    """M(D) = (r, r xor D_1), r a fair coin: the largest P(M(D) in S) - P(M(D') in S) over Definition 1's events."""
    laws = [{(r, r ^ bit): Fraction(1, 2) for r in (0, 1)} for bit in (0, 1)]
    if statement.claim["S subset of"] == "R, each coordinate":
        shares = [[[_mass(law, i, v) for law in laws] for v in (0, 1)] for i in (0, 1)]
        apart = max(abs(first - second) for coordinate in shares for first, second in coordinate)
    else:
        apart = sum((max(p - laws[1].get(out, Fraction(0)), Fraction(0)) for out, p in laws[0].items()), Fraction(0))
    text = f"events of that kind tell apart by {apart}, while the two coordinates together give D_1 away"
    return Finding(apart == 1, text, {"largest difference": float(apart), "given away": 1.0})


def _mass(law: dict[tuple[int, int], Fraction], coordinate: int, value: int) -> Fraction:
    return sum((p for out, p in law.items() if out[coordinate] == value), Fraction(0))


@resting_on(EXACT)
def more_general(statement: Statement) -> Finding:
    """A joint-private mechanism that is not billboard private: M_1 xor M_2 = D_1 and D_2, each output a fair coin.

    It is (0, 0)-JDP: M_{-i} is a fair coin whatever D. With g (0, 0)-DP, hence independent of D, the outputs are
    mixtures of f_1(D_1), f_2(D_2) over shared coins, right for 3 of the 4 inputs at most (enumerated).
    With g arbitrary, g := M will do.
    """
    best = max(
        Fraction(sum((f[a] ^ h[b]) == (a & b) for a in (0, 1) for b in (0, 1)), 4)
        for f in itertools.product((0, 1), repeat=2)
        for h in itertools.product((0, 1), repeat=2)
    )
    represented = Fraction(1) if statement.claim["g"] == "any function" else best
    text = f"the best representation agrees with the mechanism with probability {represented}"
    numbers = {"agreement": float(represented), "agreement with g independent of D": float(best)}
    return Finding(represented < 1, text, numbers)


@resting_on(EXACT)
def billboard_lemma(statement: Statement) -> Finding:
    """Three one-bit clients, g a noisy count of the bits: the exact loss of the others' outputs, all neighbours.

    g(D) = sum + two-sided geometric noise (probabilities proportional to 3^-|k|), cut to {-2..5}, which is
    (log 3, 0)-DP for one changed bit. Outputs are all that a client knows.
    """
    budget, reads = Fraction(3) * Fraction(statement.claim["times e^epsilon"]), statement.claim["clients read"]
    worst = Fraction(1)
    for client in range(3):
        for data in itertools.product((0, 1), repeat=3):
            other = tuple(1 - bit if i == client else bit for i, bit in enumerate(data))
            laws = [_others_law(client, each, reads) for each in (data, other)]
            for seen in laws[0]:
                against = laws[1].get(seen, Fraction(0))
                if against == 0:
                    text = f"an output of the others excludes the neighbour: clients read {reads}"
                    return Finding(False, text, {"loss": math.inf, "e^epsilon": float(budget)}, {"data": list(data)})
                worst = max(worst, laws[0][seen] / against)
    text = f"largest likelihood ratio of the others' outputs: {worst}, e^epsilon of the billboard: {budget}"
    return Finding(worst <= budget, text, {"largest ratio": float(worst), "e^epsilon": float(budget)})


def published(everything: bool) -> tuple[Fraction, Fraction]:
    """The largest likelihood ratio of the three clients' outputs, all of them or the others', and e^epsilon.

    A ratio that is infinite comes as 10^9.
    """
    worst = Fraction(1)
    for client in range(3):
        for data in itertools.product((0, 1), repeat=3):
            other = tuple(1 - bit if i == client else bit for i, bit in enumerate(data))
            hidden = -1 if everything else client
            laws = [_others_law(hidden, each, "g(D)") for each in (data, other)]
            for seen in laws[0]:
                against = laws[1].get(seen)
                worst = max(worst, laws[0][seen] / against if against else Fraction(10**9))
    return worst, Fraction(3)


def _others_law(client: int, data: tuple[int, ...], reads: str) -> dict[Any, Fraction]:
    law: dict[Any, Fraction] = {}
    for noise, weight in _noise():
        board = min(5, max(-2, sum(data) + noise)) if reads != "the exact sum" else sum(data)
        extra = noise if reads == "g(D) and g's noise" else None
        seen = tuple((data[j], board, extra) for j in range(3) if j != client)
        law[seen] = law.get(seen, Fraction(0)) + weight
    return law


def _noise() -> Iterator[tuple[int, Fraction]]:
    """k = -8..8 with weights proportional to 3^-|k|, the tails beyond added to the ends: cut sums stay exact."""
    for k in range(-8, 9):
        weight = Fraction(1, 3 ** abs(k)) / 2
        yield k, weight * (Fraction(3, 2) if abs(k) == 8 else 1)


@resting_on(CERTIFIED)
def naive_client_level(statement: Statement) -> Finding:
    """P(the sign of client k's own weight survives) when the concatenated model is released once with client-level DP.

    Block k is client k's alone, of norm at most gamma: noise for a move of 2 gamma on an entry of +-gamma.
    """
    epsilon = statement.domain["epsilon"]
    noise = calibrate(
        lambda z: Gaussian(z),
        solve_for="noise_multiplier",
        epsilon=epsilon,
        delta=1e-5,
        neighbouring=Relation.REPLACE_ONE,
    )
    correct = float(norm.cdf(1 / noise.value))
    return Finding(
        correct < 0.6, f"right with probability {correct:.4f} at epsilon = {epsilon:g}", {"P(right)": correct}
    )


@resting_on(on_instances(4, "certified intervals"))
def noise_by_rounds(statement: Statement) -> Finding:
    """The exponent of T in the least sigma^2 at fixed epsilon = 1, delta = 1e-5, all clients in every round."""
    rounds = (10, 40, 160, 640)
    least = []
    for count in rounds:
        found = calibrate(
            lambda z, count=count: Repeat(Gaussian(z), count),  # type: ignore[misc]
            solve_for="noise_multiplier",
            epsilon=1.0,
            delta=1e-5,
            neighbouring=Relation.REPLACE_ONE,
        )
        least.append(found.value**2)
    slope = fitted_exponent(rounds, least).value
    exponent = statement.claim["exponent"]
    check = epsilon_of(Repeat(Gaussian(math.sqrt(least[-1])), rounds[-1]), 1e-5, Relation.REPLACE_ONE).upper
    numbers = {"T": list(rounds), "sigma^2 m^2/gamma^2": least, "epsilon at the last": check}
    return Finding(abs(slope - exponent) < 1e-4, f"sigma^2 ~ T^{slope:.6f}, stated {exponent:g}", numbers)


@resting_on(EXACT)
def selection_probability(statement: Statement) -> Finding:
    """C(m - 1, q - 1)/C(m, q) against factor q/m, exactly, for all q <= m <= 40."""
    factor = Fraction(statement.claim["factor"])
    pairs = [(m, q) for m in range(1, 41) for q in range(1, m + 1)]
    wrong = [(m, q) for m, q in pairs if Fraction(math.comb(m - 1, q - 1), math.comb(m, q)) != factor * Fraction(q, m)]
    text = f"different in {len(wrong)} of {len(pairs)} cases with m at most 40"
    return Finding(not wrong, text, {"cases": len(pairs)}, {"m, q": wrong[0]} if wrong else None)


@resting_on(EXACT)
def outputs(statement: Statement) -> Finding:
    """Line 10's output before three one-bit clients' neighbours: all models, or all but the changed client's."""
    loss, budget = published(statement.claim["seen"] == "all models")
    text = f"largest likelihood ratio {loss}, e^epsilon of the broadcasts {budget}"
    return Finding(loss <= budget, text, {"largest ratio": float(loss), "e^epsilon": float(budget)})


@resting_on(on_instances(1, "trainer runs"))
def releases(statement: Statement) -> Finding:
    """How many noisy broadcasts Algorithm 1 makes for 12 local steps of a client, in a run, against 12 charged."""
    steps, problem = statement.domain["E"], mean_estimation(3, 1)
    check_against_trainer(Federation(problem, "as-printed", 1.0, 0.1, steps, sigma=0.1))
    path = run(
        problem, "as-printed", strength=1.0, learning_rate=0.1, rounds=12 // steps, local_steps=steps, noise_std=0.1
    )
    made = int((abs(path.shared[1:] - path.shared[:-1]).max(axis=1) > 0).sum())
    over = math.sqrt(12 / made)
    text = f"{made} noisy broadcasts for 12 local steps: sigma for T = 12 is {over:.3g} times what is needed"
    return Finding(made == 12, text, {"broadcasts": made, "sigma / needed": over})
