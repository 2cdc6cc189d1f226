"""The exact coalition profile: published settings, an independent sum in ball arithmetic, invariants."""

import math

import pytest
from cases import many
from flint import arb, ctx, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.accounting import delta as delta_of
from dpcert.accounting import epsilon as facade
from dpcert.accounting.pairs import GaussianPair, LaplacePair, SubsampledPair
from dpcert.accounting.participation import coalition as participation
from dpcert.accounting.participation.gaussian_mixture import certain
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat


def visible(shift, rate):
    return SubsampledPair(GaussianPair(shift), rate, "visible")


def arb_delta(phases, fixed, epsilon, bits=300):
    """E_K[delta_Gauss(eps; sqrt(fixed + sum K_i s_i^2))] term by term, no window: phases of (shift, rate, rounds)."""
    before, ctx.prec = ctx.prec, bits
    try:
        laws = [[(arb(0), arb(1))]]
        for shift, rate, rounds in phases:
            p = arb(rate)
            laws.append(
                [
                    (k * arb(shift) ** 2, arb(fmpz.bin_uiui(rounds, k)) * p**k * (1 - p) ** (rounds - k))
                    for k in range(rounds + 1)
                ]
            )
        mixture = [(arb(fixed), arb(1))]
        for law in laws[1:]:
            mixture = [(v + w, a * b) for v, a in mixture for w, b in law]
        eps, root2, total = arb(epsilon), arb(2).sqrt(), arb(0)
        for value, mass in mixture:
            if value == 0:
                continue
            mu = value.sqrt()
            first = ((eps / mu - mu / 2) / root2).erfc() / 2
            total += mass * (first - eps.exp() * ((eps / mu + mu / 2) / root2).erfc() / 2)
        return total
    finally:
        ctx.prec = before


@pytest.mark.parametrize(
    ("population", "cohort", "rounds", "noise_multiplier", "delta", "replace_one", "zero_out"),
    [
        # The project's register of claims: PMTL-C2 and PMTL-FIG2, printed to the digits given.
        (400, 100, 600, 2.0, 1 / 400, 112.7, 35.9),
        (205, 100, 1000, 5.0, 1 / 205, 61.3, 20.5),
        (515, 100, 1000, 2.0, 1 / 515, 141.6, 44.4),
        (1000, 10, 500, 2.0, 1e-6, 18.8, 7.65),
        (40, 4, 100, 4.75, 1e-3, 5.02, None),
    ],
)
def test_published_coalition_numbers(population, cohort, rounds, noise_multiplier, delta, replace_one, zero_out):
    run = Repeat(FixedSize(Gaussian(noise_multiplier), population, cohort), rounds)
    for relation, printed in (("replace-one", replace_one), ("zero-out", zero_out)):
        if printed is None:
            continue
        found = facade(run, delta, relation, notion="billboard")
        digits = len(str(printed).split(".")[1])
        assert found.certified
        assert found.method == "participation"
        assert found.width < 1e-10 * found.upper
        assert abs(found.lower - printed) <= 0.55 * 10**-digits


def test_smallest_example_of_the_trap():
    # m = 2, q = 1, T = 1, sigma = 2 gamma (PMTL-C2): .06347, where the amplified claim is .02887.
    bracket = participation.delta(((visible(1.0, 0.5), 1),), 1.0)
    exact = arb_delta([(1.0, 0.5, 1)], 0.0, 1.0)
    assert arb(bracket.lower) <= exact <= arb(bracket.upper)
    assert 0.063465 < bracket.lower <= bracket.upper < 0.063475


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0, 15.0, 60.0])
@pytest.mark.parametrize(
    ("phases", "fixed"),
    [
        ([(1.0, 0.25, 60)], 0.0),
        ([(0.4, 0.4878, 100)], 0.0),
        ([(0.02, 0.9, 200)], 0.0),
        ([(3.0, 1e-4, 50)], 0.0),
        ([(1.0, 0.25, 30)], 0.7),
        ([(1.0, 0.25, 20), (0.5, 0.1, 25)], 0.3),
    ],
)
def test_delta_brackets_the_full_sum(phases, fixed, epsilon):
    composition = tuple((visible(shift, rate), rounds) for shift, rate, rounds in phases)
    if fixed:
        composition += ((GaussianPair(math.sqrt(fixed)), 1),)
        fixed = arb(math.sqrt(fixed)) ** 2
    bracket = participation.delta(composition, epsilon)
    exact = arb_delta(phases, fixed, epsilon)
    assert arb(bracket.lower) <= exact <= arb(bracket.upper)
    assert bracket.upper <= bracket.lower * (1 + 1e-9) + 1e-290


