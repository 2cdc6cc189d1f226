"""Small worlds of selections: clients' votes on a few candidates, or their answers to a few queries, with all outcomes.

The noise is what is drawn: Gumbel, exponential or Laplace on every score; Laplace on a threshold and on every query.
Scores are rationals, in scales of the noise. The best of several runs: any finite laws, in every order of merit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, product

import range_worlds as ranges
from exponentials import above, below, density
from flint import arb, ctx
from hockey_stick import ball
from outcomes import Law, Pair, distinct, pair
from scipy.integrate import quad

from dpcert.accounting.pricing import sparse_vector
from dpcert.mechanisms import SparseVector

Scores = tuple[Fraction, ...]
PRECISION = 192
F = Fraction
ONE = Fraction(1)


def gumbel(scores: Scores) -> list[arb]:
    """The largest with Gumbel noise: proportional to e^score."""
    weights = [ball(score).exp() for score in scores]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


def exponential(scores: Scores) -> list[arb]:
    """The largest with exponential noise: its noise x beats each other one with 1 - e^-(x + lead), multiplied out."""
    found = []
    for at, score in enumerate(scores):
        leads = [score - other for k, other in enumerate(scores) if k != at]
        start = max([Fraction(0), *(-lead for lead in leads)])
        total = arb(0)
        for chosen in chain.from_iterable(combinations(leads, size) for size in range(len(leads) + 1)):
            rate = len(chosen) + 1
            total += (-1) ** len(chosen) * ball(-sum(chosen, Fraction(0)) - rate * start).exp() / rate
        found.append(total)
    return found


def laplace(scores: Scores) -> list[arb]:
    """The largest with Laplace noise: its density times the others' probabilities of being below, integrated."""
    found = []
    for at, score in enumerate(scores):
        whole = density(score, ONE)
        for k, other in enumerate(scores):
            if k != at:
                whole *= below(other, ONE)
        found.append(whole.integral())
    return found


NOISES = {"gumbel": gumbel, "exponential": exponential, "laplace": laplace}


@lru_cache(maxsize=100_000)
def chosen(noise: str, scores: Scores) -> Law:
    """Who has the largest noisy score."""
    before, ctx.prec = ctx.prec, PRECISION
    try:
        return dict(enumerate(NOISES[noise](scores)))
    finally:
        ctx.prec = before


def differences(relation: str, votes: str, candidates: int) -> Iterator[Scores]:
    """By how many votes a unit moves the scores; votes: "counts" (0 or 1 each) or "signed" (-1, 0 or 1 each)."""
    most = (1 if votes == "counts" else 2) if relation == "replace-one" else 1
    least = 0 if votes == "counts" and relation != "replace-one" else -most
    for one in product(range(least, most + 1), repeat=candidates):
        if any(one):
            yield tuple(map(Fraction, one))


def moved_votes(relation: str, votes: str) -> int:
    """By how many vote's worths epsilon is divided: 2 sensitivities, or 1 where all scores move the same way."""
    if votes == "counts":
        return 2 if relation == "replace-one" else 1
    return 4 if relation == "replace-one" else 2


def elections(
    relation: str, votes: str, epsilon: Fraction, leads: list[Scores], noise: str, units: int = 1
) -> list[Pair]:
    """Laws of who is chosen, for all neighbours over these scores of everybody else (in scales of the noise).

    units: of a group, all alike.
    """
    vote = epsilon / moved_votes(relation, votes)
    seen: dict[tuple[tuple[Fraction, Fraction], ...], Pair] = {}
    for others in leads:
        for moves in differences(relation, votes, len(others)):
            moved = tuple(score + units * vote * move for score, move in zip(others, moves, strict=True))
            p, q = (tuple(score - min(scores) for score in scores) for scores in (moved, others))
            key = tuple(sorted(zip(p, q, strict=True)))
            if key not in seen:
                seen[key] = pair(chosen(noise, tuple(a for a, _ in key)), chosen(noise, tuple(b for _, b in key)))
    return distinct(seen.values())


