"""Exact privacy profiles delta(eps) = E_P[(1 - e^{eps-L})_+] in ball arithmetic, where there are formulas.

One round: with h the profile of the base pair and x = e^eps (Zhu, Dong, Wang 2022, arXiv 2106.08567, Section 5):
- "remove" and "hybrid": rate * h(log((x - 1 + rate) / rate));
- "add": (1 - x (1 - rate)) h(log(x rate / (1 - x (1 - rate)))), 0 where x (1 - rate) >= 1;
- "visible": rate * h(eps).
"Opposed" and "zeroed" pairs: docs/theory/dominating_pairs.md, "Zero-out, Gaussian noise".
Many rounds of a two-valued loss: a binomial sum. Parameters are taken as the exact doubles they are.
"""

from __future__ import annotations

import math

from flint import arb, ctx

from .pairs import (
    ApproximateDpPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    MixturePair,
    OpposedPair,
    Pair,
    RandomizedResponsePair,
    SubsampledPair,
    ZeroedPair,
)
from .rounding import PARAMETER

_BITS = 256
_MOST_ROUNDS = 20_000
_LARGEST_SIGMA = 50.0


def has_profile(pair: Pair, rounds: int) -> bool:
    """Whether `profile` knows the pair for this many rounds."""
    if isinstance(pair, MixturePair):
        return rounds == 1 and all(has_profile(part, 1) for _, part in pair.parts)
    if isinstance(pair, ApproximateDpPair) or (isinstance(pair, RandomizedResponsePair) and pair.categories == 2):
        return rounds <= _MOST_ROUNDS
    if rounds > 1:
        return False
    if isinstance(pair, SubsampledPair):
        if pair.order == "replace":
            return isinstance(pair.base, GaussianPair)
        return not isinstance(pair.base, SubsampledPair) and has_profile(pair.base, 1)
    if isinstance(pair, DiscreteGaussianPair):
        return pair.sigma <= _LARGEST_SIGMA
    known = GaussianPair | LaplacePair | RandomizedResponsePair | DiscreteLaplacePair | OpposedPair | ZeroedPair
    return isinstance(pair, known)


def infinite_mass(pair: Pair, rounds: int) -> arb:
    """A ball that holds P(L = inf) over all rounds of an unsampled pair."""
    with ctx.workprec(_BITS):
        return 1 - (1 - arb(pair.delta)) ** rounds if isinstance(pair, ApproximateDpPair) else arb(0)


def profile(pair: Pair, rounds: int, epsilon: float) -> arb:
    """A ball that holds delta(epsilon), epsilon >= 0, of a pair that has_profile."""
    with ctx.workprec(_BITS):
        if rounds > 1:
            return _binomial(pair, rounds, arb(epsilon))
        if isinstance(pair, MixturePair):
            parts = (arb(weight, weight * 2.0**-40) * profile(part, 1, epsilon) for weight, part in pair.parts)
            return sum(parts, arb(0))
        if isinstance(pair, ZeroedPair):
            return _zeroed(pair, arb(epsilon))
        if isinstance(pair, OpposedPair):
            return _opposed(arb(pair.shift), arb(pair.rate), arb(epsilon).exp(), pair.order)
        return _subsampled(pair, arb(epsilon)) if isinstance(pair, SubsampledPair) else _single(pair, arb(epsilon))


def _subsampled(pair: SubsampledPair, epsilon: arb) -> arb:
    rate, odds = arb(pair.rate), epsilon.exp()
    if pair.order == "visible":
        return rate * _single(pair.base, epsilon)
    if pair.order == "replace":
        if not isinstance(pair.base, GaussianPair):
            raise TypeError(f"no formula for {pair}")
        return _gaussian_replace(arb(pair.base.shift), rate, odds)
    if pair.order == "add":
        rest = 1 - odds * (1 - rate)
        if rest <= 0:
            return arb(0)
        if not rest > 0:
            return arb(0).union(rest.abs_upper())
        return rest * _single(pair.base, (odds * rate / rest).log())
    return rate * _single(pair.base, ((odds - 1 + rate) / rate).log())