@settings(max_examples=many(40), deadline=None)
@given(
    shift=st.floats(0.02, 4.0),
    rate=st.floats(1e-4, 0.999),
    rounds=st.integers(1, 60),
    exponent=st.floats(-30, -0.5),
)
def test_epsilon_brackets_the_exact_crossing(shift, rate, rounds, exponent):
    target = 10.0**exponent
    bracket = participation.epsilon(((visible(shift, rate), rounds),), target)
    phases = [(shift, rate, rounds)]
    assert arb_delta(phases, 0.0, bracket.upper, 600) <= arb(target)
    if bracket.lower > 0:
        assert arb_delta(phases, 0.0, bracket.lower, 600) > arb(target)
    assert bracket.width <= 1e-9 * bracket.upper + 1e-9


def test_a_million_rounds_and_tiny_delta():
    bracket = participation.epsilon(((visible(0.001, 0.5), 10**6),), 1e-30)
    assert bracket.width < 1e-8 * bracket.upper
    # K exceeds its mean by 12.4 standard deviations with probability below 1e-33.
    nearly_all = participation.invert(certain(506_200 * 1e-6), 1e-30)[1]
    typical = participation.invert(certain(500_000 * 1e-6), 1e-30)[0]
    assert typical < bracket.lower < nearly_all


def test_phases_in_any_order_and_wide_windows_agree_with_one_phase():
    split = ((visible(0.05, 0.3), 40_000), (visible(0.05, 0.30000000000000004), 60_000))
    whole = participation.epsilon(((visible(0.05, 0.3), 100_000),), 1e-6)
    for composition in (split, split[::-1]):
        merged = participation.epsilon(composition, 1e-6)
        assert merged.lower <= whole.upper
        assert whole.lower <= merged.upper
        assert merged.width < 1e-3 * merged.upper


def test_full_participation_is_the_limit():
    nearly = participation.epsilon(((visible(0.5, 1 - 1e-7), 100),), 1e-6)
    plain = participation.invert(certain(100 * 0.25), 1e-6)
    assert abs(nearly.upper - plain[1]) < 1e-3


def test_more_rounds_more_noise_more_participation():
    def cost(shift, rate, rounds):
        return participation.epsilon(((visible(shift, rate), rounds),), 1e-5)

    base = cost(0.5, 0.1, 100)
    assert cost(0.5, 0.1, 101).lower > base.upper
    assert cost(0.501, 0.1, 100).lower > base.upper
    assert cost(0.5, 0.101, 100).lower > base.upper


def test_zero_when_delta_covers_everything():
    bracket = participation.epsilon(((visible(1.0, 1e-6), 1),), 1e-3)
    assert (bracket.lower, bracket.upper) == (0.0, 0.0)


def test_supports_only_what_it_can_do():
    assert participation.supports(((visible(1.0, 0.1), 3), (GaussianPair(1.0), 2)))
    assert not participation.supports(((GaussianPair(1.0), 2),))
    assert not participation.supports(((SubsampledPair(GaussianPair(1.0), 0.1, "remove"), 3),))
    assert not participation.supports(((SubsampledPair(LaplacePair(1.0), 0.1, "visible"), 3),))
    assert not participation.supports(tuple((visible(1.0, 0.1 + j / 100), 3) for j in range(20)))


def test_poisson_with_visible_coin_is_the_same_profile():
    fixed = facade(Repeat(FixedSize(Gaussian(2.0), 100, 25), 60), 1e-5, "zero-out", notion="billboard")
    poisson = facade(Repeat(Poisson(Gaussian(2.0), 0.25), 60), 1e-5, "zero-out", participation="visible")
    assert (fixed.lower, fixed.upper) == (poisson.lower, poisson.upper)


def test_answers_are_plain_numbers() -> None:
    """JSON has no numpy: `dpcert delta --json` before the others of a fixed-size cohort ended in an error."""
    found = delta_of(Repeat(FixedSize(Gaussian(4.3), 10, 1), 3), 0.47, "zero-out", notion="billboard")
    assert [type(each) for each in (found.lower, found.upper, found.reached)] == [float, float, bool]
