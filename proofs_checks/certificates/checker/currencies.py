"""Section 6, other currencies: a Renyi divergence, rho, mu or a true-positive rate, from orders and points."""

from itertools import pairwise
from typing import Any

from flint import arb, fmpq

from .bounds import profile
from .format import CURRENCY, Claim, Phase, all_phases, claim, digest, number, require, table, text
from .pairs import ZERO, Product, products
from .transforms import line
from .verdict import issued, lower, upper_end

MIXED = ("both", "visible", "remove", "add", "zcdp")
"""Orders that reveal no more than the round in which the unit takes part."""

Point = tuple[fmpq, fmpq, Any, Any]
"""epsilon, delta, and the evidence that delta(epsilon) is at most, or above, that."""


def squares(product: Product, orders: tuple[str, ...]) -> fmpq | None:
    """[6.1] The sum of mu^2, exactly, of pairs with these orders; None where one is not known."""
    total = fmpq(0)
    for pair, n in product:
        if pair.square is None or pair.order not in (*orders, "replace"):
            return None
        total += n * pair.square * (4 if pair.order == "replace" else 1)
    return total


def divergence(product: Product, order: fmpq, worst: bool) -> arb:
    """[6.1] D_order of the product, at least (worst) or at most."""
    require(order > 1, "an order above 1")
    total = ZERO
    for pair, n in product:
        known = ("hybrid", "replace", *MIXED) if worst else ("replace", *MIXED[:-1])
        require(pair.order in known, "no such divergence")
        if worst and pair.law and pair.square is not None and pair.order in MIXED:
            total += n * arb(pair.square * order * (order - 1) / 2)
            continue
        require(not worst or pair.lost.is_zero(), "a loss that may be infinite")
        total += n * line(pair, arb(order - 1)).at(ZERO, 1)[0][0].real.log()
    return total / arb(order - 1)


def renyi_holds(product: Product, order: fmpq, most: fmpq) -> bool:
    """[6.1] D_order <= most, exactly where it is a rational."""
    exact = squares(product, ("both", "zcdp")) if all(pair.order in ("both", "zcdp") for pair, _ in product) else None
    return (exact is not None and exact * order / 2 <= most) or bool(divergence(product, order, True) <= arb(most))


def rho_holds(product: Product, last: fmpq | None, most: fmpq, orders: list[fmpq]) -> bool:
    """[6.2] D_order <= most order, for all orders up to the last: between two of them by a chord."""
    exact = squares(product, MIXED)
    if exact is not None and exact <= 2 * most:
        return True
    require(bool(orders) and all(a < b for a, b in pairwise([fmpq(1), *orders])), "orders above 1, in order")
    moments = [(order, arb(order - 1) * divergence(product, order, True)) for order in orders]
    first, final = moments[0], orders[-1]
    require(bool(first[1] <= arb(most * (first[0] - 1))), "the first order is not proved")
    require(all(below(most, *left, *right) for left, right in pairwise(moments)), "between two orders it is not proved")
    return (last is not None and final >= last) or bool(beyond(product, final) <= arb(most))


def below(most: fmpq, a: fmpq, at_a: arb, b: fmpq, at_b: arb) -> bool:
    """[6.2] Whether the chord of these moments is below most order (order - 1): a parabola, least at its vertex."""
    v = (at_b - at_a) / arb(b - a)
    vertex = ((1 + v / arb(most)) / 2).max(arb(a)).min(arb(b))
    return bool(arb(most) * vertex * (vertex - 1) >= at_a + v * (vertex - arb(a)))


def beyond(product: Product, order: fmpq) -> arb:
    """[6.2] At least D_a / a, for all a from the order on."""
    total = ZERO
    for pair, n in product:
        exact = squares([(pair, n)], MIXED)
        require(exact is not None or (bool(pair.law) and pair.lost.is_zero()), "no bound on all orders")
        total += arb(exact / 2) if exact is not None else n * pair.g * max(pair.law) / arb(order)
    return total


def mu_of(alpha: arb, beta: arb) -> arb:
    """[6.3] The mu whose curve goes through this point."""
    require(alpha > 0 and beta > 0, "a vertex without a mu")
    return arb(2).sqrt() * ((2 * alpha).erfcinv() + (2 * beta).erfcinv())


