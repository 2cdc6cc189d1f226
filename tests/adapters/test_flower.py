"""The Flower adapter in the real flwr: the protocol, its state, and Poisson cohorts in rounds of Flower's own loop."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter

import pytest

pytest.importorskip("flwr", reason="make nightly-hosts")
import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.supercore.privacy_accounting.rdp_accountant import RdpAccountant
from flwr.supercore.task_identity import TaskIdentity

from dpcert.accounting import epsilon
from dpcert.adapters.flower import (
    CertifiedAccountant,
    GaussianPrivacyEvent,
    NeighboringRelation,
    NobodyAnswers,
    PoissonFedAvg,
    PrivacyConfig,
    SamplingMethod,
    attendance,
    poisson_cohort,
)
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Poisson, Repeat, Sequence

# What Flower's runtime sets before an app runs: messages are stamped with it.
TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1

ADD_REMOVE, REPLACE = NeighboringRelation
EVENT = GaussianPrivacyEvent(2.0, 10, 100)


def config(sampling=SamplingMethod.POISSON, max_epsilon=None):
    relation = REPLACE if sampling is SamplingMethod.WITHOUT_REPLACEMENT else ADD_REMOVE
    return PrivacyConfig(1e-5, 100, relation, sampling, max_epsilon)


@pytest.mark.parametrize(
    ("sampling", "said", "run", "relation"),
    [
        (SamplingMethod.POISSON, None, Poisson(Gaussian(2.0), 0.1), "add-remove"),
        (SamplingMethod.WITHOUT_REPLACEMENT, None, FixedSize(Gaussian(2.0), 100, 10), "replace-one"),
        (SamplingMethod.NO_AMPLIFICATION, "zero-out", Gaussian(2.0), "zero-out"),
        (SamplingMethod.NO_AMPLIFICATION, "replace-one", Gaussian(2.0), "replace-one"),
    ],
)
def test_every_model_of_flower_s(sampling, said, run, relation):
    accountant = CertifiedAccountant(config(sampling), neighbouring=said)
    assert accountant.get_epsilon(1e-5) == 0
    accountant.compose(EVENT, 30)
    expected = epsilon(Repeat(run, 30), 1e-5, relation)
    assert accountant.bracket(1e-5) == expected
    spent = accountant.get_privacy_spent()
    assert (spent.epsilon, spent.delta, spent.num_releases) == (expected.upper, 1e-5, 30)
    # of hidden cohorts of a fixed size epsilon is known more closely than delta
    assert 1e-5 * (1 - 1e-6) <= accountant.get_delta(expected.upper) <= 1.1e-5


def test_against_flower_s_own_accountant():
    """Poisson: below its RDP number. Fixed cohorts: Flower's is too low, as a replacement moves the sum by 2."""
    for sampling, ours_is_lower in ((SamplingMethod.POISSON, True), (SamplingMethod.WITHOUT_REPLACEMENT, False)):
        ours, theirs = CertifiedAccountant(config(sampling)), RdpAccountant(config(sampling))
        for accountant in (ours, theirs):
            accountant.compose(EVENT, 30)
        if ours_is_lower:
            assert ours.get_epsilon(1e-5) < theirs.get_epsilon(1e-5)
        else:
            assert theirs.get_epsilon(1e-5) < ours.bracket(1e-5).lower


def test_without_amplification_the_neighbours_have_to_be_said():
    with pytest.raises(InputError, match="replace-one"):
        CertifiedAccountant(config(SamplingMethod.NO_AMPLIFICATION))
    with pytest.raises(InputError, match="replace-one"):
        CertifiedAccountant(config(SamplingMethod.NO_AMPLIFICATION), neighbouring="add-remove")


