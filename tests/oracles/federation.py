"""Small federations in full: every cohort, every coin, the noise as it is drawn, and what each observer sees of it.

Shares nothing with the accountants. A run's view is a discrete part (the coins that the observer knows, and what is
released without any noise) and released numbers, independent given all coins. All of it is in exact rationals: coins,
weights, contributions, variances. hockey_stick.py encloses the divergence of two such views.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from hockey_stick import Cells, Component, Ends, Laws, Mixture, divergence, rounding
from sides import Side, Vector

Decided = Callable[[float, float], bool]
Cohort = tuple[int, ...]  # the clients of one round; one that is drawn twice comes up twice
Coins = tuple[Cohort, ...]  # of all rounds


Drawn = list[tuple[Fraction, Coins]]
Scheme = Callable[[Cohort], Drawn]  # who is there -> all coins, with their probabilities


@dataclass(frozen=True)
class Setting:
    """What is common to two neighbours. variance: of a coordinate's noise (Laplace laws: their squared scale).

    variance and law: of all that is released, or one each, round by round."""

    scheme: Scheme
    variance: Fraction | Vector
    weights: Vector | None = None  # relative ones, normalised over each cohort; None: the sum itself
    brought: bool = False  # noise of that variance by each upload of the cohort, instead of by the server
    law: str | Laws = "gaussian"  # or laplace, discrete-gaussian, discrete-laplace, skellam
    sees: Literal["release", "unit", "coalition", "coalition with unit", "uploads"] = "release"
    colluders: Cohort = ()
    unit: Cohort = (0,)  # under which names the unit is in the run


def every_round(rounds: int, one: list[tuple[Fraction, Cohort]]) -> Drawn:
    """Independent rounds of the same law of cohorts."""
    return [
        (math.prod((p for p, _ in draws), start=Fraction(1)), tuple(cohort for _, cohort in draws))
        for draws in itertools.product(one, repeat=rounds)
    ]


def everybody(rounds: int) -> Scheme:
    return lambda there: [(Fraction(1), (there,) * rounds)]


def poisson(rounds: int, rate: Fraction, most: int = 99) -> Scheme:
    """Coins of everybody's own; a cohort above `most` is cut to a uniform subset of that size."""

    def drawn(there: Cohort) -> Drawn:
        one: dict[Cohort, Fraction] = defaultdict(Fraction)
        for bits in itertools.product((0, 1), repeat=len(there)):
            cohort = tuple(itertools.compress(there, bits))
            mass = math.prod((rate if bit else 1 - rate for bit in bits), start=Fraction(1))
            kept = list(itertools.combinations(cohort, min(len(cohort), most)))
            for subset in kept:
                one[subset] += mass / len(kept)
        return every_round(rounds, [(p, cohort) for cohort, p in one.items() if p])

    return drawn


def fixed_size(rounds: int, cohort: int) -> Scheme:
    def drawn(there: Cohort) -> Drawn:
        chosen = list(itertools.combinations(there, min(cohort, len(there))))
        return every_round(rounds, [(Fraction(1, len(chosen)), one) for one in chosen])

    return drawn


def with_replacement(rounds: int, draws: int) -> Scheme:
    def drawn(there: Cohort) -> Drawn:
        tuples = list(itertools.product(there, repeat=draws))
        return every_round(rounds, [(Fraction(1, len(tuples)), one) for one in tuples])

    return drawn


def shuffled(batches: int) -> Scheme:
    """One epoch of batches of equal size."""

    def drawn(there: Cohort) -> Drawn:
        size = len(there) // batches
        orders = list(itertools.permutations(there))
        found: dict[Coins, Fraction] = defaultdict(Fraction)
        for order in orders:
            found[tuple(tuple(sorted(order[size * b : size * (b + 1)])) for b in range(batches))] += Fraction(
                1, len(orders)
            )
        return [(p, coins) for coins, p in found.items()]

    return drawn


def cyclic(batches: int, passes: int = 1) -> Scheme:
    """Client i in batch i mod batches, in every pass."""
    return lambda there: [
        (Fraction(1), tuple(tuple(i for i in there if i % batches == b) for b in range(batches)) * passes)
    ]


def allocated(rounds: int, each: int = 1) -> Scheme:
    """Everybody picks `each` of the rounds."""

    def drawn(there: Cohort) -> Drawn:
        picks = list(itertools.combinations(range(rounds), each))
        return [
            (
                Fraction(1, len(picks) ** len(there)),
                tuple(tuple(i for i, p in zip(there, of, strict=True) if t in p) for t in range(rounds)),
            )
            for of in itertools.product(picks, repeat=len(there))
        ]

    return drawn


Law = dict[tuple[object, ...], Mixture]
"""By what the observer knows for certain: the centres and variances of the released coordinates, with their masses."""


def view(setting: Setting, side: Side) -> Law:
    """The law of what the observer sees under one of two neighbours."""
    there = tuple(i for i, contribution in enumerate(side) if contribution is not None)
    law: Law = defaultdict(lambda: defaultdict(Fraction))
    for mass, coins in setting.scheme(there):
        bare: list[Fraction] = []
        noisy: list[tuple[Fraction, Fraction]] = []
        taken = [0] * len(side)
        for t, cohort in enumerate(coins):
            sent = {i: side[i](t, taken[i]) for i in cohort}  # type: ignore[misc]
            for i in cohort:
                taken[i] += 1
            if setting.sees == "uploads":  # of the others nothing depends on the unit
                released = [(x, setting.variance) for x in sent.get(0, ()) for _ in range(cohort.count(0))]  # type: ignore[misc]
            else:
                released = _released(setting, cohort, sent, _dimension(side), t)
            bare += [x for x, variance in released if not variance]
            noisy += [one for one in released if one[1]]
        centres, variances = tuple(x for x, _ in noisy), tuple(v for _, v in noisy)
        law[_known(setting, coins), tuple(bare), len(noisy)][centres, variances] += mass
    return law


