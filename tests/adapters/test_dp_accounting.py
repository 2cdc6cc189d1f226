"""The dp-accounting adapter: that library's own conformance tests, every event, every relation, durable records."""

from __future__ import annotations

import math

import pytest
from dp_accounting import NeighboringRelation, UnsupportedEventError, dp_event, privacy_accountant_test
from dp_accounting.mechanism_calibration import calibrate_dp_mechanism
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpcert.accounting import epsilon
from dpcert.adapters.dp_accounting import RELATIONS, CertifiedAccountant
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Laplace, Poisson, Repeat, Sequence

ADD_REMOVE, REPLACE, ZERO_OUT = RELATIONS
GAUSSIAN = dp_event.GaussianDpEvent(2.0)
SAMPLED = dp_event.PoissonSampledDpEvent(0.1, dp_event.GaussianDpEvent(1.0))


class TestOwnBaseClass(privacy_accountant_test.PrivacyAccountantTest):
    """dp-accounting's own tests that every accountant must pass, on all three relations."""

    def _make_test_accountants(self):
        return [CertifiedAccountant(relation) for relation in NeighboringRelation]


def composed(event, relation=ADD_REMOVE, count=1):
    return CertifiedAccountant(relation).compose(event, count)


EVENTS = {
    "gaussian": (GAUSSIAN, Gaussian(2.0)),
    "laplace": (dp_event.LaplaceDpEvent(2.0), Laplace(2.0)),
    "poisson": (SAMPLED, Poisson(Gaussian(1.0), 0.1)),
    "fixed-size": (
        dp_event.SampledWithoutReplacementDpEvent(100, 10, GAUSSIAN),
        FixedSize(Gaussian(2.0), 100, 10),
    ),
    "nested": (
        dp_event.ComposedDpEvent(
            [
                dp_event.SelfComposedDpEvent(dp_event.ComposedDpEvent([SAMPLED, GAUSSIAN]), 3),
                dp_event.NoOpDpEvent(),
                dp_event.SelfComposedDpEvent(GAUSSIAN, 0),
                dp_event.PoissonSampledDpEvent(0.0, GAUSSIAN),
                dp_event.PoissonSampledDpEvent(0.5, dp_event.NoOpDpEvent()),
            ]
        ),
        Repeat(Sequence((Poisson(Gaussian(1.0), 0.1), Gaussian(2.0))), 3),
    ),
}


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("event", EVENTS)
def test_events_cost_what_their_mechanisms_cost(event, relation):
    described, run = EVENTS[event]
    accountant = composed(described, relation)
    assert accountant.bracket(1e-5) == epsilon(run, 1e-5, RELATIONS[relation])
    assert accountant.get_epsilon(1e-5) == accountant.bracket(1e-5).upper
    assert accountant.get_delta(accountant.get_epsilon(1e-5)) <= 1e-5 * (1 + 1e-9)


def test_gaussians_on_one_sample_are_one_gaussian():
    together = dp_event.ComposedDpEvent(
        [dp_event.GaussianDpEvent(1.0), dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(2.0), 3)]
    )
    joint = composed(dp_event.PoissonSampledDpEvent(0.1, together)).get_epsilon(1e-5)
    single = epsilon(Poisson(Gaussian((1 + 3 / 4) ** -0.5), 0.1), 1e-5).upper
    assert joint == pytest.approx(single, rel=1e-12)
    assert joint >= single * (1 - 1e-15)
    theirs = RdpAccountant().compose(dp_event.PoissonSampledDpEvent(0.1, together))
    assert joint < theirs.get_epsilon(1e-5)


@pytest.mark.parametrize(
    ("event", "run"),
    [
        (
            dp_event.PoissonSampledDpEvent(0.1, dp_event.ComposedDpEvent([GAUSSIAN, dp_event.LaplaceDpEvent(1.0)])),
            Poisson(Sequence(Gaussian(2.0), Laplace(1.0)), 0.1),
        ),
        (dp_event.PoissonSampledDpEvent(0.1, SAMPLED), Poisson(Gaussian(1.0), 0.01)),
        (
            dp_event.SampledWithoutReplacementDpEvent(100, 10, dp_event.SelfComposedDpEvent(GAUSSIAN, 3)),
            FixedSize(Repeat(Gaussian(2.0), 3), 100, 10),
        ),
    ],
)
def test_several_events_on_one_sample_and_samples_of_samples(event, run):
    assert composed(event).get_epsilon(1e-5) == pytest.approx(epsilon(run, 1e-5).upper, rel=1e-9)


