"""Enclosures of hockey-stick divergences between mixtures of products: proved lower and upper ends, no slack.

A law is a mixture of products over the released coordinates, given exactly: rational masses, centres and variances.
What is not rational (normal, Laplace and lattice masses, e^epsilon) is an Arb ball, turned into two doubles around it;
sums and products of doubles are widened by a bound of their rounding.

Continuous noise: space is cut into cells. With f = p - e^epsilon q: where the sign of f is certain in a cell, the cell
gives its exact mass of f, or 0; elsewhere at least max(0, its mass of f), and at most what f could give with that mass
and its extremes. Cells of that kind lie along the surface f = 0; they are halved along every axis until the ends are
close enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, wraps
from itertools import product
from math import ceil, floor, inf, nextafter, sqrt

import numpy as np
from flint import arb, ctx, fmpq

Component = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]  # centres and variances, one a coordinate
Mixture = dict[Component, Fraction]  # with their masses
Laws = tuple[str, ...]  # of the noise, one a coordinate
Ends = tuple[float, float]
Floats = np.ndarray

BITS = 80
TAIL = {"gaussian": 7.5, "laplace": 25.0}
"""How far around all centres, in scales, space is cut into cells; what lies outside counts as anything."""

LEFT_OUT = {"discrete-laplace": 1e-9}
"""Mass of a lattice law beyond its table: 1e-25 where e^epsilon may be large, as with normal tails."""

FIRST_LEVEL = {1: 6, 2: 4, 3: 3}
MOST_CELLS = 6_000_000
CHUNK = 20_000
LARGE = 600.0
"""Of a larger epsilon only e^epsilon >= e^LARGE is used."""


def ball(value: Fraction | float) -> arb:
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def ends(value: arb) -> Ends:
    """Doubles below and above the ball: its ends, converted to nearest, and one step further out."""
    return nextafter(float(value.lower()), -inf), nextafter(float(value.upper()), inf)


def rounding(terms: int) -> float:
    """Relative, of a sum of so many non-negative products of at most five doubles, in any order: doubled."""
    return (terms + 5) * 2.0**-52


def at_bits(function):  # type: ignore[no-untyped-def]
    """Balls of BITS bits inside; what others work at is left alone."""

    @wraps(function)
    def inside(*given):  # type: ignore[no-untyped-def]
        before, ctx.prec = ctx.prec, BITS
        try:
            return function(*given)
        finally:
            ctx.prec = before

    return inside


class Fixed:
    """Ends that cannot be improved."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = max(low, 0.0), max(high, 0.0)
        self.open = False


@at_bits
def divergence(p: Mixture, q: Mixture, epsilon: float, law: str | Laws, share: Fraction | None = None) -> Fixed | Cells:
    """Of the integral of max(p - e^epsilon q, 0). law: of every coordinate's noise, or one each. share: of a lattice
    law, the variance of one of its summands; without it a coordinate's noise is one summand."""
    if not q:
        return Fixed(*ends(ball(sum(p.values(), Fraction(0)))))
    if not p:
        return Fixed(0.0, 0.0)
    odds = ball(min(epsilon, LARGE)).exp()
    p, q, laws = _repeated(*_informative(p, q, law))
    if not next(iter(p))[0]:  # nothing that was released tells the two apart
        found: Fixed | Cells = Fixed(*ends(_total(p) - odds * _total(q)))
    elif laws[0] not in TAIL:
        found = _on_lattice(p, q, odds, laws, share)
    elif set(laws) == {"gaussian"} and len(p) == len(q) == 1 and next(iter(p))[1] == next(iter(q))[1]:
        found = _two_normals(p, q, odds)
    else:
        found = Cells(p, q, odds, laws)
    if epsilon > LARGE:
        return Fixed(0.0, found.high)
    return found


def _total(law: Mixture) -> arb:
    return ball(sum(law.values(), Fraction(0)))


