"""Corollary 2 (Section 4.2): billboard privacy, that is privacy before the coalition of the m - 1 other clients."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from flint import arb
from scipy import stats

from ....accounting import epsilon as epsilon_of
from ....accounting.billboard.guarantees import EVERYBODY_ELSE
from ....accounting.billboard.observers import observer_epsilon
from ....accounting.losses.gaussian_rounds import profile_below
from ....accounting.rounding import float_below
from ....mechanisms import FixedSize, Gaussian, Poisson, Relation, Repeat
from ...billboard.coalition_attack import Federation, coalition_attack
from .. import balls
from ..row import BALLS, CERTIFIED, EXACT, Finding, Statement, on_instances, resting_on

CONSTANTS = ((0.01, 10.0), (1.0, 1.0), (1.0, 10.0), (100.0, 0.1))
"""(c1, c2) for which the general argument is carried out in numbers too."""


def coalition_noise(statement: Statement) -> Finding:
    """Whether the stated noise gives (eps, delta)-BP for cohorts of a fixed size, by the exact coalition profile.

    Printed: no (c1, c2) will do. With eps = 1 = c1 p^2 T/2, n = p T = 2/(c1 p) participations are expected and
    z = c2 p sqrt(T L) = c2 sqrt(2 L/c1) does not grow with them. K >= n/2 with probability 1/2 at least (the median is
    at least floor(n)), and then the shift 2 sqrt(K)/z is at least sqrt 2/(c2 sqrt(p L)) >= 2 once p <= 1/(2 c2^2 L);
    so delta >= delta_G(1; 2)/2.
    """
    if statement.claim["noise"] == "c2 p sqrt(T log(1/delta))/epsilon":
        return _no_constants()
    worst = 0.0
    for p in (0.001, 0.1, 0.5):
        for rounds in (50, 1000, 20_000):
            for delta in (1e-3, 1e-6):
                for epsilon in (0.1, 1.0, 2 * math.log(2 / delta)):
                    z = _corrected_noise(p, rounds, epsilon, delta, statement.claim["factor"])
                    ratio = _coalition(p, rounds, z, delta)[1] / epsilon
                    worst = max(worst, ratio)
                    if ratio > 1:
                        numbers = {"p": p, "T": rounds, "delta": delta, "epsilon": epsilon, "z": z, "ratio": ratio}
                        return Finding(
                            False,
                            f"epsilon is {ratio:.3f} times the stated one",
                            numbers,
                            numbers,
                            basis=on_instances(54, "certified intervals"),
                        )
    text = f"certified coalition epsilon at most {worst:.3f} times the stated one in 54 settings; proof in the docs"
    return Finding(True, text, {"worst ratio": worst}, basis=on_instances(54, "certified intervals"))


def _corrected_noise(p: float, rounds: int, epsilon: float, delta: float, factor: float) -> float:
    """factor sqrt(k* log(2/delta))/eps, k* the least k with P[Bin(T, p) > k] <= delta/2 (and at least 1)."""
    most = max(1, int(stats.binom.isf(delta / 2, rounds, p)))
    while stats.binom.sf(most, rounds, p) > delta / 2 * (1 - 1e-9):
        most += 1
    return factor * math.sqrt(most * math.log(2 / delta)) / epsilon


def _coalition(p: float, rounds: int, z: float, delta: float) -> tuple[float, float]:
    """The certified bracket of the coalition's epsilon, replaced data, cohorts of 10^6 p of 10^6."""
    run = Repeat(FixedSize(Gaussian(z), 1_000_000, round(1_000_000 * p)), rounds)
    found = observer_epsilon(run, EVERYBODY_ELSE, delta, Relation.REPLACE_ONE).epsilon
    return found.lower, found.upper


