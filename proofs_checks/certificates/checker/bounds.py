"""Section 4, bounds on delta(epsilon) of a product of pairs, by the method that the evidence names."""

from math import prod

from flint import acb, arb, arb_poly

from .format import LARGE, End, require
from .pairs import ONE, ZERO, Pair, Product, tail_of
from .transforms import Line, cut_off, line

MOST_TERMS, MOST_LISTED = 150_000, 100_000
"""Nodes of an inversion, and rounds whose coins, events or losses are counted one by one."""


def chernoff(product: Product, epsilon: arb, c: arb) -> arb:
    """[4.1] At least delta(epsilon) - P[L = infinity]."""
    moments = sum((n * line(pair, c).at(ZERO, 1)[0][0].real.log() for pair, n in product), ZERO)
    return (moments - c * epsilon + c * c.log() - (c + 1) * (c + 1).log()).exp()


def inversion(product: Product, epsilon: arb, end: End, upper: bool) -> arb:
    """[4.2] At least (upper) or at most delta(epsilon) - P[L = infinity]."""
    c, h, split = arb(end.c), arb(end.h), None if end.split is None else arb(end.split)
    require(2 <= end.terms <= MOST_TERMS and c > 0 and h > 0, "2 to 150000 terms, with c and h above 0")
    require(split is None or split * sum(n for _, n in product) <= epsilon, "split: it may matter")
    lines = [(line(pair, c, split), n) for pair, n in product]
    spectrum = zip(*(of.at(h, end.terms) for of, _ in lines), strict=True)
    total = ZERO
    for j, values in enumerate(spectrum):
        t = acb(c, h * j)
        powers = [(m**n, (m - matter) ** n) for (m, matter), (_, n) in zip(values, lines, strict=True)]
        f = prod((m for m, _ in powers), start=acb(1)) - prod((m for _, m in powers), start=acb(1))
        total += (f * (-epsilon * t).exp() / (t * (t + 1))).real * h / arb.pi() / (1 if j else 2)
    rest = tail(lines, h * end.terms) * (-c * epsilon).exp() / (arb.pi() * h * (end.terms - 1))
    return total + rest if upper else total - rest - excess(product, epsilon, c, h, arb(end.beyond))


def excess(product: Product, epsilon: arb, c: arb, h: arb, beyond: arb) -> arb:
    """[4.2] At least what the trapezoidal rule has too much of."""
    require(beyond > c, "beyond: an abscissa above c")
    turn = 2 * arb.pi() / h
    above = chernoff(product, epsilon, beyond) / ((turn * (beyond - c)).exp() - 1)
    return 1 / ((turn * c).exp() - 1) + above


def tail(lines: list[tuple[Line, int]], start: arb) -> arb:
    """[4.3] At least |prod M^n - prod (M - what matters)^n| for all s >= start."""
    real = [(m.real, (m - matter).abs_upper(), of.beyond, n) for of, n in lines for m, matter in of.at(ZERO, 1)]
    parts = prod((part**n for _, part, _, n in real), start=ONE)
    bounds = [prod(((part + beyond(start)) ** n for _, part, beyond, n in real), start=ONE) - parts]
    for k in (4**j for j in range(12)):
        shrunk = ((m**2 - (m**2 - (x + b(start * k)).min(m) ** 2) / (1 + k) ** 2).sqrt() ** n for m, x, b, n in real)
        bounds.append(prod(shrunk, start=ONE) + parts)
    return min(bound.upper() for bound in bounds)  # each of them is a bound, whichever this takes


def mixture(product: Product, epsilon: arb, upper: bool) -> arb:
    """[4.4] Gaussian noise given the coins of the first phase; the others take part, or are taken to."""
    (pair, n), *others = product
    told = ("both", "visible", "remove", "add", "hybrid", "zeroed remove", "zeroed add")
    exact = upper or all(other.order == "both" for other, _ in others)
    require(exact and all(q.mu > 0 and q.order in (told if upper else told[:3]) for q, _ in product), "no mixture")
    v = sum((q.mu**2 * k for q, k in others), ZERO)
    if pair.order == "both":
        return profile((v + n * pair.mu**2).sqrt(), epsilon)
    p, hidden = pair.p, pair.order == "remove" and not upper
    total = ZERO
    for k, weight in enumerate((arb_poly([1 - p, p]) ** n).coeffs()):
        if k or others:  # without any round taken part in nothing is revealed
            level = epsilon - (k * p.log() + (n - k) * (1 - p).log() if hidden else 0)
            total += weight * profile((v + k * pair.mu**2).sqrt(), level)
    return total


