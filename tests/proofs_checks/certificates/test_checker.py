"""The checker's bounds on delta(epsilon) against oracles that share nothing with it: 30-digit quadrature, enumeration.

Every bound is a proof, so the oracle's value must lie between the lower and the upper one, without any tolerance
but the oracle's own rounding; and the two must be close, or they would prove nothing.
"""

from __future__ import annotations

import ast
import itertools
import sys
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import pytest
from cases import few
from flint import arb, ctx

from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.certificates.checker import bounds as of_delta
from dpcert.proofs_checks.certificates.checker import format, pairs
from dpcert.proofs_checks.certificates.checker.command import PRECISION
from dpcert.proofs_checks.certificates.evidence import Search

FOLDER = Path(checker.__file__).parent


@pytest.fixture(autouse=True)
def _precision():
    with ctx.workprec(PRECISION), mp.workdps(30):
        yield


# ------------------------------------------------------------------------------------------- oracles


def gauss(mu, gamma):
    """H_gamma(N(mu, 1) || N(0, 1)) for any gamma > 0."""
    if gamma <= 0:
        return 1 - gamma
    a = mp.log(gamma) / mu
    return mp.ncdf(mu / 2 - a) - gamma * mp.ncdf(-mu / 2 - a)


def remove(mu, p, epsilon):
    """The single-round "remove" profile at any real epsilon."""
    gamma = mp.exp(epsilon)
    return 1 - gamma if gamma <= 1 - p else p * gauss(mu, 1 + (gamma - 1) / p)


def add(mu, p, epsilon):
    return 1 - mp.exp(epsilon) + mp.exp(epsilon) * remove(mu, p, -epsilon)


def hybrid(mu, p, epsilon):
    return remove(mu, p, epsilon) if epsilon >= 0 else add(mu, p, epsilon)


def loss(mu, p, x):
    return mp.log(1 - p + p * mp.exp(mu * x - mu**2 / 2))


def place(mu, p, level):
    """Where the loss is `level`; the profile has a kink where it reaches log(1 - p)."""
    return mu / 2 + mp.log((mp.exp(level) - 1 + p) / p) / mu


def two_rounds(order, mu, p, epsilon):
    """E over the first round's loss of the second round's profile, with a break at every kink."""
    start, bottom = mu / 2, mp.log(1 - p)
    if order == "remove":
        ends = [-12, start, place(mu, p, epsilon - bottom), mu + 12]
        return mp.quad(lambda x: mp.npdf(x) * mp.exp(loss(mu, p, x)) * remove(mu, p, epsilon - loss(mu, p, x)), ends)
    if order == "add":
        last = place(mu, p, -bottom - epsilon)  # beyond it the other round cannot make up for this one
        return mp.quad(lambda x: mp.npdf(x) * add(mu, p, epsilon + loss(mu, p, x)), [-12, 0, last, mu + 12])

    def mirrored(x):
        level = loss(mu, p, x)
        return mp.npdf(x) * (mp.exp(level) * hybrid(mu, p, epsilon - level) + hybrid(mu, p, epsilon + level))

    atom = (1 - p) * (mp.ncdf(start) - mp.ncdf(-start))
    ends = [start, place(mu, p, epsilon), place(mu, p, epsilon) + 2, mu + 12]
    return mp.quad(mirrored, ends) + atom * hybrid(mu, p, epsilon)


def replace_once(mu, p, epsilon):
    def sides(x):
        return ((1 - p) * mp.npdf(x) + p * mp.npdf(x - sign * mu) for sign in (1, -1))

    def gain(x):
        p_side, q_side = sides(x)
        return p_side - mp.exp(epsilon) * q_side

    low, high = mp.mpf(0), mu + 10
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (low, middle) if gain(middle) > 0 else (middle, high)
    return mp.quad(gain, [high, high + 2, high + 6, high + 16])