def test_state_round_trip_through_json():
    accountant = CertifiedAccountant(config())
    accountant.compose(EVENT, 3)
    accountant.compose(GaussianPrivacyEvent(1.0, 20, 100))
    state = json.loads(json.dumps(accountant.state_dict()))
    other = CertifiedAccountant(config())
    other.load_state_dict(state)
    assert other.num_releases == 4
    assert other.get_epsilon(1e-5) == accountant.get_epsilon(1e-5)
    for bad in (
        {**state, "backend": "rdp"},
        {**state, "schema_version": 2},
        {**state, "neighbouring": "zero-out"},
        {**state, "config": {**state["config"], "population_size": 99}},
        {**state, "compositions": [{"event": {"noise_multiplier": 1.0}, "count": 1}]},
        {**state, "compositions": [{**state["compositions"][0], "count": 0}]},
        {},
    ):
        with pytest.raises(InputError):
            other.load_state_dict(bad)
        assert other.state_dict() == state


def test_would_exceed_changes_nothing():
    accountant = CertifiedAccountant(config(max_epsilon=1.0))
    steps = 0
    while not accountant.would_exceed(EVENT):
        accountant.compose(EVENT)
        steps += 1
    assert accountant.num_releases == steps > 1
    assert accountant.get_epsilon(1e-5) <= 1.0 < epsilon(Repeat(Poisson(Gaussian(2.0), 0.1), steps + 1), 1e-5).lower
    assert not accountant.would_exceed(EVENT, max_epsilon=2.0)
    for wrong in (GaussianPrivacyEvent(1.0, 10, 99), "event"):
        with pytest.raises(InputError):
            accountant.compose(wrong)


def test_every_coin_is_its_own():
    """Exact two-sided 1e-9 tails of Bin(2000, .3), for each of 3 nodes and for 2 nodes together (.09)."""
    seen, both = Counter(), 0
    for _ in range(2000):
        cohort = poisson_cohort([1, 2, 3], 0.3)
        seen.update(cohort)
        both += {1, 2} <= set(cohort)
    assert all(470 < seen[node] < 735 for node in (1, 2, 3))
    assert 105 < both < 265
    assert poisson_cohort([1, 2, 3], 1.0) == [1, 2, 3]
    with pytest.raises(InputError, match="sampling_rate"):
        poisson_cohort([1], 0.0)


class LocalGrid(Grid):
    """Flower's Grid in this process: every node answers at once."""

    def __init__(self, nodes, answer):
        self.nodes, self.answer, self.asked = nodes, answer, []

    def get_node_ids(self):
        return self.nodes

    def send_and_receive(self, messages, *, timeout=None):
        sent = list(messages)
        self.asked.append([message.metadata.dst_node_id for message in sent])
        return [reply for message in sent for reply in self.answer(message)]

    run = property(lambda self: None)
    create_message = push_messages = pull_messages = set_run = lambda self, *args, **kwargs: None


def update(message, change):
    model = message.content["arrays"]["w"].numpy()
    record = RecordDict({"arrays": ArrayRecord({"w": Array(model + change)}), "m": MetricRecord({"num-examples": 1})})
    return Message(record, reply_to=message)


def start(answer, rounds=30, nodes=100, **changed):
    grid = LocalGrid(range(1, nodes + 1), answer)
    accountant = changed.pop("accountant", None) or CertifiedAccountant(config())
    settings = {"noise_multiplier": 1e-6, "clipping_norm": 2.0, "expected_cohort": 10, "min_available_nodes": nodes}
    settings |= changed
    strategy = PoissonFedAvg(accountant, **settings)
    result = strategy.start(grid, ArrayRecord({"w": Array(np.zeros(4, np.float32))}), num_rounds=rounds)
    return grid, accountant, result.arrays["w"].numpy()


def test_flower_s_loop_with_poisson_cohorts():
    """Every update is 3 long in one direction: clipped to 2, summed over who came, divided by 10."""
    grid, accountant, model = start(lambda message: [update(message, np.array([3.0, 0, 0, 0]))])
    cohorts = [asked for asked in grid.asked if asked]
    sizes = [len(asked) for asked in grid.asked[::2]]
    assert len(set(sizes)) > 3  # Bin(100, .1) thirty times
    assert max(Counter(node for cohort in cohorts for node in cohort).values()) < 15
    np.testing.assert_allclose(model, [2.0 * sum(sizes) / 10, 0, 0, 0], atol=1e-3)
    assert model.dtype == np.float32
    assert accountant.num_releases == 30


