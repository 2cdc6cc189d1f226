"""Theorem 1 (Section 4.2) and the lemmas that it rests on: how much noise the released models need.

The corrected constants are proved in docs/theory/pmtl_privacy.md.
"""

from __future__ import annotations

import math

from flint import arb

from ....accounting import epsilon as epsilon_of
from ....accounting.accountants import AccountantName
from ....accounting.gaussian import epsilon_above, profile_above, profile_below
from ....accounting.rdp.rdp import renyi
from ....mechanisms import FixedSize, Gaussian, Poisson, Repeat
from .. import balls
from ..row import Finding, Statement, Undecided
from . import boxes


def full_participation(statement: Statement) -> Finding:
    """As boxes.full_participation, with what Theorem 1's sigma gives at a few points."""
    found = boxes.full_participation(statement)
    return Finding(
        found.holds, found.text, dict(found.numbers) | _known_points(statement.claim["factor"]), found.witness
    )


def _known_points(factor: float) -> dict[str, float]:
    """What sigma gives at delta = 1e-5: the achieved epsilon, noise against the least needed, and one violation."""
    delta, log = 1e-5, -math.log(1e-5)
    numbers = {"true delta at epsilon = 40, delta = 1e-5": profile_below(40.0, 2 * 40 / (factor * math.sqrt(log)))}
    for epsilon in (0.5, 1.0, 2.0, 8.0):
        mu = 2 * epsilon / (factor * math.sqrt(log))
        numbers[f"achieved at epsilon = {epsilon:g}, delta = 1e-5"] = epsilon_above(delta, mu)
        numbers[f"noise / least noise at epsilon = {epsilon:g}"] = largest_shift(epsilon, delta) / mu
    return numbers


def largest_shift(epsilon: float, delta: float) -> float:
    """At most mu*(eps, delta), the largest shift of a Gaussian pair that is (eps, delta)-DP, to 12 digits."""
    low, high = 0.0, 1.0
    while profile_above(epsilon, high) <= delta:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if profile_above(epsilon, middle) <= delta else (low, middle)
    return low


POINTS = ((0.1, 1e-5), (1.0, 1e-5), (8.0, 1e-5), (40.0, 1e-5), (1.0, 1e-12), (2.0, 0.005))
"""(epsilon, delta) at which the least noise is also compared by the profile itself, to a millionth."""


def least_noise(statement: Statement) -> Finding:
    """As boxes.least_noise, and at POINTS by certified values of delta_G on both sides."""
    found, factor = boxes.least_noise(statement), statement.claim["times the least noise"]
    holds, numbers = found.holds, dict(found.numbers)
    for epsilon, delta in POINTS:
        mu = largest_shift(epsilon, delta)
        enough, less = profile_above(epsilon, mu / factor), profile_below(epsilon, mu / factor / (1 - 1e-6))
        numbers[f"delta at {epsilon:g}, {delta:g}: with it, with a millionth less"] = [enough, less]
        holds = holds and enough <= delta < less
    return Finding(holds, found.text, numbers, found.witness)


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
    return Finding(True, text, dict(found.numbers) | {"accounted / stated epsilon": ratios})


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


def _no_constants() -> Finding:
    """That no constants will do with p = 1, where T rounds are a Gaussian pair of shift mu = eps/u, u = c2 sqrt(L).

    Take eps = max(4 u^2, 1, c1) and T = 2 eps/c1: then eps < c1 p^2 T, mu >= max(4u, 1/u) >= 2 and eps <= mu^2/4, so
    that delta >= delta_G(mu^2/4; mu), which balls show to be above 1/2 for 2 <= mu <= 40. Beyond, it is
    Phi(mu/4) - e^{mu^2/4} Phi(-3 mu/4) >= Phi(10) - e^{-mu^2/32}/2.
    """
    found = balls.decide(
        lambda at: balls.gaussian_delta(at["mu"] ** 2 / 4, at["mu"]) - arb(0.5),
        {"mu": (2.0, 40.0)},
        proof="whatever c1 and c2: with p = 1 and enough rounds, delta is above 1/2 ({cells} pieces)",
        refutation="no counterexample at {point}",
    )
    numbers: dict[str, object] = dict(found.numbers)
    log = -math.log(1e-5)
    for c1, c2 in ((1.0, 1.0), (0.1, 4.0), (1.0, 0.01)):
        epsilon = max(4 * c2**2 * log, 1.0, c1)
        true = profile_below(epsilon, epsilon / (c2 * math.sqrt(log)))
        numbers[f"c1 = {c1:g}, c2 = {c2:g}, delta = 1e-5: T, epsilon, true delta"] = [2 * epsilon / c1, epsilon, true]
    return Finding(not found.holds, found.text, numbers)