def _informative(p: Mixture, q: Mixture, law: str | Laws) -> tuple[Mixture, Mixture, Laws]:
    """Without the coordinates that are alike in all components: independent of the rest, they say nothing."""
    components = [*p, *q]
    laws = (law,) * len(components[0][0]) if isinstance(law, str) else law
    kept = [k for k in range(len(components[0][0])) if len({(c[k], v[k]) for c, v in components}) > 1]

    def left(law: Mixture) -> Mixture:
        found: Mixture = {}
        for (centres, variances), mass in law.items():
            component = tuple(centres[k] for k in kept), tuple(variances[k] for k in kept)
            found[component] = found.get(component, Fraction(0)) + mass
        return found

    return left(p), left(q), tuple(laws[k] for k in kept)


def _repeated(p: Mixture, q: Mixture, laws: Laws) -> tuple[Mixture, Mixture, Laws]:
    """Normal coordinates whose centres move in proportion, as one: X_k = r_k t + N(0, v_k) are together as telling
    about t as t + N(0, 1 / sum r_k^2 / v_k), their weighted mean, given which the rest is independent of t."""
    components = list(dict.fromkeys([*p, *q]))
    start, variances = components[0]
    moves = [[c[k] - start[k] for c, _ in components] for k in range(len(laws))]
    normal = [law == "gaussian" and len({v[k] for _, v in components}) == 1 for k, law in enumerate(laws)]
    precisions: dict[int, Fraction] = {}
    for k in range(len(laws)):
        ratios = ((at, _ratio(moves[k], moves[at])) for at in precisions if normal[k] and normal[at])
        first, ratio = next(((at, r) for at, r in ratios if r is not None), (k, Fraction(1)))
        precisions[first] = precisions.get(first, Fraction(0)) + ratio**2 / variances[k]
    if len(precisions) == len(laws):
        return p, q, laws
    kept = list(precisions)

    def merged(law: Mixture) -> Mixture:
        found: Mixture = {}
        for (centres, own), mass in law.items():
            spread = tuple(1 / precisions[k] if normal[k] else own[k] for k in kept)
            component = tuple(centres[k] for k in kept), spread
            found[component] = found.get(component, Fraction(0)) + mass
        return found

    return merged(p), merged(q), tuple(laws[k] for k in kept)


def _ratio(moves: list[Fraction], of: list[Fraction]) -> Fraction | None:
    """r with moves = r of, None where there is none."""
    at = next((i for i, move in enumerate(of) if move), None)
    if at is None:
        return None
    ratio = moves[at] / of[at]
    return ratio if all(a == ratio * b for a, b in zip(moves, of, strict=True)) else None


def _two_normals(p: Mixture, q: Mixture, odds: arb) -> Fixed:
    """Closed form: with mu the distance, and t the logarithm of e^epsilon times the ratio of the masses."""
    ((a, variances),), ((b, _),) = p, q
    mu = ball(sum(((x - y) ** 2 / v for x, y, v in zip(a, b, variances, strict=True)), Fraction(0))).sqrt()
    t, root = (odds * _total(q) / _total(p)).log(), arb(2).sqrt()
    there = _total(p) * ((t / mu - mu / 2) / root).erfc() / 2
    return Fixed(*ends(there - odds * _total(q) * ((t / mu + mu / 2) / root).erfc() / 2))


