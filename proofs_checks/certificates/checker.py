"""The independent checker of certificates. It needs python-flint only; proofs: docs/certificates.md, section [n]."""

import hashlib
import json
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from math import isqrt, prod
from typing import Any, NamedTuple

from flint import acb, acb_mat, arb, arb_poly, ctx, fmpq

FORMAT, PRECISION, BITS, ZERO, ONE = "dpcert-certificate-1", 192, 84, arb(0), arb(1)  # BITS: aim of the quadrature
ADVERSARIES = {"dp": ("hidden", "visible"), "billboard": ("hidden", "pooled"), "joint": ("hidden", "pooled")}
WHOLE = {"rounds", "population", "cohort", "clip", "categories", "terms"}
Product = list[tuple["Pair", int]]
CheckResult = NamedTuple("CheckResult", [("ok", bool), ("reason", str)])  # noqa: UP014
Case = NamedTuple("Case", [("d", int), ("size", Any), ("worst", bool), ("coin", bool), ("rounds", int)])  # noqa: UP014
# M(t) = E_P[e^{tL}; L finite], Re t = c [3.1]; at(h, n): M and what matters of it at c + ijh, j < n; beyond(S): |that|
Line = NamedTuple("Line", [("at", Callable[[arb, int], list[tuple[acb, acb]]]), ("beyond", Callable[[arb], arb])])  # noqa: UP014


def require(condition: bool, reason: str) -> None:
    if not condition:
        raise ValueError(reason)


def take(table: Any, keys: str) -> list[Any]:  # the values of a table that has exactly these keys [1]
    require(isinstance(table, dict) and set(table) == set(keys.split()), f"expected a table with exactly: {keys}")
    require(all(type(v) is int and 0 <= v < 10**9 for k, v in table.items() if k in WHOLE and v is not None), "counts")
    return [table[key] for key in keys.split()]


def number(value: Any) -> fmpq:  # "0.01", "1e-05", "100/205" or a whole number, exactly; never below 0 [1]
    text = str(value) if type(value) in (int, str) else ""
    require(re.fullmatch(r"\d[\d.]{,60}(e[+-]?\d{1,3}|/\d{1,40})?", text, re.ASCII) is not None, f"no number: {text!r}")
    return fmpq(*Fraction(text).as_integer_ratio())


def digest(document: dict[str, Any]) -> str:  # sha256 over canonical JSON of everything but the digest [1]
    content = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


class Pair(NamedTuple):  # a symmetric step [2.1]: N(mu, 1) and N(0, 1), or L = kg with mass law[k]; lost = P[L = inf]
    mu: arb = ZERO
    g: arb = ZERO
    law: dict[int, arb] = {}  # noqa: RUF012
    lost: arb = ZERO
    order: str = "both"  # how a coin of rate p enters; "zcdp": only the Renyi divergence is at most this pair's
    p: arb = ONE
    batches: int = 1  # of an "epoch": the unit's, one of so many, is at g + mu against g, the others at 0 [2.2]

    def line(self, c: arb, split: arb | None = None) -> Line:  # what cannot matter: an atom at 0, or L <= split [3.1]
        mu, p, v, half, far = self.mu, self.p, self.mu**2 / 2, self.mu / 2, 3 * self.mu / 2

        def at(h: arb, n: int) -> list[tuple[acb, acb]]:
            require(n == 1 or self.order not in ("zcdp", "epoch"), "nothing is known off the real axis")
            ts = [acb(c, h * j) for j in range(n)]
            sums = (sum((w * (t * self.g * k).exp() for k, w in self.law.items()), acb(0)) for t in ts)
            return [(1 - p + p * m, p * m) for m in (sums if self.law else ((v * t * (t + 1)).exp() for t in ts))]

        if self.order in ("both", "visible", "zcdp", "epoch"):
            return Line(at, lambda s: at(ZERO, 1)[0][1].real * (-v * s**2).exp())
        least = far - (1 + (1 + p / (1 - p) * (2 * v).exp()).sqrt()).log() / mu  # where "opposed" has its least L
        parts: list[Any] = {
            "hybrid": [("remove", mu, half), ("add", mu, half)],
            "opposed": [("zeroed", 2 * mu, least), ("zeroed", -2 * mu, -least)],
            "zeroed remove": [("zeroed", 2 * mu, far), ("add", mu, half)],
            "zeroed add": [("zeroed back", 2 * mu, far), ("remove", mu, half)],
        }.get(self.order, [(self.order, mu, None)])
        atom = (1 - p) / 2 * sum((k * v / 4).sqrt().erf() for k in {"hy": (1, 1), "ze": (1, 9)}.get(self.order[:2], ()))
        lines = tops = [sampled_gaussian(side, shift, x, p, c) for side, shift, x in parts]
        if split is not None and self.order in ("remove", "hybrid"):
            tops = [sampled_gaussian("remove", mu, half + ((split.exp() - 1 + p) / p).log() / mu, p, c)]

        def sums(h: arb, n: int) -> list[tuple[acb, acb]]:
            of = [[sum(v) for v in zip(*(f(h, n) for f, _ in x), strict=True)] for x in (lines, tops)[lines is tops :]]
            return [(atom + whole, top) for whole, top in zip(of[0], of[-1], strict=True)]

        return Line(sums, lambda s: sum((beyond(s) for _, beyond in tops), ZERO))


