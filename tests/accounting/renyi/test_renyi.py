"""The Renyi accountant against 40-digit sums and integrals that share nothing with its quadrature."""

import math

import mpmath
import numpy as np
import pytest
from cases import few, many

from dpcert.accounting.pairs import (
    ApproximateDpPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    RandomizedResponsePair,
    SubsampledPair,
    ZcdpBound,
)
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.renyi import renyi as rdp
from dpcert.accounting.renyi.renyi import renyi
from dpcert.mechanisms import (
    ApproximateDp,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Poisson,
    RandomizedResponse,
    Repeat,
    Sequence,
    Zcdp,
)


def gaussian_oracle(shift, rate, order, alpha):
    """D_alpha by the trapezoidal rule on the whole line (analytic integrands) or tanh-sinh on the half line."""
    with mpmath.workdps(40):
        s, q, a = mpmath.mpf(shift), mpmath.mpf(rate), mpmath.mpf(alpha)

        def phi(y):
            return mpmath.exp(-y * y / 2) / mpmath.sqrt(2 * mpmath.pi)

        def mix(y):
            return 1 - q + q * mpmath.exp(s * y - s * s / 2)

        if order == "hybrid":
            ends = sorted({s / 2 + k for k in range(15)} | {s / 2 + 15 + a * s})
            moment = 1 + mpmath.quad(lambda y: phi(y) * (mix(y) ** a + mix(y) ** (1 - a) - 1 - mix(y)), ends)
            return mpmath.log(moment) / (a - 1)
        density = {
            "remove": lambda y: phi(y) * mix(y) ** a,
            "add": lambda y: phi(y) * mix(y) ** (1 - a),
            "replace": lambda y: phi(y) * mix(y) ** a * mix(-y) ** (1 - a),
        }[order]
        step = min(mpmath.mpf(1) / 8, mpmath.mpf(1) / (8 * s))
        reach = int((15 + (2 * a + 1) * s) / step)
        return mpmath.log(step * mpmath.fsum(density(k * step) for k in range(-reach, reach + 1))) / (a - 1)


SETTINGS = [
    (1.0, 0.01, 2.0),
    (1.0, 0.01, 14.3),
    (0.25, 0.5, 6.7),
    (0.02, 0.4878, 90.5),
    (2.5, 0.9, 3.2),
    (2.5, 0.001, 1.05),
    (0.5, 1e-6, 30.0),
    (1.0, 0.999, 1.7),
    (12.0, 0.13, 2.6),
]


@pytest.mark.parametrize("order", ["remove", "add", "replace", "hybrid"])
@pytest.mark.parametrize(("shift", "rate", "alpha"), few(SETTINGS, 32))
def test_sampled_gaussian_is_just_above_the_truth(shift, rate, alpha, order):
    exact = gaussian_oracle(shift, rate, order, alpha)
    got = rdp.divergence(SubsampledPair(GaussianPair(shift), rate, order), alpha)
    assert exact <= got <= exact * (1 + 1e-9)


@pytest.mark.nightly
def test_sampled_gaussian_on_random_settings():
    rng = np.random.default_rng(7)
    for _ in range(many(400)):
        shift = 10 ** rng.uniform(-2.5, 0.6)
        rate = float(rng.choice([10 ** rng.uniform(-6, 0) * 0.99, 1 - 10 ** rng.uniform(-4, -0.3)]))
        alpha = 1 + 10 ** rng.uniform(-2, min(2.5, math.log10(30 / shift)))
        order = str(rng.choice(["remove", "add", "replace", "hybrid"]))
        exact = gaussian_oracle(shift, rate, order, alpha)
        got = rdp.divergence(SubsampledPair(GaussianPair(shift), rate, order), alpha)
        assert exact <= got <= exact * (1 + 1e-8), (shift, rate, alpha, order)


@pytest.mark.parametrize("alpha", [2, 3, 17, 64])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_integer_orders_equal_the_binomial_sum(alpha, rate):
    """Mironov, Talwar, Zhang 2019, section 3.3: the closed form at integer orders."""
    shift = 0.25
    with mpmath.workdps(40):
        q, s = mpmath.mpf(rate), mpmath.mpf(shift)
        terms = (
            mpmath.binomial(alpha, k) * (1 - q) ** (alpha - k) * q**k * mpmath.exp(s * s * k * (k - 1) / 2)
            for k in range(alpha + 1)
        )
        exact = mpmath.log(mpmath.fsum(terms)) / (alpha - 1)
    got = rdp.divergence(SubsampledPair(GaussianPair(shift), rate, "remove"), float(alpha))
    assert exact <= got <= exact * (1 + 1e-10)