class Line:
    """One coordinate of one component: masses of intervals, and its density over another one's."""

    def __init__(self, law: str, centre: Fraction, variance: Fraction) -> None:
        self.law, self.centre, self.variance = law, centre, variance
        self._c, self._scale = ball(centre), ball(variance).sqrt()
        self._tails: dict[float, tuple[arb, arb]] = {}
        self._masses: dict[Ends, Ends] = {}
        self._ratios: dict[tuple[Line, float], Ends] = {}

    def _tail(self, x: float) -> tuple[arb, arb]:
        """Of mass below and above x."""
        if x not in self._tails:
            u = (arb(x) - self._c) / self._scale
            if self.law == "gaussian":
                self._tails[x] = (-u / arb(2).sqrt()).erfc() / 2, (u / arb(2).sqrt()).erfc() / 2
            else:
                half = (-abs(u)).exp() / 2
                self._tails[x] = (half, 1 - half) if x < self.centre else (1 - half, half)
        return self._tails[x]

    def mass(self, left: float, right: float) -> Ends:
        if (left, right) not in self._masses:
            (below, above), (below_right, above_right) = self._tail(left), self._tail(right)
            low, high = ends(below_right - below if left < self.centre else above - above_right)
            self._masses[left, right] = max(low, 0.0), high
        return self._masses[left, right]

    def _ratio_at(self, x: float, to: Line) -> Ends:
        if (to, x) not in self._ratios:
            at = arb(x)
            if self.law == "gaussian":
                log = (at - to._c) ** 2 / (2 * ball(to.variance)) - (at - self._c) ** 2 / (2 * ball(self.variance))
            else:
                log = (abs(at - to._c) - abs(at - self._c)) / self._scale
            self._ratios[to, x] = ends((log.exp()) * to._scale / self._scale)
        return self._ratios[to, x]

    def ratio(self, left: float, right: float, to: Line) -> Ends:
        """All values of this density over the other's, whose variance is no smaller: monotone, or up and down again."""
        (a, b), (c, d) = self._ratio_at(left, to), self._ratio_at(right, to)
        low, high = min(a, c), max(b, d)
        if self.variance != to.variance:
            v, w = self.variance, to.variance
            top = (self.centre / v - to.centre / w) / (1 / v - 1 / w)
            if left < top < right:  # above both ends by at most this factor: the exponent is a parabola
                high *= 1.0 + 2.0 * float((1 / v - 1 / w) * Fraction(right - left) ** 2)
        return max(low, 0.0), high


@lru_cache(maxsize=20_000)
def line(law: str, centre: Fraction, variance: Fraction) -> Line:
    return Line(law, centre, variance)