@resting_on(EXACT)
def _no_constants() -> Finding:
    delta, epsilon = 1e-5, 1.0
    least = profile_below(1.0, 2.0) / 2
    numbers: dict[str, object] = {"delta_G(1; 2)/2": least}
    if least <= delta:
        return Finding(True, f"delta_G(1; 2)/2 = {least:.4g} is no counterexample", numbers)
    for c1, c2 in CONSTANTS:
        p = min(0.5, 1 / (2 * c2**2 * -math.log(delta)))
        p = 10.0 ** math.floor(math.log10(p))
        rounds = math.ceil(2 * epsilon / (c1 * p * p))
        z = c2 * p * math.sqrt(rounds * -math.log(delta)) / epsilon
        numbers[f"c1 = {c1:g}, c2 = {c2:g}: p, T, z, epsilon at least"] = [
            p,
            rounds,
            z,
            _coalition(p, rounds, z, delta)[0],
        ]
    text = f"whatever c1 and c2: at epsilon = 1 and p small enough, delta is above {least:.3f}"
    return Finding(False, text, numbers)


@resting_on(BALLS)
def smallest_example(statement: Statement) -> Finding:
    """m = 2, q = 1, T = 1, sigma = 2 gamma, epsilon = 1, in balls: delta before the other client, who knows.

    Hidden participation: p delta_G(log(1 + (e - 1)/p); mu); seen: p delta_G(1; mu); mu = 2/z = 1.
    """
    p, mu = arb(1) / 2, arb(1)
    hidden = p * balls.gaussian_delta((1 + (arb(1).exp() - 1) / p).log(), mu)
    seen = p * balls.gaussian_delta(arb(1), mu)
    stated = hidden if statement.claim["participation"] == "hidden" else seen
    numbers = {"delta, participation seen": float_below(seen), "delta stated": float_below(stated)}
    if seen.lower() > stated.upper():
        text = (
            f"true delta {float(seen):.6g} > {float(stated):.6g}: the other client knows whether it was picked itself"
        )
        return Finding(False, text, numbers, {"m": 2, "q": 1, "T": 1, "z": 2.0, "epsilon": 1.0})
    return Finding(True, f"delta = {float(seen):.6g}, attained", numbers)


@resting_on(CERTIFIED)
def published_scale(statement: Statement) -> Finding:
    """m = 1000, q = 10, T = 500, z = 2, delta = 1e-6: the accountant's epsilon before the coalition that knows."""
    run = Repeat(FixedSize(Gaussian(2.0), 1000, 10), 500)
    poisson = epsilon_of(Repeat(Poisson(Gaussian(2.0), 0.01), 500), 1e-6, Relation.ADD_REMOVE)
    seen = observer_epsilon(run, EVERYBODY_ELSE, 1e-6, statement.claim["neighbouring"]).epsilon
    stated = poisson.upper if statement.claim["accounting"] == "Poisson" else statement.claim["accounting"]
    numbers = {"Poisson accounting": poisson.upper, "coalition": [seen.lower, seen.upper]}
    text = f"coalition epsilon in [{seen.lower:.6g}, {seen.upper:.6g}], stated {stated:.4g}"
    return Finding(seen.upper <= stated, text, numbers)


@resting_on(on_instances(150000, "audit"))
def audited(statement: Statement) -> Finding:
    """The coalition of 39 attacks client 0: m = 40, q = 4, T = 100, z = 4.75, delta = 1e-3.

    A seeded attack of 150 000 runs a side; what is said of a refuted claim is false with probability at most 1e-3.
    """
    federation = Federation(40, 4, 100, 4.75, statement.domain["cohorts"])
    claimed, alpha = statement.claim["epsilon"], 1e-3
    found = coalition_attack(federation, delta=1e-3, trials=150_000, alpha=alpha, seed=7)
    low = found.audit.epsilon_lower(1e-3)
    numbers = {"audited epsilon at least": low, "exact": [found.exact.lower, found.exact.upper], "claimed": claimed}
    refuted = low > claimed
    text = f"audited epsilon at least {low:.3f} ({'refutes' if refuted else 'compatible with'} {claimed:g})"
    return Finding(not refuted, text, numbers, error_probability=alpha)