def mu_holds(stated: Claim, phases: list[Phase], least: fmpq | None, most: fmpq, points: list[Point]) -> bool:
    """[6.3] The vertices of the lines through the points, down to the least error rate, are above the curve of mu."""
    worst = products(phases, stated.relation, stated.seen, True)
    if worst and all(_gaussian(product, most) for product in worst.values()):
        return True
    require(len(points) > 1 and points[0][0] == 0, "points from epsilon = 0 on")
    for epsilon, delta, above, _ in points:
        upper_end(stated._replace(delta=delta), phases, epsilon, above)
    lines = [(arb(epsilon).exp(), 1 - arb(delta)) for epsilon, delta, *_ in points]
    alpha = lines[0][1] / 2
    require(bool(mu_of(alpha, alpha) <= arb(most)), "the diagonal is below the curve")
    for place, ((x, top), (after, top_after)) in enumerate(pairwise(lines)):
        before, alpha = alpha, (top_after - top) / (after - x)
        require(place == 0 or bool(alpha < before), "vertices in order")
        if least is not None and not alpha > arb(least):
            return bool(mu_of(arb(least), top - x * arb(least)) <= arb(most))
        require(bool(mu_of(alpha, top - x * alpha) <= arb(most)), "a vertex is below the curve")
    return points[-1][1] == 0  # the last line goes to (0, 1), where all curves of mu begin


def _gaussian(product: Product, most: fmpq) -> bool:
    """[6.3] Whether each round's mu is known, and the root of the sum of their squares is at most this."""
    total = squares(product, MIXED[:-1]) if not any(pair.law for pair, _ in product) else None
    return total is not None and total <= most**2


def mu_holds_to(stated: Claim, phases: list[Phase], least: fmpq, most: fmpq, points: list[Point]) -> bool:
    """[6.3] From each point to the next delta is below that of mu, and the last delta is at most the least one."""
    worst = products(phases, stated.relation, stated.seen, True)
    if worst and all(_gaussian(product, most) for product in worst.values()):
        return True
    require(bool(points) and points[0][0] == 0 and points[-1][1] <= least, "points from epsilon = 0 to the least delta")
    for epsilon, delta, above, _ in points:
        upper_end(stated._replace(delta=delta), phases, epsilon, above)
    return all(in_cell(most, left[:2], right[:2]) for left, right in pairwise(points))


def in_cell(most: fmpq, left: tuple[fmpq, fmpq], right: tuple[fmpq, fmpq]) -> bool:
    """[6.3] The chord of delta is below that of mu: its line meets the curve, or mu's last delta is above its first."""
    (epsilon, delta), (after, less) = left, right
    x, steps = arb(epsilon).exp(), arb(after).exp() - arb(epsilon).exp()
    require(bool(steps > 0), "points in order")
    alpha = arb(delta - less) / steps
    beta = 1 - arb(delta) - x * alpha
    met = bool(alpha > 0) and bool(beta > 0) and bool(mu_of(alpha, beta) <= arb(most))
    return met or bool(profile(arb(most), arb(after)) >= arb(delta))


def mu_fails(stated: Claim, phases: list[Phase], least: fmpq | None, most: fmpq, points: list[Point]) -> bool:
    """[6.3] delta is above that of mu at one point, whose line touches the curve at an error rate of at least this."""
    (epsilon, delta, _, evidence), *others = points
    require(evidence is not None, "no proof of the point")
    lower(stated._replace(delta=delta), phases, epsilon, evidence)
    if least is not None:
        ((after, less, above, _),) = others
        upper_end(stated._replace(delta=less), phases, after, above)
        chord = arb(delta - less) / (arb(after).exp() - arb(epsilon).exp())
        require(after > epsilon and bool(chord >= arb(least)), "the line touches below the least error rate")
    return bool(profile(arb(most), arb(epsilon)) <= arb(delta))


