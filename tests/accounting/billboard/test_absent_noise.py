"""A unit that is absent takes its own noise away: add-remove is refused wherever such noise can be stated."""

import json
from pathlib import Path

import pytest
from cases import few
from mpmath import mp, mpf
from two_variances import epsilon_of_two_gaussians

from dpcert.accounting import calibrate, delta, epsilon, tradeoff
from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE, OUTSIDE, SERVER
from dpcert.accounting.billboard.observers import observer_epsilon
from dpcert.accounting.ledger import GaussianFilter, Ledger, RenyiFilter, RenyiOdometer, RunningEpsilon
from dpcert.accounting.renyi.renyi import renyi
from dpcert.mechanisms import (
    Cyclic,
    DistributedDiscreteGaussian,
    DistributedGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    Skellam,
    TruncatedPoisson,
    VisibleParticipation,
)
from dpcert.mechanisms.aggregation import (
    FixedDenominatorMean,
    PerClientNoise,
    SampleCountMean,
    SecureAggregation,
    UniformMean,
)
from dpcert.mechanisms.serialise import from_json, to_json
from dpcert.mechanisms.tables.file import read_tables
from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

BROUGHT = [DistributedGaussian(10.0), DistributedDiscreteGaussian(1.0, 100, 1.0, 1), Skellam(100.0, 1.0, 1)]
PER_CLIENT = {"kind": "per-client-gaussian", "noise_std": 1.0, "clip_norm": 1.0}


def claim(neighbouring="add-remove", mechanism=PER_CLIENT, **sampling):
    statement = {"title": "t", "neighbouring": neighbouring, "epsilon": 0.35, "delta": 1e-5}
    return {"claim": statement, "mechanism": mechanism, "sampling": {"population": 100, **sampling}}


def asked(run, relation):
    """Every way to a number, by name."""
    return {
        "epsilon": lambda: epsilon(run, 1e-5, relation),
        "delta": lambda: delta(run, 1.0, relation),
        "tradeoff": lambda: tradeoff(run, relation, points=3).beta(0.01),
        "renyi": lambda: renyi(run, 2.0, relation),
        "calibrate": lambda: calibrate(
            lambda rounds: Repeat(run, rounds), solve_for="rounds", epsilon=5.0, delta=1e-5, neighbouring=relation
        ),
        "running": lambda: RunningEpsilon(1e-5, relation).record(run),
        "filter": lambda: RenyiFilter(50.0, 1e-5, relation).record(run),
        "gaussian filter": lambda: GaussianFilter(50.0, 1e-5, relation).record(run),
        "odometer": lambda: RenyiOdometer(1e-5, 8.0, neighbouring=relation).record(run),
        "ledger": lambda: kept(run).epsilon(1e-5, relation),
        "ledger, running": lambda: kept(run).running_epsilon(1e-5, relation),
    }


def kept(run):
    record = Ledger()
    record.record(from_json(to_json(run)))
    return record


@pytest.mark.parametrize("way", asked(Gaussian(1.0), "add-remove"))
@pytest.mark.parametrize("noise", BROUGHT)
def test_no_way_to_a_number_takes_add_remove_with_noise_that_units_bring(noise, way):
    for run in (noise, Repeat(noise, 3), Sequence((Gaussian(1.0), noise)), Cyclic(noise, 2), FixedSize(noise, 5, 5)):
        with pytest.raises(InputError):
            asked(run, "add-remove")[way]()


@pytest.mark.parametrize("way", asked(Gaussian(1.0), "zero-out"))
@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
def test_the_other_relations_cost_what_a_server_s_noise_costs(relation, way):
    def plain(found):  # a calibration names its run nowhere
        return getattr(found, "value", found)

    found, server = (plain(asked(noise, relation)[way]()) for noise in (DistributedGaussian(10.0), Gaussian(10.0)))
    if way == "renyi":  # the server's is a decimal, and exact
        assert found.lower <= server.lower <= server.upper <= found.upper <= server.upper * (1 + 1e-12)
    else:
        assert found == server


@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace-one"])
@pytest.mark.parametrize(
    "scheme", [lambda n: Poisson(n, 0.5), lambda n: RandomAllocation(n, 4), lambda n: TruncatedPoisson(n, 0.5, 10, 8)]
)
def test_cohorts_of_random_size_bring_a_random_amount(scheme, relation):
    with pytest.raises(InputError):
        epsilon(scheme(DistributedGaussian(10.0)), 1e-5, relation)


def test_the_issue_s_own_numbers():
    """n clients, each with N(0, 1): N(1, n) against N(0, n - 1), in one dimension already."""
    with mp.workdps(50):
        for clients, printed in ((2, 14.54), (3, 7.67), (10, 2.166), (100, 0.4069)):
            truth = epsilon_of_two_gaussians(mpf(1), mpf(clients), mpf(clients - 1), mpf("1e-5"))
            assert abs(truth - printed) < 0.005 * printed
            # The plant: what central noise of the same amount costs is below the truth.
            assert epsilon(Gaussian(float(mp.sqrt(clients))), 1e-5).upper < 0.9 * truth
            with pytest.raises(InputError, match="absent"):
                epsilon(DistributedGaussian(float(mp.sqrt(clients))), 1e-5)


