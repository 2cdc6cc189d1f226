"""Single events of dp_accounting against its own accountants, closed forms and integrals; those of its main branch."""

from __future__ import annotations

import math

import attr
import mpmath
import numpy as np
import pytest
from dp_accounting import UnsupportedEventError, dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpcert.accounting import epsilon
from dpcert.adapters.dp_accounting import RELATIONS, CertifiedAccountant
from dpcert.mechanisms import (
    ApproximateDp,
    BestOfSeveral,
    DiscreteGaussian,
    Gaussian,
    Group,
    Poisson,
    Repeat,
    Zcdp,
    exponential_mechanism,
    permute_and_flip,
)

ADD_REMOVE, REPLACE, ZERO_OUT = RELATIONS
GAUSSIAN = dp_event.GaussianDpEvent(2.0)


def bracket(event, relation=ADD_REMOVE, delta=1e-5):
    return CertifiedAccountant(relation).compose(event).bracket(delta)


MIXTURE = dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.5], [0.2, 0.6, 0.2])


@pytest.mark.parametrize("relation", [ADD_REMOVE, ZERO_OUT])
def test_mixtures_of_gaussians_against_its_grid(relation):
    theirs = PLDAccountant(relation, value_discretization_interval=0.05).compose(MIXTURE, 4).get_epsilon(1e-5)
    ours = bracket(dp_event.SelfComposedDpEvent(MIXTURE, 4), relation)
    assert ours.narrower_than(2e-6)
    assert ours.lower <= theirs <= ours.upper * 1.01


@pytest.mark.parametrize("still", [0.0, 0.3])
def test_a_mixture_against_an_integral(still):
    """50 digits, both orders; without a share that stays where it is the likelihood ratio goes to 0."""
    moves, shares = [0.0, 0.5, 2.0], [still, 0.7 - still, 0.3]
    ours = bracket(dp_event.MixtureOfGaussiansDpEvent(1.5, moves, shares), delta=1e-3)
    with mpmath.workdps(50):

        def mixed(x):
            return mpmath.fsum(w * mpmath.npdf(x, m, 1.5) for w, m in zip(shares, moves, strict=True))

        def delta_at(e):
            odds, cuts = mpmath.exp(e), [-15, -5, 0, 1, 2, 3, 4, 5, 6, 8, 10, 20]
            remove = mpmath.quad(lambda x: max(0, mixed(x) - odds * mpmath.npdf(x, 0, 1.5)), cuts)
            add = mpmath.quad(lambda x: max(0, mpmath.npdf(x, 0, 1.5) - odds * mixed(x)), cuts)
            return max(remove, add)

        assert delta_at(ours.lower * (1 - 1e-3)) > 1e-3 > delta_at(ours.upper * (1 + 1e-3))


def test_a_user_with_several_examples_is_a_mixture():
    """Three examples, each drawn by its own coin: the group's Poisson round."""
    rate, weights = 0.1, [0.729, 0.243, 0.027, 0.001]
    event = dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 2.0, 3.0], weights)
    group = epsilon(Repeat(Group(Poisson(Gaussian(2.0), rate), 3), 20), 1e-5)
    ours = bracket(dp_event.SelfComposedDpEvent(event, 20))
    assert ours.lower == pytest.approx(group.lower, rel=1e-6)
    assert ours.upper == pytest.approx(group.upper, rel=1e-6)


@pytest.mark.parametrize(("noise", "buckets"), [(0.5, 3), (0.1, 2), (0.8, 10)])
def test_randomized_response_against_a_uniform_report(noise, buckets):
    """REPLACE_SPECIAL, by enumeration: two outcomes, in both orders, composed three times."""
    event = dp_event.RandomizedResponseDpEvent(noise, buckets)
    truth = 1 - noise + noise / buckets
    report, uniform = np.array([truth, 1 - truth]), np.array([1 / buckets, 1 - 1 / buckets])
    p, q = (np.einsum("i,j,k->ijk", law, law, law).ravel() for law in (report, uniform))
    ours = bracket(dp_event.SelfComposedDpEvent(event, 3), ZERO_OUT, 0.01)

    def delta_at(e):
        return max(np.maximum(0, p - math.exp(e) * q).sum(), np.maximum(0, q - math.exp(e) * p).sum())

    assert delta_at(ours.lower - 1e-5) > 0.01 > delta_at(ours.upper + 1e-5)
    pure = bracket(event, ZERO_OUT, 0.0)
    assert pure.lower <= max(math.log(truth * buckets), math.log(1 / noise)) <= pure.upper
    theirs = PLDAccountant(ZERO_OUT)
    for _ in range(3):  # its count is not counted: compose(event, 3) says what one costs
        theirs.compose(event)
    theirs = theirs.get_epsilon(0.01)
    assert ours.lower <= theirs <= ours.upper + 1e-3
    assert ours.upper < bracket(dp_event.SelfComposedDpEvent(event, 3), REPLACE, 0.01).lower