def test_a_round_without_anybody_is_released_with_its_noise():
    with pytest.warns(UserWarning, match="noise alone"):
        _, accountant, model = start(lambda message: [], rounds=1, noise_multiplier=3.0, expected_cohort=50)
    assert accountant.num_releases == 1
    assert np.all(model != 0)


@pytest.mark.parametrize("kind", ["error", "shape", "nan", "silent", "twice"])
def test_what_a_node_sends_moves_the_model_by_one_clipped_update_at_most(kind):
    def answer(message):
        if kind == "error":
            return [Message(Error(0, "out of memory"), reply_to=message)]
        if kind == "shape":
            return [update(message, np.ones((2, 4)))]
        if kind == "nan":
            return [update(message, np.full(4, np.nan))]
        return [] if kind == "silent" else [update(message, np.array([3.0, 0, 0, 0]))] * 2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rounds without a usable answer
        grid, accountant, model = start(answer, rounds=2)
    people = sum(len(asked) for asked in grid.asked[::2])
    expected = 2.0 * people / 10 if kind == "twice" else 0.0
    np.testing.assert_allclose(model, [expected, 0, 0, 0], atol=1e-3)
    assert accountant.num_releases == 2


class LateGrid(LocalGrid):
    """Ten more nodes at each look."""

    looks = 0

    def get_node_ids(self):
        self.looks += 1
        return list(self.nodes)[: 10 * (self.looks - 1)]


def late(monkeypatch, **changed):
    slept = []
    monkeypatch.setattr(attendance, "sleep", slept.append)
    grid = LateGrid(range(1, 101), lambda message: [update(message, np.ones(4))])
    accountant = CertifiedAccountant(config())
    strategy = PoissonFedAvg(accountant, 1.0, 1.0, 50, **changed)
    strategy.start(grid, ArrayRecord({"w": Array(np.zeros(4, np.float32))}), num_rounds=2)
    return grid, accountant, slept


def test_nothing_is_spent_before_the_nodes_are_there(monkeypatch):
    """By default it waits for the whole population; told otherwise, for so many."""
    grid, accountant, slept = late(monkeypatch)
    assert (len(slept), accountant.num_releases) == (10, 2)
    assert len(grid.asked[0]) > 20
    grid, accountant, slept = late(monkeypatch, min_available_nodes=30)
    assert (len(slept), accountant.num_releases) == (3, 2)
    with pytest.raises(InputError, match="min_available_nodes"):
        PoissonFedAvg(CertifiedAccountant(config()), 1.0, 1.0, 50, min_available_nodes=101)


def test_planted_a_strategy_that_does_not_wait_is_seen(monkeypatch):
    monkeypatch.setattr(attendance.Attendance, "nodes", lambda self, grid: list(grid.get_node_ids()))
    with pytest.warns(UserWarning, match="no node is there"):
        grid, _, slept = late(monkeypatch)
    assert slept == []
    assert grid.asked[0] == []


def test_three_rounds_without_an_answer_stop_the_run_before_the_third_is_paid():
    accountant = CertifiedAccountant(config())
    with pytest.warns(UserWarning, match="is paid for"), pytest.raises(NobodyAnswers, match="third time in a row"):
        start(lambda message: [], rounds=9, accountant=accountant, expected_cohort=50)
    assert accountant.num_releases == 2


def test_answers_in_between_begin_the_count_anew():
    """Every third round is answered, so that no three in a row are not."""

    def answer(message):
        answered = message.content["config"]["server-round"] % 3 == 0
        return [update(message, np.ones(4))] if answered else []

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        _, accountant, _ = start(answer, rounds=9, expected_cohort=50)
    assert accountant.num_releases == 9


