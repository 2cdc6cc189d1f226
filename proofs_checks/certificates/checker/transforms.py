"""Section 3, transforms: M(t) = E_P[e^{tL}; L finite] of one round on a line Re t = c > 0, and what of it matters."""

from collections.abc import Callable
from functools import cache
from math import isqrt
from typing import NamedTuple

from flint import acb, acb_mat, arb

from .format import LARGE, require
from .pairs import ONE, ZERO, Pair, tail_of

BITS = 84
"""The aim of the quadrature: its error is bounded, whatever this is."""
MOST_NODES = 20_000

Point = Callable[[arb, int], list[acb]]
Beyond = Callable[[arb], arb]


class Line(NamedTuple):
    """[3.1] at(h, n): M and what matters of it at c + ijh, j < n; beyond(S): at least |what matters| for all s >= S."""

    at: Callable[[arb, int], list[tuple[acb, acb]]]
    beyond: Beyond


class Half(NamedTuple):
    """[3.2] An integral of a sampled Gaussian's over x > start, up to stop, or over all x: its L compares shifts mu and
    `other`. back: L with the two laws exchanged, on the conjugate contour.
    """

    mu: arb
    other: arb
    back: bool
    start: arb | None
    stop: arb | None = None


class Contour(NamedTuple):
    """[3.2] Im u = a with step h; x = u, or a curve from start (to stop). growth: of |f| up to the height 2a."""

    a: arb
    k: arb
    h: arb
    growth: arb
    places: range


def line(pair: Pair, c: arb, split: arb | None = None) -> Line:
    """[3.1] The transform of any pair. What cannot matter: an atom at L = 0, or, with `split`, all L <= split."""
    if pair.order == "mixed":
        return _mixed([(weight, line(part, c, split)) for weight, part in pair.parts])
    if pair.order in ("zcdp", "epoch"):
        return _real_axis(pair, c)
    return _unsampled(pair, c) if pair.order in ("both", "visible") else _sampled(pair, c, split)


def _mixed(lines: list[tuple[arb, Line]]) -> Line:
    """[3.1] Of a public coin's mixture all adds up, what matters too."""

    def at(h: arb, n: int) -> list[tuple[acb, acb]]:
        rows = zip(*([(w * m, w * top) for m, top in of.at(h, n)] for w, of in lines), strict=True)
        return [(sum((m for m, _ in row), acb(0)), sum((top for _, top in row), acb(0))) for row in rows]

    return Line(at, lambda s: sum((w * of.beyond(s) for w, of in lines), ZERO))


def _real_axis(pair: Pair, c: arb) -> Line:
    """[3.1] zCDP: M(c) is bounded by the pair's, and nothing is known off the real axis."""

    def at(h: arb, n: int) -> list[tuple[acb, acb]]:
        require(n == 1 and pair.order == "zcdp", "nothing is known off the real axis")
        require(pair.mu**2 * c * (c + 1) < LARGE, "the abscissa is out of range")
        bound = acb((pair.mu**2 / 2 * c * (c + 1)).exp())
        return [(bound, bound)]

    return Line(at, lambda s: at(ZERO, 1)[0][1].real)


def _unsampled(pair: Pair, c: arb) -> Line:
    """[3.1] Plain Gaussian noise, or a lattice; of a public coin's mixture p M matters, and 1 - p lies at L = 0."""
    p, half = pair.p, pair.mu**2 / 2
    require(half * c * (c + 1) + c * pair.g * max(pair.law, default=0) < LARGE, "the abscissa is out of range")

    def at(h: arb, n: int) -> list[tuple[acb, acb]]:
        ts = [acb(c, h * j) for j in range(n)]
        if pair.law:
            sums = [sum((w * (t * pair.g * k).exp() for k, w in pair.law.items()), acb(0)) for t in ts]
        else:
            sums = [(half * t * (t + 1)).exp() for t in ts]
        return [(1 - p + p * m, p * m) for m in sums]

    return Line(at, lambda s: at(ZERO, 1)[0][1].real * (-half * s**2).exp())