def leads(epsilon: Fraction, steps: int, candidates: tuple[int, ...]) -> list[Scores]:
    """Scores of everybody else: one candidate ahead of, or behind, all others, which are tied; some far behind."""
    gaps = [epsilon * k / steps for k in range(-2 * steps, 2 * steps + 1)] + [-(4 * epsilon + 4), 4 * epsilon + 4]
    gaps += [sign * (2 * epsilon + Fraction(k, 8)) for sign in (-1, 1) for k in range(1, 5 * steps // 4)]
    return [(gap, *[Fraction(0)] * (n - 1)) for n in candidates for gap in gaps]


Query = tuple[Fraction, Fraction]
"""A query's values in the two neighbouring worlds, over its sensitivity."""


def answers(values: Scores, threshold: Fraction, query: Fraction, hits: int) -> Law:
    """Of sparse vector: by the answers, until so many were above; the threshold's noise is drawn once."""
    before, ctx.prec = ctx.prec, PRECISION
    try:
        found: dict[tuple[bool, ...], arb] = {}
        waiting = [((), density(Fraction(0), threshold))]
        for value in values:
            following = []
            for given, weight in waiting:
                for answer, part in ((False, below(value, query)), (True, above(value, query))):
                    following.append(((*given, answer), weight * part))
            waiting = [each for each in following if sum(each[0]) < hits]
            found |= {given: weight.integral() for given, weight in following if sum(given) == hits}
        return found | {given: weight.integral() for given, weight in waiting}
    finally:
        ctx.prec = before


def long_streams(run: SparseVector) -> list[Pair]:
    """Whether many queries were below and then all hits above: of the streams that the accountants name, integrated in
    double precision."""
    found = []
    for k, low, high in dict.fromkeys(sparse_vector.chosen(run)):
        moved = (k, low + 1.0, high if run.monotone else high - 1.0)
        masses = [_above_after(run, *stream) for stream in ((k, low, high), moved)]
        found.append(pair(*({"it": arb(p, 1e-6 * p), "not": 1 - arb(p, 1e-6 * p)} for p in masses)))
    return found


def _above_after(run: SparseVector, k: int, low: float, high: float) -> float:
    def less(gap: float) -> float:
        tail = math.exp(-abs(gap) / run.query_scale) / 2
        return tail if gap < 0 else 1 - tail

    def density(z: float) -> float:
        noise = math.exp(-abs(z) / run.threshold_scale) / (2 * run.threshold_scale)
        return float(noise * less(z - low) ** k * less(high - z) ** run.hits)

    return float(quad(density, -80, 80, limit=800, points=sorted({0.0, low, high}), epsabs=0.0, epsrel=1e-9)[0])


def moves(monotone: bool) -> list[tuple[int, ...]]:
    """By how much a unit moves queries: all the same way, or each its own."""
    return [(0, 1), (-1, 0)] if monotone else [(-1, 0, 1)]


def streams(queries: int, values: tuple[Fraction, ...], monotone: bool) -> Iterator[tuple[Scores, Scores]]:
    """Values of a few queries in two neighbouring worlds."""
    for allowed in moves(monotone):
        single = list(product(values, allowed))
        for stream in product(single, repeat=queries):
            yield tuple(value for value, _ in stream), tuple(value + move for value, move in stream)


Powers = Callable[[arb], arb]
"""at -> E[at^K], of the number K of runs."""


def truncated_negative_binomial(gamma: Fraction, shape: Fraction) -> Powers:
    """K >= 1; its series, summed."""

    def at(power: arb) -> arb:
        left = 1 - (1 - ball(gamma)) * power
        if shape == 0:
            return left.log() / ball(gamma).log()
        return (left ** ball(-shape) - 1) / (ball(gamma) ** ball(-shape) - 1)

    return at


def poisson(mean: Fraction) -> Powers:
    """K may be 0."""
    return lambda power: (ball(mean) * (power - 1)).exp()


NOTHING = -1
"""What is released where there was no run."""


def best(single: list[arb], ranks: tuple[int, ...], powers: Powers) -> Law:
    """The released outcome of K runs: of the highest rank that came up, the first run's."""
    before, ctx.prec = ctx.prec, PRECISION
    try:
        found: dict[int, arb] = {}
        beneath = arb(0)
        if powers(beneath) > 0:
            found[NOTHING] = powers(beneath)
        for rank in sorted(set(ranks)):
            tied = [at for at, own in enumerate(ranks) if own == rank]
            mass = sum((single[at] for at in tied), arb(0))
            gained = powers(beneath + mass) - powers(beneath)
            share = {at: single[at] / mass if len(tied) > 1 else arb(1) for at in tied}  # one may have no mass
            found |= {at: gained * share[at] for at in tied}
            beneath += mass
        return found
    finally:
        ctx.prec = before


def merits(outcomes: int) -> Iterator[tuple[int, ...]]:
    """Every order of so many outcomes by merit, ties included."""
    for ranks in product(range(outcomes), repeat=outcomes):
        if set(ranks) == set(range(max(ranks) + 1)):
            yield ranks


def searches(singles: list[tuple[list[arb], list[arb]]], powers: Powers) -> list[Pair]:
    """The best of several runs, each of which has one of these pairs of laws, in every order of merit."""
    return distinct(
        pair(best(p, ranks, powers), best(q, ranks, powers))
        for p, q in singles
        for ranks in (merits(len(p)) if len(p) <= 4 else likeliest_first(p, q))
    )


def likeliest_first(p: list[arb], q: list[arb]) -> list[tuple[int, ...]]:
    """Of many outcomes, some orders of merit: all alike, and by the ratio of the laws, up and down."""
    by_ratio = sorted(range(len(p)), key=lambda at: float((p[at] / q[at]).mid()) if q[at] > 1e-25 else math.inf)
    up = tuple(by_ratio.index(at) for at in range(len(p)))
    return [(0,) * len(p), up, tuple(len(p) - 1 - rank for rank in up)]


TIED = (
    (2, 2, F(0), F(1, 2)),
    (2, 3, F(0), F(1, 2)),
    (2, 3, F(0), F(3, 10)),
    (1, 3, F(1, 4), F(7, 20)),
    (1, 3, F(3, 10), F(1, 20)),
    (1, 4, F(1, 10), F(3, 10)),
    (1, 6, F(1, 10), F(3, 10)),
)
"""Candidates tied with each other, against some that are, and their lead: so much, and so much of a loss."""


def tied(loss: Fraction) -> list[Pair]:
    """With Laplace noise: the first ones' lead falls by the loss."""
    found = []
    for ours, theirs, lead, share in TIED:
        ahead = (lead + share * loss,) * ours + (F(0),) * theirs
        behind = (F(0),) * ours + (loss - lead - share * loss,) * theirs
        found.append(pair(chosen("laplace", _from_zero(ahead)), chosen("laplace", _from_zero(behind))))
    return found


def _from_zero(scores: Scores) -> Scores:
    return tuple(score - min(scores) for score in scores)


@lru_cache(maxsize=64)
def _noisy_value(shift: Fraction) -> tuple[Law, Law]:
    """Laplace noise of scale 1 about two values so far apart, in cells."""
    edges = ranges.cells(Fraction(0), shift, 16)
    return ranges.clamped(ranges.laplace_below(ONE, shift), edges), ranges.clamped(
        ranges.laplace_below(ONE, Fraction(0)), edges
    )


def valued(stream: tuple[Scores, Scores], hits: int, run: SparseVector) -> Pair:
    """Answers, and the value of each query that was above with Laplace noise of its own."""
    before, ctx.prec = ctx.prec, PRECISION
    try:
        scales = Fraction(run.threshold_scale), Fraction(run.query_scale)
        sides = [answers(values, *scales, hits) for values in stream]
        p: dict[object, arb] = {}
        q: dict[object, arb] = {}
        for given in sides[0]:
            gaps = [abs(a - b) for a, b, above in zip(*stream, given, strict=False) if above]
            noises = [_noisy_value(gap / Fraction(run.value_scale or 1)) for gap in gaps]
            for spots in product(*(noise[0] for noise in noises)):
                for law, side, k in ((p, sides[0], 0), (q, sides[1], 1)):
                    masses = (noise[k][spot] for noise, spot in zip(noises, spots, strict=True))
                    law[given, spots] = math.prod(masses, start=side[given])
        return pair(p, q)
    finally:
        ctx.prec = before