def masses(base):
    """(P0, Q0) of each outcome."""
    if isinstance(base, RandomizedResponsePair):
        flip = mpmath.mpf(base.flip)
        other = flip / (base.categories - 1)
        return [(1 - flip, other), (other, 1 - flip)] + [(other, other)] * (base.categories - 2)
    if isinstance(base, ApproximateDpPair):
        high = 1 / (1 + mpmath.exp(-mpmath.mpf(base.epsilon)))
        return [(high, 1 - high), (1 - high, high)]
    if isinstance(base, DiscreteLaplacePair):
        scale = mpmath.mpf(base.scale)
        reach = int(80 * base.scale) + base.shift + 5
        unit = mpmath.tanh(1 / (2 * scale))
        return [
            (unit * mpmath.exp(-abs(x - base.shift) / scale), unit * mpmath.exp(-abs(x) / scale))
            for x in range(-reach, reach + base.shift)
        ]
    variance = mpmath.mpf(base.sigma) ** 2
    reach = int(18 * base.sigma) + 20 * base.shift + 30
    weights = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * variance)) for x in range(-reach - base.shift, reach + 1)}
    total = mpmath.fsum(weights.values())
    return [(weights[x - base.shift] / total, weights[x] / total) for x in range(-reach, reach + 1)]


def discrete_oracle(base, rate, order, alpha):
    with mpmath.workdps(40):
        a, q = mpmath.mpf(alpha), mpmath.mpf(rate)
        pairs = masses(base)
        if order == "base":
            moment = mpmath.fsum(p**a * b ** (1 - a) for p, b in pairs)
        elif order == "visible":
            moment = 1 - q + q * mpmath.fsum(p**a * b ** (1 - a) for p, b in pairs)
        else:
            mixed = [((1 - q) * b + q * p, b) for p, b in pairs]
            if order == "remove":
                moment = mpmath.fsum(x**a * b ** (1 - a) for x, b in mixed)
            elif order == "add":
                moment = mpmath.fsum(b**a * x ** (1 - a) for x, b in mixed)
            else:
                ratios = [(x / b, b) for x, b in mixed if x > b]
                moment = 1 + mpmath.fsum(b * (r**a + r ** (1 - a) - 1 - r) for r, b in ratios)
        return mpmath.log(moment) / (a - 1)


DISCRETE = [
    RandomizedResponsePair(0.2, 2),
    RandomizedResponsePair(0.3, 5),
    ApproximateDpPair(0.7, 0.0),
    DiscreteLaplacePair(1.3, 3),
    DiscreteGaussianPair(0.6, 1),
    DiscreteGaussianPair(4.0, 2),
]


@pytest.mark.parametrize("order", ["base", "visible", "remove", "add", "hybrid"])
@pytest.mark.parametrize("base", DISCRETE, ids=repr)
def test_discrete_pairs_are_just_above_the_truth(base, order):
    for alpha, rate in [(1.3, 0.3), (2.0, 0.01), (7.7, 0.95)]:
        exact = discrete_oracle(base, rate, order, alpha)
        got = rdp.divergence(base if order == "base" else SubsampledPair(base, rate, order), alpha)
        assert exact <= got <= exact * (1 + 1e-8)


