"""Section 2, from the mechanism to pairs: one round's noise, how a coin enters, and the products over all rounds."""

from collections.abc import Callable
from typing import NamedTuple

from flint import arb, fmpq

from .format import GAUSSIAN, LAPLACE, LARGE, Phase, require

ZERO, ONE = arb(0), arb(1)
MOST_MASSES = 40_000
"""Losses of a composed lattice that are listed."""

CELLS = 100
"""Into which the losses of Laplace noise are cut, where there are not too many rounds."""

Product = list[tuple["Pair", int]]
"""Pairs with the number of rounds of each."""


class Pair(NamedTuple):
    """[2.1] One round: N(mu, 1) and N(0, 1); or, symmetric, L = kg with mass law[k]; lost = P[L = infinity].

    order: "both" as it is, "visible" after a public coin of rate p, any other a hidden coin's [2.2]; "zcdp": only the
    Renyi divergences are at most this pair's. An "epoch" of so many batches: the unit's is at g + mu against g, the
    others are at 0. most: the largest loss [4.6], where it is rational: of the noise, whatever the coin. square: mu^2,
    exactly, or twice a rho [6.1], of the noise. "mixed": a public coin says which of `parts` it is. reach: what is
    further out is cut off [3.3].
    """

    mu: arb = ZERO
    g: arb = ZERO
    law: dict[int, arb] = {}  # noqa: RUF012
    lost: arb = ZERO
    order: str = "both"
    p: arb = ONE
    batches: int = 1
    most: fmpq | None = None
    parts: tuple[tuple[arb, "Pair"], ...] = ()
    square: fmpq | None = None
    reach: arb | None = None


class Round(NamedTuple):
    """What a pair depends on: the phase, the move d, whether it must dominate, whether a hidden coin follows."""

    phase: Phase
    move: int
    worst: bool
    coin: bool


def gaussian(r: Round) -> Pair:
    """[2.1] mu = d/z."""
    mu = r.move / r.phase.values["noise_multiplier"]
    return Pair(arb(mu), square=mu**2)


def gaussian_mean(r: Round) -> Pair:
    """[2.1] mu = d w C/s, w the largest weight in what dominates and the least in what is attained."""
    values = r.phase.values
    weight = values["max_weight" if r.worst else "min_weight"]
    mu = r.move * weight * values["clip_norm"] / values["noise_std"]
    return Pair(arb(mu), square=mu**2)


def per_client_gaussian(r: Round) -> Pair:
    """[2.1] mu = d C/(s sqrt(n)): n clients are there, each with its noise."""
    require(r.phase.size is not None, "how many clients add noise is not known")
    alone = r.move * r.phase.values["clip_norm"] / r.phase.values["noise_std"]
    return Pair(arb(alone) / arb(r.phase.size).sqrt(), square=alone**2 / (r.phase.size or 1))


def tail_of(x: arb) -> arb:
    """P[N(0, 1) > x]."""
    return (x / arb(2).sqrt()).erfc() / 2


def pure(odds: arb, stay: arb = ZERO, lost: arb = ZERO) -> Pair:
    """[2.1] e^L is odds, 1, 1/odds or infinity, the last two with the masses stay and lost."""
    up, down = ((1 - lost - stay) / (1 + odds**sign) for sign in (-1, 1))
    return Pair(g=odds.log(), law={1: up, 0: stay, -1: down}, lost=lost)