@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0, 3.0, math.inf])
@pytest.mark.parametrize("relation", [ADD_REMOVE, ZERO_OUT])
def test_searches_cost_at_most_what_it_says(shape, relation):
    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(4.0), 10, shape)
    theirs = RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-6)
    ours = bracket(event, relation, 1e-6)
    assert bracket(dp_event.GaussianDpEvent(4.0), relation, 1e-6).upper < ours.upper <= theirs
    described = BestOfSeveral.with_mean(Gaussian(4.0), 10, shape)
    assert ours == epsilon(described, 1e-6, RELATIONS[relation])
    assert described.mean == pytest.approx(10, rel=1e-9)


def test_a_search_of_one_run_is_that_run():
    assert bracket(dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 1, 0.5)) == bracket(GAUSSIAN)
    twice = dp_event.ComposedDpEvent([GAUSSIAN, dp_event.LaplaceDpEvent(2.0)])
    several = bracket(dp_event.RepeatAndSelectDpEvent(twice, 2, 1))
    assert several.upper > bracket(twice).upper


NOTHING = [
    (dp_event.SampledWithoutReplacementDpEvent(100, 0, GAUSSIAN), ADD_REMOVE),
    (dp_event.SampledWithoutReplacementDpEvent(0, 0, dp_event.GaussianDpEvent(0.0)), REPLACE),
    (dp_event.RandomizedResponseDpEvent(0.0, 1), REPLACE),
    (dp_event.RandomizedResponseDpEvent(0.3, 1), ZERO_OUT),
    (dp_event.MixtureOfGaussiansDpEvent(0.0, [0.0], [1.0]), ADD_REMOVE),
    (dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.1, 0, 1.0), ADD_REMOVE),
    (dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.0, 10, 0.0), ADD_REMOVE),
    (dp_event.RepeatAndSelectDpEvent(dp_event.NoOpDpEvent(), 10, 1), ADD_REMOVE),
    (dp_event.ZCDpEvent(0.0), ADD_REMOVE),
]
NOT_PRIVATE = [
    (dp_event.GaussianDpEvent(0.0), ADD_REMOVE),
    (dp_event.LaplaceDpEvent(0.0), ADD_REMOVE),
    (dp_event.DiscreteLaplaceDpEvent(0.0, 1), ADD_REMOVE),
    (dp_event.MixtureOfGaussiansDpEvent(0.0, [0.0, 1.0], [0.5, 0.5]), ADD_REMOVE),
    (dp_event.RandomizedResponseDpEvent(0.0, 3), ZERO_OUT),
    (dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.1, 10, 0.0), ADD_REMOVE),
    (dp_event.SampledWithoutReplacementDpEvent(100, 10, dp_event.GaussianDpEvent(0.0)), REPLACE),
    (dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(0.0), 10, math.inf), ADD_REMOVE),
    (dp_event.PoissonSampledDpEvent(0.1, dp_event.ZCDpEvent(math.inf)), ADD_REMOVE),
]


@pytest.mark.parametrize(("event", "relation"), NOTHING, ids=lambda value: type(value).__name__)
def test_what_releases_nothing_costs_nothing(event, relation):
    assert bracket(event, relation).upper == 0.0
    assert bracket(dp_event.ComposedDpEvent([event, GAUSSIAN]), relation) == bracket(GAUSSIAN, relation)


@pytest.mark.parametrize(("event", "relation"), NOT_PRIVATE, ids=lambda value: type(value).__name__)
def test_no_noise_is_no_privacy(event, relation):
    accountant = CertifiedAccountant(relation).compose(GAUSSIAN).compose(event)
    assert accountant.get_epsilon(0.5) == math.inf
    assert accountant.get_delta(10.0) == 1.0


