"""Trials: calling conventions, seeds, executors, budgets and Ctrl-C."""

import copy
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import cached_property
from multiprocessing import get_context

import numpy as np
import pytest
from planted.additive import laplace_sum, noise_on_every_example
from planted.exact import mechanisms

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import MechanismError, audit, from_arrays, observing_failures, trials
from dpcert.proofs_checks.auditing.audit import PARTS
from dpcert.proofs_checks.auditing.calling import style_of
from dpcert.proofs_checks.auditing.trials import Trials

PAIR = ([1.0, 1.0], [1.0])


def single(dataset, rng):
    return len(dataset) + rng.normal()


def many(dataset, rngs):
    return [len(dataset) + rng.normal() for rng in rngs]


@pytest.mark.parametrize(
    ("mechanism", "style"), [(single, "single"), (many, "rngs"), (laplace_sum(1.0), "size"), (print, "single")]
)
def test_style_is_read_off_the_parameters(mechanism, style):
    assert style_of(mechanism) == style


@pytest.mark.parametrize("mechanism", [single, many, laplace_sum(1.0)])
def test_the_sides_are_fair_coins_and_the_seed_decides(mechanism):
    first, again = (Trials(mechanism, PAIR, seed=5).collect(1000) for _ in range(2))
    other = Trials(mechanism, PAIR, seed=6).collect(1000)
    assert first.trials == 1000
    assert abs(len(first.dataset) - 500) < 80
    assert np.array_equal(first.dataset.rows, again.dataset.rows)
    assert not np.array_equal(first.dataset.rows[:50], other.dataset.rows[:50])


def test_an_executor_changes_nothing():
    plain = Trials(single, PAIR, seed=1).collect(3000)
    with ThreadPoolExecutor(3) as pool:
        spread = Trials(single, PAIR, seed=1, executor=pool).collect(3000)
    assert np.array_equal(plain.dataset.rows, spread.dataset.rows)
    assert np.array_equal(plain.neighbour.rows, spread.neighbour.rows)


def test_a_process_pool_changes_nothing():
    plain = Trials(noise_on_every_example, PAIR, seed=1).collect(600)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        spread = Trials(noise_on_every_example, PAIR, seed=1, executor=pool).collect(600)
    assert np.array_equal(plain.neighbour.rows, spread.neighbour.rows, equal_nan=True)


@pytest.mark.nightly
def test_dask_changes_nothing():
    distributed = pytest.importorskip("dask.distributed")
    plain = Trials(noise_on_every_example, PAIR, seed=1).collect(600)
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        spread = Trials(noise_on_every_example, PAIR, seed=1, executor=client.get_executor()).collect(600)
    assert np.array_equal(plain.neighbour.rows, spread.neighbour.rows, equal_nan=True)