def laplace(r: Round) -> Pair:
    """[2.1] Moved by a = d/z scales, by d C integers of 1/b each, or by a stated number: L from -a to a in n cells."""
    first, *rest = r.phase.values.values()
    integers = int((r.move * rest[0]).p) if rest else 0
    scales = first if r.phase.kind == "gradual" else (integers or r.move) / first
    require(scales < LARGE, "too little noise for this arithmetic")
    n = max(1, min(CELLS, MOST_MASSES // (3 * r.phase.rounds)))
    split = r.worst or 0 < integers <= n
    if split and integers:  # the ends of cells are losses that it has
        n = max(k for k in range(1, n + 1) if integers % k == 0)
    a, t = arb(scales), arb(scales / n)
    share, end = ((t / 2).tanh(), 1 / (1 + (-t).exp())) if split else ((t / 2).sinh(), ONE / 2)
    law = {k: ((k * t - a) / 2).exp() * share for k in range(2 - n if split else 1 - n, n, 2)}
    return Pair(g=t, law=law | {-n: end * (-a).exp(), n: end}, most=scales)


def discrete_gaussian(r: Round) -> Pair:
    """[2.1] Masses ~ e^{-j^2/v} up to 16 sigma, v = 2 sigma^2; or the zCDP bound, where there are too many of them."""
    d, v = int((r.move * r.phase.values["clip"]).p), arb(2 * r.phase.values["sigma"] ** 2)
    square = (d / r.phase.values["sigma"]) ** 2
    far = int(float((128 * v).sqrt())) + 1  # any whole number would do: `beyond` bounds what it leaves out
    if (4 * far + 2 * d) * r.phase.rounds > MOST_MASSES or (r.coin and r.worst):
        return Pair(d / (v / 2).sqrt(), order="zcdp", square=square)
    law = {d + 2 * j: (-(j**2) / v).exp() for j in range(-far, far + 1)}
    beyond = v / far * (-(far**2) / v).exp()  # at least what is left out, on both sides together
    total = sum(law.values(), beyond * arb(0.5, 0.5))
    return Pair(g=d / v, law={k: weight / total for k, weight in law.items()}, lost=beyond / total, square=square)


def zcdp(r: Round) -> Pair:
    """[2.1] The Renyi divergences of N(mu, 1) with mu^2 = 2 rho."""
    return Pair(arb(2 * r.phase.values["rho"]).sqrt(), order="zcdp", square=2 * r.phase.values["rho"])


def bounded(r: Round) -> Pair:
    """[2.1] Mass delta, if there is one, on L = infinity, L = +-epsilon otherwise."""
    epsilon, delta = r.phase.values["epsilon"], r.phase.values.get("delta", fmpq(0))
    require(delta < 1, "a mechanism with delta = 1")
    return pure(arb(epsilon).exp(), lost=arb(delta))._replace(most=epsilon)


def randomized_response(r: Round) -> Pair:
    """[2.1] The odds, at least 1, of the true answer against one false one; the other false answers say nothing."""
    flip, others = r.phase.values["flip_probability"], r.phase.values["categories"] - 1
    require(0 < flip < 1 and others >= 1, "a probability above 0 and below 1, and two categories or more")
    require((1 - flip) * others >= flip, "the true answer is the likeliest one")
    return pure(arb((1 - flip) * others / flip), stay=arb(flip - flip / others))


def three_valued(r: Round) -> Pair:
    """[2.1] L = +-epsilon with probability apart, else 0: the most of both in what dominates."""
    epsilon, apart = (r.phase.values[f"{'most' if r.worst else 'least'}_{name}"] for name in ("epsilon", "apart"))
    return pure(arb(epsilon).exp(), stay=arb(1 - apart))._replace(most=epsilon)


NOISE: dict[str, Callable[[Round], Pair]] = {
    "gaussian": gaussian,
    "gaussian-mean": gaussian_mean,
    "per-client-gaussian": per_client_gaussian,
    "laplace": laplace,
    "discrete-laplace": laplace,
    "gradual": laplace,
    "discrete-gaussian": discrete_gaussian,
    "zcdp": zcdp,
    "pure-dp": bounded,
    "approximate-dp": bounded,
    "randomized-response": randomized_response,
    "three-valued": three_valued,
}


def meaningful(phase: Phase, relation: str) -> None:
    """[2.2] Refuses what the tables do not speak of."""
    kind, sampled = phase.kind, phase.rate < 1
    require(not sampled or kind in (*GAUSSIAN, *LAPLACE, "discrete-gaussian"), f"no bound for sampling under {kind}")
    require(kind != "randomized-response" or relation == "replace-one", "a respondent answers: replace-one")
    if kind == "three-valued":
        least_epsilon, most_epsilon, least_apart, most_apart = phase.values.values()
        require(least_epsilon <= most_epsilon and least_apart <= most_apart <= 1, "probabilities, the least first")
    if kind == "per-client-gaussian":
        require("poisson" not in phase.scheme, "with a random cohort the amount of noise is random")
        require(relation != "add-remove", "an absent client's noise is absent too")
    if kind == "gaussian-mean":
        most, least = phase.values["max_weight"], phase.values["min_weight"]
        require(most >= least, "the least weight is not the least")
        _possible(phase, most)
        known = phase.size is not None and most * phase.size == 1
        require(relation != "add-remove" or "poisson" in phase.scheme or known, "whoever comes changes the weights")
    if relation == "add-remove":
        require(phase.scheme != "shuffle", "presence cannot hide where batches have a size")
        require(phase.scheme != "fixed-size" or sampled, "a cohort of everybody is not of a fixed size")


def _possible(phase: Phase, most: fmpq) -> None:
    """[2.2] The weights in a mean over so many add up to 1, up to how a rate and two sizes may be rounded."""
    members = phase.size if phase.cut is None else phase.rate * phase.cut[1]
    require(members is None or most * members * LARGE >= LARGE - 10**6, "weights that cannot add up to 1")
    alone = members is not None and "poisson" not in phase.scheme
    require(not alone or most <= 1, "a weight above 1 in a mean")


def even(phase: Phase) -> bool:
    """[2.2] Whether all clients weigh the same."""
    return phase.kind != "gaussian-mean" or phase.values["max_weight"] == phase.values["min_weight"]


def moves(phase: Phase, relation: str, seen: str, worst: bool) -> list[tuple[str, int]]:
    """[2.2] The table's row: orders and moves of the pairs that dominate (worst), or that are attained."""
    d = 2 if relation == "replace-one" else 1
    require(relation != "add-remove" or seen != "visible", "presence cannot hide where participation is seen")
    if phase.rate == 1:  # a mean over all divides by one more when a unit comes: bounded as if one was replaced
        realised = phase.kind == "gaussian-mean" and phase.scheme == "none" and relation == "add-remove"
        return [("both", 2 if realised and worst else d)]
    if phase.scheme == "shuffle":
        if worst or seen != "hidden":  # an epoch is one round to whoever knows the batch, and never reveals more
            return [("both", d)]
        return [("epoch remove", d), ("epoch add", d)] if phase.kind in GAUSSIAN else []
    if seen == "visible" or (seen == "pooled" and phase.scheme == "fixed-size"):
        require(relation != "add-remove", "presence cannot hide where cohorts of a fixed size are seen")
        return [("visible", d)]
    return _poisson(phase, d, worst) if phase.scheme == "poisson" else _fixed_size(phase, relation, worst)


def _poisson(phase: Phase, d: int, worst: bool) -> list[tuple[str, int]]:
    """[2.2] Poisson sampling behind hidden coins."""
    if d == 1:
        return [("remove", 1), ("add", 1)]
    if phase.kind in GAUSSIAN or (worst and phase.kind in LAPLACE):
        return [("replace", 1)]
    return [("hybrid", 2)] if worst else [("remove", 1), ("add", 1)]


def _fixed_size(phase: Phase, relation: str, worst: bool) -> list[tuple[str, int]]:
    """[2.2] Cohorts of a fixed size behind hidden coins."""
    normal = phase.kind in GAUSSIAN
    if relation == "add-remove":
        return [("remove", 2), ("add", 2)]
    if relation == "zero-out":
        if worst:
            return [("zeroed remove", 1), ("zeroed add", 1)] if normal and even(phase) else [("hybrid", 2)]
        return [("remove", 1), ("add", 1), *([("opposed", 1)] if normal and even(phase) else [])]
    return [("hybrid", 2)] if worst else [("remove", 2), ("add", 2), *([("replace", 1)] if normal else [])]


def behind_coin(pair: Pair, order: str, phase: Phase, move: int, worst: bool) -> Pair:
    """[2.2] One round's pair as the coin leaves it."""
    if order == "both" or pair.order == "zcdp":  # mixing does not increase a Renyi divergence
        return pair
    p = arb(phase.rate)
    require(p > 0 and 1 - p > 0, "a rate too close to 0 or 1 for this arithmetic")
    if order.startswith("epoch"):  # the others' data moves the sums as the unit's does only if all weigh the same
        return pair._replace(order="epoch", batches=phase.batches, g=pair.mu * (2 - move) if even(phase) else ZERO)
    if worst and pair.law and order != "visible":  # pure DP; of "replace" both sides are mixtures
        odds = (pair.g * max(pair.law)).exp()
        return pure((1 + p * (odds - 1)) / ((1 + p * (1 / odds - 1)) if order == "replace" else ONE))
    return pair._replace(order=order, p=p)


def attained(phase: Phase) -> bool:
    """[2.1] Whether two neighbours are known that are as far apart as the pair: not where only a bound is stated."""
    least = {"gaussian-mean": "min_weight", "three-valued": "least_apart"}.get(phase.kind)
    bounded = least is not None and phase.values[least] == 0
    return phase.kind not in ("zcdp", "pure-dp", "approximate-dp", "gradual") and not bounded


def steps(phase: Phase, relation: str, seen: str, worst: bool) -> dict[str, Pair]:
    """[2.2] The pairs of one round (of an epoch, if shuffled) by direction; none where nothing is known."""
    meaningful(phase, relation)
    if not worst and not attained(phase):
        return {}
    if phase.cut is not None:
        return _cut(phase, *phase.cut, relation, seen, worst)
    phase = phase._replace(rounds=phase.rounds // phase.batches)
    return _behind_coins(phase, moves(phase, relation, seen, worst), worst)


def _cut(phase: Phase, m: fmpq, n: fmpq, relation: str, seen: str, worst: bool) -> dict[str, Pair]:
    """[2.2] Poisson cohorts of at most M of N: a public coin says whether the others fill them; then one makes room."""
    r = arb(phase.rate)
    require(seen != "pooled", "a full cohort tells who is in it")
    full, over = (r.beta_lower(arb(k), arb(n - m), regularized=True) for k in (m, m + 1))
    if seen == "visible" or not worst:
        at_rate = phase._replace(scheme="poisson", rate=r * (1 - full) + m / n * over)
        return _behind_coins(at_rate, moves(at_rate, relation, seen, worst), worst)
    taken = phase._replace(rate=arb(m / n) * over / full)
    free = _behind_coins(phase, _poisson(phase, 2 if relation == "replace-one" else 1, worst), worst)
    filled = _behind_coins(taken, _fixed_size(taken, relation, worst), worst)
    parts = {name: ((1 - full, pair), (full, filled.get(name) or filled["both"])) for name, pair in free.items()}
    return {name: Pair(free[name].mu, order="mixed", parts=mixed) for name, mixed in parts.items()}


def _behind_coins(phase: Phase, rows: list[tuple[str, int]], worst: bool) -> dict[str, Pair]:
    """[2.2] By direction, the pairs of the rows."""
    found = {}
    for order, move in rows:
        pair = NOISE[phase.kind](Round(phase, move, worst, order not in ("both", "visible")))
        require(pair.mu < LARGE and pair.g < LARGE, "too little noise for this arithmetic")
        side = order.split()[-1]
        direction = side if side in ("remove", "add", "opposed") else "both"
        found[direction] = behind_coin(pair, order, phase, move, worst)
    return found


def products(phases: list[Phase], relation: str, seen: str, worst: bool) -> dict[str, Product]:
    """[2.3] By direction, over all rounds of all phases; none unless every phase has a pair."""
    runs = [(steps(phase, relation, seen, worst), phase.rounds // phase.batches) for phase in phases]
    if not all(pairs for pairs, _ in runs):
        return {}
    names = sorted({name for pairs, _ in runs for name in pairs})
    return {n: [(pairs.get(n) or pairs.get("both") or pairs["remove"], k) for pairs, k in runs] for n in names}
