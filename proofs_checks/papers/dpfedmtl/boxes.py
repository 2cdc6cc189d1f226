"""Section 4 over boxes of parameters: one client's move, one round, one sampled round, the limit, in Arb balls.

A Gaussian profile rises with mu for every epsilon at once, so that a comparison of two mu is one of all profiles.
"""

from __future__ import annotations

from flint import arb

from ....accounting.rounding import float_above, float_below
from ..balls import Box, Point, decide, gaussian_delta
from ..row import Finding, Statement
from .composition import actual_epsilon, claimed_epsilon
from .settings import FEMNIST

FACTORS: dict[str, tuple[str, str]] = {
    "2CK/M": ("1", "K/M"),
    "2C": ("1", "1"),
    "1.03 of 2C/K": ("1.03", "1/K"),
    "0.97 of 2C/K": ("0.97", "1/K"),
    "1.03 of 2C/sqrt K": ("1.03", "1/sqrt K"),
    "0.97 of 2C/sqrt K": ("0.97", "1/sqrt K"),
}
"""S as a number times 2C times a function of K and M."""

CLIENTS: Box = {"K": (2.0, 100.0), "M/K": (2.0, 500.0)}


def _times(sensitivity: str, power: float, at: Point) -> arb:
    """S K^power / (2C), for power 1/2 or 1."""
    number, form = FACTORS[sensitivity]
    if form == "K/M":
        return arb(number) * at["K"] ** arb(power) / at["M/K"]
    left = power - {"1": 0.0, "1/sqrt K": 0.5, "1/K": 1.0}[form]
    return arb(number) * (at["K"] ** arb(left) if left else arb(1))


def _needed(sensitivity: str) -> Box:
    """The sizes that the comparison depends on."""
    form = FACTORS[sensitivity][1]
    return {name: ends for name, ends in CLIENTS.items() if form == "K/M" or (form == "1" and name == "K")}


def moved_average(statement: Statement) -> Finding:
    """S^2 minus |a - b|^2/K^2 in units of (2C/K)^2, for gradients of norms r C and s C, at the angle pi t."""
    sensitivity = statement.claim["S"]

    def margin(at: Point) -> arb:
        apart = at["r"] ** 2 + at["s"] ** 2 - 2 * at["r"] * at["s"] * (arb.pi() * at["t"]).cos()
        return _times(sensitivity, 1.0, at) ** 2 - apart / 4

    return decide(
        margin,
        {"r": (0.0, 1.0), "s": (0.0, 1.0), "t": (0.0, 1.0), **_needed(sensitivity)},
        proof="S^2 exceeds the square of every move by {margin} (2C/K)^2 or more, on {cells} pieces",
        refutation="a client moves the average farther at {point}",
    )


def one_round(statement: Statement) -> Finding:
    """1 minus sigma times the true mu of one average, 2C / (S sqrt K), for all K and M of the box."""
    sensitivity = statement.claim["S"]
    box = _needed(sensitivity) or {"K": CLIENTS["K"]}
    return decide(
        lambda at: 1 - 1 / _times(sensitivity, 0.5, at),
        box,
        proof="sigma mu stays below 1 by {margin} or more, on {cells} pieces, for every sigma and epsilon",
        refutation="1 - sigma mu is {margin} at {point}, and every delta is too large with it",
    )


def sampled_round(statement: Statement) -> Finding:
    """C_p's profile minus that of what the observer sees, over p, for a (1/sigma)-GDP contribution that is replaced.

    epsilon = log(1 + p (E - 1)), E = e^(v/sigma), makes C_p's profile p delta_G(v/sigma; 1/sigma). Uploads have
    p delta_G(epsilon; 1/sigma). Averages, in the order that C_p's formula leaves out (Q against (1-p) Q + p P), have
    p c delta_G(log(e^epsilon / c); 1/sigma) with c = 1 - (1 - p)(E - 1), or 0 where c <= 0.
    """

    def margin(at: Point) -> arb:
        mu, rate = 1 / at["sigma"], at["p"]
        rise = (at["v"] / at["sigma"]).exp() - 1
        stated, growth = gaussian_delta(at["v"] / at["sigma"], mu), 1 + rate * rise
        if statement.domain["observer sees"] == "one upload":
            return stated - gaussian_delta(growth.log(), mu)
        return stated - _other_order(growth, 1 - (1 - rate) * rise, mu)

    return decide(
        margin,
        {"sigma": (0.65, 2.42), "p": (0.002, 0.02), "v": (0.25, 3.0)},
        proof="the observer's delta over p stays below C_p's by {margin} or more, on {cells} pieces",
        refutation="the observer's delta exceeds C_p's at {point}",
    )


def _other_order(growth: arb, c: arb, mu: arb) -> arb:
    """A ball of c delta_G(log(growth / c); mu), the integral of (c q - growth p)+: it rises in c, 0 for c <= 0."""
    low, high = arb(c.lower()), arb(c.upper())
    if not high > 0:
        return arb(0)
    most = high * gaussian_delta((arb(growth.lower()) / high).log(), mu)
    least = low * gaussian_delta((arb(growth.upper()) / low).log(), mu) if low > 0 else arb(0)
    return least.union(most)


def whole_run(statement: Statement) -> Finding:
    """epsilon of C_p(G_(1/sigma))^T minus the true one of T averages, FEMNIST, at 1e-5; each falls in sigma."""
    sensitivity = statement.claim["S"]

    def margin(at: Point) -> arb:
        least, most = float_below(at["sigma"].lower()), float_above(at["sigma"].upper())
        low = claimed_epsilon(FEMNIST, most).lower - actual_epsilon(FEMNIST, least, sensitivity, "averages", "upper")
        high = claimed_epsilon(FEMNIST, least).upper - actual_epsilon(FEMNIST, most, sensitivity, "averages", "lower")
        return arb(float_below(arb(low) - 1e-9)).union(arb(float_above(arb(high) + 1e-9)))

    return decide(
        margin,
        {"sigma": statement.domain["sigma"]},
        proof="the true epsilon stays below the claimed one by {margin} or more, on {cells} pieces",
        refutation="claimed minus true epsilon is at most {margin} at {point}",
        most_cells=60,
    )


def limit_of_variation(statement: Statement) -> Finding:
    """A bound of the total variation of T rounds at p = nu / sqrt T, minus that of the stated limit, delta(0).

    For either order, and for C_p's symmetric pair, a round's KL divergence is at most p^2 chi^2 with
    chi^2 = e^(1/sigma^2) - 1; T of them make nu^2 chi^2, and Pinsker's inequality nu sqrt(chi^2 / 2), whatever T.
    """
    formula = statement.claim["mu"]

    def margin(at: Point) -> arb:
        chi = ((1 / at["sigma"] ** 2).exp() - 1).sqrt()
        mu = at["nu"] * chi * (at["T"].sqrt() if formula == "nu sqrt(T (e^(1/sigma^2) - 1))" else 1)
        return at["nu"] * chi / arb(2).sqrt() - (mu / arb(8).sqrt()).erf()

    return decide(
        margin,
        {"sigma": (1.0, 10.0), "nu": (0.1, 1.0), "T": (100.0, 1e8)},
        proof="the limit keeps below the bound by {margin} or more, on {cells} pieces",
        refutation="the limit would tell the neighbours apart better than any T rounds can, at {point}",
    )