class Clock:
    """A clock that stands still but where a mechanism says how long it took."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(trials, "monotonic", made)
    return made


def test_a_time_budget_ends_the_run_and_what_is_known_is_reported(clock):
    def slow(dataset, rng):
        clock.now += 0.001
        return len(dataset) + rng.normal()

    result = audit(slow, PAIR, epsilon=5.0, trials=10**6, max_seconds=0.3)
    assert result.stopped == "time"
    assert result.trials in (300, 301)  # 0.001 is no binary number: the sum may end just below the budget
    assert result.tests


def test_the_time_budget_holds_for_slow_calls(clock):
    """Far fewer calls than a first chunk has; they are the beginning of the full run."""

    def slow(dataset, rng):
        clock.now += 0.02
        return len(dataset) + rng.normal()

    some = Trials(slow, PAIR, seed=1).collect(10**6, max_seconds=0.4)
    assert some.stopped == "time"
    assert some.trials in (20, 21)
    full = Trials(single, PAIR, seed=1).collect(64)
    for mine, whole in ((some.dataset, full.dataset), (some.neighbour, full.neighbour)):
        assert np.array_equal(mine.rows, whole.rows[: len(mine)])


def test_a_batch_beyond_the_budget_is_not_begun(clock):
    def slow(dataset, rng, size):
        clock.now += 0.001 * size
        return len(dataset) + rng.normal(size=size)

    some = Trials(slow, PAIR, seed=1).collect(10**6, max_seconds=1.0)
    assert some.stopped == "time"
    assert some.trials == 960


def test_the_time_budget_does_not_wait_for_an_executor(clock):
    release = threading.Event()

    def stuck(dataset, rng):
        clock.now = 1.0  # beyond the budget: what is left to wait for is 0 seconds
        release.wait()
        return 0.0

    with ThreadPoolExecutor(2) as pool:
        some = Trials(stuck, PAIR, seed=1, executor=pool).collect(100, max_seconds=0.2)
        release.set()
    assert (some.stopped, some.trials) == ("time", 0)


def out_of_time(dataset, rng):
    raise TimeoutError("the database did not answer")


def test_a_timeout_of_the_mechanism_is_the_mechanisms():
    with ThreadPoolExecutor(2) as pool, pytest.raises(MechanismError, match="database"):
        audit(out_of_time, PAIR, epsilon=1.0, executor=pool, max_seconds=30.0)


@pytest.mark.parametrize("calls", [1, 40, 100])
def test_ctrl_c_keeps_the_calls_before_it(calls):
    """Planted inside: were they the calls of one side first, the 40 would say nothing about the coins."""
    made = []

    def interrupted(dataset, rng):
        if len(made) == calls:
            raise KeyboardInterrupt
        made.append(dataset)
        return len(dataset) + rng.normal()

    some = Trials(interrupted, PAIR, seed=3).collect(10**6)
    assert (some.stopped, some.trials) == ("interrupt", calls)
    assert len(some.dataset) == sum(dataset is PAIR[0] for dataset in made)
    if calls > 1:
        assert abs(len(some.dataset) - calls / 2) < 3 * np.sqrt(calls)
        assert len(some.neighbour) > 0


def test_ctrl_c_while_results_are_computed_keeps_those_that_are_there(monkeypatch):
    def interrupted(samples, error):
        raise KeyboardInterrupt

    monkeypatch.setitem(PARTS, "event", interrupted)
    result = audit(laplace_sum(1.0), PAIR, epsilon=5.0, trials=2000)
    assert result.stopped == "interrupt"
    assert {test.method for test in result.tests} == {"e-process", "curve test", "repeated outputs"}
    assert result.bounds == ()


def test_ctrl_c_keeps_the_finished_chunks():
    calls = 0

    def interrupted(dataset, rng, size):
        nonlocal calls
        calls += 1
        if calls > 12:
            raise KeyboardInterrupt
        return len(dataset) + rng.normal(size=size)

    result = audit(interrupted, PAIR, epsilon=5.0, trials=10**6)
    assert result.stopped == "interrupt"
    assert result.trials == sum(64 * 2**k for k in range(6))
    assert {test.method for test in result.tests} == {"e-process", "curve test", "repeated outputs"}


def breaks(dataset, rng):
    raise ArithmeticError("on purpose")


def test_an_exception_of_the_mechanism_ends_the_audit():
    with pytest.raises(MechanismError, match=r":breaks'.*\[1.0, 1.0\] \(ArithmeticError: on purpose\)") as caught:
        audit(breaks, PAIR, epsilon=1.0)
    assert isinstance(caught.value.__cause__, ArithmeticError)
    assert caught.value.known is None


def test_an_exception_in_a_worker_is_told_as_well():
    with ThreadPoolExecutor(2) as pool, pytest.raises(MechanismError, match="ZeroDivisionError"):
        audit(lambda dataset, rng: 1 / 0, PAIR, epsilon=1.0, executor=pool)


def test_what_was_known_before_an_exception_is_kept():
    calls = 0

    def late(dataset, rng, size):
        nonlocal calls
        calls += 1
        if calls > 6:
            raise OSError("disk full")
        return len(dataset) + rng.laplace(0.0, 0.6, size)

    with pytest.raises(MechanismError, match="disk full") as caught:
        audit(late, PAIR, epsilon=1.0, trials=10**6)
    known = caught.value.known
    assert known.stopped == "failure"
    assert known.trials == 64 + 128 + 256
    assert [test.method for test in known.tests] == ["e-process"]
    assert known.tests[0].p_value < 1


def fails_on_one_side(dataset, rng):
    """What is released does not depend on the dataset, but whether it can be does."""
    if len(dataset) > 1 and rng.random() < 0.2:
        raise KeyError("no such client")
    return float(rng.normal())


def fails_on_both(dataset, rng):
    if rng.random() < 0.2:
        raise KeyError("no such client")
    return float(rng.normal())


def test_failures_are_outputs_for_those_who_ask():
    """The twin fails as often on either dataset, which says nothing."""
    result = audit(observing_failures(fails_on_one_side, KeyError), PAIR, epsilon=1.0, trials=500)
    assert result.refuted
    assert not audit(observing_failures(fails_on_both), PAIR, epsilon=0.05, trials=500).refuted
    with pytest.raises(MechanismError, match="KeyError"):
        audit(observing_failures(fails_on_one_side, OSError), PAIR, epsilon=1.0)


@pytest.mark.parametrize("mechanism", [single, many, laplace_sum(1.0)])
def test_failures_can_be_observed_of_any_style(mechanism):
    assert not audit(observing_failures(mechanism), PAIR, epsilon=4.0, trials=100).refuted


def test_progress_hears_of_trials():
    heard = []
    Trials(laplace_sum(1.0), PAIR, seed=0).collect(500, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (500, 500)


def test_from_arrays_leaves_fair_coins():
    exact = {case.name: case for case in mechanisms()}["Laplace"]
    rng = np.random.default_rng(0)
    arrays = exact.draw[0](rng, 2000), exact.draw[1](rng, 2000)
    heads = [len(from_arrays(*arrays, seed=seed).dataset) for seed in range(300)]
    totals = {from_arrays(*arrays, seed=seed).trials for seed in range(20)}
    assert len(totals) == 1
    half = totals.pop() / 2
    assert abs(np.mean(heads) - half) < 5 * np.sqrt(half / 2 / 300)
    assert np.std(heads) == pytest.approx(np.sqrt(half / 2), rel=0.2)


def test_not_a_callable():
    with pytest.raises(InputError, match="mechanism"):
        audit("no", PAIR, epsilon=1.0)


def test_threads_do_not_matter_to_the_result():
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(audit(single, PAIR, epsilon=1.0, trials=500).p_value))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1


def emptied(dataset, rng):
    """An exact sum that consumes its input: from the second call on it is a constant, and nothing is refuted."""
    return sum(dataset.pop() for _ in range(len(dataset)))


def scaled(dataset, rng, size):
    dataset *= 0.5
    return dataset.sum() + rng.laplace(size=size)


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("mechanism", "pair"), [(emptied, ([1.0, 5.0], [1.0])), (scaled, (np.array([1.0]), np.array([2.0])))]
)
def test_a_dataset_that_is_changed_in_place_is_noticed(mechanism, pair, workers):
    pool = nullcontext() if workers == 0 else ThreadPoolExecutor(workers)
    with pool as executor, pytest.raises(InputError, match="changes the dataset in place"):
        audit(mechanism, copy.deepcopy(pair), epsilon=1.0, trials=300, executor=executor)


class Cached:
    """A dataset that computes something when it is first asked."""

    def __init__(self, values):
        self.values = values

    @cached_property
    def total(self):
        return sum(self.values)


def test_a_dataset_that_keeps_what_it_computed_is_not_changed():
    result = audit(lambda d, rng: d.total + rng.laplace(), (Cached([1.0]), Cached([0.0])), epsilon=1.0, trials=100)
    assert result.stopped == "complete"


def test_the_error_says_how_to_observe_failures():
    with pytest.raises(InputError, match="--observe-failures"):
        audit(lambda dataset, rng: 1 / 0, ([1.0], []), epsilon=1.0, trials=10)