@pytest.mark.parametrize("shift", few([1.0, 0.1, 4.0], 6))
@pytest.mark.parametrize("order", ["base", "remove", "add", "hybrid"])
def test_laplace_is_just_above_the_truth(shift, order):
    for alpha, rate in [(1.4, 0.3), (5.5, 0.05), (40.0, 0.7)]:
        with mpmath.workdps(30):
            a, q, s = mpmath.mpf(alpha), mpmath.mpf(rate), mpmath.mpf(shift)

            def p0(y, s=s):
                return mpmath.exp(-abs(y - s)) / 2

            def q0(y):
                return mpmath.exp(-abs(y)) / 2

            def x(y, q=q, p0=p0, q0=q0):
                return 1 - q + q * p0(y) / q0(y)

            function = {
                "base": lambda y, a=a, p0=p0, q0=q0: p0(y) ** a * q0(y) ** (1 - a),
                "remove": lambda y, a=a, x=x, q0=q0: q0(y) * x(y) ** a,
                "add": lambda y, a=a, x=x, q0=q0: q0(y) * x(y) ** (1 - a),
                "hybrid": lambda y, a=a, x=x, q0=q0: q0(y) * (x(y) ** a + x(y) ** (1 - a) - 1 - x(y)),
            }[order]
            ends = [s / 2, s, s + 40, s + 90] if order == "hybrid" else [-90, -40, 0, s / 2, s, s + 40, s + 90]
            exact = mpmath.log((1 if order == "hybrid" else 0) + mpmath.quad(function, ends)) / (a - 1)
        base = LaplacePair(shift)
        got = rdp.divergence(base if order == "base" else SubsampledPair(base, rate, order), alpha)
        assert exact <= got <= exact * (1 + 1e-8)


def test_infinite_order_is_the_largest_loss():
    assert rdp.divergence(LaplacePair(0.5), math.inf) == pytest.approx(0.5, rel=1e-11)
    assert rdp.divergence(GaussianPair(0.5), math.inf) == math.inf
    add = rdp.divergence(SubsampledPair(GaussianPair(1.0), 0.1, "add"), math.inf)
    assert add == pytest.approx(-math.log(0.9), rel=1e-11)
    remove = rdp.divergence(SubsampledPair(LaplacePair(1.0), 0.1, "remove"), math.inf)
    assert remove == pytest.approx(math.log1p(0.1 * math.expm1(1.0)), rel=1e-11)


@pytest.mark.parametrize("order", ["remove", "add", "replace", "hybrid"])
def test_noise_far_below_the_move_stays_tight(order):
    """A shift of 161 (a published noise multiplier of 0.0124, replace-one): by the series, not by a million nodes."""
    got = SubsampledPair(GaussianPair(161.0), 0.13, order).renyi().divergence(2.0)
    if order == "add":
        assert got == pytest.approx(-math.log(0.87), rel=1e-9)
    else:
        assert got == pytest.approx(161.0**2 + 2 * math.log(0.13) - (order == "replace") * math.log(0.87), rel=1e-9)


@pytest.mark.parametrize(("alpha", "truth"), [(128.0, 6395.358568637), (16.0, 795.087818469)])
def test_one_order_at_small_noise_is_known_to_all_digits(alpha, truth):
    """By the binomial sum at 50 digits; once the lower end was that of the other order of the neighbours, 0.01."""
    with mpmath.workdps(50):
        q, terms = mpmath.mpf("0.01"), []
        for k in range(int(alpha) + 1):
            terms.append(mpmath.binomial(alpha, k) * (1 - q) ** (alpha - k) * q**k * mpmath.exp(50 * k * (k - 1)))
        exact = mpmath.log(mpmath.fsum(terms)) / (alpha - 1)
    found = renyi(Poisson(Gaussian(0.1), 0.01), alpha)
    assert exact == pytest.approx(truth, rel=1e-12)
    assert found.lower <= exact <= found.upper
    assert found.narrower_than(1e-12)


def test_large_orders_never_overflow():
    for order in ("remove", "add", "replace", "hybrid"):
        for shift, rate in [(1.0, 0.01), (0.1, 0.5), (50.0, 1e-3), (1e-3, 0.9)]:
            for alpha in (1e3, 1e5, 1e8):
                got = rdp.divergence(SubsampledPair(GaussianPair(shift), rate, order), alpha)
                assert 0 < got <= alpha * (2 * shift) ** 2 / 2 * (1 + 1e-9)


FEDERATED = [(2.0, 0.25, 600), (5.0, 100 / 205, 1000), (2.0, 100 / 515, 1000), (4.0, 0.5, 1000), (8.0, 0.9, 1000)]


