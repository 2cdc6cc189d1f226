"""The faults of the product that small worlds found, each planted again: taken out is the check that refuses it now."""

import math
from importlib import import_module

import pytest
from adaptive import most_exceeded
from finite_worlds import F
from outcomes import largest, pair
from report_worlds import alone, response, shuffled
from worlds import World

from dpcert.accounting import epsilon
from dpcert.accounting.billboard import Observer, observer_epsilon, observers
from dpcert.accounting.billboard.guarantees import OUTSIDE
from dpcert.accounting.ledger import RenyiOdometer, odometer
from dpcert.accounting.renyi.conversions import best_epsilon
from dpcert.mechanisms import (
    BestOfSeveral,
    Cyclic,
    Disjoint,
    DistributedGaussian,
    FixedSize,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Poisson,
    PureDp,
    RandomizedResponse,
    Repeat,
    ShuffledReports,
    StableHistogram,
    UnaryEncoding,
    VisibleParticipation,
)
from dpcert.proofs_checks.certificates import certificate as certificates
from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.claims.claim import parse_claim

dominating = import_module("dpcert.accounting.pricing.dominating")
certificates_stated = import_module("dpcert.proofs_checks.certificates.stated")


def nothing(*arguments, **options):
    """A check that has been taken out."""


@pytest.mark.parametrize("scheme", ["cyclic", "group"])
def test_a_cohort_of_random_size_inside_of_another_scheme(scheme, monkeypatch):
    """A Poisson cohort brings a random amount of noise, also as a batch of a cyclic pass, or for a group."""
    world = World("distributed", "poisson", "zero-out", "hidden", clients=3, rounds=1, rate=0.5)
    inner = Poisson(DistributedGaussian(math.sqrt(3.0)), 0.5)
    run = Cyclic(inner, 2) if scheme == "cyclic" else Group(inner, 2)
    with pytest.raises(InputError, match="random"):
        epsilon(run, world.delta, "zero-out")
    monkeypatch.setattr(dominating, "refuse_absent_shares", nothing)
    bracket = epsilon(run, world.delta, "zero-out")
    if scheme == "cyclic":
        assert world.most(bracket.upper, lambda low, high: low > world.delta)[0] > world.delta


def test_an_absent_client_s_noise_before_an_outside_reader(monkeypatch):
    world = World("distributed", "none", "add-remove", "hidden", clients=2, rounds=1)
    run = DistributedGaussian(math.sqrt(2.0))
    with pytest.raises(InputError, match="bring this noise themselves"):
        observer_epsilon(run, OUTSIDE, world.delta, "add-remove")
    monkeypatch.setattr(observers, "refuse_absent_shares", nothing)
    wrong = observer_epsilon(run, OUTSIDE, world.delta, "add-remove").epsilon.upper
    assert world.most(wrong, lambda low, high: low > world.delta)[0] > world.delta


@pytest.mark.parametrize("colluders", [None, 1])
def test_who_sent_a_report_knows_it(colluders, monkeypatch):
    """Of two shuffled reports the other client knows one, and so both."""
    run, observer = ShuffledReports(RandomizedResponse(0.25), 2), Observer("coalition", colluders)
    pairs = alone(response(F(1, 4), 2))
    assert largest(pairs, 1, observer_epsilon(run, observer, 0.05, "replace-one").epsilon.upper)[0] <= 0.05
    monkeypatch.setattr(observers, "without_known_reports", lambda run, observer: run)
    wrong = observer_epsilon(run, observer, 0.05, "replace-one").epsilon.upper
    assert largest(pairs, 1, wrong)[0] > 0.05


@pytest.mark.parametrize("view", [{"participation": "visible"}, {"notion": "joint"}])
def test_who_counts_the_runs_learns_more_than_the_best(view):
    """The plant is what was certified: the best of a secret number of runs, seen with the number."""
    run = BestOfSeveral(RandomizedResponse(0.25), 0.1)
    with pytest.raises(InputError, match="secret"):
        epsilon(run, 0.01, "replace-one", **view)
    with pytest.raises(InputError, match="secret"):
        observer_epsilon(run, Observer("coalition"), 0.01, "replace-one")
    certified = epsilon(run, 0.01, "replace-one").upper

    def law(first):
        """The number of runs, and whether the second answer, the better one, came up in one of them."""
        found = {}
        for k in range(1, 80):
            mass = F(1, 10) * F(9, 10) ** (k - 1)
            found[k, False], found[k, True] = mass * first**k, mass * (1 - first**k)
        return found

    low, _ = largest([pair(law(F(3, 4)), law(F(1, 4)))], 1, certified)
    assert low > 0.01


def certified_as_one_unit(about, ends, monkeypatch, **forgotten):
    """(The interval that a certificate proves, and that of one that forgets whom the claim is about), as numbers."""
    phase = {"mechanism": {"kind": "gaussian", "noise_multiplier": 1.0}, "composition": {"rounds": 1}}
    stated = {"title": "T", "neighbouring": "zero-out", "epsilon": 5.0, "delta": 0.05} | about
    claim = parse_claim({"claim": stated, "phase": [phase, phase]})
    honest = certificates.certificate(claim, *ends)["interval"]
    for name, forgets in forgotten.items():
        monkeypatch.setattr(certificates_stated, name, forgets)
    document = certificates.certificate(claim, *ends)
    assert checker.check(document).ok
    return [
        [math.inf if end == "inf" else float(end) for end in (each["epsilon_lower"], each["epsilon_upper"])]
        for each in (honest, document["interval"])
    ]