def _sampled(pair: Pair, c: arb, split: arb | None) -> Line:
    """[3.2] Gaussian noise behind a hidden coin: an atom at L = 0 and one or two integrals."""
    atom, whole = parts(pair)
    integrals = [integral(half, pair.p, c) for half in whole]
    matter = integrals
    if split is not None and pair.order in ("remove", "hybrid"):
        matter = [integral(above(pair, split), pair.p, c)]

    def at(h: arb, n: int) -> list[tuple[acb, acb]]:
        sums = [sum(values, acb(0)) for values in zip(*(point(h, n) for point, _ in integrals), strict=True)]
        tops = sums
        if matter is not integrals:
            tops = [sum(values, acb(0)) for values in zip(*(point(h, n) for point, _ in matter), strict=True)]
        return [(atom + m, top) for m, top in zip(sums, tops, strict=True)]

    return Line(at, lambda s: sum((beyond(s) for _, beyond in matter), ZERO))


def parts(pair: Pair) -> tuple[arb, list[Half]]:
    """[3.2] The atom at L = 0, and the integrals, of each order."""
    mu, near, far = pair.mu, pair.mu / 2, 3 * pair.mu / 2
    side = {"hybrid": near, "zeroed remove": far, "zeroed add": far}.get(pair.order)
    atom = ZERO if side is None else (1 - pair.p) * (1 - tail_of(near) - tail_of(side))
    halves = {
        "remove": [Half(mu, ZERO, False, None)],
        "add": [Half(mu, ZERO, True, None)],
        "replace": [Half(mu, -mu, False, None)],
        "hybrid": [Half(mu, ZERO, False, near), Half(mu, ZERO, True, near)],
        "zeroed remove": [Half(2 * mu, mu, False, far), Half(mu, ZERO, True, near)],
        "zeroed add": [Half(2 * mu, mu, True, far), Half(mu, ZERO, False, near)],
    }
    if pair.order == "opposed":
        odds = pair.p / (1 - pair.p) * (mu**2).exp()
        least = far - (1 + (1 + odds).sqrt()).log() / mu  # where L is least
        halves["opposed"] = [Half(2 * mu, mu, False, least), Half(-2 * mu, -mu, False, -least)]
    require(pair.order in halves and not pair.law, f"no transform of {pair.order} for this noise")
    whole = halves[pair.order]
    if pair.reach is not None:
        whole = [ending(half, place(abs(half.mu), pair.p, pair.reach)) for half in whole]
    return atom, whole


def place(mu: arb, p: arb, level: arb) -> arb:
    """[3.2] Where R, of this shift, is e^level."""
    return mu / 2 + ((level.exp() - 1 + p) / p).log() / mu


def ending(half: Half, r: arb) -> Half:
    """[3.3] What of it has |x| <= r."""
    return half._replace(start=-r if half.start is None else half.start, stop=r)


def cut_off(pair: Pair, reach: arb) -> Pair:
    """[3.3] What is beyond this loss counts as L = infinity; only coins that hide Gaussian noise cut anything."""
    if pair.order == "mixed":
        mixed = tuple((weight, cut_off(part, reach)) for weight, part in pair.parts)
        return pair._replace(parts=mixed, lost=sum((weight * part.lost for weight, part in mixed), ZERO))
    if pair.law or pair.order in ("both", "visible", "zcdp", "epoch"):
        return pair
    ends = [(place(abs(half.mu), pair.p, reach), abs(half.mu)) for half in parts(pair)[1]]
    tails = ((1 - pair.p) * tail_of(r) + pair.p * tail_of(r - mu) for r, mu in ends)
    return pair._replace(reach=reach, lost=2 * sum(tails, ZERO))


def above(pair: Pair, split: arb) -> Half:
    """[3.1] Of "remove" and "hybrid" all L > split."""
    stop = None if pair.reach is None else place(pair.mu, pair.p, pair.reach)
    return Half(pair.mu, ZERO, False, place(pair.mu, pair.p, split), stop)


def contour(half: Half, c: arb) -> Contour:
    """[3.2] A path, its step and its nodes. Floats choose; that the choice is allowed is checked in balls."""
    size = abs(half.mu)
    require(size > 0 and size < 10**6 and c > 0 and c < 10**9, "a shift or an abscissa out of range")
    angle = min(3.0, 1.1 / float(size), 4.0 / (float(size) * float(c) ** 0.5))
    curved = half.start is not None
    a, k = (arb(0.7), arb(min(angle / 0.7, 3.0))) if curved else (arb(angle), ONE)
    top = 2 * a * k  # the largest Im x of the strip
    require(size * top < arb.pi() and (not curved or size * k < 1.6), "the contour leaves the strip")
    growth = (top**2 / 2).exp() / (size * top / 2).cos() ** c / ((2 * a).cos() if curved else 1)
    h = arb(float(2 * arb.pi() * a / (BITS * arb(2).log() + growth.log() + 5)))
    origin = ZERO if half.start is None else half.start
    far = ((1 + 2 * c) * size).max(origin) + 16
    low, high = (arb(-BITS), (far - origin) / k + 10) if curved else (-c * size - 16, far)
    if half.stop is not None:
        require(half.stop > origin, "nothing is within reach")
        high = (half.stop - origin) / k + BITS
    places = range(int(float(low / h)) - 1, int(float(high / h)) + 2)
    require(2 <= len(places) <= MOST_NODES, "too many nodes in x")
    require(h * places[0] <= low and h * places[-1] >= high, "the nodes do not reach far enough")
    return Contour(a, k, h, growth, places)