def sampled_gaussian(side: str, mu: arb, start: arb | None, p: arb, c: arb) -> tuple[Any, Any]:
    half, origin = start is not None, ZERO if start is None else start  # x = start + k log(1 + e^u), or x = u [3.2]
    size, back = abs(mu), side in ("add", "zeroed back")
    angle = min(3.0, 1.1 / float(size), 4.0 / (float(size) * float(c) ** 0.5))
    a, k = (arb(0.7), arb(min(angle / 0.7, 3.0))) if half else (arb(angle), ONE)
    growth = ((y := 2 * a * k) ** 2 / 2).exp() / (mu * y / 2).cos() ** c / ((2 * a).cos() if half else 1)
    h = arb(float(2 * arb.pi() * a / (BITS * arb(2).log() + growth.log() + 5)))
    alias = (1 + growth) / ((2 * arb.pi() * a / h).exp() - 1)
    far = ((1 + 2 * c) * size).max(origin) + 16
    low, high = (arb(-BITS), (far - origin) / k + 10) if half else (-c * mu - 16, far)
    indices = range(int(float(low / h)) - 1, int(float(high / h)) + 2)
    require(size < 10**6 and c < 10**9 and alias < 0.1 and len(indices) < 20000, "too many nodes in x")

    def node(u: acb) -> tuple[acb, acb]:  # h phi dx/du dP/dN(0, 1) e^{cL}, and iL; of "add" the conjugates
        x, slope = (origin + k * u.exp().log1p(), k / (1 + (-u).exp())) if half else (u, acb(1))
        log = (1 - p + p * (mu * x - mu**2 / 2).exp()).log()
        v = {"replace": -mu, "zeroed": mu / 2, "zeroed back": mu / 2}.get(side, ZERO)
        loss = log - (other := (1 - p + p * (v * x - v**2 / 2).exp()).log())
        mass = ((other - c * loss if back else log + c * loss) - x**2 / 2).exp() * slope * h / (2 * arb.pi()).sqrt()
        return (mass.conjugate(), acb(0, -1) * loss.conjugate()) if back else (mass, acb(0, 1) * loss)

    nodes, cells = [node(acb(h * j, a)) for j in indices], [node(acb(h * arb(j, 0.5), a)) for j in indices]
    decay = [(w.abs_upper(), turn.real.upper().min(ZERO)) for w, turn in cells]
    ends = sum((node(acb(h * j))[0].abs_upper() for j in (indices[0], indices[-1])), ZERO)
    least = max(w.abs_upper() for w, _ in nodes) / 2**BITS
    cut = 6 * growth * (1 + 1 / k) / h * ends + least * len(nodes)
    nodes = [(w, turn) for w, turn in nodes if w.abs_upper() > least]
    radius = (alias * (sum((w for w, _ in nodes), acb(0)).abs_upper() + cut) / (1 - alias) + cut).upper()

    def at(step: arb, n: int) -> list[acb]:
        m = isqrt(n - 1) + 1  # all s = step (i + m j) at once, by a product of two matrices
        left = acb_mat(m, len(nodes), [(turn * step * i).exp() for i in range(m) for _, turn in nodes])
        right = acb_mat(len(nodes), m, [w * (turn * step * (m * j)).exp() for w, turn in nodes for j in range(m)])
        return [acb(arb(0, radius), arb(0, radius)) + entry for entry in (left * right).transpose().entries()[:n]]

    return at, lambda s: sum((w * (turn * s).exp() for w, turn in decay), cut)


