"""Section 5 and Appendices A.4 to A.7: the numbers of figures and tables that depend on the accounting.

(sigma, gamma, T) of Figure 2 are printed in the earlier version's panel titles only; q = 100, delta = 1/m.
"""

from __future__ import annotations

from functools import cache

from ....accounting import Bracket
from ....accounting import epsilon as epsilon_of
from ....accounting.billboard.guarantees import EVERYBODY_ELSE
from ....accounting.billboard.observers import observer_epsilon
from ....accounting.losses.gaussian_rounds import profile_above
from ....accounting.renyi.conversions import canonne_epsilon, mironov_epsilon
from ....accounting.renyi.renyi import renyi
from ....mechanisms import FixedSize, Gaussian, Poisson, Relation, Repeat
from ..row import CERTIFIED, Finding, Statement, looseness, on_instances, resting_on

FIGURE_2 = {
    "StackOverflow": {"m": 400, "sigma": 0.01, "gamma": 0.5, "T": 600, "end": 15.16},
    "FEMNIST": {"m": 205, "sigma": 0.01, "gamma": 0.2, "T": 1000, "end": 13.60},
    "CelebA": {"m": 515, "sigma": 0.02, "gamma": 1.0, "T": 1000, "end": 15.51},
}
"""end: where the published accountant (Poisson, add-remove RDP, improved conversion) ends the curve."""

COHORT = 100


@cache
def hidden_epsilon(data: str, delta: float, relation: Relation = Relation.ADD_REMOVE) -> Bracket:
    """Poisson sampling, cohorts hidden; the paper's accountant bounds it for add-remove neighbours."""
    found = FIGURE_2[data]
    step = Poisson(Gaussian(COHORT * found["sigma"] / found["gamma"]), COHORT / found["m"])
    return epsilon_of(Repeat(step, int(found["T"])), delta, relation)


@cache
def seen_epsilon(data: str, delta: float, relation: Relation = Relation.REPLACE_ONE) -> Bracket:
    """Fixed cohorts before the coalition of all others: what billboard privacy is about."""
    found = FIGURE_2[data]
    z, population = COHORT * found["sigma"] / found["gamma"], int(found["m"])
    run = Repeat(FixedSize(Gaussian(z), population, COHORT), int(found["T"]))
    return observer_epsilon(run, EVERYBODY_ELSE, delta, relation).epsilon


@resting_on(CERTIFIED)
def figure_2(statement: Statement) -> Finding:
    """The end of Figure 2's curve as a guarantee of the stated kind at delta = 1/m."""
    data = statement.domain["data"]
    delta = 1 / FIGURE_2[data]["m"]
    true = {
        "Poisson": lambda: hidden_epsilon(data, delta),
        "Poisson, data replaced": lambda: hidden_epsilon(data, delta, Relation.REPLACE_ONE),
        "billboard": lambda: seen_epsilon(data, delta),
    }[statement.domain["guarantee"]]()
    stated, zero_out = statement.claim["epsilon"], seen_epsilon(data, delta, Relation.ZERO_OUT)
    above = statement.claim.get("true epsilon is", "at most") == "at least"
    numbers = {"true epsilon": [true.lower, true.upper], "coalition, zero-out": [zero_out.lower, zero_out.upper]}
    text = f"epsilon in [{true.lower:.5g}, {true.upper:.5g}], stated {stated:g}"
    loose = looseness([true.upper / stated]) if true.upper <= stated and not above else None
    holds = true.lower >= stated if above else true.upper <= stated
    return Finding(holds, text, numbers, loose=loose)


ORDERS = (1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 4.0)


@resting_on(CERTIFIED)
def conversion(statement: Statement) -> Finding:
    """Figure 2's ends from the Renyi divergences of Poisson, add-remove rounds, by the stated conversion."""
    convert = {"Lemma 3": mironov_epsilon, "improved": canonne_epsilon}[statement.claim["conversion"]]
    numbers, agree = {}, True
    for data, found in FIGURE_2.items():
        step = Poisson(Gaussian(COHORT * found["sigma"] / found["gamma"]), COHORT / found["m"])
        run, delta = Repeat(step, int(found["T"])), 1 / found["m"]
        value, order = min((convert(order, renyi(run, order).upper, delta), order) for order in ORDERS)
        numbers[f"{data}: epsilon, at order"] = [value, order]
        agree = agree and abs(value - found["end"]) <= 0.005
    ends = ", ".join(f"{value:.2f}" for value, _ in numbers.values())
    return Finding(agree, f"by that conversion the curves end at {ends}", numbers)