def node(half: Half, path: Contour, p: arb, c: arb, u: acb) -> tuple[acb, acb]:
    """[3.2] h phi dx/du dP/dN(0, 1) e^{cL}, and iL; of exchanged laws the conjugates."""
    if half.start is None:
        x, slope = u, acb(1)
    else:
        x, slope = half.start + path.k * u.exp().log1p(), path.k / (1 + (-u).exp())
        if half.stop is not None:
            length = (half.stop - half.start) / path.k
            x -= path.k * (u - length).exp().log1p()
            slope *= (1 - (-length).exp()) / (1 + (u - length).exp())
    first = (1 - p + p * (half.mu * x - half.mu**2 / 2).exp()).log()
    second = acb(0) if half.other.is_zero() else (1 - p + p * (half.other * x - half.other**2 / 2).exp()).log()
    loss = first - second
    log = second - c * loss if half.back else first + c * loss
    mass = (log - x**2 / 2).exp() * slope * path.h / (2 * arb.pi()).sqrt()
    return (mass.conjugate(), acb(0, -1) * loss.conjugate()) if half.back else (mass, acb(0, 1) * loss)


def integral(half: Half, p: arb, c: arb) -> tuple[Point, Beyond]:
    """[3.2] The trapezoidal sum with its error as radius; and the bound for all s >= S, from cells around the nodes."""
    path = contour(half, c)
    a, h = path.a, path.h
    nodes = [node(half, path, p, c, acb(h * j, a)) for j in path.places]
    ends = sum((node(half, path, p, c, acb(h * j))[0].abs_upper() for j in (path.places[0], path.places[-1])), ZERO)
    sizes = [weight.abs_upper() for weight, _ in nodes]
    require(all(size.is_finite() for size in sizes), "a node without a value")
    small = max(sizes) / 2**BITS  # nodes of at most this size are left out, and counted in the cut
    cut = 6 * path.growth * (1 + 1 / path.k) / h * ends + small * len(nodes)
    kept = [step for step, size in zip(nodes, sizes, strict=True) if not size <= small]
    alias = (1 + path.growth) / ((2 * arb.pi() * a / h).exp() - 1)
    require(alias < 0.1, "the step in x is too coarse")
    radius = (alias * (sum((weight for weight, _ in kept), acb(0)).abs_upper() + cut) / (1 - alias) + cut).upper()
    decay = cache(lambda: cells(half, path, p, c))

    def at(step: arb, n: int) -> list[acb]:
        m = isqrt(n - 1) + 1  # all s = step (i + m j) at once, by a product of two matrices
        fine, coarse = (powers([(turn * step * by).exp() for _, turn in kept], m) for by in (1, m))
        rows = [[weight * wave for (weight, _), wave in zip(kept, row, strict=True)] for row in coarse]
        error = acb(arb(0, radius), arb(0, radius))
        return [error + entry for entry in (acb_mat(rows) * acb_mat(fine).transpose()).entries()[:n]]

    return at, lambda s: sum((weight * (turn * s).exp() for weight, turn in decay()), cut)


def cells(half: Half, path: Contour, p: arb, c: arb) -> list[tuple[arb, arb]]:
    """[3.2] Of the cell around each node, as one ball: the largest |f| times its width, the largest -Im L."""
    balls = (node(half, path, p, c, acb(path.h * arb(j, 0.5), path.a)) for j in path.places)
    return [(weight.abs_upper(), turn.real.upper().min(ZERO)) for weight, turn in balls]


def powers(bases: list[acb], n: int) -> list[list[acb]]:
    """The bases to the powers 0 to n - 1, each the product of two of about half as much: so the balls stay small."""
    rows = [[acb(1)] * len(bases), bases]
    for i in range(2, n):
        rows.append([x * y for x, y in zip(rows[i // 2], rows[i - i // 2], strict=True)])
    return rows[:n]
