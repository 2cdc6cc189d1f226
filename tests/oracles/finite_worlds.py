"""Runs whose rounds have finitely many outcomes, in small worlds: selections, reports, shuffled reports, staircases.

`worlds()` lists them; each says what the product is told, and which pairs of laws its neighbours have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import range_worlds as ranges
import report_worlds as reports
import selection_worlds as selections
import staircase_worlds as staircases
from hockey_stick import LARGE, Ends, at_bits, ball, lattice
from outcomes import Pair, distinct, largest, pair, telling
from scipy import stats

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import (
    BestOfSeveral,
    BoundedLaplace,
    ClampedGaussian,
    DiscreteLaplace,
    DuchiMechanism,
    Gaussian,
    Group,
    HadamardResponse,
    Laplace,
    LocalHash,
    Mechanism,
    PiecewiseMechanism,
    PureDp,
    RandomizedResponse,
    Repeat,
    ReportNoisyMax,
    ShuffledReports,
    SparseVector,
    StableHistogram,
    Staircase,
    TruncatedGaussian,
    TruncatedLaplace,
    UnaryEncoding,
)
from dpcert.mechanisms.selection import SelectionNoise

RELATIONS = ("add-remove", "zero-out", "replace-one")
VIEWS: dict[str, dict[str, str]] = {
    "hidden": {},
    "visible": {"participation": "visible"},
    "pooled": {"notion": "billboard"},
}
MOST_PAIRS = {1: 10**9, 2: 40, 3: 12}
"""By rounds, of how many pairs each round is chosen: those of the largest divergences."""

NEAR = 1e-3
F = Fraction


@dataclass(frozen=True)
class Finite:
    """build: the pairs of one round, for the observer who knows nobody's coins; seen: for who knows the others'
    reports, where that is something else."""

    run: Mechanism
    relation: str
    build: Callable[[], list[Pair]]
    seen: Callable[[], list[Pair]] | None = None
    larger: Callable[[], list[Pair]] | None = None
    """Pairs of datasets too large to enumerate, that a lower end may be attained by."""
    worst: Callable[[float], list[Pair]] | None = None
    """The same, by epsilon."""

    def ask(self, view: str, rounds: int, delta: float) -> Bracket:
        """The product's answer; InputError where it refuses."""
        return epsilon(Repeat(self.run, rounds), delta, self.relation, **VIEWS[view])  # type: ignore[arg-type]

    def pairs(self, view: str, rounds: int) -> list[Pair]:
        """Those of one round, of which each round's is chosen."""
        found = _built(self.seen if view == "pooled" and self.seen is not None else self.build)
        if len(found) <= MOST_PAIRS[rounds]:
            return found
        losses = [share * largest_loss(found) for share in (0.0, 0.25, 0.5, 0.75, 0.95)]
        return telling(found, losses, MOST_PAIRS[rounds] // 5)

    def check(self, bracket: Bracket, view: str, rounds: int, delta: float) -> None:
        """AssertionError where an enumerated pair exceeds the upper end, or none attains a lower end above 0."""
        pairs = self.pairs(view, rounds)
        assert bracket.certified
        if bracket.upper < math.inf:
            low, high = _both_orders(pairs, rounds, bracket.upper)
            assert low <= delta, f"delta({bracket.upper}) is at least {low}, not {delta}: {self}"
            assert high <= delta * (1 + NEAR) + 1e-12, f"delta({bracket.upper}) may be {high}, not {delta}: {self}"
        if bracket.lower > 0 and delta > 0:
            attained = pairs + (_built(self.larger) if self.larger is not None else [])
            attained = attained + (self.worst(bracket.lower) if self.worst is not None and rounds == 1 else [])
            low, _ = _both_orders(attained, rounds, min(bracket.lower, LARGE))
            assert low >= delta * (1 - NEAR), f"delta({bracket.lower}) is {low}, below {delta}: {self}"


@lru_cache(maxsize=8)
def _built(build: Callable[[], list[Pair]]) -> list[Pair]:
    return build()


def _both_orders(pairs: list[Pair], rounds: int, epsilon: float) -> Ends:
    """Of the neighbours."""
    found = [largest(each, rounds, epsilon) for each in (pairs, [one.swapped() for one in pairs])]
    return max(low for low, _ in found), max(high for _, high in found)


def largest_loss(pairs: list[Pair]) -> float:
    with np.errstate(all="ignore"):
        both = [(one.p[0] > 1e-12) & (one.q[1] > 1e-25) for one in pairs]
        logs = (np.log(one.p[0] / one.q[1]) for one in pairs)
        return max(float(np.nanmax(np.where(each, log, 0.0))) for each, log in zip(both, logs, strict=True))


def noisy_maxima() -> Iterator[Finite]:
    """Votes of 0 or 1 each, which all move scores one way when a unit comes or leaves, and signed votes."""
    noises: tuple[SelectionNoise, ...] = ("gumbel", "exponential", "laplace")
    for noise, relation, votes, loss in product(noises, RELATIONS, ("counts", "signed"), (F(1, 2), F(2))):

        def build(
            noise: str = noise, relation: str = relation, votes: str = votes, loss: Fraction = loss
        ) -> list[Pair]:
            return selections.elections(relation, votes, loss, selections.leads(loss, 16, (2,)), noise) + _tied(
                noise, loss
            )

        worst = worst_of_two(relation, votes, loss, noise)
        yield Finite(ReportNoisyMax(float(loss), noise), relation, build, worst=worst)


def worst_of_two(relation: str, votes: str, loss: Fraction, noise: str) -> Callable[[float], list[Pair]]:
    """By epsilon, neighbours over two candidates, whose lead is searched ever more finely."""

    def worst(epsilon: float) -> list[Pair]:
        def over(gap: Fraction) -> list[Pair]:
            return selections.elections(relation, votes, loss, [(gap, F(0))], noise)

        gap, step = F(0), loss / 2
        for _ in range(3):
            gap = max((gap + step * k for k in range(-24, 25)), key=lambda at: _both_orders(over(at), 1, epsilon)[0])
            step /= 16
        return over(gap)

    return worst


def many_candidates() -> Iterator[Finite]:
    """Three and four of them. The ends that are attained are so by two, or by candidates that are tied."""
    noises: tuple[SelectionNoise, ...] = ("gumbel", "exponential", "laplace")
    for noise, relation, votes in product(noises, RELATIONS, ("counts", "signed")):

        def build(noise: str = noise, relation: str = relation, votes: str = votes) -> list[Pair]:
            two = selections.elections(relation, votes, F(1), selections.leads(F(1), 16, (2,)), noise)
            more = selections.elections(relation, votes, F(1), selections.leads(F(1), 2, (3,)), noise)
            four = selections.elections("zero-out", votes, F(1), selections.leads(F(1), 1, (4,)), noise)
            return two + more + four * (relation == "zero-out") + _tied(noise, F(1))

        yield Finite(ReportNoisyMax(1.0, noise), relation, build, worst=worst_of_two(relation, votes, F(1), noise))


def _tied(noise: str, loss: Fraction) -> list[Pair]:
    """Three and six candidates, one of which falls by as much as the others rise."""
    found = []
    for n, k in product((3, 6), range(5)):
        ahead = (loss * k / 4, *[F(0)] * (n - 1))
        behind = (F(0), *[loss - loss * k / 4] * (n - 1))
        found.append(pair(selections.chosen(noise, ahead), selections.chosen(noise, behind)))
    return found + (selections.tied(loss) if noise == "laplace" else [])


def sparse_vectors() -> Iterator[Finite]:
    """Streams of one to three queries near the threshold or far below it, and of equal ones."""
    for monotone, hits, relation in product((False, True), (1, 2), RELATIONS):
        run = SparseVector(2.0, 4.0, hits=hits, monotone=monotone)

        def build(monotone: bool = monotone, hits: int = hits) -> list[Pair]:
            streams = [s for n in (1, 2) for s in selections.streams(n, (F(-6), F(-2), F(0), F(1)), monotone)]
            low, far = ((F(0),) * 10, F(-3)), ((F(1),) * 10, F(-4) if not monotone else F(-3))
            streams.append(((*low[0], *[low[1]] * hits), (*far[0], *[far[1]] * hits)))
            laws = ([selections.answers(side, F(2), F(4), hits) for side in stream] for stream in streams)
            return distinct(pair(*both) for both in laws)

        yield Finite(run, relation, build, larger=lambda run=run: selections.long_streams(run))


NEARER = (F(1), F(3, 4), F(1, 2), F(1, 8))


def stairs() -> Iterator[Finite]:
    """A number that moves by its sensitivity, or less."""
    for relation, gamma, loss in product(RELATIONS, (F(1, 2), F(1, 4), F(7, 8)), (F(1, 2), F(2))):
        yield Finite(
            Staircase(float(loss), float(gamma)), relation, lambda g=gamma, e=loss: staircases.pairs(e, g, NEARER)
        )


def public_ranges() -> Iterator[Finite]:
    """Noise that is cut; numbers within a range, of which the whole is two or six sensitivities."""
    for relation, scale in product(RELATIONS, (F(1, 2), F(2))):
        move = 2 if relation == "replace-one" else 1
        bound = F(6) if scale < 1 else F(9)
        yield Finite(
            TruncatedLaplace(float(scale), float(bound)),
            relation,
            lambda s=scale, b=bound, m=move: ranges.truncated_laplace(s, b, m),
        )
        for width in (F(2), F(6)):
            yield Finite(
                BoundedLaplace(float(scale), float(width)),
                relation,
                lambda s=scale, w=width: ranges.bounded_laplace(s, w),
                worst=lambda e, s=scale, w=width: ranges.bounded_laplace(
                    s, w, ranges.worst_values(stats.laplace.cdf, s, e)
                ),
            )
            yield Finite(
                TruncatedGaussian(float(scale), float(width)),
                relation,
                lambda s=scale, w=width: ranges.truncated_gaussian(s, w),
                worst=lambda e, s=scale, w=width: ranges.truncated_gaussian(
                    s, w, ranges.worst_values(stats.norm.cdf, s, e)
                ),
            )
            yield Finite(
                ClampedGaussian(float(scale), float(width)),
                relation,
                lambda s=scale, w=width: ranges.clamped_gaussian(s, w),
            )


def histograms() -> Iterator[Finite]:
    """Of one group a unit, or two; noise of Laplace's or Gauss's law."""
    noises = ((Laplace(1.0), ranges.laplace_below), (Gaussian(1.0), ranges.normal_below))
    for relation, (noise, below), groups in product(RELATIONS, noises, (1, 2)):
        yield Finite(
            StableHistogram(noise, 4.0, groups),
            relation,
            lambda b=below, g=groups, r=relation: ranges.histogram(b, F(1), F(4), g, r),
        )


NUMBERS = (F(-1), F(0), F(1, 2), F(1))


def kernels() -> Iterator[tuple[Mechanism, reports.Kernel]]:
    """Randomisers as the product is told of them, with their tables."""
    for flip, categories in ((F(1, 4), 2), (F(1, 2), 3), (F(1, 8), 4)):
        yield RandomizedResponse(float(flip), categories), reports.response(flip, categories)
    for keep, false in ((F(1, 2), F(1, 4)), (F(7, 8), F(1, 8))):
        yield UnaryEncoding(float(keep), float(false)), reports.unary(keep, false, 3)
    for loss in (F(1, 2), F(2)):
        yield HadamardResponse(float(loss)), reports.hadamard(loss, 4)
        yield LocalHash(float(loss), 2), reports.hashed(loss, 2, reports.any_functions(3, 2))
        yield LocalHash(float(loss), 3), reports.hashed(loss, 3, reports.telling_functions(2, 3))
        yield PiecewiseMechanism(float(loss)), reports.piecewise(loss, NUMBERS)
        yield DuchiMechanism(float(loss)), reports.duchi(loss, NUMBERS)


def single_reports() -> Iterator[Finite]:
    """One unit's report, and a pair's reports."""
    for run, kernel in kernels():
        yield Finite(run, "replace-one", lambda k=kernel: reports.alone(k))
        if len(next(iter(kernel.values()))) <= 8:
            yield Finite(Group(run, 2), "replace-one", lambda k=kernel: reports.together(k, 2))


def shuffled_reports() -> Iterator[Finite]:
    """Two to four units' reports in random order."""
    for (run, kernel), n in product(kernels(), (2, 3, 4)):
        if len(next(iter(kernel.values()))) ** n <= 5000:
            yield Finite(
                ShuffledReports(run, n),
                "replace-one",
                lambda k=kernel, n=n: reports.shuffled(k, n),
                lambda k=kernel: reports.alone(k),
            )


def shuffled_bounds() -> Iterator[Finite]:
    """Of randomisers of which no more is known than an epsilon: every extreme one of three values."""
    for ratio, n in product((F(2), F(5)), (2, 3, 4)):
        run = PureDp(math.log(ratio) * (1 + 1e-15))

        def build(ratio: Fraction = ratio, n: int = n) -> list[Pair]:
            return distinct(one for kernel in reports.extremal(ratio) for one in reports.shuffled(kernel, n))

        def seen(ratio: Fraction = ratio) -> list[Pair]:
            return distinct(one for kernel in reports.extremal(ratio) for one in reports.alone(kernel))

        yield Finite(ShuffledReports(run, n), "replace-one", build, seen)
        if n == 2:
            yield Finite(run, "replace-one", seen)


@at_bits
def _noise(scale: Fraction, moves: tuple[int, ...]) -> list[tuple[list, list]]:  # type: ignore[type-arg]
    """Discrete Laplace noise about 0 and about these, cut to few outcomes: those further out are one each."""
    masses, _ = lattice("discrete-laplace", scale**2, 1)
    radius, middle = 3, len(masses) // 2
    t = (-1 / ball(scale)).exp()
    point = {k: (1 - t) / (1 + t) * t ** abs(k) for k in range(-middle, middle + 1)}

    def law(centre: int) -> list:  # type: ignore[type-arg]
        inside = [point[k - centre] for k in range(-radius, radius + 1)]
        left = t ** (radius + 1 + centre) / (1 + t)
        return [left, *inside, 1 - left - sum(inside)]

    return [(law(0), law(move)) for move in moves]


def searches() -> Iterator[Finite]:
    """The best of several runs: reports, counts with noise, two reports at once; in every order of merit."""
    negative = (
        ((float(gamma), float(shape), None), selections.truncated_negative_binomial(F(float(gamma)), shape))
        for gamma, shape in product((F(1, 2), F(1, 10)), (F(1), F(0), F(1, 2), F(2)))
    )
    counted = (((None, 1.0, float(mean)), selections.poisson(mean)) for mean in (F(1, 8), F(2), F(16)))
    for law, powers in (*negative, *counted):
        for flip, categories in ((F(1, 4), 2), (F(2, 5), 3)):
            table = reports.response(flip, categories)
            singles = [
                ([ball(m) for m in table[a].values()], [ball(m) for m in table[b].values()])
                for a, b in ((0, 1), (1, 0))
            ]
            yield Finite(
                BestOfSeveral(RandomizedResponse(float(flip), categories), *law),
                "replace-one",
                lambda s=singles, p=powers: selections.searches(s, p),
            )
        for relation in RELATIONS:
            moves = (1, -1, 2, -2) if relation == "replace-one" else (1, -1)
            yield Finite(
                BestOfSeveral(DiscreteLaplace(2.0), *law),
                relation,
                lambda p=powers, m=moves: selections.searches(_noise(F(2), m), p),
            )


def grouped() -> Iterator[Finite]:
    """Two units of a group whose scores move together."""
    for noise, relation in product(("gumbel", "exponential", "laplace"), RELATIONS):

        def build(noise: str = noise, relation: str = relation) -> list[Pair]:
            return selections.elections(relation, "signed", F(1, 2), selections.leads(F(1), 4, (2, 3)), noise, 2)

        yield Finite(Group(ReportNoisyMax(0.5, noise), 2), relation, build)  # type: ignore[arg-type]


KINDS: dict[str, Callable[[], Iterator[Finite]]] = {
    "noisy max": noisy_maxima,
    "noisy max of many": many_candidates,
    "sparse vector": sparse_vectors,
    "staircase": stairs,
    "public ranges": public_ranges,
    "histograms": histograms,
    "reports": single_reports,
    "shuffled reports": shuffled_reports,
    "shuffled bounds": shuffled_bounds,
    "best of several": searches,
    "groups": grouped,
}


@lru_cache(maxsize=1)
def worlds() -> dict[str, list[Finite]]:
    """All of them, by kind."""
    return {kind: list(made()) for kind, made in KINDS.items()}