def test_a_tree_costs_its_depth():
    tree = dp_event.SingleEpochTreeAggregationDpEvent(2.0, [4, 7])
    for relation in (REPLACE, ZERO_OUT):
        expected = epsilon(Gaussian(2.0 / math.sqrt(3)), 1e-5, RELATIONS[relation]).upper
        assert composed(tree, relation).get_epsilon(1e-5) == pytest.approx(expected, rel=1e-12)
    theirs = RdpAccountant(neighboring_relation=ZERO_OUT).compose(tree).get_epsilon(1e-5)
    assert composed(tree, ZERO_OUT).get_epsilon(1e-5) < theirs


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (dp_event.SingleEpochTreeAggregationDpEvent(1.0, 4), ADD_REMOVE),
        (dp_event.RandomizedResponseDpEvent(0.5, 3), ADD_REMOVE),
        (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.5]), REPLACE),
        (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, -1.0], [0.5, 0.5]), ZERO_OUT),
        (dp_event.ZCDpEvent(0.1, -0.2), ADD_REMOVE),
        (dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 0.5, 1), ADD_REMOVE),
        (dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 10, -2), ADD_REMOVE),
        (dp_event.PoissonSampledDpEvent(0.1, dp_event.SelfComposedDpEvent(SAMPLED, 2)), ADD_REMOVE),
        (dp_event.PoissonSampledDpEvent(1.5, GAUSSIAN), ADD_REMOVE),
        (dp_event.GaussianDpEvent(-1.0), ADD_REMOVE),
        (dp_event.GaussianDpEvent(math.nan), ADD_REMOVE),
        (dp_event.PoissonSampledDpEvent(0.1, dp_event.SampledWithoutReplacementDpEvent(10, 5, GAUSSIAN)), ADD_REMOVE),
    ],
)
@pytest.mark.parametrize("nest", [0, 1], ids=["alone", "nested"])
def test_what_has_no_bound_is_an_error_and_not_recorded(event, relation, nest):
    accountant = composed(GAUSSIAN, relation)
    before = accountant.ledger, accountant.get_epsilon(1e-5)
    tree = dp_event.ComposedDpEvent([GAUSSIAN, dp_event.SelfComposedDpEvent(event, 2)]) if nest else event
    assert not accountant.supports(tree)
    with pytest.raises(UnsupportedEventError, match="caused by subevent"):
        accountant.compose(tree)
    assert (accountant.ledger, accountant.get_epsilon(1e-5)) == before


def test_the_innermost_event_is_named():
    bad = dp_event.RandomizedResponseDpEvent(0.5, 3)
    tree = dp_event.ComposedDpEvent([GAUSSIAN, dp_event.SelfComposedDpEvent(bad, 2)])
    assert CertifiedAccountant()._maybe_compose(tree, 1, False).invalid_event == bad


def test_replacements_move_a_plain_gaussian_twice_as_far():
    """google/differential-privacy issue 378: there the two accountants disagree, and RDP's is no bound."""
    ours = composed(dp_event.GaussianDpEvent(1.0), REPLACE).bracket(1e-5)
    pld = PLDAccountant(REPLACE).compose(dp_event.GaussianDpEvent(1.0)).get_epsilon(1e-5)
    rdp = RdpAccountant(neighboring_relation=REPLACE).compose(dp_event.GaussianDpEvent(1.0)).get_epsilon(1e-5)
    assert ours.upper == pytest.approx(pld, abs=1e-3)
    assert rdp < 0.5 * ours.lower


def test_the_extremes():
    accountant = composed(GAUSSIAN)
    assert accountant.get_epsilon(0) == math.inf
    assert accountant.get_epsilon(1) == 0
    assert accountant.get_delta(math.inf) == 0
    assert composed(dp_event.GaussianDpEvent(0.0)).get_epsilon(0.5) == math.inf
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="target_delta"):
            accountant.get_epsilon(bad)
    for bad in (-0.1, math.nan):
        with pytest.raises(InputError, match="target_epsilon"):
            accountant.get_delta(bad)


def test_pure_events_are_exact_at_delta_0():
    laplace = dp_event.LaplaceDpEvent(10.0)
    assert composed(laplace, count=3).get_epsilon(0) == 0.3
    assert composed(laplace).bracket(0.0).lower == 0.1
    assert composed(dp_event.DiscreteLaplaceDpEvent(0.25, 2)).get_epsilon(0.0) == 0.5
    assert composed(laplace).compose(GAUSSIAN).get_epsilon(0) == math.inf


def test_what_was_composed_survives_in_a_store(tmp_path):
    first = CertifiedAccountant(REPLACE, store=tmp_path / "ledger.sqlite").compose(SAMPLED, 3)
    second = CertifiedAccountant(REPLACE, store=tmp_path / "ledger.sqlite")
    assert second.get_epsilon(1e-5) == first.get_epsilon(1e-5)
    assert second.compose(GAUSSIAN).get_epsilon(1e-5) > first.get_epsilon(0.5)
    assert PLDAccountant(REPLACE).compose(second.ledger).get_epsilon(1e-5) == pytest.approx(
        second.get_epsilon(1e-5), rel=1e-3
    )
    with pytest.raises(UnsupportedEventError, match="store"):
        second.compose(dp_event.NonPrivateDpEvent())


def test_their_calibration_with_our_accountant():
    noise = calibrate_dp_mechanism(
        CertifiedAccountant,
        lambda z: dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(z)), 100),
        1.0,
        1e-5,
    )
    assert epsilon(Repeat(Poisson(Gaussian(noise), 0.01), 100), 1e-5).upper <= 1.0


NEVER = [
    dp_event.SelfComposedDpEvent(GAUSSIAN, 0),
    dp_event.SelfComposedDpEvent(dp_event.SelfComposedDpEvent(GAUSSIAN, 0), 3),
    dp_event.SelfComposedDpEvent(dp_event.SelfComposedDpEvent(GAUSSIAN, 3), 0),
]


@pytest.mark.parametrize("event", NEVER)
def test_what_is_repeated_no_times_costs_nothing(event):
    accountant = CertifiedAccountant()
    assert accountant.supports(event)
    assert accountant.compose(event).get_epsilon(1e-5) == 0.0
    assert accountant.compose(GAUSSIAN).bracket(1e-5) == epsilon(Gaussian(2.0), 1e-5)


@pytest.mark.parametrize(
    ("event", "count"), [(GAUSSIAN, 0), (GAUSSIAN, 2.0), (dp_event.SelfComposedDpEvent(GAUSSIAN, -1), 1)]
)
def test_what_dp_accounting_refuses_is_not_recorded(tmp_path, event, count):
    accountant = CertifiedAccountant(store=tmp_path / "ledger.sqlite")
    with pytest.raises((TypeError, ValueError)):
        accountant.compose(event, count)
    assert CertifiedAccountant(store=tmp_path / "ledger.sqlite").get_epsilon(1e-5) == 0.0