def bounds(product, epsilon, delta, aim=1e-16):
    """The checker's lower and upper bound with evidence that leaves `aim` open, relative to delta."""
    search = Search(product, delta, schedule=[(aim, 65536)])
    found = {"direction": "x", "method": "inversion", **search._inversion(epsilon, search._saddle(epsilon), 1.0)}
    upper = delta_bound({"x": product}, found, arb(epsilon), True)
    lower = delta_bound({"x": product}, found, arb(epsilon), False)
    return mp.mpf(lower.lower().str(30, radius=False)), mp.mpf(upper.upper().str(30, radius=False))


def delta_bound(products, end, epsilon, upper):
    return of_delta.delta_bound(products, format.end(end), epsilon, upper)


def pair(order, mu, p=1.0):
    return pairs.Pair(mu=arb(mu), p=arb(p), order=order)


# ------------------------------------------------------------------------------------------- Gaussian noise


SLACK = mp.mpf("1e-18")
"""What the quadrature behind an oracle may be off by."""


@pytest.mark.parametrize(
    ("order", "mu", "p", "epsilon", "aim"),
    few(
        [
            ("remove", 0.5, 0.5, 0.25, 1e-13),
            ("remove", 1.0, 0.25, 0.5, 1e-10),
            ("add", 0.5, 0.5, 0.25, 1e-13),
            ("add", 1.0, 0.25, 0.25, 1e-10),
            ("hybrid", 0.5, 0.9375, 0.25, 1e-5),
            ("hybrid", 1.0, 0.75, 0.5, 1e-4),
        ],
        8,
    ),
)
def test_two_sampled_rounds(order, mu, p, epsilon, aim):
    truth = two_rounds(order, mp.mpf(mu), mp.mpf(p), mp.mpf(epsilon))
    low, high = bounds([(pair(order, mu, p), 2)], epsilon, float(truth), aim)
    assert low - SLACK <= truth <= high + SLACK
    assert high - low < 10 * aim * truth


@pytest.mark.parametrize(("mu", "p", "epsilon"), [(1.0, 0.5, 0.5), (0.5, 0.25, 0.1)])
def test_one_replaced_round(mu, p, epsilon):
    truth = replace_once(mp.mpf(mu), mp.mpf(p), mp.mpf(epsilon))
    low, high = bounds([(pair("replace", mu, p), 1)], epsilon, float(truth), 1e-10)
    assert low - SLACK <= truth <= high + SLACK
    assert high - low < 1e-9 * truth


@pytest.mark.parametrize(("mu", "p", "rounds", "epsilon"), [(1.0, 0.5, 10, 3.0), (0.25, 0.125, 200, 1.0)])
def test_visible_participation_is_a_binomial_mixture(mu, p, rounds, epsilon):
    p_exact = mp.mpf(p)
    truth = mp.fsum(
        mp.binomial(rounds, k) * p_exact**k * (1 - p_exact) ** (rounds - k) * gauss(mu * mp.sqrt(k), mp.exp(epsilon))
        for k in range(1, rounds + 1)
    )
    low, high = bounds([(pair("visible", mu, p), rounds)], epsilon, float(truth))
    assert low <= truth <= high
    assert high - low < 1e-10 * truth


@pytest.mark.parametrize(("mu", "rounds", "epsilon"), [(1.0, 10, 17.8565868301), (0.125, 1000, 20.0), (4.0, 1, 30.0)])
def test_plain_gaussian_formula_and_inversion_agree(mu, rounds, epsilon):
    product = [(pair("both", mu), rounds)]
    truth = gauss(mp.mpf(mu) * mp.sqrt(rounds), mp.exp(mp.mpf(epsilon)))
    search = Search(product, float(truth))
    end = {"direction": "x", "method": "inversion", **search._inversion(epsilon, search._saddle(epsilon), 1.0)}
    exact = delta_bound({"x": product}, {**end, "method": "mixture"}, arb(epsilon), True)
    assert abs(mp.mpf(exact.mid().str(30, radius=False)) - truth) < 1e-24 * truth
    assert delta_bound({"x": product}, end, arb(epsilon), True) >= exact
    assert delta_bound({"x": product}, end, arb(epsilon), False) <= exact