@pytest.mark.parametrize(("noise_multiplier", "rate", "rounds"), few(FEDERATED, 8))
def test_continuous_orders_beat_every_grid(noise_multiplier, rate, rounds):
    """In the federated regime peers drop orders; here the optimum is at least as good as a dense grid's."""
    delta = 1e-5
    run = Repeat(Poisson(Gaussian(noise_multiplier), rate), rounds)
    for product in dominating(run, "add-remove").upper:
        ours = rdp.epsilon(product, delta).upper
        composed = rdp.curve(product)
        grid = min(
            composed(a) + math.log1p(-1 / a) - math.log(delta * a) / (a - 1) for a in np.geomspace(1.05, 60, 120)
        )
        assert ours <= grid * (1 + 1e-7)


def test_plain_gaussian_bound_is_above_the_exact_value_and_near():
    """Exact epsilon by mpmath from Balle and Wang 2018, Theorem 8."""
    for mu, delta in [(0.1, 1e-6), (1.0, 1e-5), (4.0, 1e-30)]:
        with mpmath.workdps(60):

            def profile(eps, mu=mu):
                return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)

            exact = mpmath.findroot(
                lambda e, profile=profile, delta=delta: mpmath.log(profile(e)) - mpmath.log(delta),
                mu * mpmath.sqrt(-2 * mpmath.log(delta)) / 2 + mu * mu / 2 + mpmath.mpf("0.01"),
                solver="secant",
            )
        got = rdp.epsilon(((GaussianPair(mu), 1),), delta).upper
        assert exact < got < 1.2 * exact
        back = rdp.delta(((GaussianPair(mu), 1),), got).upper
        assert back == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize("mu", few([1e-3, 0.3, 2.0, 20.0, 300.0], 8))
def test_delta_is_a_bound_from_zero_to_one(mu):
    """From epsilon = 0, where delta is the total variation distance (near 1 for large mu), to far tails."""
    for eps in (0.0, mu / 100, mu * mu / 4, mu * mu / 2, mu * mu / 2 + 3 * mu, mu * mu + 8 * mu):
        with mpmath.workdps(60):
            e, m, root = mpmath.mpf(eps), mpmath.mpf(mu), mpmath.sqrt(2)
            tail = mpmath.erfc((m / 2 + e / m) / root) / 2
            exact = mpmath.erfc((e / m - m / 2) / root) / 2 - mpmath.exp(e) * tail
        got = rdp.delta(((GaussianPair(mu), 1),), eps)
        assert exact <= got.upper <= 1


def test_failures_of_approximate_rounds_add_up():
    product = ((ApproximateDpPair(0.1, 1e-7), 10),)
    failure = 1 - (1 - mpmath.mpf(1e-7)) ** 10
    assert rdp.epsilon(product, float(failure) * 0.999).upper == math.inf
    rest = (1e-5 - float(failure)) / (1 - float(failure))
    alone = rdp.epsilon(((ApproximateDpPair(0.1, 0.0), 10),), rest).upper
    assert rdp.epsilon(product, 1e-5).upper == pytest.approx(alone, rel=1e-9)
    assert rdp.delta(product, 5.0).upper >= failure


def test_pure_rounds_never_exceed_basic_composition():
    assert rdp.epsilon(((LaplacePair(0.5), 1),), 1e-12).upper <= 0.5 * (1 + 1e-9)
    assert rdp.epsilon(((ApproximateDpPair(0.3, 0.0), 4),), 1e-12).upper <= 1.2 * (1 + 1e-9)


def test_zcdp_rounds():
    got = rdp.epsilon(((ZcdpBound(0.01), 50),), 1e-6).upper
    assert got == pytest.approx(rdp.epsilon(((GaussianPair(1.0), 1),), 1e-6).upper, rel=1e-6)


def test_unsupported_pairs_are_refused():
    assert not rdp.supports(((SubsampledPair(ZcdpBound(1.0), 0.1, "replace"), 1),))
    assert not rdp.supports(((SubsampledPair(RandomizedResponsePair(0.1, 2), 0.1, "replace"), 1),))
    assert rdp.supports(((SubsampledPair(ZcdpBound(1.0), 0.1, "visible"), 1), (GaussianPair(1.0), 2)))