def pure(odds: Any, stay: Any = ZERO, lost: Any = ZERO) -> Pair:  # e^L = odds, 1, 1/odds or infinity [2.1]
    require(lost < 1, "a mechanism with delta = 1")
    up, down = ((1 - arb(lost) - stay) / (1 + arb(odds) ** sign) for sign in (-1, 1))
    return Pair(g=arb(odds).log(), law={1: up, 0: arb(stay), -1: down}, lost=arb(lost))


def laplace(r: Case, a: arb, t: arb) -> Pair:  # moved by a, on multiples of t; in between L = 0, or +-a (worst)
    return pure(a.exp(), ZERO if r.worst else ((-t).exp() - (-a).exp()) / (1 + (-t).exp()))


def discrete_gaussian(r: Case, v: arb, d: int) -> Pair:  # masses ~ e^{-j^2/v}, or the zCDP bound if too many [2.1]
    far = int(float((128 * v).sqrt())) + 1
    if (4 * far + 2 * d) * r.rounds > 40000 or (r.coin and r.worst):
        return Pair(d / (v / 2).sqrt(), order="zcdp")
    law, beyond = {d + 2 * j: (-(j**2) / v).exp() for j in range(-far, far + 1)}, v / far * (-(far**2) / v).exp()
    total = sum(law.values(), beyond * arb(0.5, 0.5))
    return Pair(g=d / v, law={k: weight / total for k, weight in law.items()}, lost=beyond / total)


NOISE: dict[str, tuple[str, Callable[..., Pair]]] = {  # fields; the pair of one round [2.1]
    "gaussian": ("noise_multiplier", lambda r, z: Pair(arb(r.d / z))),
    "gaussian-mean": ("noise_std clip_norm max_weight min_weight", lambda r, s, c, w: Pair(arb(r.d * w * c / s))),
    "per-client-gaussian": ("noise_std clip_norm", lambda r, s, c: Pair(r.d * arb(c / s) / arb(r.size).sqrt())),
    "laplace": ("noise_multiplier", lambda r, z: laplace(r, arb(r.d / z), ZERO)),
    "discrete-laplace": ("scale clip", lambda r, b, clip: laplace(r, arb(r.d * clip / b), arb(1 / b))),
    "discrete-gaussian": ("sigma clip", lambda r, s, clip: discrete_gaussian(r, arb(2 * s**2), int(r.d * clip))),
    "zcdp": ("rho", lambda r, rho: Pair(arb(2 * rho).sqrt(), order="zcdp")),
    "pure-dp": ("epsilon", lambda r, epsilon: pure(arb(epsilon).exp())),
    "approximate-dp": ("epsilon delta", lambda r, epsilon, delta: pure(arb(epsilon).exp(), lost=delta)),
    "randomized-response": ("flip_probability categories", lambda r, f, k: pure((k - 1) / f + 1 - k, f - f / (k - 1))),
}