class Cells:
    """Ends of the divergence of two mixtures with continuous noise; `refine` halves the cells that are not settled."""

    def __init__(self, p: Mixture, q: Mixture, odds: arb, laws: Laws) -> None:
        components = list(dict.fromkeys([*p, *q]))
        nothing = Fraction(0)
        found = [ends(ball(p.get(c, nothing)) - odds * ball(q.get(c, nothing))) for c in components]
        self.least, self.most = (np.array([one[k] for one in found]) for k in (0, 1))
        self.widen = rounding(len(components))
        self.level = FIRST_LEVEL[len(components[0][0])]
        self.lines: list[list[Line]] = []
        self.which: list[Floats] = []
        self.origin: list[int] = []
        self.length: list[int] = []
        outside = arb(0)
        for k in range(len(components[0][0])):
            kinds = sorted({(c[k], v[k]) for c, v in components})
            self.lines.append([line(laws[k], c, v) for c, v in kinds])
            self.which.append(np.array([kinds.index((c[k], v[k])) for c, v in components]))
            reach = [TAIL[laws[k]] * sqrt(v) for _, v in kinds]
            low = floor(min(float(c) - r for (c, _), r in zip(kinds, reach, strict=True)))
            high = ceil(max(float(c) + r for (c, _), r in zip(kinds, reach, strict=True)))
            self.origin.append(low)
            self.length.append(high - low)
            for one in self.lines[-1]:
                outside += one._tail(float(low))[0] + one._tail(float(high))[1]
        self.settled_low, self.settled_high = 0.0, ends(outside)[1]  # each component's mass is at most 1
        whole = np.array(list(product(range(2**self.level), repeat=len(self.lines))), dtype=np.int64)
        self._weigh(whole)

    @at_bits
    def _weigh(self, cells: Floats) -> None:
        parts = [self._ends_of(cells[at : at + CHUNK]) for at in range(0, len(cells), CHUNK)]
        lows, highs, unsure = (np.concatenate([part[k] for part in parts]) for k in range(3))
        keep = unsure.astype(bool)
        self.settled_low += float(lows[~keep].sum()) * (1 - rounding(len(lows)))
        self.settled_high = (self.settled_high + float(highs[~keep].sum())) * (1 + rounding(len(lows)))
        self.cells, self.lows, self.highs = cells[keep], lows[keep], highs[keep]
        self._totals()

    def _totals(self) -> None:
        widen = rounding(len(self.lows))
        self.low = (self.settled_low + float(self.lows.sum())) * (1 - widen)
        self.high = (self.settled_high + float(self.highs.sum())) * (1 + widen)
        self.open = len(self.cells) > 0 and len(self.cells) * 2 ** len(self.lines) <= MOST_CELLS

    def refine(self, resolution: float) -> None:
        """Halve the cells along every axis, but for those that together are less than 1/32 of the resolution wide."""
        gaps = self.highs - self.lows
        small = gaps <= resolution / (32 * len(gaps))
        self.settled_low += float(self.lows[small].sum()) * (1 - rounding(len(gaps)))
        self.settled_high = (self.settled_high + float(self.highs[small].sum())) * (1 + rounding(len(gaps)))
        corners = np.array(list(product((0, 1), repeat=len(self.lines))), dtype=np.int64)
        self.level += 1
        self._weigh((2 * self.cells[~small][:, None, :] + corners[None]).reshape(-1, len(self.lines)))

    def _ends_of(self, cells: Floats) -> tuple[Floats, Floats, Floats]:
        """By cell: at least, at most, and whether the sign is not certain."""
        shape = len(cells), len(self.most)
        mass, ratio = ([np.ones(shape), np.ones(shape)] for _ in range(2))
        tables = []
        for axis, lines in enumerate(self.lines):
            numbers, back = np.unique(cells[:, axis], return_inverse=True)
            size = self.length[axis] / 2**self.level  # exact, as all edges are: integers over powers of two
            edges = [(self.origin[axis] + size * n, self.origin[axis] + size * (n + 1)) for n in numbers.tolist()]
            masses = np.array([[one.mass(*edge) for edge in edges] for one in lines])
            for k in (0, 1):
                mass[k] *= masses[self.which[axis], :, k][:, back].T
            tables.append((edges, back, masses))
        # the sign of f is that of f over any positive measure: the noise around a centre that f comes from nearby
        pull = mass[1] * np.maximum(self.most, -self.least) + 1e-300
        middle = np.ones(len(cells))
        for axis, (edges, back, masses) in enumerate(tables):
            around = self._around(axis, pull)
            lines, used = self.lines[axis], np.unique(around)
            ratios = np.array(
                [[[one.ratio(*edge, lines[to]) for edge in edges] for one in lines] for to in used.tolist()]
            )
            chosen = np.searchsorted(used, around)[:, None], self.which[axis][None, :], back[:, None]
            for k in (0, 1):
                ratio[k] *= ratios[..., k][chosen]
            middle *= masses[around, back, 1]
        low, high = self._combined(*mass)
        least, most = self._combined(*ratio)
        # f lies between least and most times this measure, and max(f, 0) below the chord between those two
        chord = (high - least * middle * (1 + 4 * self.widen)) / np.maximum(most - least, 1e-300)
        bound = np.clip(chord, 0.0, middle) * np.maximum(most, 0.0) * (1 + 8 * self.widen)
        unsure = (least < 0.0) & (most > 0.0)
        upper = np.where(unsure, bound, np.where(most <= 0.0, 0.0, np.maximum(high, 0.0))) + 1e-300
        return np.where(most <= 0.0, 0.0, np.maximum(low, 0.0)), upper, unsure

    def _around(self, axis: int, pull: Floats) -> Floats:
        """By cell the line, of the largest variance, next to the mean centre of what pulls there: any would do."""
        lines = self.lines[axis]
        wide = [k for k, one in enumerate(lines) if one.variance == max(line.variance for line in lines)]
        centres = np.array([float(one.centre) for one in lines])
        mean = pull @ centres[self.which[axis]] / pull.sum(axis=1)
        return np.array(wide)[np.argmin(np.abs(mean[:, None] - centres[wide][None]), axis=1)]

    def _combined(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Ends of the sum of coefficients times what lies between low and high, both non-negative."""
        up, down = 1 + self.widen, 1 - self.widen
        least = low @ np.maximum(self.least, 0.0) * down - high @ np.maximum(-self.least, 0.0) * up
        most = high @ np.maximum(self.most, 0.0) * up - low @ np.maximum(-self.most, 0.0) * down
        return least - 1e-300, most + 1e-300


def _on_lattice(p: Mixture, q: Mixture, odds: arb, laws: Laws, share: Fraction | None) -> Fixed:
    """Integer centres, noise on the integers: every point is a cell of its own."""
    components = list(dict.fromkeys([*p, *q]))
    nothing = Fraction(0)
    found = [ends(ball(p.get(c, nothing)) - odds * ball(q.get(c, nothing))) for c in components]
    least, most = (np.array([one[k] for one in found]) for k in (0, 1))
    low, high, inside = (np.ones((1, len(components))) for _ in range(3))
    outside = 0.0
    for k in range(len(components[0][0])):
        noises = [lattice(laws[k], share or v[k], int(v[k] / (share or v[k]))) for _, v in components]
        tables = _on_axis(noises, [int(c[k]) for c, _ in components])
        low, high, inside = (
            (before[:, None, :] * table[None]).reshape(-1, len(components))
            for before, table in zip((low, high, inside), tables, strict=True)
        )
        outside += sum(tail for _, tail in noises)
    widen = rounding(len(components))
    lows = low @ np.maximum(least, 0.0) * (1 - widen) - high @ np.maximum(-least, 0.0) * (1 + widen)
    highs = inside @ np.maximum(most, 0.0) * (1 + widen) - low @ np.maximum(-most, 0.0) * (1 - widen)
    total = rounding(len(lows))
    return Fixed(
        float(np.maximum(lows, 0.0).sum()) * (1 - total), float(np.maximum(highs, 0.0).sum()) * (1 + total) + outside
    )


def _on_axis(laws: list[tuple[tuple[Ends, ...], float]], centres: list[int]) -> tuple[Floats, Floats, Floats]:
    """By point and component: at least, at most, and at most of what is tabulated."""
    radius = max(len(masses) // 2 for masses, _ in laws)
    points = range(min(centres) - radius, max(centres) + radius + 1)
    low, high, inside = (np.zeros((len(points), len(laws))) for _ in range(3))
    for column, ((masses, tail), centre) in enumerate(zip(laws, centres, strict=True)):
        high[:, column] = tail
        start = centre - len(masses) // 2 - points.start
        place = slice(start, start + len(masses))
        low[place, column], inside[place, column] = np.array(masses).T
        high[place, column] = inside[place, column]
    return low, high, inside


@lru_cache(maxsize=256)
def lattice(law: str, share: Fraction, shares: int) -> tuple[tuple[Ends, ...], float]:
    """Ends of the masses on -r .. r of the sum of so many independent ones, and at most the mass outside."""
    v = ball(share)
    if law == "discrete-laplace":  # masses proportional to e^(-|k| / scale)
        t = (-1 / v.sqrt()).exp()
        one = [(1 - t) / (1 + t) * t ** abs(k) for k in range(-80, 81)]
        left_out = 2 * t**81 / (1 + t)
    elif law == "discrete-gaussian":  # proportional to e^(-k^2 / (2 share)); beyond 80 they halve and more
        raw = [(-(k**2) / (2 * v)).exp() for k in range(-80, 81)]
        rest = 4 * (-(81**2) / (2 * v)).exp()
        norm = sum(raw, arb(0)) + rest * arb(0.5, 0.5)
        one, left_out = [x / norm for x in raw], rest / norm
    else:  # Skellam: the difference of two Poisson variables of mean share / 2 each
        mean = v * shares
        one = [(-mean).exp() * mean.bessel_i(arb(abs(k))) for k in range(-80, 81)]
        left_out, shares = 1 - sum(one, arb(0)), 1
    total = one
    for _ in range(shares - 1):
        total = [
            sum((total[i] * one[k - i] for i in range(max(0, k - 160), min(k + 1, len(total)))), arb(0))
            for k in range(len(total) + 160)
        ]
    tail, cut = left_out * shares, len(total) // 2
    least = LEFT_OUT.get(law, 1e-25)
    while cut > 1 and float((tail + total[0] + total[-1]).upper()) < least:
        tail, total, cut = tail + total[0] + total[-1], total[1:-1], cut - 1
    found: Iterable[Ends] = (ends(x) for x in total)
    return tuple((max(low, 0.0), high) for low, high in found), max(0.0, ends(tail)[1])