def _gaussian_replace(s: arb, rate: arb, odds: arb) -> arb:
    """(1-rate) N(0) + rate N(s) against (1-rate) N(0) + rate N(-s): the likelihood ratio is odds at one point y.

    With k = rate e^{-s^2/2} and u = e^{s y}: k u^2 + (1 - rate)(1 - odds) u - odds k = 0.
    """
    k = rate * (-s * s / 2).exp()
    half = (1 - rate) * (odds - 1) / 2
    y = ((half + (half * half + k * k * odds).sqrt()) / k).log() / s
    return (1 - rate) * (1 - odds) * _normal_tail(y) + rate * (_normal_tail(y - s) - odds * _normal_tail(y + s))


def _zeroed(pair: ZeroedPair, epsilon: arb) -> arb:
    if pair.order == "remove":
        return _opposed(arb(pair.shift), arb(pair.rate), epsilon.exp(), "remove")
    return _subsampled(SubsampledPair(GaussianPair(pair.shift), pair.rate, "remove"), epsilon)


def _opposed(s: arb, rate: arb, odds: arb, order: str) -> arb:
    """Moved so that the substitute is at -3s/2, the unit at s/2, the zero at -s/2; w = e^{sx}, E = e^{s^2}.

    P > odds Q where w^2 - odds w > c = (1 - rate)(odds - 1) / (rate E): above the larger root, as c >= 0.
    Q > odds P where odds w^2 - w + c < 0: between its two roots, if any.
    """
    c = (1 - rate) * (odds - 1) / (rate * (s * s).exp())
    if order == "remove":
        x = (odds / 2 + (odds * odds / 4 + c).sqrt()).log() / s
        unit, zero, rest = _normal_tail(x - s / 2), _normal_tail(x + s / 2), _normal_tail(x + 3 * s / 2)
        return rate * (unit - odds * zero) - (1 - rate) * (odds - 1) * rest
    square = 1 - 4 * odds * c
    if square <= 0:
        return arb(0)
    root = square.max(arb(0)).sqrt()
    right = ((1 + root) / (2 * odds)).log() / s
    left = 2 * c / (1 + root)  # w at the smaller root, 0 at odds = 1

    def between(centre: arb) -> arb:
        below = _normal_tail(centre - left.log() / s) if left > 0 else arb(0).union(_normal_tail(centre - right))
        return _normal_tail(centre - right) - (arb(0) if odds == 1 else below)

    unit, zero, rest = between(s / 2), between(-s / 2), between(-3 * s / 2)
    value = _positive(rate * (zero - odds * unit) - (1 - rate) * (odds - 1) * rest)
    return value if square > 0 else value.union(arb(0))