def test_sampled_zcdp():
    """Twice the rate costs more, all of it what it costs unsampled; above what a Gaussian of this rho costs."""

    def cost(share):
        return bracket(dp_event.PoissonSampledDpEvent(share, dp_event.ZCDpEvent(0.02)))

    gaussian = bracket(dp_event.PoissonSampledDpEvent(0.1, dp_event.GaussianDpEvent(5.0)))
    assert gaussian.lower < cost(0.1).upper < cost(0.2).upper < cost(1.0).upper
    assert cost(1.0) == bracket(dp_event.ZCDpEvent(0.02))


def test_zcdp_with_an_additive_term():
    """At each order what it says; next to the bound of dp_accounting's own accountant, and above what the order alone
    says."""
    event = dp_event.ComposedDpEvent([dp_event.ZCDpEvent(0.01, 0.002), dp_event.ZCDpEvent(0.05, 0.1)])
    accountant = CertifiedAccountant().compose(event)
    for order in (1.5, 2.0, 7.3, 100.0):
        truth = 0.102 + 0.06 * order
        assert truth <= accountant.get_renyi(order) <= truth * 1.02
    theirs = RdpAccountant().compose(event).get_epsilon(1e-6)
    assert bracket(dp_event.ZCDpEvent(0.06), delta=1e-6).upper < accountant.get_epsilon(1e-6) <= theirs * 1.01


def stand_in(name, *fields, **defaults):
    """A class of this name, as the main branch has it: frozen, with these fields."""
    known = {field: attr.ib() for field in fields} | {key: attr.ib(default=value) for key, value in defaults.items()}
    return attr.make_class(name, known, bases=(dp_event.DpEvent,), frozen=True)


EPSILON_DELTA = stand_in("EpsilonDeltaDpEvent", "epsilon", "delta")
EXPONENTIAL = stand_in("ExponentialMechanismDpEvent", "epsilon")
PERMUTE_AND_FLIP = stand_in("PermuteAndFlipDpEvent", "epsilon")
DISCRETE_GAUSSIAN = stand_in("DiscreteGaussianDpEvent", "sigma", sensitivity=1.0, dimension=None)


@pytest.mark.skipif(hasattr(dp_event, "EpsilonDeltaDpEvent"), reason="the release has the classes themselves")
@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
@pytest.mark.parametrize(
    ("event", "run"),
    [
        (EPSILON_DELTA(0.5, 1e-7), ApproximateDp(0.5, 1e-7)),
        (EPSILON_DELTA(0.0, 1e-7), ApproximateDp(0.0, 1e-7)),
        (EXPONENTIAL(0.5), exponential_mechanism(0.5)),
        (PERMUTE_AND_FLIP(0.5), permute_and_flip(0.5)),
        (DISCRETE_GAUSSIAN(4.0, 2.0, 1), DiscreteGaussian(4.0, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_events_of_the_main_branch(event, run, relation):
    assert bracket(event, relation) == epsilon(run, 1e-5, RELATIONS[relation])
    both = dp_event.ComposedDpEvent([dp_event.SelfComposedDpEvent(event, 3), GAUSSIAN])
    assert CertifiedAccountant(relation).supports(both)


def test_a_discrete_gaussian_of_unknown_dimension_is_known_by_its_zcdp():
    """Above the scalar one's cost, at every relation; a replacement moves it twice as far."""
    event = DISCRETE_GAUSSIAN(4.0)
    assert bracket(event).upper == pytest.approx(epsilon(Zcdp(1 / 32), 1e-5).upper, rel=1e-9)
    assert bracket(event, REPLACE).upper == pytest.approx(epsilon(Zcdp(1 / 8), 1e-5).upper, rel=1e-9)
    for relation in RELATIONS:
        assert bracket(event, relation).upper > epsilon(DiscreteGaussian(4.0), 1e-5, RELATIONS[relation]).upper


@pytest.mark.parametrize(
    "event",
    [EPSILON_DELTA(math.inf, 0.0), EPSILON_DELTA(0.1, 1.0), DISCRETE_GAUSSIAN(0.0)],
    ids=lambda value: type(value).__name__,
)
def test_events_of_the_main_branch_that_promise_nothing(event):
    assert bracket(event, delta=0.5).lower == math.inf


@pytest.mark.parametrize(
    "event",
    [EPSILON_DELTA(-1.0, 0.0), EXPONENTIAL(math.nan), DISCRETE_GAUSSIAN(4.0, -1.0), stand_in("OtherDpEvent", "x")(1)],
    ids=lambda value: type(value).__name__,
)
def test_events_of_the_main_branch_out_of_range(event):
    with pytest.raises(UnsupportedEventError, match=type(event).__name__):
        CertifiedAccountant().compose(event)