def random_composition(rng):
    bases = [
        lambda: GaussianPair(10 ** rng.uniform(-5, 3)),
        lambda: LaplacePair(10 ** rng.uniform(-5, 2.5)),
        lambda: DiscreteGaussianPair(10 ** rng.uniform(-1, 3), int(rng.integers(1, 5))),
        lambda: DiscreteLaplacePair(10 ** rng.uniform(-1, 3), int(rng.integers(1, 5))),
        lambda: RandomizedResponsePair(10 ** rng.uniform(-6, -0.31), 2),
        lambda: ApproximateDpPair(10 ** rng.uniform(-5, 2), 0.0),
        lambda: ApproximateDpPair(0.0, 0.0),
        lambda: ZcdpBound(10 ** rng.uniform(-8, 3)),
    ]
    base = bases[int(rng.integers(len(bases)))]()
    order = str(rng.choice(["none", "remove", "add", "hybrid", "replace", "visible"]))
    rate = float(rng.choice([10 ** rng.uniform(-9, 0) * 0.9999, 1 - 10 ** rng.uniform(-9, -0.1)]))
    pair = base if order == "none" else SubsampledPair(base, rate, order)
    return ((pair, int(10 ** rng.uniform(0, 6))),)


@pytest.mark.parametrize(
    ("seed", "settings"), [(1, 12), pytest.param(2, 1500, marks=pytest.mark.nightly)], ids=["quick", "nightly"]
)
def test_every_supported_setting_gives_a_finite_bound(seed, settings):
    rng = np.random.default_rng(seed)
    for _ in range(settings):
        composition = random_composition(rng)
        if rdp.supports(composition):
            assert 0 <= rdp.epsilon(composition, 10 ** rng.uniform(-30, -0.01)).upper < math.inf, composition
            assert 0 <= rdp.delta(composition, 10 ** rng.uniform(-5, 4)).upper <= 1, composition


class TestRenyi:
    def test_adds_over_rounds_and_takes_the_larger_order(self):
        run = Repeat(Poisson(Gaussian(1.0), 0.1), 7)
        each = [gaussian_oracle(1.0, 0.1, order, 4.5) for order in ("remove", "add")]
        got = rdp.renyi(run, 4.5, "add-remove")
        assert got.lower == pytest.approx(got.upper, rel=1e-9)
        assert got.certified
        assert got.upper == pytest.approx(7 * float(max(each)), rel=1e-9)

    def test_replace_one_doubles_the_sensitivity(self):
        assert rdp.renyi(Gaussian(2.0), 3.0, "replace-one").upper == pytest.approx(3 * 1.0 / 2, rel=1e-9)
        fixed = rdp.renyi(FixedSize(Gaussian(2.0), 10, 1), 3.0, "replace-one").upper
        assert fixed == pytest.approx(float(gaussian_oracle(1.0, 0.1, "hybrid", 3.0)), rel=1e-9)

    def test_mixed_runs(self):
        run = Sequence((Laplace(2.0), Zcdp(0.1)))
        alone = rdp.renyi(Laplace(2.0), 2.0, "add-remove").upper
        assert rdp.renyi(run, 2.0, "add-remove").upper == pytest.approx(alone + 0.2, rel=1e-9)

    def test_a_failure_probability_is_an_infinite_divergence(self):
        assert rdp.renyi(ApproximateDp(1.0, 1e-9), 2.0, "add-remove").upper == math.inf

    @pytest.mark.parametrize("alpha", [0.999, 0.5, -3, math.nan, True, "2"])
    def test_bad_orders(self, alpha):
        with pytest.raises(InputError, match="alpha"):
            rdp.renyi(Gaussian(1.0), alpha, "add-remove")


@pytest.mark.parametrize(
    ("run", "relation", "truth"),
    [
        (Laplace(1.0), "add-remove", 1 + math.expm1(-1.0)),
        (Repeat(Gaussian(2.0), 3), "add-remove", 3 / 8),
        (RandomizedResponse(0.25, 2), "replace-one", 0.5 * math.log(3)),
    ],
)
def test_order_1_is_the_mean_loss(run, relation, truth):
    """Kullback and Leibler's divergence, in closed form; below the divergence of any larger order."""
    found = renyi(run, 1.0, relation)
    assert found.lower <= truth <= found.upper <= truth * (1 + 1e-5)
    assert found.upper <= renyi(run, 1.01, relation).upper
    with pytest.raises(InputError, match="order of at least 1"):
        renyi(run, 0.99, relation)
