"""Theorem 1 (Section 4.2) and the lemmas that it rests on: how much noise the released models need.

The corrected constants are proved in docs/theory/pmtl_privacy.md.
"""

from __future__ import annotations

import math

from flint import arb

from ....accounting import delta as delta_of
from ....accounting import epsilon as epsilon_of
from ....accounting.accountants import AccountantName
from ....accounting.renyi.optimal_conversion import asoodeh_epsilon
from ....accounting.renyi.renyi import renyi
from ....mechanisms import FixedSize, Gaussian, Poisson, Relation, Repeat
from .. import balls
from ..balls import largest_shift
from ..formula import evaluated, exactly
from ..kinds import boxes
from ..row import BALLS, CERTIFIED, Finding, Statement, Undecided, on_instances, resting_on

POINTS = ((1.0, 1e-5, 1), (8.0, 1e-5, 100), (0.1, 1e-5, 400), (1.0, 1e-12, 25), (40.0, 1e-5, 9), (2.0, 0.005, 1000))
"""(epsilon, delta, T) at which noise is judged by what the accountant says of the run itself."""

FEDERATIONS = ((205, 0.2), (10, 3.0))
"""(m, gamma)."""


def least_noise(statement: Statement) -> Finding:
    """Whether sigma as the formula of claim.sigma has it is enough, and a millionth less is not, at POINTS.

    The run is T rounds in which all clients send updates of norm gamma at most, before a replaced client's data; its
    delta comes from the accountant of composed Gaussian rounds, which knows nothing of mu*. The formula's names are
    gamma, T's root, m and mu* (root_T, mu_star). For all parameters: docs/theory/pmtl_privacy.md.
    """
    numbers, wrong = {}, ""
    for epsilon, delta, rounds in POINTS:
        for m, gamma in FEDERATIONS:
            told = {"gamma": gamma, "root_T": math.sqrt(rounds), "m": m, "mu_star": largest_shift(epsilon, delta)}
            told["times"] = statement.claim["times"]
            sigma = float(evaluated(statement.claim["sigma"], {name: exactly(value) for name, value in told.items()}))
            runs = [Repeat(Gaussian(share * m * sigma / gamma), rounds) for share in (1 + 1e-9, 1 - 1e-6)]
            enough, less = (delta_of(run, epsilon, Relation.REPLACE_ONE) for run in runs)
            name = f"epsilon = {epsilon:g}, delta = {delta:g}, T = {rounds}, m = {m}"
            numbers[f"{name}: delta with it, with a millionth less"] = [enough.upper, less.lower]
            if not (enough.upper <= delta < less.lower):
                wrong = wrong or f"{name}: delta is {enough.upper:.6g} with it, {less.lower:.6g} with a millionth less"
    text = wrong or "enough, and a millionth less is not, in all settings"
    return Finding(not wrong, text, numbers, basis=on_instances(len(numbers), "certified intervals"))


def moments_constants(statement: Statement) -> Finding:
    """Whether z = c2 p sqrt(T L)/eps is enough wherever eps < c1 p^2 T, for all p up to `p at most`.

    By counterexample where p may be 1 (the rounds are Gaussian then). Else by proof: premises of
    Mironov, Talwar, Zhang 2019 (arXiv 1908.10530), Theorem 11, in balls over the domain at the least z, from where on
    they stay true; and the arithmetic of docs/theory/pmtl_privacy.md.
    """
    p_most = statement.domain["p at most"]
    if p_most == 1.0:
        return _no_constants()
    c1, c2 = statement.claim["(c1, c2)"]
    halving = 2 if statement.claim["sampling"] == "fixed size, replace-one" else 1
    if c2**2 < 16 * halving**3 * (1 - 1e-12):  # k h^2 with k = h: see the theory note
        return _counterexample_on_domain(c1, c2, halving, p_most)
    box = {
        "p": (1e-5, p_most),
        "epsilon": statement.domain["epsilon"],
        "log(1/delta)": statement.domain["log(1/delta)"],
    }
    found = balls.decide(
        lambda at: _premises(at, c1, 4.0),
        box,
        proof="premises certified on the domain with a margin of {margin} ({cells} pieces)",
        refutation="the premises of the moment bound fail at {point}",
    )
    if not found.holds:
        raise Undecided(found.text)
    ratios = _against_accountant(c1, c2, halving, statement)
    text = f"c1 = {c1:g}, c2 = {c2:.4g}: {found.text}; worst accounted / stated epsilon {max(ratios):.3f}"
    return Finding(True, text, dict(found.numbers) | {"accounted / stated epsilon": ratios}, basis=BALLS)