def tpr_fails(stated: Claim, phases: list[Phase], fpr: fmpq, most: fmpq, points: list[Point]) -> bool:
    """[6.4] e^epsilon fpr + delta(epsilon) is above `most` at every epsilon: below by steps between the points."""
    require(bool(points) and points[0][0] == 0 and points[0][1] >= most, "delta(0) is not above the rate")
    for epsilon, delta, _, evidence in points:
        same = evidence is not None and all(evidence[key] == points[0][3][key] for key in ("direction", "phases"))
        require(same, "points of one direction")
        lower(stated._replace(delta=delta), phases, epsilon, evidence)
    for (epsilon, *_), (after, delta, *_) in pairwise(points):
        require(after > epsilon and bool(arb(epsilon).exp() * fpr + arb(delta) >= arb(most)), "a step is too far")
    return bool(arb(points[-1][0]).exp() * fpr > arb(most))


def prove(document: Any) -> str:
    """[6] What is proved, in words; raises ValueError where something is not."""
    keys = "format digest issued claim phases verdict currency orders points"
    form, written, origin, about, steps, verdict, currency, orders, points = table(document, keys)
    require(form == CURRENCY and written == digest(document), "the format, or the digest")
    issued(origin)
    require(isinstance(about, dict) and not {"epsilon", "delta"} & set(about), "another claim's numbers")
    stated = claim({**about, "epsilon": "0", "epsilon_interval": None, "delta": "0"})
    phases, marks = all_phases(about, steps), [number(order) for order in orders]
    read = [table(point, "epsilon delta upper lower") for point in points]
    found = [(number(epsilon), number(delta), above, low) for epsilon, delta, above, low in read]
    require(all(delta < 1 for _, delta, *_ in found), "deltas below 1")
    name, written, at = table(currency, "name number place")
    most, place = number(written), None if at is None else number(at)
    _require_place(name, place)
    require(most > 0 and verdict in ("holds", "refuted"), "a number above 0, and holds or refuted")
    if name == "tpr_at_fpr":
        require(verdict == "refuted" and place is not None and most < 1, "that a rate holds is a matter of one point")
        proved = tpr_fails(stated, phases, place or fmpq(0), most, found)
    elif name == "mu at deltas":
        least = fmpq(1) if place is None else place
        require(place is not None, "a range without its end")
        require(verdict == "holds" or (bool(found) and found[0][1] >= least), "a delta below the least one")
        proved = (
            mu_holds_to(stated, phases, least, most, found)
            if verdict == "holds"
            else mu_fails(stated, phases, None, most, found[:1])
        )
    elif name == "mu":
        proved = (mu_holds if verdict == "holds" else mu_fails)(stated, phases, place, most, found)
    else:
        require(name in ("rho", "renyi"), "no such currency")
        proved = by_orders(stated, phases, name, place, most, marks, verdict == "holds")
    require(proved, "what is claimed is not proved")
    told = "holds" if verdict == "holds" else "is refuted"
    where = "" if at is None else f" (place {at})"
    return f"{text(name)}{where} is {'at most' if verdict == 'holds' else 'above'} {written}: the claim {told}"


def _require_place(name: Any, place: fmpq | None) -> None:
    """[6] Orders are above 1, error rates above 0 and at most 1/2, deltas above 0 and below 1: beyond, all holds."""
    if place is None:
        return
    if name in ("rho", "renyi"):
        require(place > 1, "an order above 1")
    else:
        within = place < 1 if name == "mu at deltas" else 2 * place <= 1
        require(place > 0 and within, "an error rate of at most 1/2, or a delta below 1")


def by_orders(
    stated: Claim, phases: list[Phase], name: str, place: fmpq | None, most: fmpq, orders: list[fmpq], holds: bool
) -> bool:
    """[6.1, 6.2] In every dominating direction at most the claimed number; or, of one that is attained, above it."""
    require(name == "rho" or place is not None, "a divergence without its order")
    found = products(phases, stated.relation, stated.seen, holds).values()
    require(bool(found), "nothing is known of the phases")
    if holds and name == "rho":
        return all(rho_holds(product, place, most, orders) for product in found)
    if holds:
        return all(renyi_holds(product, place or fmpq(1), most) for product in found)
    order = (place or fmpq(1)) if name == "renyi" else orders[0]
    require(name == "renyi" or place is None or order <= place, "an order out of range")
    factor = order if name == "rho" else fmpq(1)
    return any(bool(divergence(product, order, False) > arb(most * factor)) for product in found)