@pytest.mark.parametrize("sampling", [{}, {"scheme": "fixed-size", "cohort": 10}, {"scheme": "cyclic", "cohort": 10}])
@pytest.mark.parametrize(
    "mechanism",
    [
        PER_CLIENT,
        {"kind": "skellam", "variance": 100.0, "clip": 1.0, "dimension": 1},
        {"kind": "distributed-discrete-gaussian", "sigma": 1.0, "clients": 10, "clip": 1.0, "dimension": 1},
    ],
)
def test_claims_are_refused_when_they_are_read(mechanism, sampling):
    with pytest.raises(InputError, match=r"claim\.neighbouring.*zero-out or replace-one"):
        parse_claim(claim(mechanism=mechanism, **sampling))
    parse_claim(claim("zero-out", mechanism))


def test_the_checker_refuses_their_certificates():
    from dpcert.proofs_checks.certificates.certificate import certificate

    found = epsilon(DistributedGaussian(10.0), 1e-5, "zero-out")
    document = certificate(parse_claim(claim("zero-out")), found.lower, found.upper)
    assert checker.check(document).ok
    document["claim"]["neighbouring"] = "add-remove"
    document["digest"] = checker.format.digest(document)
    assert "absent" in checker.check(json.loads(json.dumps(document))).reason


@pytest.mark.parametrize(
    "run", [Gaussian(1.0), Laplace(1.0), Poisson(Gaussian(1.0), 1.0), FixedSize(Gaussian(1.0), 3, 3)]
)
def test_whoever_sees_the_cohort_sees_the_presence_sampled_or_not(run):
    with pytest.raises(InputError, match="participation is visible"):
        epsilon(run, 1e-5, "add-remove", participation="visible")
    assert epsilon(run, 1e-5, "zero-out", participation="visible").upper > 0


def test_rounds_that_show_who_took_part_show_the_presence_at_rate_one_too():
    for rate in (0.5, 1.0):
        with pytest.raises(InputError, match="participation is visible"):
            epsilon(VisibleParticipation(Poisson(Gaussian(1.0), rate)), 1e-5, "add-remove")


AGGREGATIONS = [
    PerClientNoise(1.0, 1.0, 4),
    SecureAggregation(1.0, 0.5, 4),
    SecureAggregation(1.0, 0.5, 4, dropouts=2),
    UniformMean(1.0, 0.5, 4),
    SampleCountMean(1.0, 0.5, (1.0, 1.0, 1.0, 1.0), 4),
]


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("observer", [OUTSIDE, EVERYBODY_ELSE, SERVER])
def test_means_whose_noise_or_divisor_depends_on_who_is_there_refuse_add_remove(aggregation, observer):
    run = Gaussian(aggregation.clients_noise_multiplier())
    with pytest.raises(InputError, match="zero-out or replace-one"):
        observer_epsilon(run, observer, 1e-5, "add-remove", aggregation=aggregation)
    assert observer_epsilon(run, observer, 1e-5, "zero-out", aggregation=aggregation).epsilon.upper > 0


def test_a_constant_denominator_and_a_server_s_noise_do_not():
    run = Gaussian(2.0)
    found = observer_epsilon(run, OUTSIDE, 1e-5, "add-remove", aggregation=FixedDenominatorMean(1.0, 0.5, 4.0))
    assert found.epsilon.upper == pytest.approx(epsilon(run, 1e-5).upper, rel=1e-9)


def test_shuffled_batches_of_a_fixed_size_refuse_add_remove_before_every_observer():
    for observer in (OUTSIDE, EVERYBODY_ELSE):
        with pytest.raises(InputError, match="zero-out or replace-one"):
            observer_epsilon(Shuffled(Laplace(1.0), 4), observer, 1e-5, "add-remove")


CLAIMS = Path(__file__).parents[3] / "claims"


@pytest.mark.parametrize("path", few(sorted(CLAIMS.rglob("dpfedmtl-*-as-written.toml")), 4), ids=lambda path: path.stem)
def test_dpfedmtl_as_written_holds_for_no_relation(path):
    """Replaced or zeroed: refuted by the sum of all rounds' averages (all others at zero). Absent: refused."""
    tables = read_tables(path)
    read = parse_claim(tables)
    (phase,) = read.phases
    table, rounds = phase.mechanism, phase.composition.rounds
    with mp.workdps(30):
        spread = mpf(table.noise_std) * mp.sqrt(3 * rounds) / mpf(table.clip_norm)
        rate = mpf(phase.sampling.rate)
        times = [mp.binomial(rounds, k) * rate**k * (1 - rate) ** (rounds - k) for k in range(80)]
        best = mpf(0)
        for cut in range(1, 60):
            there = sum(p * mp.erfc((cut - k) / spread / mp.sqrt(2)) / 2 for k, p in enumerate(times))
            absent = mp.erfc(cut / spread / mp.sqrt(2)) / 2
            if there > read.statement.delta:
                best = max(best, mp.log((there - read.statement.delta) / absent))
    assert read.statement.neighbouring == "replace-one"  # which costs no less than zero-out
    assert best > read.statement.threshold
    with pytest.raises(InputError, match="absent"):
        parse_claim(tables | {"claim": {**tables["claim"], "neighbouring": "add-remove"}})


def test_a_mean_over_everybody_divides_by_who_is_there():
    """n = 2, delta = .05: others at -1, the unit at 1 or gone, moves the mean by 1 = 2/n. In cells, and as judged."""
    mechanism = {"kind": "gaussian-mean", "noise_std": 1.0, "clip_norm": 1.0}
    tables = claim(mechanism=mechanism) | {"sampling": {"population": 2}}
    tables["claim"]["delta"] = 0.05
    found = verify(parse_claim(tables)).certified
    assert found.upper == pytest.approx(epsilon(Gaussian(1.0), 0.05, "zero-out").upper, rel=1e-6)
    assert found.lower == pytest.approx(epsilon(Gaussian(2.0), 0.05, "zero-out").lower, rel=1e-6)