def _dimension(side: Side) -> int:
    """Where nobody is there at all, one: groups that may be everybody are on the line."""
    return next((len(contribution(0, 0)) for contribution in side if contribution is not None), 1)


def _released(
    setting: Setting, cohort: Cohort, sent: dict[int, Vector], d: int, t: int
) -> list[tuple[Fraction, Fraction]]:
    """Centre and variance of each coordinate, after the colluders have subtracted the noise that they sent."""
    total = sum(setting.weights[i] for i in cohort) if setting.weights else Fraction(1)
    weights = [setting.weights[i] / total if setting.weights else Fraction(1) for i in cohort]
    variances = setting.variance[d * t : d * t + d] if isinstance(setting.variance, tuple) else (setting.variance,) * d
    left = Fraction(1)
    if setting.brought:
        left = sum((w**2 for w, i in zip(weights, cohort, strict=True) if i not in setting.colluders), Fraction(0))
    return [
        (sum((w * sent[i][k] for w, i in zip(weights, cohort, strict=True)), Fraction(0)), left * variances[k])
        for k in range(d)
    ]


def _known(setting: Setting, coins: Coins) -> tuple[object, ...]:
    if setting.sees in ("unit", "uploads"):
        return tuple(sum(cohort.count(name) for name in setting.unit) for cohort in coins)
    if setting.sees == "coalition with unit":
        return coins
    return tuple(tuple(cohort.count(i) for i in setting.colluders) for cohort in coins)


def most(
    setting: Setting, pairs: Iterable[tuple[Side, Side]], epsilon: float, resolution: float, decided: Decided
) -> Ends:
    """Ends of the largest hockey-stick divergence over pairs of neighbours, in both orders: proved, see hockey_stick.

    Narrowed until they are decided, or within the resolution of each other, or cells are too many.
    """
    share = None if isinstance(setting.variance, tuple) else setting.variance
    views = ((view(setting, first), view(setting, second)) for first, second in pairs)
    return largest(views, setting.law, share, epsilon, resolution, decided)


def largest(
    views: Iterable[tuple[Law, Law]],
    law: str | Laws,
    share: Fraction | None,
    epsilon: float,
    resolution: float,
    decided: Decided,
) -> Ends:
    """The same of pairs of views, in both orders; law and share: see `divergence`."""
    sums: dict[frozenset[tuple[Parts, int]], _Sum] = {}
    for p, q in views:
        for one, other in ((p, q), (q, p)):
            parts = Counter(
                _canonical(one.get(known, {}), other.get(known, {}), law) for known in one.keys() | other.keys()
            )
            if (key := frozenset(parts.items())) not in sums:
                sums[key] = _Sum(parts, share, epsilon)
    while True:
        low, widest = max(one.low for one in sums.values()), max(sums.values(), key=lambda one: one.high)
        close = widest.high <= low + resolution
        if close or decided(low, widest.high) or not widest.refine(resolution):
            return low, widest.high


class _Sum:
    """The divergence of two views: over everything that is known for certain, of what was released."""

    def __init__(self, parts: Counter[Parts], share: Fraction | None, epsilon: float) -> None:
        self._parts = [(n, divergence(dict(p), dict(q), epsilon, laws, share)) for (p, q, laws), n in parts.items()]
        self._add()

    def _add(self) -> None:
        widen = rounding(2 * len(self._parts))
        self.low = sum(n * part.low for n, part in self._parts) * (1 - widen)
        self.high = sum(n * part.high for n, part in self._parts) * (1 + widen)

    def refine(self, resolution: float) -> bool:
        """Whether it could be narrowed."""
        _, widest = max(self._parts, key=lambda part: part[0] * (part[1].high - part[1].low) * part[1].open)
        if not isinstance(widest, Cells) or not widest.open:
            return False
        widest.refine(resolution / sum(n for n, _ in self._parts))
        self._add()
        return True


Half = tuple[tuple[Component, Fraction], ...]
Parts = tuple[Half, Half, Laws]


def _canonical(p: Mixture, q: Mixture, law: str | Laws) -> Parts:
    """Both laws moved (least centres at 0), perhaps mirrored, coordinates sorted: the divergence of many pairs."""
    both, axes = [*p, *q], range(len(next(iter([*p, *q]))[0]))
    laws = (law,) * len(axes) if isinstance(law, str) else law
    found = []
    for sign in (1, -1):
        least = [min(sign * centres[k] for centres, _ in both) for k in axes]
        order = sorted(
            axes,
            key=lambda k: (laws[k], [(sign * centres[k] - least[k], variances[k]) for centres, variances in both]),
        )
        halves = []
        for law in (p, q):
            moved = ((tuple(sign * c[k] - least[k] for k in order), tuple(v[k] for k in order)) for c, v in law)
            halves.append(tuple(sorted(zip(moved, law.values(), strict=True))))
        found.append((halves[0], halves[1], tuple(laws[k] for k in order)))
    return min(found)