@pytest.mark.parametrize(
    ("noise_multiplier", "rate", "rounds", "delta", "epsilon"),
    few(
        [
            # Ball-arithmetic values of an independent implementation, to the digits shown there.
            (1, 0.01, 10**4, 1e-5, 6.18771239),
            (4, 0.5, 1000, 1e-6, 26.38919707),
            (0.8, 0.001, 10**5, 1e-10, 4.06916731),
            (100, 0.5, 10**6, 1e-10, 43.66413955),
            (1, 0.01, 10**4, 1e-15, 11.75997850),
            (0.5, 0.01, 10**5, 1e-5, 221.90742735),
        ],
        8,
    ),
)
def test_known_true_epsilons_are_bracketed(noise_multiplier, rate, rounds, delta, epsilon):
    p, mu = arb(format.number(repr(rate))), 1 / arb(format.number(repr(noise_multiplier)))
    product = [(pairs.Pair(mu=mu, p=p, order="remove"), rounds)]
    digit = 1e-8
    assert Search(product, delta).evidence("x", repr(epsilon + digit), upper=True) is not None
    assert Search(product, delta).evidence("x", repr(epsilon - digit), upper=False) is not None
    for wrong, upper in ((epsilon - digit, True), (epsilon + digit, False)):
        assert Search(product, delta).evidence("x", repr(wrong), upper=upper) is None


@pytest.mark.nightly
def test_splitting_losses_off_proves_the_same_value():
    """Few rounds of rare participation: without it the transform hardly decays."""
    product, epsilon = [(pair("remove", 3.0, 0.0078125), 5)], 2.0
    blank = {"direction": "x", "method": "inversion", "c": "0.6", "h": "0.1", "terms": 1000, "beyond": "1.2"}
    ends = [{**blank, "split": split} for split in (None, "0", "0.2", "0.3999")]
    low, high = ([delta_bound({"x": product}, end, arb(epsilon), upper) for end in ends] for upper in (False, True))
    assert all(one < other for one in low for other in high)
    assert high[3] - low[3] < 0.1 * (high[0] - low[0]), "it is there to leave less out"
    with pytest.raises(ValueError, match="split"):  # five rounds of 0.4001 do reach epsilon = 2
        delta_bound({"x": product}, {**ends[0], "split": "0.4001"}, arb(epsilon), True)


def test_threshold_is_a_lower_bound():
    mu, p, rounds, epsilon = 3.0, 0.25, 3, 2.0
    product = [(pair("remove", mu, p), rounds)]
    _, high = bounds(product, epsilon, 1e-1, 1e-3)
    for threshold in ("1.0", "2.0", "3.5"):
        end = {
            "direction": "x",
            "method": "threshold",
            "c": threshold,
            "h": "0",
            "terms": 0,
            "beyond": "0",
            "split": None,
        }
        value = delta_bound({"x": product}, end, arb(epsilon), False)
        x, y = mp.ncdf(-mp.mpf(threshold)), mp.ncdf(mu - mp.mpf(threshold))
        y = (1 - mp.mpf(p)) * x + mp.mpf(p) * y
        terms = [
            mp.binomial(rounds, k) * (y**k * (1 - y) ** (rounds - k) - mp.exp(epsilon) * x**k * (1 - x) ** (rounds - k))
            for k in range(rounds + 1)
        ]
        truth = mp.fsum(max(term, 0) for term in terms)
        assert abs(mp.mpf(value.mid().str(30, radius=False)) - truth) < 1e-24
        assert truth <= high


# ------------------------------------------------------------------------------------------- discrete losses


