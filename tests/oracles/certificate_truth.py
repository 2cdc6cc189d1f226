"""What is true of a certificate's statement, from closed forms and enumeration in mpmath.

Shares nothing with the checker, the accountants or what writes certificates; it reads the JSON document by itself.

    at_least(document, epsilon)   a delta that two neighbours need at epsilon: an upper end of the interval is false
                                  where this is above the claim's delta
    at_most(document, epsilon)    a delta that no two neighbours exceed: a lower end is false where this is below

Both are exact where the noise is Gaussian, discrete or randomized response and nobody's coin is hidden; else each is a
bound on its own side: from dropping rounds, or from telling the coins. Of several phases `at_least` takes the best one,
and `at_most` is 1.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath as mp

Law = dict[Any, tuple[mp.mpf, mp.mpf]]
"""Outcomes with their probabilities under both laws."""

DIGITS = 70
NOTHING = mp.mpf("1e-40")
"""A delta of 0, at so many digits."""

CENTRAL = {"gaussian", "gaussian-mean", "per-client-gaussian"}


def exact(value: Any) -> mp.mpf:
    fraction = Fraction(str(value))
    return mp.mpf(fraction.numerator) / fraction.denominator


def at_least(document: dict[str, Any], epsilon: str) -> mp.mpf:
    """A lower bound on delta(epsilon), attained by two neighbours."""
    with mp.workdps(DIGITS):
        return max(_bounds(phase, document["claim"], epsilon)[0] for phase in document["phases"])


def at_most(document: dict[str, Any], epsilon: str) -> mp.mpf:
    """An upper bound on delta(epsilon)."""
    with mp.workdps(DIGITS):
        if len(document["phases"]) > 1:
            return mp.mpf(1)
        return _bounds(document["phases"][0], document["claim"], epsilon)[1]


def _bounds(phase: dict[str, Any], claim: dict[str, Any], epsilon: str) -> tuple[mp.mpf, mp.mpf]:
    key = (tuple(sorted(phase["mechanism"].items())), tuple(sorted(phase["sampling"].items(), key=str)))
    return _cached(key, phase["rounds"], claim["neighbouring"], claim["participation"], str(epsilon))


@lru_cache(maxsize=4096)
def _cached(key: Any, rounds: int, relation: str, seen: str, epsilon: str) -> tuple[mp.mpf, mp.mpf]:
    mechanism, sampling, eps = dict(key[0]), dict(key[1]), exact(epsilon)
    population, cohort, rate = (sampling[name] for name in ("population", "cohort", "sampling_rate"))
    scheme = sampling["scheme"]
    q = mp.mpf(1) if scheme == "none" else exact(rate) if rate is not None else mp.mpf(cohort) / population
    size = mp.mpf(cohort) if cohort else (q * population if population else None)
    move = 2 if relation == "replace-one" else 1
    world = World(mechanism, rounds, relation, scheme, q, size, move)
    if q == 1 or scheme == "shuffle" or seen == "visible" or (seen == "pooled" and scheme == "fixed-size"):
        return world.open(eps, seen == "hidden")
    return world.hidden(eps)


class World:
    """One phase, read by itself."""

    def __init__(self, mechanism: Any, rounds: int, relation: str, scheme: str, q: Any, size: Any, move: int) -> None:
        self.kind, self.m, self.rounds, self.relation = mechanism["kind"], mechanism, rounds, relation
        self.scheme, self.q, self.size, self.move = scheme, q, size, move
        self.batches = round(1 / q) if scheme == "shuffle" else 1

    def mu(self, move: int, least: bool = False) -> mp.mpf:
        """The distance of the two means, in standard deviations of the noise."""
        number = {name: exact(value) for name, value in self.m.items() if name != "kind"}
        if self.kind == "gaussian":
            return move / number["noise_multiplier"]
        share = number["clip_norm"] * move / number["noise_std"]
        if self.kind == "per-client-gaussian":
            return share / mp.sqrt(self.size)
        return share * number["min_weight" if least else "max_weight"]

    def open(self, eps: mp.mpf, hidden: bool) -> tuple[mp.mpf, mp.mpf]:
        """Where everybody takes part, or who takes part is seen; shuffled epochs count once."""
        n, q = self.rounds // self.batches, mp.mpf(1) if self.scheme == "shuffle" else self.q
        if self.kind == "zcdp":  # Gaussian noise is such a mechanism
            return gauss(mp.sqrt(2 * exact(self.m["rho"]) * n), eps), mp.mpf(1)
        if self.kind == "per-client-gaussian" and self.relation == "add-remove":
            return of_absence(self.size, exact(self.m["clip_norm"]) / exact(self.m["noise_std"]), eps), mp.mpf(1)
        if self.kind in CENTRAL:
            low, high = (coins(n, q, lambda k, m=mu: gauss(m * mp.sqrt(k), eps)) for mu in self._ends())
            return (self._epochs(eps) if hidden and self.batches > 1 else low), high
        low, high = (
            coins(n, q, lambda k, law=law: hockey_stick(composed(law, k), eps)) for law in self.laws(self.move)
        )
        return (mp.mpf(0) if hidden and self.batches > 1 else low), high

    def _ends(self) -> tuple[mp.mpf, mp.mpf]:
        return self.mu(self.move, least=True), self.mu(self.move)

    def _epochs(self, eps: mp.mpf) -> mp.mpf:
        """One epoch, some batch's sum above a threshold, all others at -clip; clients of equal weight only."""
        mu = self.mu(self.move, least=True)
        rest = mu * (2 - self.move)
        best = mp.mpf(0)
        for c in mp.linspace(0, 2 * (rest + mu), 25):
            y, x = (1 - mp.ncdf(c - at) * mp.ncdf(c) ** (self.batches - 1) for at in (rest + mu, rest))
            best = max(best, y - mp.exp(eps) * x, x - mp.exp(eps) * y)
        return best

    def hidden(self, eps: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        """A coin that nobody sees: one round is dropped to, and the coins are told."""
        gamma, q, n = mp.exp(eps), self.q, self.rounds
        near = 2 if self.scheme == "fixed-size" and self.relation == "add-remove" else self.move
        far = 1 if self.scheme == "poisson" and self.move == 2 else near
        inner = 1 + (gamma - 1) / q
        exactly = near == far and n == 1 and (self.scheme == "poisson" or self.relation == "add-remove")
        if self.kind in CENTRAL and exactly:
            return _one_round(self.mu(far, least=True), q, eps), _one_round(self.mu(far), q, eps)
        if self.kind in CENTRAL:
            mu, most = self.mu(far, least=True), self.mu(near)
            low = max(q * gauss(mu, mp.log(inner)), replaced(self.mu(1, least=True), q, eps) if self.move == 2 else 0)
            return low, coins(n, q, lambda k: gauss(most * mp.sqrt(k), eps))
        low = q * hockey_stick(self.laws(far)[0], mp.log(inner))
        return low, coins(n, q, lambda k: hockey_stick(composed(self.laws(near)[1], k), eps))

    @lru_cache(maxsize=64)  # noqa: B019
    def laws(self, move: int) -> tuple[Law, Law]:
        """Two laws: at most and at least as revealing as one round. Bounds: what is allowed by them, both times."""
        n = {name: exact(value) for name, value in self.m.items() if name != "kind"}
        if self.kind == "laplace":
            return _laplace(move / n["noise_multiplier"], 64 if self.rounds == 1 else 20)
        if self.kind == "discrete-laplace":
            return (_integers(lambda j: mp.exp(-abs(j) / n["scale"]), int(move * n["clip"]), int(60 * n["scale"])),) * 2
        if self.kind == "discrete-gaussian":
            shape = 2 * n["sigma"] ** 2
            return (_integers(lambda j: mp.exp(-(j**2) / shape), int(move * n["clip"]), int(11 * n["sigma"]) + 1),) * 2
        if self.kind == "randomized-response":
            flip, others = n["flip_probability"], n["categories"] - 1
            side = (1 - flip, flip / others)
            rest = (flip - flip / others, flip - flip / others)
            return ({1: side, -1: side[::-1], 0: rest},) * 2
        if self.kind == "three-valued":
            return _three(n["least_epsilon"], n["least_apart"]), _three(n["most_epsilon"], n["most_apart"])
        if self.kind == "gradual":
            return _laplace(n["epsilon"], 64 if self.rounds == 1 else 20)
        if self.kind in ("pure-dp", "approximate-dp"):
            delta, up = n.get("delta", mp.mpf(0)), 1 / (1 + mp.exp(-n["epsilon"]))
            up *= 1 - delta
            down = 1 - delta - up
            worst = {1: (up, down), -1: (down, up), "sure": (delta, mp.mpf(0)), "no": (mp.mpf(0), delta)}
            return worst, worst
        raise NotImplementedError(self.kind)


def _three(epsilon: mp.mpf, apart: mp.mpf) -> Law:
    """With probability `apart` an answer that is e^epsilon times as likely under the one or the other, else none."""
    right = apart / (1 + mp.exp(-epsilon))
    return {1: (right, apart - right), -1: (apart - right, right), 0: (1 - apart, 1 - apart)}


def bound_only(document: dict[str, Any]) -> bool:
    """Whether some mechanism is known by a bound only, so that no positive lower end can be true of all of them."""
    mechanisms = [phase["mechanism"] for phase in document["phases"]]
    bounds = {"zcdp", "pure-dp", "approximate-dp", "gradual"}
    return all(m["kind"] in bounds or exact(m.get("least_apart", 1)) == 0 for m in mechanisms)


def unbounded(document: dict[str, Any]) -> bool:
    """Whether losses have no largest one, so that no lower end at delta = 0 is too high."""
    mechanisms = [phase["mechanism"] for phase in document["phases"]]
    bounded = {"laplace", "discrete-laplace", "randomized-response", "pure-dp", "three-valued", "gradual"}
    return any(m["kind"] not in bounded and exact(m.get("delta", 1)) > 0 for m in mechanisms)


def coins(n: int, q: mp.mpf, delta: Callable[[int], mp.mpf]) -> mp.mpf:
    """E[delta(K)], K binomial."""
    if q == 1:
        return delta(n)
    return mp.fsum(mp.binomial(n, k) * q**k * (1 - q) ** (n - k) * delta(k) for k in range(1, n + 1))


def _one_round(mu: mp.mpf, q: mp.mpf, eps: mp.mpf) -> mp.mpf:
    """(1-q) N(0) + q N(mu) against N(0), and back, each in closed form."""

    def forth(gamma: mp.mpf) -> mp.mpf:
        return 1 - gamma if gamma <= 1 - q else q * gauss(mu, mp.log(1 + (gamma - 1) / q))

    gamma = mp.exp(eps)
    return max(forth(gamma), 1 - gamma + gamma * forth(1 / gamma))


def of_absence(clients: mp.mpf, shift: mp.mpf, eps: mp.mpf) -> mp.mpf:
    """One dimension: n clients' noise and a shift, against the noise of n - 1; on x > a for the best of some a."""
    wide, narrow = mp.sqrt(clients), mp.sqrt(clients - 1)
    spots = mp.linspace(0, 12 * wide + shift, 200)
    right = max(mp.ncdf((shift - a) / wide) - mp.exp(eps) * mp.ncdf(-a / narrow) for a in spots)
    return max(right, mp.mpf(0))


def gauss(mu: mp.mpf, eps: mp.mpf) -> mp.mpf:
    """N(mu, 1) against N(0, 1)."""
    if mu == 0:
        return max(1 - mp.exp(eps), mp.mpf(0))
    return mp.ncdf(mu / 2 - eps / mu) - mp.exp(eps) * mp.ncdf(-mu / 2 - eps / mu)


def replaced(mu: mp.mpf, q: mp.mpf, eps: mp.mpf) -> mp.mpf:
    """(1-q) N(0) + q N(mu) against (1-q) N(0) + q N(-mu), on x > a for the best of some a: at most the truth."""

    def mass(a: mp.mpf, mean: mp.mpf) -> mp.mpf:
        return (1 - q) * mp.ncdf(-a) + q * mp.ncdf(mean - a)

    return max(mass(a, mu) - mp.exp(eps) * mass(a, -mu) for a in mp.linspace(-mu, 3 * mu + 6, 60))


def _laplace(a: mp.mpf, cells: int) -> tuple[Law, Law]:
    """Cells of the loss between -a and a: merged (less revealing), and split to their ends, each law's mass kept."""
    cuts = mp.linspace(0, a, cells + 1) if a else [a]
    inner = [
        ((mp.exp(right - a) - mp.exp(left - a)) / 2, (mp.exp(-left) - mp.exp(-right)) / 2)
        for left, right in itertools.pairwise(cuts)
    ]
    ends = [(mp.exp(-a) / 2, mp.mpf(1) / 2), (mp.mpf(1) / 2, mp.exp(-a) / 2)]
    apart = {x: (mp.mpf(0), mp.mpf(0)) for x in cuts}

    def put(x: mp.mpf, p: mp.mpf, q: mp.mpf) -> None:
        apart[x] = (apart[x][0] + p, apart[x][1] + q)

    put(cuts[0], *ends[0])
    put(cuts[-1], *ends[1])
    for (left, right), (p, q) in zip(itertools.pairwise(cuts), inner, strict=True):
        low, high = mp.exp(2 * left - a), mp.exp(2 * right - a)  # the odds there
        to_right = (p - low * q) / (high - low)
        put(right, high * to_right, to_right)
        put(left, low * (q - to_right), q - to_right)
    return dict(enumerate([ends[0], *inner, ends[1]])), dict(apart)


def _integers(weight: Callable[[int], mp.mpf], move: int, reach: int) -> Law:
    """Noise on the integers, moved by `move` and not."""
    total = mp.fsum(weight(j) for j in range(-reach, reach + 1))
    law = {}
    for x in range(-reach, reach + move + 1):
        law[x] = (weight(x - move) / total, weight(x) / total)
    return law


def composed(law: Law, rounds: int) -> Law:
    """The law of so many rounds' outcomes, those of one loss together (by its 30 digits)."""
    result: Law = {0: (mp.mpf(1), mp.mpf(1))}
    for _ in range(rounds):
        sums: dict[Any, list[mp.mpf]] = defaultdict(lambda: [mp.mpf(0), mp.mpf(0)])
        for (p, q), (a, b) in itertools.product(result.values(), law.values()):
            first, second = p * a, q * b
            place = mp.nstr(mp.log(first / second), 25) if first and second else ("P" if first else "Q")
            sums[place][0] += first
            sums[place][1] += second
        result = {place: (one, two) for place, (one, two) in sums.items()}
    return result


def hockey_stick(law: Law, eps: mp.mpf) -> mp.mpf:
    """The larger of both directions."""
    gamma = mp.exp(eps)
    forth = mp.fsum(max(p - gamma * q, 0) for p, q in law.values())
    back = mp.fsum(max(q - gamma * p, 0) for p, q in law.values())
    return max(forth, back)