@resting_on(CERTIFIED)
def poisson_before_coalition(statement: Statement) -> Finding:
    """Whether the coalition's epsilon is that of the hidden-participation accounting, cohort scheme as stated."""
    numbers, worst = {}, 0.0
    for m, q, rounds, z in ((1000, 10, 500, 2.0), (205, 100, 1000, 5.0), (40, 4, 100, 4.75)):
        base = Gaussian(z)
        step = Poisson(base, q / m) if statement.domain["cohorts"] == "poisson" else FixedSize(base, m, q)
        seen = observer_epsilon(Repeat(step, rounds), EVERYBODY_ELSE, 1e-5, Relation.ZERO_OUT).epsilon
        hidden = epsilon_of(Repeat(Poisson(base, q / m), rounds), 1e-5, Relation.ADD_REMOVE)
        numbers[f"m = {m}, q = {q}: coalition, hidden"] = [seen.lower, hidden.upper]
        worst = max(worst, seen.lower / hidden.upper)
        if seen.lower > hidden.upper * statement.claim["times the hidden epsilon"]:
            text = f"m = {m}, q = {q}, T = {rounds}, z = {z:g}: {seen.lower:.4g} against {hidden.upper:.4g}"
            return Finding(False, text, numbers)
    return Finding(True, f"coalition / hidden epsilon at most {worst:.6g} in 3 settings", numbers)


@resting_on(CERTIFIED)
def less_noise_with_everybody(statement: Statement) -> Finding:
    """The least sigma/gamma for eps = .8, delta = 1/205, T = 1000 of FEMNIST, before the coalition."""
    least = {}
    for cohort in (100, 205):
        least[cohort] = _least_noise(partial(_femnist, cohort=cohort), cohort)
    numbers = {"q = 100": least[100], "q = 205": least[205]}
    more = least[100] >= least[205]
    ordered = more if statement.claim["noise with cohorts, against everybody"] == "at least" else not more
    text = f"sigma/gamma = {least[205]:.4g} with all 205 clients, {least[100]:.4g} with cohorts of 100"
    return Finding(ordered, text, numbers)


def _femnist(z: float, cohort: int) -> float:
    base = Gaussian(z)
    run = Repeat(base if cohort == 205 else FixedSize(base, 205, cohort), 1000)
    return observer_epsilon(run, EVERYBODY_ELSE, 1 / 205, Relation.REPLACE_ONE).epsilon.upper


def _least_noise(epsilon_at: Callable[[float], float], cohort: int) -> float:
    low, high = 1.0, 1000.0
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if epsilon_at(middle) <= 0.8 else (middle, high)
    return high / cohort


@resting_on(EXACT)
def fine_tuning(statement: Statement) -> Finding:
    """Local fine-tuning as post-processing of the billboard: which observer of which outputs it leaves protected.

    Client j's next model is a function of (its data, billboard, what it reads more): checked exhaustively on one-bit
    data of three clients with a randomised-response billboard of each bit, eps = log 3.
    """
    epsilon, worst = math.log(3.0) * statement.claim["times epsilon"], 0.0
    for others in ((0, 0), (0, 1), (1, 1)):
        laws = []
        for bit in (0, 1):
            data = (bit, *others)
            law: dict[tuple[object, ...], float] = {}
            for board in [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]:
                weight = math.prod(0.75 if shown == own else 0.25 for shown, own in zip(board, data, strict=True))
                tuned = tuple(_tuned(j, data, board, statement.claim["reads"]) for j in (1, 2))
                law[tuned] = law.get(tuned, 0.0) + weight
            laws.append(law)
        for seen in {*laws[0], *laws[1]}:
            pair = [law.get(seen, 0.0) for law in laws]
            worst = max(worst, math.inf if min(pair) == 0 else math.log(max(pair) / min(pair)))
    text = f"largest log likelihood ratio of the others' tuned models: {worst:.6g}, billboard's {epsilon:.6g}"
    return Finding(worst <= epsilon * (1 + 1e-12), text, {"loss": worst, "billboard epsilon": epsilon})


def _tuned(j: int, data: tuple[int, ...], board: tuple[int, ...], reads: str) -> object:
    """Client j's model after tuning: all that it knows."""
    return (data[j], board) if reads == "own data and billboard" else (data[j], board, data[0])