@cache
def _reported(base: Gaussian, rounds: int) -> float:
    """What the accountant of the authors' code says: Renyi, Poisson sampling, clients added or removed."""
    return epsilon_of(Repeat(Poisson(base, COHORT / 205), rounds), 1 / 205, Relation.ADD_REMOVE, accountant="rdp").upper


@resting_on(CERTIFIED)
def table_1(statement: Statement) -> Finding:
    """Rounds at sigma = .1, gamma = .2, m = 205 up to which the accountant reports each epsilon, and what is true."""
    numbers, kept = {}, True
    base = Gaussian(COHORT * 0.1 / 0.2)
    for stated, rounds in statement.domain["(epsilon, rounds)"]:
        if statement.claim["observer"] == "coalition":
            run = Repeat(FixedSize(base, 205, COHORT), rounds)
            true = observer_epsilon(run, EVERYBODY_ELSE, 1 / 205, statement.claim["neighbouring"]).epsilon
        else:
            true = epsilon_of(Repeat(Poisson(base, COHORT / 205), rounds), 1 / 205, Relation.ADD_REMOVE)
        numbers[f"{rounds} rounds: reported, true epsilon"] = [_reported(base, rounds), true.lower, true.upper]
        kept = kept and true.upper <= stated
        text = f"{rounds} rounds reported as {stated:g}: true epsilon in [{true.lower:.4g}, {true.upper:.4g}]"
    return Finding(kept, text, numbers)


@resting_on(on_instances(1))
def selection(statement: Statement) -> Finding:
    """Whether the best of `tried` runs, chosen by one validation score, keeps each run's own (epsilon, delta).

    Each run publishes N(x, 1) (mu = 1) with x = 0 or 1 the client's bit; the largest is kept. Its law has the
    distribution function Phi(. - x)^tried; delta is the largest gap P(> c) - e^eps Q(> c), at the best c of a grid.
    """
    import numpy as np
    from scipy.stats import norm

    tried, epsilon = statement.domain["runs tried"], 1.0
    grid = np.linspace(-2.0, 8.0, 4001)
    above = [-np.expm1(tried * norm.logcdf(grid - x)) for x in (1, 0)]
    chosen = float(np.max(above[0] - np.exp(epsilon) * above[1]))
    alone = profile_above(epsilon, 1.0)
    numbers = {"delta of one run": alone, "delta of the chosen run at least": chosen}
    text = f"delta at epsilon = 1: {chosen:.4g} for the best of {tried}, {alone:.4g} for one"
    return Finding(chosen <= alone * (1 + 1e-9), text, numbers)


@resting_on(CERTIFIED)
def tasks(statement: Statement) -> Finding:
    """Sensitivity and rate follow the number of clients: which of two populations epsilon is reported for."""
    stated = hidden_epsilon("FEMNIST", 1 / 205)
    step = Poisson(Gaussian(COHORT * 0.01 / 0.2), COHORT / statement.domain["m"])
    other = epsilon_of(Repeat(step, 1000), 1 / 205, Relation.ADD_REMOVE)
    ratio = other.upper / stated.upper
    text = f"epsilon {other.upper:.5g} with m = {statement.domain['m']}, {stated.upper:.5g} with 205"
    return Finding(abs(ratio - 1) <= statement.tolerance + 1e-9, text, {"ratio": ratio})


@resting_on(CERTIFIED)
def weighted(statement: Statement) -> Finding:
    """FEMNIST, sigma = .1, gamma = .2, q = 100 of 206, 1000 rounds, before the coalition, replaced data.

    A weight w times the mean moves the average by w times as much: a multiplier of q sigma/(w gamma).
    """
    over, stated = statement.domain["weight over the mean"], statement.claim["epsilon"]
    run = Repeat(FixedSize(Gaussian(COHORT * 0.1 / 0.2 / over), 206, COHORT), 1000)
    true = observer_epsilon(run, EVERYBODY_ELSE, 1 / 206, Relation.REPLACE_ONE).epsilon
    text = f"epsilon in [{true.lower:.4g}, {true.upper:.4g}], stated {stated:g}"
    return Finding(true.upper <= stated, text, {"true epsilon": [true.lower, true.upper]})