def profile(mu: arb, epsilon: arb) -> arb:
    """[4.4] G: the profile of N(mu, 1) against N(0, 1)."""
    return tail_of(epsilon / mu - mu / 2) - epsilon.exp() * tail_of(epsilon / mu + mu / 2)


def losses(product: Product) -> tuple[arb_poly, arb, arb]:
    """[4.5] Of one phase on a lattice, without L = infinity: the masses of the sum, its least loss and the step."""
    (pair, n), *others = product
    require(all(q.law and q.g.is_zero() for q, _ in others), "several phases with losses")  # attained ones never fail
    require(bool(pair.law) and pair.order in ("both", "visible"), "no lattice")
    low, p = min(0, *pair.law), pair.p
    masses = [p * pair.law.get(k, 0) + (0 if k else 1 - p) for k in range(low, max(0, *pair.law) + 1)]
    return arb_poly(masses) ** n, low * n * pair.g, pair.g


def threshold(product: Product, epsilon: arb, c: arb, direction: str) -> arb:
    """[4.5] At most delta(epsilon): of each round of the first phase only whether the event E happened."""
    pair, n = product[0]
    require(pair.order in ("both", "visible", "remove", "add", "epoch"), "no such event")
    at_rest, moved = _event(pair, c)
    x, y = at_rest, (1 - pair.p) * at_rest + pair.p * moved
    require(y > x and x > 0 and y < 1, "no such event")
    if direction == "add":
        x, y = y, x
    without, step = ((1 - y) / (1 - x)).log(), (y * (1 - x) / (x * (1 - y))).log()
    return listed(arb_poly([1 - y, y]) ** n, without * n, step, epsilon)


def _event(pair: Pair, c: arb) -> tuple[arb, arb]:
    """[4.5] P[E], at least for the unit that is moved and at most for the one that is not, if both take part."""
    if pair.law:  # what the lattice leaves out may be part of E or not
        return sum((w for k, w in pair.law.items() if -k >= c), pair.lost), sum(
            (w for k, w in pair.law.items() if k >= c), ZERO
        )
    require(pair.mu > 0, "no such event")
    none, near, high = (tail_of(c - mean) for mean in (ZERO, pair.g, pair.g + pair.mu))
    others = (1 - none) ** (pair.batches - 1)
    return 1 - (1 - near) * others, 1 - (1 - high) * others


def listed(masses: arb_poly, first: arb, step: arb, epsilon: arb) -> arb:
    """[4.5] E[(1 - e^{epsilon - L})_+] for the losses first, first + step, ..."""
    gains = (w * (1 - (epsilon - first - step * i).exp()).max(ZERO) for i, w in enumerate(masses.coeffs()))
    return sum(gains, ZERO)


def lost(product: Product) -> arb:
    """[4] P[L = infinity], at least."""
    return 1 - prod(((1 - pair.lost) ** n for pair, n in product), start=ONE)


def delta_bound(pairs: dict[str, Product], end: End, epsilon: arb, upper: bool) -> arb:
    """[4] At least (upper) or at most delta(epsilon) of the end's direction. Sampled phases first."""
    require(end.direction in pairs, f"no direction {end.direction!r}")
    require(epsilon < LARGE, "an end out of range")
    product = sorted(pairs[end.direction], key=lambda step: step[0].order == "both")
    if end.reach is not None:
        product = [(cut_off(pair, arb(end.reach)), n) for pair, n in product]
    pair, n = product[0]
    above = lost(product) if upper else ZERO
    if end.method == "inversion":
        return above + inversion(product, epsilon, end, upper)
    if end.method == "chernoff" and upper:
        return above + chernoff(product, epsilon, arb(end.c))
    require(n <= MOST_LISTED or (pair.order == "both" and end.method == "mixture"), "too many rounds to list")
    if end.method == "mixture":
        return above + mixture(product, epsilon, upper)
    if end.method == "lattice":
        return above + listed(*losses(product), epsilon)
    require(end.method == "threshold" and not upper, f"no method {end.method!r} for this end")
    return threshold(product, epsilon, arb(end.c), end.direction)