def steps(phase: Any, relation: str, seen: str, worst: bool) -> tuple[dict[str, Pair], int]:  # by direction [2.2]
    m, sampling, rounds = take(phase, "mechanism sampling rounds")
    scheme, population, cohort, rate = take(sampling, "scheme population cohort sampling_rate")
    kind, poisson, d = m["kind"], scheme == "poisson", {"add-remove": 1, "zero-out": 1, "replace-one": 2}[relation]
    gaussian = kind in ("gaussian", "gaussian-mean", "per-client-gaussian")
    values = [number(value) for value in take(m, "kind " + NOISE[kind][0])[1:]]
    q = fmpq(1) if scheme == "none" else number(cohort) / number(population) if rate is None else number(rate)
    size: Any = number(cohort) if cohort else q * number(population) if population else None
    given = poisson and None in (population, cohort) if rate is not None else cohort is None or scheme != "none"
    batches = {"none": 1, "poisson": 1, "fixed-size": 1, "shuffle": int(q.q)}[scheme]
    require(given and 0 < q <= 1 and (batches == 1 or (q.p == 1 and rounds % batches == 0)), "contradictory sampling")
    require(q == 1 or "gaussian" in kind or "laplace" in kind, f"no bound for sampling under {kind}")
    require((kind != "randomized-response" or d == 2) and (kind != "per-client-gaussian" or not poisson), kind)
    even, known = kind != "gaussian-mean" or values[2] == values[3], batches > 1 and (worst or seen != "hidden")
    if kind == "gaussian-mean":
        require(values[2] >= values[3] and (relation != "add-remove" or poisson or values[2] * size == 1), "weights")
        values.pop(3 if worst else 2)
    require(kind != "per-client-gaussian" or relation != "add-remove", "an absent client's noise is absent too")
    if q == 1 or known or seen == "visible" or (seen == "pooled" and not poisson):
        require((q == 1 and seen != "visible") or relation != "add-remove", "presence cannot hide where it is seen")
        moves = [("both" if q == 1 or known else "visible", d)]
    elif relation == "add-remove" or (relation == "zero-out" and poisson):
        moves = [("remove", 1 if poisson else 2), ("add", 1 if poisson else 2)]
    else:
        far, third = 1 if poisson else d, "replace" if d == 2 else "opposed"
        moves = [("remove", far), ("add", far), (third, 1)][: 2 + (gaussian and (d == 2 or (even and batches == 1)))]
        hard = [("replace", 1)] if poisson and (gaussian or "laplace" in kind) else [("hybrid", 2)]
        hard = [("zeroed remove", 1), ("zeroed add", 1)] if gaussian and even and d == 1 else hard
        moves = hard if worst or (gaussian and poisson) else moves
    pairs = {}
    for order, move in moves:
        coin = order not in ("both", "visible")
        pair = NOISE[kind][1](Case(move, size, worst, coin, rounds // batches), *values)
        if coin and pair.law and worst:
            pair = pure((1 + q * ((e := pair.g.exp()) - 1)) / (1 + q * (1 / e - 1) if order == "replace" else 1))
        elif coin and batches > 1:
            pair = pair._replace(order="epoch" if gaussian else "zcdp", batches=batches, g=pair.mu * (2 - move) / move)
        elif pair.order != "zcdp" and order != "both":
            pair = pair._replace(order=order, p=arb(q))
        pairs[name if (name := order.split()[-1]) in ("remove", "add", "opposed") else "both"] = pair
    return pairs if worst or (values[-1] > 0 and "dp" not in kind) else {}, rounds // batches


def products(phases: list[Any], relation: str, seen: str, worst: bool) -> dict[str, Product]:  # by direction [2.3]
    runs = [steps(phase, relation, seen, worst) for phase in phases]
    names = sorted({name for pairs, _ in runs for name in pairs}) if all(pairs for pairs, _ in runs) else []
    return {n: [(pairs.get(n) or pairs.get("both") or pairs["remove"], times) for pairs, times in runs] for n in names}


def tail(lines: list[tuple[Line, int]], start: arb) -> arb:  # >= |prod M^n - prod (M - part)^n|, s >= start [4.3]
    real = [(m.real, (m - matter).abs_upper(), line.beyond, n) for line, n in lines for m, matter in line.at(ZERO, 1)]
    parts = prod((part**n for _, part, _, n in real), start=ONE)
    bounds = [prod(((part + beyond(start)) ** n for _, part, beyond, n in real), start=ONE) - parts]
    for k in (4**j for j in range(12)):
        shrunk = ((m**2 - (m**2 - (x + b(start * k)).min(m) ** 2) / (1 + k) ** 2).sqrt() ** n for m, x, b, n in real)
        bounds.append(prod(shrunk, start=ONE) + parts)
    return min(bound.upper() for bound in bounds)


def chernoff(product: Product, epsilon: arb, c: arb) -> arb:  # at least delta(epsilon) - P[L = infinity] [4.1]
    log = sum((n * pair.line(c).at(ZERO, 1)[0][0].real.log() for pair, n in product), -c * epsilon)
    return (log + c * c.log() - (c + 1) * (c + 1).log()).exp()


def inversion(product: Product, epsilon: arb, end: dict[str, Any], upper: bool) -> arb:  # without L = infinity [4.2]
    c, h, b = (arb(number(end[key])) for key in ("c", "h", "beyond"))
    terms, split = int(end["terms"]), end["split"] and arb(number(end["split"]))
    require(split is None or split * sum(n for _, n in product) <= epsilon, "split: it may matter")
    require(2 <= terms <= 150000 and (upper or b > c), "expected 2 to 150000 terms, and beyond > c")
    lines = [(pair.line(c, split), n) for pair, n in product]
    total, w = ZERO, 2 * arb.pi() / h
    for j, values in enumerate(zip(*(line.at(h, terms) for line, _ in lines), strict=True)):
        powers = [(m**n, (m - matter) ** n) for (m, matter), (_, n) in zip(values, lines, strict=True)]
        t, f = acb(c, h * j), prod((m for m, _ in powers), start=acb(1)) - prod((m for _, m in powers), start=acb(1))
        total += (f * (-epsilon * t).exp() / (t * (t + 1))).real * 2 / w / (1 if j else 2)
    rest = tail(lines, h * terms) * (-c * epsilon).exp() / (arb.pi() * h * (terms - 1))
    excess = ZERO if upper else 1 / ((w * c).exp() - 1) + chernoff(product, epsilon, b) / ((w * (b - c)).exp() - 1)
    return total + rest if upper else total - rest - excess


def delta_bound(pairs: dict[str, Product], end: Any, epsilon: arb, upper: bool) -> arb:  # delta >= or <= this [4]
    direction, method, c, *_ = take(end, "direction method c h terms beyond split")
    (pair, n), *others = product = sorted(pairs[direction], key=lambda step: step[0].order == "both")
    law, base, g, p, total, c = pair.law, ZERO, pair.g, pair.p, ZERO, number(c)
    lost = 1 - prod(((1 - pair.lost) ** n for pair, n in product), start=ONE) if upper else ZERO
    if method == "inversion" or (method == "chernoff" and upper):
        crude = method == "chernoff"
        return lost + (chernoff(product, epsilon, arb(c)) if crude else inversion(product, epsilon, end, upper))
    require(n <= 10**5 or (pair.order == "both" and method == "mixture"), "too many rounds")
    if method == "mixture":
        ok = ("both", "visible", "remove", "add", "hybrid", "zeroed remove", "zeroed add")[: 7 if upper else 3]
        require(all(q.mu > 0 and q.order in (ok if q is pair or upper else ok[:1]) for q, _ in product), "no mixture")
        v, hidden = sum((q.mu**2 * k for q, k in others), ZERO), pair.order == "remove" and not upper
        for k, weight in [(n, ONE)] if pair.order == "both" else enumerate((arb_poly([1 - p, p]) ** n).coeffs()):
            mu, level = (v + k * pair.mu**2).sqrt(), epsilon - (k * p.log() + (n - k) * (1 - p).log() if hidden else 0)
            x, y = (((level / mu + sign * mu / 2) / arb(2).sqrt()).erfc() / 2 for sign in (-1, 1))
            total += weight * (x - level.exp() * y) if mu > 0 else ZERO
        return total
    if method == "threshold" and not upper:
        none, near, high = (((arb(c) - m) / arb(2).sqrt()).erfc() / 2 for m in (ZERO, pair.g, pair.g + pair.mu))
        x, y = (1 - (1 - part) * (1 - none) ** (pair.batches - 1) for part in (near, high))
        if law:
            x, y = (sum((w for k, w in law.items() if sign * k >= c), pair.lost) for sign in (-1, 1))
        y = (1 - p) * x + p * y
        require(y > x and x > 0 and pair.order in ("both", "visible", "remove", "add", "epoch"), "no such event")
        x, y = (y, x) if direction == "add" else (x, y)
        law, base, g, p = {0: 1 - y, 1: y}, ((1 - y) / (1 - x)).log(), (y * (1 - x) / (x * (1 - y))).log(), ONE
    elif method != "lattice" or pair.order not in ("both", "visible") or len(product) > 1:
        raise ValueError(str(method))
    low, ws = min(law), arb_poly([p * law.get(k, 0) + (0 if k else 1 - p) for k in range(min(law), max(law) + 1)]) ** n
    return sum((w * (1 - (epsilon - base * n - g * (low * n + i)).exp()).max(ZERO) for i, w in enumerate(ws)), lost)


def prove(document: Any) -> str:
    form, seal, claim, phases, verdict, *rest = take(document, "format digest claim phases verdict interval evidence")
    keys = "title source unit epsilon epsilon_interval delta notion neighbouring participation"
    *_, claimed, span, target, notion, relation, seen = take(claim, keys)
    (low, high), (lower, upper) = take(rest[0], "epsilon_lower epsilon_upper"), take(rest[1], "lower upper")
    require(form == FORMAT and seal == digest(document) and seen in ADVERSARIES[notion], "format, digest or notion")
    ends = [number(claimed)] if span is None else [number(end) for end in span]
    delta, bottom, top = number(target), number(low), None if high == "inf" else number(high)
    require(0 < delta < 1 and ends[0] <= number(claimed) <= ends[-1], "delta or epsilon")
    require(top is None or bottom <= top, "interval")
    worst, attained = (products(phases, relation, seen, case) for case in (True, False))
    directions = list(worst) if top is not None else []
    require(bool(phases) and [end["direction"] for end in upper] == directions, "directions")
    require(all(delta_bound(worst, end, arb(top), True) <= arb(delta) for end in upper), "upper end")
    require(bottom == 0 if lower is None else delta_bound(attained, lower, arb(bottom), False) > arb(delta), "low end")
    due = "holds" if top is not None and top <= ends[-1] else "refuted" if bottom > ends[-1] else "undecided"
    require(verdict == due, f"the interval says {due}")
    return f"{verdict}: epsilon is in [{low}, {high}] at delta {target}"


def check(source: Any) -> CheckResult:  # re-proves a certificate, from its file or parsed; never raises
    try:
        if not isinstance(source, dict):
            with open(source, encoding="utf-8") as file:
                source = json.load(file, object_pairs_hook=lambda p: dict(p) if len(p) == len(dict(p)) else {})
        with ctx.workprec(PRECISION):
            return CheckResult(True, prove(source))
    except Exception as problem:
        return CheckResult(False, f"{type(problem).__name__}: {problem}")


if __name__ == "__main__":
    result = check(sys.argv[1])
    print("proved:" if result.ok else "rejected:", result.reason)
    sys.exit(0 if result.ok else 1)