def _premises(at: balls.Point, c1: float, c2: float) -> arb:
    """The least margin of the premises at eps = c1 p^2 T, that is z^2 = c2^2 L/(c1 eps).

    A larger z only helps: z^2 l / 2 - 2 log z and z^2 l^2 / 2 - 2 log z grow where z^2 l^2 > 2 (l < 2), checked too.
    """
    p, epsilon, log = at["p"], at["epsilon"], at["log(1/delta)"]
    order_less_1 = 2 * log / epsilon
    alpha, square = 1 + order_less_1, c2**2 * log / (c1 * epsilon)
    ell = (1 + 1 / (p * order_less_1)).log()
    first = (square * ell / 2 - square.log()) / alpha - 1
    second = (square * ell**2 / 2 - arb(5).log() - square.log()) / alpha
    second -= ell + (p * alpha).log() + 1 / (2 * square)
    margins = [first, second, square / 16 - 1, 2 - epsilon / log, square * ell**2 / 2 - 1]
    if all(margin.is_finite() for margin in margins):
        return min(margins, key=lambda margin: float(margin.lower()))
    return arb(0, 1)


@resting_on(BALLS)
def _no_constants() -> Finding:
    """That no c1, c2 will do, at any p in (0, 1]: an attack on the sum of all T releases.

    Given c1, c2, p and L = log(1/delta) take eps = max(32 c2^2 L, 80 c1, 1) and T = 2 eps/(c1 p^2), so that
    eps < c1 p^2 T. The sum has the law N(K, T z^2) with the client, K ~ Bin(T, p), and N(0, T z^2) without. Whoever
    says "with" above p T/2 is wrong with probability Phi(-x) <= e^(-x^2/2)/2, x^2 = p^2 T/(4 z^2) = eps^2/(4 c2^2 L)
    >= 8 eps, that is e^(-4 eps)/2 at most; and right at least where K >= 3 p T/4, which fails with probability
    16/(p T) <= 1/10 at most (Chebyshev), times Phi(x/2) >= Phi(sqrt 2). So delta >= 9/10 Phi(sqrt 2) - e^(-3)/2.
    """
    least = arb(9) / 10 * (1 + arb(1).erf()) / 2 - arb(-3).exp() / 2
    log = -math.log(1e-5)
    numbers: dict[str, object] = {"true delta at least": float(least.lower())}
    for c1, c2, p in ((1.0, 1.0, 1.0), (0.1, 4.0, 0.1), (1.0, 0.01, 1e-3)):
        epsilon = max(32 * c2**2 * log, 80 * c1, 1.0)
        rounds = math.ceil(2 * epsilon / (c1 * p * p))
        z = c2 * p * math.sqrt(rounds * log) / epsilon
        numbers[f"c1 = {c1:g}, c2 = {c2:g}, p = {p:g}, delta = 1e-5: epsilon, T, z"] = [epsilon, rounds, z]
    text = f"whatever c1, c2 and p: with epsilon and T large enough the true delta is above {float(least.lower()):.3f}"
    return Finding(not least > 0.5, text, numbers)


def _points(c1: float, statement: Statement) -> list[tuple[float, float, float, int]]:
    """(p, epsilon, delta, rounds) at the corners of the domain, with the least rounds that eps < c1 p^2 T allows."""
    corners = []
    for p in (1e-3, statement.domain["p at most"]):
        for epsilon in statement.domain["epsilon"]:
            for log in statement.domain["log(1/delta)"]:
                corners.append((p, epsilon, math.exp(-log), math.ceil(epsilon / (c1 * p * p)) + 1))
    return corners


def _against_accountant(c1: float, c2: float, halving: int, statement: Statement) -> list[float]:
    """The certified upper end over the stated epsilon at corners, of add-remove those of the largest p; also Theorem 11
    itself against exact moments."""
    ratios = []
    for p, epsilon, delta, rounds in _points(c1, statement):
        z = c2 * p * math.sqrt(rounds * -math.log(delta)) / epsilon
        run = Repeat(Poisson(Gaussian(z / halving), p), rounds)
        alpha = 1 - 2 * math.log(delta) / epsilon
        moment = renyi(Poisson(Gaussian(z / halving), p), alpha).upper
        if moment > 2 * p * p * alpha * (halving / z) ** 2:
            raise Undecided(f"Theorem 11 fails at p = {p}, z = {z / halving}, alpha = {alpha}")
        if halving == 1 and p == statement.domain["p at most"]:
            ratios.append(epsilon_of(run, delta, accountant="rdp").upper / epsilon)
        elif halving > 1:
            ratios.append(_replace_one_upper(moment, alpha, rounds, delta) / epsilon)
    return ratios


def _replace_one_upper(moment: float, alpha: float, rounds: int, delta: float) -> float:
    """epsilon from twice the remove-order divergence at half the multiplier, rounds added up (Mironov, Prop. 3)."""
    return rounds * 2 * moment - math.log(delta) / (alpha - 1)