def _normal_tail(x: arb) -> arb:
    """P(N(0,1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def _single(pair: Pair, epsilon: arb) -> arb:
    """The profile of one unsampled round at any real epsilon."""
    odds = epsilon.exp()
    if isinstance(pair, GaussianPair):
        s = arb(pair.shift)
        return _normal_tail(epsilon / s - s / 2) - odds * _normal_tail(epsilon / s + s / 2)
    if isinstance(pair, LaplacePair):
        return _laplace(arb(pair.shift), epsilon)
    if isinstance(pair, DiscreteLaplacePair):
        return _discrete_laplace(pair, epsilon)
    if isinstance(pair, DiscreteGaussianPair):
        return _discrete_gaussian(pair, epsilon)
    if isinstance(pair, RandomizedResponsePair):
        other = arb(pair.flip) / (pair.categories - 1)
        truth = 1 - arb(pair.flip)
        rest = (pair.categories - 2) * other * _positive(1 - odds)
        return _positive(truth - odds * other) + _positive(other - odds * truth) + rest
    if isinstance(pair, ApproximateDpPair):
        claimed = arb(pair.epsilon).exp()
        finite = (_positive(claimed - odds) + _positive(1 - odds * claimed)) / (1 + claimed)
        return arb(pair.delta) + (1 - arb(pair.delta)) * finite
    raise TypeError(f"no formula for {pair}")


def _positive(x: arb) -> arb:
    return x.max(arb(0))


def _laplace(s: arb, epsilon: arb) -> arb:
    """1 - e^{(eps - s)/2} for |eps| <= s; 0 above; 1 - e^eps below."""
    middle = 1 - ((epsilon.max(-s) - s) / 2).exp()
    return _positive(middle).max(1 - epsilon.exp())


def _discrete_laplace(pair: DiscreteLaplacePair, epsilon: arb) -> arb:
    """P(X >= m) - odds Q(X >= m), largest at the first m with loss (2m - s)/scale above epsilon."""
    scale, s = arb(pair.scale), pair.shift
    a = (-1 / scale).exp()
    odds = epsilon.exp()
    middle = (float(epsilon.mid()) * pair.scale + s) / 2
    if not math.isfinite(middle):
        middle = math.copysign(2 * s, middle)
    first = math.floor(min(max(middle, -2), s + 2))
    best = _positive(1 - odds)
    for m in range(max(1, first - 1), min(s, first + 2) + 1):
        best = best.max(1 - a ** (s - m + 1) / (1 + a) - odds * a**m / (1 + a))
    return best


def _discrete_gaussian(pair: DiscreteGaussianPair, epsilon: arb) -> arb:
    """P(X >= m) - odds Q(X >= m), largest at the first m with loss s (2m - s) / (2 sigma^2) above epsilon."""
    sigma, s = arb(pair.sigma, pair.sigma * PARAMETER), pair.shift
    middle = float(epsilon.mid()) * pair.sigma**2 / s + s / 2
    total = 2 * _theta_tail(sigma, 0) - 1
    odds = epsilon.exp()
    best = arb(0)
    for m in range(math.floor(middle), math.floor(middle) + 2):
        best = best.max((_theta_tail(sigma, m - s) - odds * _theta_tail(sigma, m)) / total)
    return best


def _theta_tail(sigma: arb, m: int) -> arb:
    """sum over x >= m of exp(-x^2 / (2 sigma^2))."""
    if m < 0:
        return 2 * _theta_tail(sigma, 0) - 1 - _theta_tail(sigma, 1 - m)
    rate = -1 / (2 * sigma * sigma)
    term, ratio, shrink = (rate * m * m).exp(), (rate * (2 * m + 1)).exp(), (2 * rate).exp()
    total = arb(0)
    first = term
    while not (ratio < 0.99 and term < first * arb(2) ** -100):
        total += term
        term *= ratio
        ratio *= shrink
    return total + arb(0).union(term / (1 - ratio))


def _binomial(pair: Pair, rounds: int, epsilon: arb) -> arb:
    """Losses +-c with odds e^c: sum over j of C(T, j) (p^j r^(T-j) - e^eps r^j p^(T-j))_+ with p + r = 1.

    j counts the rounds with loss c, and terms are positive where (2j - T) c > eps.
    """
    if isinstance(pair, ApproximateDpPair):
        ratio, finite = (-arb(pair.epsilon)).exp(), (1 - arb(pair.delta)) ** rounds
    elif isinstance(pair, RandomizedResponsePair):
        ratio, finite = arb(pair.flip) / (1 - arb(pair.flip)), arb(1)
    else:
        raise TypeError(f"no formula for {pair}")
    if not ratio < 1:
        return 1 - finite
    p, odds = 1 / (1 + ratio), epsilon.exp()
    r = ratio * p
    first = max(0, math.floor(float((epsilon / -ratio.log() + rounds).mid()) / 2) - 1)
    if first > rounds:
        return 1 - finite
    count = arb(math.comb(rounds, first)) if rounds < 64 else arb.bin_uiui(rounds, first)
    likely, unlikely = count * p**first * r ** (rounds - first), count * r**first * p ** (rounds - first)
    total, largest = arb(0), arb(0)
    for j in range(first, rounds + 1):
        total += _positive(likely - odds * unlikely)
        largest = largest.max(likely)
        step = arb(rounds - j) / (j + 1)
        up_ratio = step / ratio
        likely, unlikely = likely * up_ratio, unlikely * step * ratio
        if up_ratio < 0.9 and likely < largest * arb(2) ** -100:
            total += arb(0).union(likely / (1 - up_ratio))
            break
    return 1 - finite + finite * total