def test_nodes_that_are_lost_later_are_said(caplog):
    grid = LocalGrid(list(range(1, 101)), lambda message: [update(message, np.ones(4))])
    accountant = CertifiedAccountant(config())
    strategy = PoissonFedAvg(accountant, 1.0, 1.0, 50)
    arrays = ArrayRecord({"w": Array(np.zeros(4, np.float32))})
    strategy.start(grid, arrays, num_rounds=1)
    grid.nodes = list(range(1, 61))
    attendance.logger.propagate = True
    try:
        strategy.start(grid, arrays, num_rounds=1)
    finally:
        attendance.logger.propagate = False
    assert "60 of 100 nodes are there" in caplog.text
    assert accountant.num_releases == 2


def test_the_budget_stops_before_the_round():
    accountant = CertifiedAccountant(config(max_epsilon=1.0))
    grid = LocalGrid(range(100), lambda message: [update(message, np.ones(4))])
    strategy = PoissonFedAvg(accountant, noise_multiplier=2.0, clipping_norm=1.0, expected_cohort=10)
    with pytest.raises(PrivacyBudgetExhausted):
        strategy.start(grid, ArrayRecord({"w": Array(np.zeros(4))}), num_rounds=1000)
    assert accountant.get_epsilon(1e-5) <= 1.0
    assert len(grid.asked) == 2 * accountant.num_releases


def test_bad_input():
    fixed = CertifiedAccountant(config(SamplingMethod.WITHOUT_REPLACEMENT))
    with pytest.raises(InputError, match="poisson"):
        PoissonFedAvg(fixed, 1.0, 1.0, 10)
    with pytest.raises(InputError, match="clipping_norm"):
        PoissonFedAvg(CertifiedAccountant(config()), 1.0, math.inf, 10)
    strategy = PoissonFedAvg(CertifiedAccountant(config()), 1.0, 1.0, 10)
    whole = ArrayRecord({"n": Array(np.zeros(2, np.int64))})
    with pytest.raises(InputError, match="floats"):
        strategy.configure_train(1, whole, ConfigRecord(), LocalGrid([1], None))
    with pytest.raises(InputError, match="server_round"):
        strategy.aggregate_train(1, [])


def test_flower_s_own_strategy_takes_our_accountant():
    accountant = CertifiedAccountant(config(SamplingMethod.NO_AMPLIFICATION), neighbouring="replace-one")
    average = FedAvg(fraction_train=0.1, fraction_evaluate=0.0)
    strategy = DifferentialPrivacyServerSideFixedClipping(average, 2.0, 1.0, 10, accountant=accountant)
    grid = LocalGrid(range(1, 101), lambda message: [update(message, 1.0)])
    strategy.start(grid, ArrayRecord({"w": Array(np.zeros(4))}), num_rounds=3)
    truth = epsilon(Repeat(Gaussian(2.0), 3), 1e-5, "replace-one")
    assert truth.lower <= strategy.privacy_spent().epsilon <= truth.upper + 1e-9  # read after every round


def test_readings_after_every_round_are_the_accountants():
    """Every event is new, and every one is asked about before it is recorded."""
    accountant = CertifiedAccountant.poisson(1e-5, 1000, max_epsilon=0.5)
    recorded = []
    for k in range(60):
        event = GaussianPrivacyEvent(1.5 - 0.001 * k, 20 + k % 7, 1000)
        if accountant.would_exceed(event):
            break
        accountant.compose(event)
        recorded.append(Poisson(Gaussian(event.noise_multiplier), event.sample_size / 1000))
        accountant.get_privacy_spent()
    truth = epsilon(Sequence(tuple(recorded)), 1e-5)
    assert truth.lower <= accountant.get_epsilon(1e-5) <= truth.upper + 1e-9
    more = Poisson(Gaussian(event.noise_multiplier), event.sample_size / 1000)
    assert truth.upper <= 0.5 < epsilon(Sequence((*recorded, more)), 1e-5).upper