def brute_force(p_law, q_law, rounds, epsilon):
    """H_{e^epsilon} of product laws, by enumeration of all outcomes."""
    total = mp.mpf(0)
    for outcome in itertools.product(range(len(p_law)), repeat=rounds):
        p_mass, q_mass = (mp.fprod(law[i] for i in outcome) for law in (p_law, q_law))
        total += max(p_mass - mp.exp(epsilon) * q_mass, 0)
    return total


def lattice(pair_, rounds, epsilon, upper=True):
    end = {"direction": "x", "method": "lattice", "c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}
    value = delta_bound({"x": [(pair_, rounds)]}, end, arb(epsilon), upper)
    return mp.mpf(value.mid().str(30, radius=False))


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_randomized_response_is_exact(categories):
    flip = Fraction(1, 4)
    made = noise("randomized-response", 2, 4, True, "0.25", categories)
    others = mp.mpf(1) / 4 / (categories - 1)
    p_law = [mp.mpf(1) - mp.mpf(flip.numerator) / flip.denominator, *[others] * (categories - 1)]
    q_law = [p_law[1], p_law[0], *p_law[2:]]
    truth = brute_force(p_law, q_law, 4, mp.mpf("0.75"))
    assert abs(lattice(made, 4, 0.75) - truth) < 1e-25


def noise(kind, d, rounds, worst, *values, coin=False):
    named = dict(zip(format.FIELDS[kind].split(), map(format.number, values), strict=True))
    phase = format.Phase(kind, named, "none", format.number(1), None, 1, rounds, None)
    return pairs.NOISE[kind](pairs.Round(phase, d, worst, coin))


def integer_noise(weight, move, reach):
    """The laws of noise on the integers, moved by `move` and not, cut off at `reach`."""
    spots = range(-reach, reach + move + 1)
    total = mp.fsum(weight(j) for j in range(-reach - 50, reach + 51))
    return [weight(j - move) / total for j in spots], [weight(j) / total for j in spots]


@pytest.mark.parametrize(
    ("kind", "values", "move", "weight", "reach"),
    few(
        [
            ("discrete-laplace", ("1.5", 1), 1, lambda j: mp.exp(-abs(j) / mp.mpf("1.5")), 120),
            ("discrete-laplace", ("0.75", 3), 3, lambda j: mp.exp(-abs(j) / mp.mpf("0.75")), 80),
            ("discrete-gaussian", ("1.5", 1), 1, lambda j: mp.exp(-(mp.mpf(j) ** 2) / mp.mpf("4.5")), 30),
            ("discrete-gaussian", ("2", 2), 2, lambda j: mp.exp(-(mp.mpf(j) ** 2) / 8), 40),
        ],
        4,
    ),
)
def test_discrete_noise_lies_between_its_ends(kind, values, move, weight, reach):
    truth = brute_force(*integer_noise(weight, move, reach), 2, mp.mpf("0.75"))
    low, high = (lattice(noise(kind, 1, 2, worst, *values), 2, 0.75, upper=worst) for worst in (False, True))
    assert low - mp.mpf("1e-25") <= truth <= high + mp.mpf("1e-25")
    assert high - low < mp.mpf("1e-25")


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_laplace_noise_lies_between_its_ends(scale):
    """Two rounds by quadrature: E_P over the first round's loss of the second round's profile."""
    a, epsilon = 1 / mp.mpf(scale), mp.mpf("0.2") / mp.mpf(scale)

    def once(level):
        if level >= a:
            return mp.mpf(0)
        if level <= -a:
            return 1 - mp.exp(level)
        return 1 - mp.exp((level - a) / 2)

    inner = mp.quad(lambda x: mp.exp(x - a) / 2 * once(epsilon - (2 * x - a)), [0, epsilon / 2, a])
    truth = once(epsilon - a) / 2 + mp.exp(-a) / 2 * once(epsilon + a) + inner
    z = repr(scale)
    low, high = (lattice(noise("laplace", 1, 2, worst, z), 2, float(epsilon), upper=worst) for worst in (False, True))
    assert low <= truth <= high
    assert high - low < 1e-3 * truth


@pytest.mark.parametrize(("order", "mu", "p", "epsilon"), [("remove", 6.0, 0.125, 9.0), ("hybrid", 6.0, 0.125, 9.0)])
def test_counting_the_coins_bounds_hidden_sampling(order, mu, p, epsilon):
    """Seeing the coins reveals more; and they give away no more than the lower end grants."""
    end = {"direction": "x", "method": "mixture", "c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}
    product = {"x": [(pair(order, mu, p), 2)]}
    truth = two_rounds(order, mp.mpf(mu), mp.mpf(p), mp.mpf(epsilon))
    high = mp.mpf(delta_bound(product, end, arb(epsilon), True).lower().str(30, radius=False))
    assert truth < high < 1.5 * truth
    if order == "remove":
        low = mp.mpf(delta_bound(product, end, arb(epsilon), False).upper().str(30, radius=False))
        assert 0.5 * truth < low < truth
    else:
        with pytest.raises(ValueError, match="mixture"):
            delta_bound(product, end, arb(epsilon), False)


def test_visible_coins_are_counted_exactly():
    end = {"direction": "x", "method": "mixture", "c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}
    mu, p, rounds, epsilon = mp.mpf(1), mp.mpf("0.25"), 40, mp.mpf(3)
    truth = mp.fsum(
        mp.binomial(rounds, k) * p**k * (1 - p) ** (rounds - k) * gauss(mu * mp.sqrt(k), mp.exp(epsilon))
        for k in range(1, rounds + 1)
    )
    product = {"x": [(pair("visible", 1.0, 0.25), rounds)]}
    for upper in (False, True):
        value = delta_bound(product, end, arb(3), upper)
        assert abs(mp.mpf(value.mid().str(30, radius=False)) - truth) < 1e-25 * truth


@pytest.mark.parametrize(("direction", "relation"), [("remove", 1), ("add", 1), ("remove", 2)])
def test_a_shuffled_epoch_reveals_what_its_largest_batch_does(direction, relation):
    """MoG(2) against MoG(2 - move), by the event that some of the batches exceeds c; two epochs by enumeration."""
    z, batches, c, epsilon = mp.mpf("0.5"), 5, mp.mpf("1.5"), mp.mpf("1.5")

    def exceeds(at):
        return 1 - mp.ncdf((c - at) / z) * mp.ncdf(c / z) ** (batches - 1)

    y, x = exceeds(2), exceeds(2 - relation)
    if direction == "add":
        x, y = y, x
    truth = brute_force([y, 1 - y], [x, 1 - x], 2, epsilon)
    mu = arb(relation) / arb("0.5")
    epoch = pairs.Pair(mu=mu, g=mu * (2 - relation) / relation, order="epoch", batches=batches)
    end = {"direction": direction, "method": "threshold", "c": "3", "h": "0", "terms": 0, "beyond": "0", "split": None}
    value = delta_bound({direction: [(epoch, 2)]}, end, arb(1.5), False)
    assert truth > 0
    assert abs(mp.mpf(value.mid().str(30, radius=False)) - truth) < 1e-25
    for method in ("chernoff", "inversion", "mixture", "lattice"):
        with pytest.raises((ValueError, ArithmeticError)):
            delta_bound(
                {direction: [(epoch, 2)]},
                end | {"method": method, "h": "1", "terms": 9, "beyond": "9"},
                arb(1.5),
                False,
            )


def test_unequal_weights_leave_the_other_batches_at_rest():
    """The others' data moves the sums as the unit's own only where all weigh the same."""

    def epoch(least):
        numbers = {"noise_std": "1", "clip_norm": "1", "max_weight": "0.5", "min_weight": least}
        phase = {
            "mechanism": {"kind": "gaussian-mean", **numbers},
            "sampling": {"scheme": "shuffle", "population": 6, "cohort": 2, "sampling_rate": None},
            "rounds": 3,
        }
        return pairs.steps(format.phase(phase), "zero-out", "hidden", False)["remove"]

    assert epoch("0.5").g > 0
    assert epoch("0.4").g == 0


def test_what_lies_beyond_a_lattice_counts_for_no_event():
    """16 sigma: e^-128 of mass is left out, and a lower end may not be made of it."""
    made = noise("discrete-gaussian", 1, 1, False, "1.5", 1)
    at_rest, moved = of_delta._event(made, arb(max(made.law)))
    assert moved < made.law[max(made.law)] + made.lost / 2
    assert at_rest > made.lost / 2


def test_approximate_dp_composes_as_its_worst_pair():
    epsilon0, delta0 = mp.mpf("0.5"), mp.mpf("0.01")
    made = noise("approximate-dp", 1, 3, True, "0.5", "0.01")
    heads = (1 - delta0) * mp.exp(epsilon0) / (1 + mp.exp(epsilon0))
    p_law = [delta0, heads, 1 - delta0 - heads, mp.mpf(0)]
    q_law = [mp.mpf(0), p_law[2], p_law[1], delta0]
    assert abs(lattice(made, 3, 0.7) - brute_force(p_law, q_law, 3, mp.mpf(0.7))) < 1e-16


def test_zcdp_conversion_is_the_published_formula():
    """Canonne, Kamath, Steinke 2020, Proposition 12, at alpha = 1 + c."""
    rho, epsilon, alpha = mp.mpf("0.75"), mp.mpf(8), mp.mpf(5)
    product = [(noise("zcdp", 1, 3, True, "0.25"), 3)]
    end = {"direction": "x", "method": "chernoff", "c": "4", "h": "0", "terms": 0, "beyond": "0", "split": None}
    value = delta_bound({"x": product}, end, arb(8), True)
    published = mp.exp((alpha - 1) * (alpha * rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha) ** alpha
    assert abs(mp.mpf(value.mid().str(30, radius=False)) - published) < 1e-25
    with pytest.raises(ValueError, match="real axis"):
        delta_bound({"x": product}, {**end, "method": "inversion", "h": "1", "terms": 5}, arb(8), True)


def test_chernoff_bounds_every_kind_from_above():
    for made, rounds in [
        (pair("remove", 1.0, 0.25), 2),
        (pair("hybrid", 1.0, 0.25), 2),
        (noise("randomized-response", 2, 4, True, "0.25", 2), 4),
    ]:
        for c in ("0.5", "2", "8"):
            end = {"direction": "x", "method": "chernoff", "c": c, "h": "0", "terms": 0, "beyond": "0", "split": None}
            value = delta_bound({"x": [(made, rounds)]}, end, arb(0.75), True)
            if made.law:
                truth = lattice(made, rounds, 0.75)
            else:
                truth = two_rounds(made.order, mp.mpf(1), mp.mpf("0.25"), mp.mpf("0.75"))
            assert mp.mpf(value.mid().str(30, radius=False)) > truth


# ------------------------------------------------------------------------------------------- what it depends on


def test_the_checker_needs_flint_only_and_imports_nothing_but_itself():
    imported, lines = set(), 0
    for file in FOLDER.glob("*.py"):
        text = file.read_text("utf-8")
        lines += len(text.splitlines()) if file.stem != "currencies" else 0  # section 6, which rests on the others
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add((node.module or "").split(".")[0])
            else:
                assert getattr(node, "level", 0) <= 1, "a relative import from outside: nothing of this package"
    assert imported <= {"flint"} | set(sys.stdlib_module_names)
    assert lines <= 1095, "short enough to be read in an hour"
    assert len((FOLDER / "currencies.py").read_text("utf-8").splitlines()) <= 230
