"""Privacy inequalities of PMTL over boxes of parameters, in Arb balls that are cut until the sign is known everywhere.

Used throughout: the Gaussian profile delta_G(eps; mu) falls in eps and rises in mu (accounting.gaussian), so that where
a parameter only enters through mu or eps its worst end stands for its whole range.
"""

from __future__ import annotations

import math

from flint import arb

from ....accounting.conversions.optimal import asoodeh_epsilon
from .. import balls
from ..row import Z3, Finding, Statement, Undecided
from ..smt import proved

LOG, RATIO = "log(1/delta)", "epsilon / log(1/delta)"


def full_participation(statement: Statement) -> Finding:
    """delta_G(eps; mu) <= delta on a box of (log 1/delta, eps / log 1/delta), mu of T rounds with the stated sigma.

    sigma = factor gamma sqrt(T L)/(eps m) against a move of at most `move` 2 gamma/m makes T rounds one Gaussian pair
    of shift mu = move sqrt(T) (2 gamma/m)/sigma = 2 move eps/(factor sqrt(L)), whatever T, m and gamma. mu rises in the
    move, so its largest value is taken.
    """
    factor, move = statement.claim["factor"], statement.domain.get("largest move, times 2 gamma/m", 1.0)

    def margin(at: balls.Point) -> arb:
        mu = 2 * arb(move) * at[RATIO] * at[LOG].sqrt() / arb(factor)
        return 1 - balls.gaussian_delta(at[RATIO] * at[LOG], mu) * at[LOG].exp()

    return balls.decide(
        margin,
        {LOG: statement.domain[LOG], RATIO: statement.domain[RATIO]},
        proof="true delta below the stated one by a factor of at most 1 - {margin} on the whole box ({cells} pieces)",
        refutation="at {point} the true delta exceeds the stated one",
    )


def coalition_noise(statement: Statement) -> Finding:
    """C-BP on a box of (log 2/delta, eps / log 2/delta): k* participations leave delta_G(eps; 2 sqrt(k*)/z) <= delta/2.

    At z = factor sqrt(k* log(2/delta))/eps the shift is 2 eps/(factor sqrt(log(2/delta))), whatever k*, T, p; more than
    k* participations have probability delta/2 at most by the choice of k*, and fewer leave a smaller shift.
    """
    told = {LOG: statement.domain["log(2/delta)"], RATIO: statement.domain["epsilon / log(2/delta)"]}
    return full_participation(Statement(statement.text, {"factor": statement.claim["factor"]}, told))


def renyi_to_dp(statement: Statement) -> Finding:
    """(alpha, rho)-RDP gives (rho + factor log(1/delta)/(alpha - 1), delta)-DP on a box of (alpha, log 1/delta).

    By Canonne, Kamath, Steinke 2020, Proposition 12, delta <= e^{(alpha - 1)(rho - eps)} (1 - 1/alpha)^{alpha - 1}
    /alpha; at the stated eps that is e^{-factor L} times a number below 1, for every rho. The refutation is by the
    conversion that cannot be improved (Asoodeh et al. 2020), at the violation and rho = .1.
    """
    factor = statement.claim["factor"]

    def margin(at: balls.Point) -> arb:
        alpha = at["alpha"]
        gain = alpha.log() - (alpha - 1) * (1 - 1 / alpha).log()
        return gain - (1 - arb(factor)) * at[LOG]

    found = balls.decide(
        margin,
        {"alpha": statement.domain["alpha"], LOG: statement.domain[LOG]},
        proof="delta below the stated one by a factor of e^-{margin} at least on the whole box ({cells} pieces)",
        refutation="at {point} the stated epsilon is below the least implied one",
    )
    if found.witness is not None:
        alpha, log = found.witness["alpha"], found.witness[LOG]
        stated, needed = 0.1 + factor * log / (alpha - 1), asoodeh_epsilon(alpha, 0.1, math.exp(-log))
        if needed <= stated * (1 + 1e-9):
            raise Undecided(f"epsilon {stated} may do at alpha = {alpha}, log(1/delta) = {log}: needed {needed}")
    return found


def hidden_and_seen(statement: Statement) -> Finding:
    """One round: delta where participation is hidden against delta where it is seen, on a box of (p, eps, mu).

    Seen: p delta_G(eps; mu). Hidden: p delta_G(log(1 + (e^eps - 1)/p); mu), at a larger epsilon.
    """
    smaller = statement.claim["hidden against seen"] == "<"

    def margin(at: balls.Point) -> arb:
        seen = balls.gaussian_delta(at["epsilon"], at["mu"])
        hidden = balls.gaussian_delta((1 + (at["epsilon"].exp() - 1) / at["p"]).log(), at["mu"])
        return 1 - hidden / seen if smaller else hidden / seen - 1

    return balls.decide(
        margin,
        {name: statement.domain[name] for name in ("p", "epsilon", "mu")},
        proof="a share of {margin} at least is missing on the whole box ({cells} pieces)",
        refutation="at {point} it is the other way round",
    )


def amplified_noise(statement: Statement) -> Finding:
    """C-T1a's arithmetic for all reals: T 2 p^2 alpha/z^2 + L/(alpha - 1) <= eps where z >= c2 p sqrt(T L)/eps."""
    import z3

    rate, rounds, z, log, epsilon = z3.Reals("p T z L epsilon")
    factor = z3.RealVal(statement.claim["c2"])
    alpha = 1 + 2 * log / epsilon
    given = [rate > 0, rounds >= 1, z > 0, log > 0, epsilon > 0, epsilon <= 2 * log]
    noise = z * z * epsilon * epsilon >= factor * factor * rate * rate * rounds * log
    cost = 2 * rate * rate * alpha * rounds / (z * z)
    holds = proved(cost + log / (alpha - 1) <= epsilon, *given, noise)
    if holds:
        return Finding(True, "at most epsilon/2 each: proved for all reals", {"z3": "unsat"}, basis=Z3)
    over = _cost_at_the_corner(float(statement.claim["c2"]))
    if over <= 1:
        raise Undecided(f"z3 has a counterexample, the corner epsilon = 2 L is none: {over}")
    return Finding(False, f"at epsilon = 2 L the sum is {over:.4f} epsilon", {"sum / epsilon": over}, basis=Z3)


def _cost_at_the_corner(c2: float) -> float:
    """The sum over epsilon at epsilon = 2 L, alpha = 2, with the least z: 4 p^2 T/z^2 = 16 L/c2^2, and L."""
    return (16 / c2**2 + 1) / 2