def test_a_group_s_certificate_of_one_unit(monkeypatch):
    """The plant is what was written: of fewer units than the claim is about."""
    ends = 0.0, epsilon(Repeat(Gaussian(1.0), 2), 0.05, "zero-out").upper
    honest, forgetful = certified_as_one_unit(
        {"group": 2}, ends, monkeypatch, of_group=lambda mechanism, units: mechanism
    )
    world = World("gaussian", "none", "zero-out", "hidden", clients=2, rounds=2, delta=0.05, units=2)
    assert world.most(forgetful[1], lambda low, high: low > world.delta)[0] > world.delta
    assert world.most(honest[1], lambda low, high: low > world.delta)[0] <= world.delta


def test_some_phases_certificate_of_all_of_them(monkeypatch):
    """The plant: a unit that is in one of two phases is told to lose what both cost."""
    ends = epsilon(Repeat(Gaussian(1.0), 2), 0.05, "zero-out").lower, math.inf
    honest, forgetful = certified_as_one_unit(
        {"phases_per_unit": 1}, ends, monkeypatch, of_one_unit=lambda claim: claim.phases
    )
    world = World("gaussian", "none", "zero-out", "hidden", clients=2, rounds=1, delta=0.05)
    assert world.most(forgetful[0], lambda low, high: high < world.delta)[1] < world.delta
    assert world.most(honest[0], lambda low, high: high < world.delta)[1] >= world.delta


def test_reports_that_are_shares_of_a_sum_s_noise(monkeypatch):
    """The plant is what was priced where reports are seen: one report has the noise that all units bring."""
    run = ShuffledReports(DistributedGaussian(math.sqrt(2.0)), 2)  # each unit's own share has variance 1
    for view in ({}, {"participation": "visible"}):
        with pytest.raises(InputError, match="local randomiser"):
            epsilon(run, 0.05, "replace-one", **view)
    monkeypatch.setattr(dominating, "of_shuffled_reports", nothing)
    monkeypatch.setattr(dominating, "refuse_known_shares", nothing)
    wrong = epsilon(run, 0.05, "replace-one", notion="joint").upper
    world = World("gaussian", "none", "replace-one", "visible", clients=2, rounds=1, delta=0.05)
    assert world.most(wrong, lambda low, high: low > world.delta)[0] > world.delta


def test_a_histogram_inside_of_another_scheme(monkeypatch):
    """The plant is what was certified: one group that the unit alone is in, whatever the histogram. A group that many
    are in costs its noise, of which half a unit's move tells them apart."""
    histogram = StableHistogram(Laplace(1.0), threshold=8.0, buckets=2)
    for run in (Cyclic(histogram, 4), Poisson(histogram, 1.0), Disjoint(Cyclic(histogram, 4))):
        with pytest.raises(InputError, match="by itself"):
            epsilon(run, 0.01, "zero-out")
    monkeypatch.setattr(import_module("dpcert.accounting.pricing.neighbour_cases"), "_refuse_histogram_inside", nothing)
    wrong = epsilon(Cyclic(histogram, 4), 0.01, "zero-out").upper
    world = World("laplace", "none", "zero-out", "hidden", clients=2, rounds=1, delta=0.01)
    assert world.most(wrong, lambda low, high: low > 0.01)[0] > 0.01


def test_an_odometer_that_converts_like_a_filter(monkeypatch):
    """delta(epsilon) <= delta at its reading, which one bit, seldom set, exceeds ten times as often as that."""
    meter = RenyiOdometer(0.001, 8.0, neighbouring="replace-one")
    meter.record(UnaryEncoding(0.01, 1e-5))
    one = [(a * b, c * d) for a, c in ((0.01, 1e-5), (0.99, 1 - 1e-5)) for b, d in ((1e-5, 0.01), (1 - 1e-5, 0.99))]
    assert most_exceeded(1, [one], lambda chosen: meter.epsilon) == 0.0
    monkeypatch.setattr(odometer, "mironov_epsilon", best_epsilon)
    assert most_exceeded(1, [one], lambda chosen: meter.epsilon) > 0.0099
    assert sum(max(0.0, p - math.exp(meter.epsilon) * q) for p, q in one) <= 0.001


def test_participation_that_is_seen_shows_no_report(monkeypatch):
    """Everybody reports. What was printed as the lower end: the cost to somebody who sees the unit's own report."""

    def printed(reports):
        """How much of delta .05 the lower end is attained by; of every number of reports, pairs are kept."""
        run = VisibleParticipation(Poisson(ShuffledReports(RandomizedResponse(0.25), reports), 1.0))
        pairs = shuffled(response(F(1, 4), 2), reports)
        return largest(pairs, 1, epsilon(run, 0.05, "replace-one").lower)

    assert printed(19)[0] >= 0.05
    round_of = dominating._round

    def linked(part, relation, participation):
        seen = isinstance(part, ShuffledReports) and participation == "visible"
        return round_of(part, relation, "pooled" if seen else participation)

    monkeypatch.setattr(dominating, "_round", linked)
    assert printed(20)[1] < 0.05


def test_others_who_know_the_cohort_of_what_is_only_bounded(monkeypatch):
    """One of two: where the unit is there, the other one sits out half of the rounds; where not, none of them."""
    run = FixedSize(PureDp(0.3), population=2, cohort=1)
    with pytest.raises(InputError, match="reveals that it is there"):
        epsilon(run, 0.1, "add-remove", notion="billboard")
    monkeypatch.setattr(dominating, "refuse_seen_presence", nothing)
    assert epsilon(run, 0.2, "add-remove", notion="billboard").upper < 0.3  # the true delta is 1/2 at every epsilon