def _points(c1: float, statement: Statement) -> list[tuple[float, float, float, int]]:
    """(p, epsilon, delta, rounds) at the corners of the domain, with the least rounds that eps < c1 p^2 T allows."""
    corners = []
    for p in (1e-3, statement.domain["p at most"]):
        for epsilon in statement.domain["epsilon"]:
            for log in statement.domain["log(1/delta)"]:
                corners.append((p, epsilon, math.exp(-log), math.ceil(epsilon / (c1 * p * p)) + 1))
    return corners


def _against_accountant(c1: float, c2: float, halving: int, statement: Statement) -> list[float]:
    """The certified upper end over the stated epsilon at the corners; also Theorem 11 itself against exact moments."""
    ratios = []
    for p, epsilon, delta, rounds in _points(c1, statement):
        z = c2 * p * math.sqrt(rounds * -math.log(delta)) / epsilon
        run = Repeat(Poisson(Gaussian(z / halving), p), rounds)
        alpha = 1 - 2 * math.log(delta) / epsilon
        moment = renyi(Poisson(Gaussian(z / halving), p), alpha).upper
        if moment > 2 * p * p * alpha * (halving / z) ** 2:
            raise Undecided(f"Theorem 11 fails at p = {p}, z = {z / halving}, alpha = {alpha}")
        if halving == 1:
            ratios.append(epsilon_of(run, delta, accountant="rdp").upper / epsilon)
        else:
            ratios.append(_replace_one_upper(moment, alpha, rounds, delta) / epsilon)
    return ratios


def _replace_one_upper(moment: float, alpha: float, rounds: int, delta: float) -> float:
    """epsilon from twice the remove-order divergence at half the multiplier, rounds added up (Mironov, Prop. 3)."""
    return rounds * 2 * moment - math.log(delta) / (alpha - 1)


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


def accounted_as(statement: Statement) -> Finding:
    """Whether SGM(p, z / divisor), Poisson and zero-out, is an upper bound for what Algorithm 1 does (hidden cohorts).

    Fixed cohorts and replaced data, the others' updates all at -gamma u, attain ((1-p) N(0) + p N(2/z), N(0)); others
    who follow what was released attain a little more, which exact accounting at z/2 misses and Renyi divergences cover
    (docs/theory/fixed_cohorts.md, sections 6 and 8).
    """
    divisor, delta, numbers = statement.claim["multiplier divided by"], 1e-5, {}
    accountant: AccountantName = "rdp" if statement.claim["accounting"] == "Renyi" else "best"
    for m, q, rounds, z in SETTINGS:
        truth = epsilon_of(Repeat(FixedSize(Gaussian(z), m, q), rounds), delta, "replace-one")
        accounted = Repeat(Poisson(Gaussian(z / divisor), q / m), rounds)
        stated = epsilon_of(accounted, delta, "add-remove", accountant=accountant)
        numbers[f"m = {m}, q = {q}, T = {rounds}, z = {z:g}"] = [truth.lower, stated.upper]
        if truth.lower > stated.upper:
            text = (
                f"m = {m}, q = {q}, T = {rounds}, z = {z:g}: at least {truth.lower:.4g}, accounted {stated.upper:.4g}"
            )
            return Finding(False, text, numbers)
    return Finding(True, f"attained epsilon at most the accounted one in {len(SETTINGS)} settings", numbers)


def limits(statement: Statement) -> Finding:
    """As m grows, whether sigma = c gamma sqrt(T L)/(eps m) keeps (eps, delta) with q fixed, or with q = m.

    z = q sigma / gamma: with q = m it does not depend on m; with q fixed it vanishes.
    """
    delta, rounds, epsilon, constant = 1e-5, 1000, 1.0, 4.0
    numbers = {}
    for m in (10**3, 10**4, 10**5, 10**6):
        q = m if statement.domain["cohort"] == "all" else 100
        z = constant * q / m * math.sqrt(rounds * -math.log(delta)) / epsilon
        run = Repeat(Gaussian(z), rounds) if q == m else Repeat(Poisson(Gaussian(z), q / m), rounds)
        found = epsilon_of(run, delta, "replace-one" if q == m else "add-remove")
        numbers[f"m = {m}: z, epsilon"] = [z, found.lower, found.upper]
        if found.lower > epsilon:
            return Finding(False, f"q = {q}, m = {m}: z = {z:.4g}, epsilon at least {found.lower:.4g}, not 1", numbers)
    last = found.upper
    return Finding(True, f"epsilon stays at {last:.4g} while sigma falls like 1/m", numbers)