@resting_on(CERTIFIED)
def _counterexample_on_domain(c1: float, c2: float, halving: int, p_most: float) -> Finding:
    """A certified violation at z = c2 p sqrt(T L)/eps, or Undecided: a c2 too small for the proof may still do."""
    for epsilon, delta in ((0.5, 1e-2), (1.0, 1e-5), (8.0, 1e-2)):
        rounds = math.ceil(epsilon / (c1 * p_most**2)) + 1
        z = c2 * p_most * math.sqrt(rounds * -math.log(delta)) / epsilon
        run = Repeat(Poisson(Gaussian(z / halving), p_most), rounds)
        found = epsilon_of(run, delta)
        if found.lower > epsilon:
            numbers = {"p": p_most, "rounds": rounds, "z": z, "delta": delta, "epsilon_lower": found.lower}
            return Finding(False, f"c2 = {c2:g}: epsilon is at least {found.lower:.4g}, not {epsilon:g}", numbers)
    raise Undecided(f"c2 = {c2:g} is below what the proof needs, and no counterexample was found")


SETTINGS = ((205, 100, 1000, 5.0), (400, 100, 600, 2.0), (100, 10, 500, 4.0), (1000, 10, 500, 2.0), (40, 4, 100, 4.75))
"""(m, q, T, z) over which the accountants of the proof and of the algorithm are compared."""


@resting_on(CERTIFIED)
def accounted_as(statement: Statement) -> Finding:
    """Whether SGM(p, z / divisor), Poisson and zero-out, is an upper bound for what Algorithm 1 does (hidden cohorts).

    Fixed cohorts and replaced data, the others' updates all at -gamma u, attain ((1-p) N(0) + p N(2/z), N(0)); others
    who follow what was released attain a little more, which exact accounting at z/2 misses and Renyi divergences cover
    (docs/theory/fixed_cohorts.md, sections 6 and 8).
    """
    divisor, delta, numbers = statement.claim["multiplier divided by"], 1e-5, {}
    accountant: AccountantName = "rdp" if statement.claim["accounting"] == "Renyi" else "best"
    for m, q, rounds, z in SETTINGS:
        truth = epsilon_of(Repeat(FixedSize(Gaussian(z), m, q), rounds), delta, Relation.REPLACE_ONE)
        accounted = Repeat(Poisson(Gaussian(z / divisor), q / m), rounds)
        stated = epsilon_of(accounted, delta, Relation.ADD_REMOVE, accountant=accountant)
        numbers[f"m = {m}, q = {q}, T = {rounds}, z = {z:g}"] = [truth.lower, stated.upper]
        if truth.lower > stated.upper:
            text = (
                f"m = {m}, q = {q}, T = {rounds}, z = {z:g}: at least {truth.lower:.4g}, accounted {stated.upper:.4g}"
            )
            return Finding(False, text, numbers)
    return Finding(True, f"attained epsilon at most the accounted one in {len(SETTINGS)} settings", numbers)


@resting_on(CERTIFIED)
def limits(statement: Statement) -> Finding:
    """As m grows, whether sigma = c gamma sqrt(T L)/(eps m) keeps (eps, delta) with q fixed, or with q = m.

    z = q sigma / gamma: with q = m it does not depend on m; with q fixed it vanishes.
    """
    delta, rounds, epsilon, constant = 1e-5, 1000, statement.claim["epsilon"], 4.0
    numbers = {}
    for m in (10**3, 10**4, 10**5, 10**6):
        q = m if statement.domain["cohort"] == "all" else 100
        z = constant * q / m * math.sqrt(rounds * -math.log(delta)) / epsilon
        run = Repeat(Gaussian(z), rounds) if q == m else Repeat(Poisson(Gaussian(z), q / m), rounds)
        found = epsilon_of(run, delta, Relation.REPLACE_ONE if q == m else Relation.ADD_REMOVE)
        numbers[f"m = {m}: z, epsilon"] = [z, found.lower, found.upper]
        if found.lower > epsilon:
            return Finding(
                False, f"q = {q}, m = {m}: z = {z:.4g}, epsilon at least {found.lower:.4g}, not {epsilon:g}", numbers
            )
    last = found.upper
    return Finding(True, f"epsilon stays at {last:.4g} while sigma falls like 1/m", numbers)


def renyi_to_dp(statement: Statement) -> Finding:
    """(alpha, rho)-RDP gives (rho + factor log(1/delta)/(alpha - 1), delta)-DP on a box, with L for log(1/delta).

    By Canonne, Kamath, Steinke 2020, Proposition 12, delta <= e^{(alpha - 1)(rho - eps)} (1 - 1/alpha)^{alpha - 1}
    /alpha; at the stated eps that is e^{-factor L} times a number below 1, for every rho. A refutation has to be one
    of the conversion that cannot be improved as well (Asoodeh et al. 2020), at the violation and rho = .1.
    """
    found = boxes(statement)
    if found.witness is not None:
        alpha, log = found.witness["alpha"], found.witness["L"]
        stated, needed = (
            0.1 + statement.claim["factor"] * log / (alpha - 1),
            asoodeh_epsilon(alpha, 0.1, math.exp(-log)),
        )
        if needed <= stated * (1 + 1e-9):
            raise Undecided(f"epsilon {stated} may do at alpha = {alpha}, log(1/delta) = {log}: needed {needed}")
    return found
