"""The checker's transforms for zero-out in cohorts of a fixed size, and for replaced Laplace noise, against mpmath."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest
from cases import few
from flint import arb, ctx

from dpcert.proofs_checks.certificates.checker import format
from dpcert.proofs_checks.certificates.checker.bounds import delta_bound
from dpcert.proofs_checks.certificates.checker.command import PRECISION
from dpcert.proofs_checks.certificates.checker.pairs import Pair, steps
from dpcert.proofs_checks.certificates.evidence import Search


@pytest.fixture(autouse=True)
def _precision():
    with mp.workdps(25), ctx.workprec(PRECISION):
        yield


def mixtures(s, p):
    """Others at -s, the unit at s or 0; as centre: weight."""
    return {-s: 1 - p, s: p}, {-s: 1 - p, mp.mpf(0): p}


def aligned(s, p):
    """Others at s, as the unit, or the unit at 0."""
    return {s: mp.mpf(1)}, {s: 1 - p, mp.mpf(0): p}


def density(law, x):
    return mp.fsum(weight * mp.npdf(x - centre) for centre, weight in law.items())


def profile(pair, epsilon):
    """H of two mixtures at e^epsilon, from the sign changes on a grid, refined by bisection."""
    first, second = pair
    gamma = mp.exp(epsilon)

    def gain(x):
        return density(first, x) - gamma * density(second, x)

    grid = [mp.mpf(k) / 4 for k in range(-60, 61)]
    cuts = [grid[0]]
    for a, b in itertools.pairwise(grid):
        if gain(a) * gain(b) < 0:
            cuts.append(mp.findroot(gain, (a, b), solver="illinois", tol=1e-40, maxsteps=200))
    total = mp.mpf(0)
    for a, b in zip(cuts, [*cuts[1:], grid[-1]], strict=True):
        if gain((a + b) / 2) > 0:
            for law, sign in ((first, 1), (second, -gamma)):
                total += mp.fsum(sign * w * (mp.ncdf(b - c) - mp.ncdf(a - c)) for c, w in law.items())
    return total


def back(pair):
    return pair[1], pair[0]


def tight(s, p, epsilon):
    """The larger of the two federations' profiles, the unit's data on the left."""
    return max(profile(mixtures(s, p), epsilon), profile(aligned(s, p), epsilon))


def tight_back(s, p, epsilon):
    return max(profile(back(mixtures(s, p)), epsilon), profile(back(aligned(s, p)), epsilon))


ONCE = {
    "opposed": lambda s, p, e: profile(mixtures(s, p), e),
    "zeroed remove": tight,
    "zeroed add": tight_back,
}


def bounds(order, s, p, rounds, epsilon, delta, aim):
    product = [(Pair(mu=arb(s), p=arb(p), order=order), rounds)]
    search = Search(product, delta, schedule=[(aim, 65536)])
    found = {"direction": "x", "method": "inversion", **search._inversion(epsilon, search._saddle(epsilon), 1.0)}
    ends = (delta_bound({"x": product}, format.end(found), arb(epsilon), upper) for upper in (False, True))
    return [mp.mpf(end.mid().str(30, radius=False)) for end in ends]


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.nightly)


@pytest.mark.parametrize("order", few(list(ONCE), 4))
@pytest.mark.parametrize(("s", "p", "epsilon"), [(0.5, 0.9375, 0.125), slow(1.0, 0.75, 0.25)])
def test_one_round(order, s, p, epsilon):
    truth = ONCE[order](mp.mpf(s), mp.mpf(p), mp.mpf(epsilon))
    low, high = bounds(order, s, p, 1, epsilon, float(truth), 1e-4)
    assert low - 1e-15 <= truth <= high + 1e-15
    assert high - low < 1e-2 * truth


def two_rounds(order, s, p, epsilon, points=1500):
    """delta(epsilon) of two rounds: sums over pairs of outcomes, midpoints of cells."""
    edges = np.linspace(-9 - s, 9 + s, points + 1)
    x, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    near = {c: np.exp(-0.5 * (x - c) ** 2) * width / np.sqrt(2 * np.pi) for c in (-s, 0.0, s)}
    one, two = (1 - p) * near[-s] + p * near[s], (1 - p) * near[-s] + p * near[0.0]
    if order != "opposed":
        same, other = near[s], (1 - p) * near[s] + p * near[0.0]
        above, below = one > two, same < other
        rest = 1 - one[above].sum() - same[below].sum()
        one = np.concatenate([one[above], same[below], [rest]])
        two = np.concatenate([two[above], other[below], [rest]])
    if order == "zeroed add":
        one, two = two, one
    return float(np.maximum(np.outer(one, one) - np.exp(epsilon) * np.outer(two, two), 0).sum())


@pytest.mark.parametrize("order", few(ONCE, 6))
@pytest.mark.parametrize(("s", "p", "epsilon", "aim"), [(0.75, 0.75, 0.25, 1e-4), slow(1.25, 0.25, 0.5, 1e-5)])
def test_two_rounds(order, s, p, epsilon, aim):
    truth = two_rounds(order, s, p, epsilon)
    low, high = bounds(order, s, p, 2, epsilon, truth, aim)
    assert high - low < 100 * aim * truth
    assert low == pytest.approx(truth, rel=3e-4)


@pytest.mark.parametrize("rate", ["0.1", "0.8"])
def test_a_replaced_unit_s_laplace_noise_is_bounded_by_pure_dp(rate):
    """One round, everywhere: the table's pair against the integral of the mixtures of Laplace densities."""
    phase = {
        "mechanism": {"kind": "laplace", "noise_multiplier": "0.8"},
        "sampling": {"scheme": "poisson", "population": None, "cohort": None, "sampling_rate": rate},
        "rounds": 1,
    }
    pairs = steps(format.phase(phase), "replace-one", "hidden", True)
    made, s, p = pairs["both"], mp.mpf(1) / mp.mpf("0.8"), mp.mpf(rate)
    largest = mp.mpf(made.g.mid().str(30, radius=False))
    assert largest == pytest.approx(float(mp.log((1 - p + p * mp.exp(s)) / (1 - p + p * mp.exp(-s)))), rel=1e-20)
    for k in range(1, 8):
        epsilon = largest * k / 8

        def gain(x, epsilon=epsilon):
            p_side, q_side = ((1 - p) * mp.exp(-abs(x)) / 2 + p * mp.exp(-abs(x - y)) / 2 for y in (s, -s))
            return max(p_side - mp.exp(epsilon) * q_side, mp.mpf(0))

        truth = mp.quad(gain, [-s, 0, s / 4, s / 2, s, s + 5, s + 40])
        end = {"direction": "x", "method": "lattice", "c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}
        value = delta_bound({"x": [(made, 1)]}, format.end(end), arb(float(epsilon)), True)
        assert truth <= mp.mpf(value.mid().str(30, radius=False)) + mp.mpf("1e-12")


def test_unequal_weights_are_bounded_as_if_the_unit_were_replaced():
    """docs/theory/dominating_pairs.md: zero-out's pair needs every client to weigh the same."""

    def orders(least, worst):
        mechanism = {"kind": "gaussian-mean", "noise_std": "0.5", "clip_norm": "1", "max_weight": "0.2"}
        phase = {
            "mechanism": {**mechanism, "min_weight": least},
            "sampling": {"scheme": "fixed-size", "population": 50, "cohort": 5, "sampling_rate": None},
            "rounds": 3,
        }
        pairs = steps(format.phase(phase), "zero-out", "hidden", worst)
        return {(name, pair.order) for name, pair in pairs.items()}

    coins = {("remove", "remove"), ("add", "add")}
    assert orders("0.2", True) == {("remove", "zeroed remove"), ("add", "zeroed add")}
    assert orders("0.2", False) == {*coins, ("opposed", "opposed")}
    assert orders("0.1", True) == {("both", "hybrid")}
    assert orders("0.1", False) == coins
