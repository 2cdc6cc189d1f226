"""Randomness from elsewhere: seeded and put back where that is possible, named where it is not."""

from __future__ import annotations

import os
import random
import secrets
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from numpy.random import SeedSequence
from two_threads import drawn_by_two_threads

from dpcert.proofs_checks import assert_private, audit
from dpcert.proofs_checks.assertion_context import Context, assertions
from dpcert.proofs_checks.auditing import global_generators
from dpcert.proofs_checks.auditing.calling import style_of
from dpcert.proofs_checks.auditing.global_generators import SYSTEM, controlled

PAIR = ([1.0, 1.0], [1.0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes")
def test_a_copy_of_a_process_in_which_a_thread_runs_trials_runs_its_own():
    """The copy has no such thread: it would wait for ever."""
    holds, ends = threading.Event(), threading.Event()

    def other() -> None:
        with controlled(SeedSequence(1)):
            holds.set()
            ends.wait()

    thread = threading.Thread(target=other)
    thread.start()
    holds.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what may happen otherwise
        child = os.fork()
    if child == 0:
        os._exit(0 if global_generators.ONE_AT_A_TIME.acquire(blocking=False) else 1)
    ends.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_do_not_draw_from_each_other_s_generators(monkeypatch):
    """Each thread's trials depend on their seed alone, and prints come back when both have ended."""
    alone: list[float] = []
    with controlled(SeedSequence(1)):
        alone += [random.random(), random.random()]
    drawn, put_back = drawn_by_two_threads(monkeypatch)
    assert drawn == alone
    assert put_back


def by_numpy(data, rng):
    return sum(data) + np.random.laplace(0, 0.83)  # noqa: NPY002


def by_random(data, rng):
    return sum(data) + random.gauss(0, 1)


def by_the_system(data, rng):
    return sum(data) + (secrets.randbelow(1001) - 500) / 100


def by_an_unseeded_generator(data):
    return sum(data) + np.random.default_rng().normal()


def by_its_argument(data, rng):
    return sum(data) + rng.normal()


OWN = np.random.default_rng(7)


def by_a_generator_of_its_own(data):
    return float(len(data)) + 0.1 * OWN.normal()


@pytest.mark.parametrize(
    ("mechanism", "drawn"),
    [
        (by_numpy, ("numpy.random",)),
        (by_random, ("random",)),
        (by_the_system, (SYSTEM,)),
        (by_an_unseeded_generator, (SYSTEM,)),
        (by_its_argument, ()),
    ],
)
def test_where_randomness_comes_from_is_noticed(mechanism, drawn) -> None:
    assert audit(mechanism, PAIR, epsilon=3.0, trials=100).generators == drawn


def test_torch_too() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_rng_state()
    mechanism = lambda data, rng: sum(data) + float(torch.randn(()))  # noqa: E731
    first, second = (audit(mechanism, PAIR, epsilon=3.0, trials=100) for _ in range(2))
    assert first.generators == ("torch",)
    assert first.bounds == second.bounds
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("mechanism", [by_numpy, by_random])
def test_the_same_audit_gives_the_same_answer_and_leaves_the_generators_alone(mechanism) -> None:
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    found = [audit(mechanism, PAIR, epsilon=1.0, trials=500, seed=3) for _ in range(2)]
    assert found[0].bounds == found[1].bounds
    assert found[0].bounds != audit(mechanism, PAIR, epsilon=1.0, trials=500, seed=4).bounds
    assert before == (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002


def test_in_other_processes_too() -> None:
    with ProcessPoolExecutor(1) as pool:
        found = [audit(by_numpy, PAIR, epsilon=3.0, trials=300, executor=pool) for _ in range(2)]
    assert found[0].bounds == found[1].bounds
    assert found[0].generators == ("numpy.random",)


def test_the_same_test_fails_each_time_or_never() -> None:
    """Claimed 1, true 1.2: with a generator that runs on, some of these fail and some pass."""
    outcomes = set()
    for _ in range(4):
        try:
            with assertions(Context()):
                assert_private(by_numpy, PAIR, epsilon=1.0, trials=4_000)
            outcomes.add("passed")
        except AssertionError as problem:
            outcomes.add(str(problem))
    assert len(outcomes) == 1


def test_a_failure_that_cannot_be_replayed_says_so_with_its_counts() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_private(lambda data, rng: len(data) + 1e-3 * secrets.randbelow(10), PAIR, epsilon=1.0)
    shown = str(caught.value)
    assert "the operating system's generator" in shown
    assert "error probability holds once per run" in shown
    assert "runs on [1.0" in shown
    assert "replay (seed" not in shown
    with pytest.raises(AssertionError, match="a generator of its own, which dpcert cannot seed"):
        assert_private(by_a_generator_of_its_own, PAIR, epsilon=1.0)
    with pytest.raises(AssertionError, match=r"replay \(seed"):
        assert_private(lambda data, rng: len(data) + 0.1 * rng.normal(), PAIR, epsilon=1.0)


def test_what_mechanisms_print_fills_no_screen(capsys) -> None:
    def talks(data, rng):
        print("here I am")
        return sum(data) + rng.normal()

    audit(talks, PAIR, epsilon=3.0, trials=50)
    assert capsys.readouterr().out == ""


def test_functions_without_a_generator_are_called_without_one() -> None:
    def of_a_library(data, epsilon=1.0, bounds=(0, 1), *, random_state=None):
        return float(random_state.laplace(sum(data), 1 / epsilon))

    def named(data, epsilon=1.0, rng=None):
        return rng.laplace(sum(data), 1 / epsilon)

    assert style_of(of_a_library) == "random_state"
    assert style_of(named) == "named"
    assert style_of(by_an_unseeded_generator) == "alone"
    for mechanism in (of_a_library, named):
        first, second = (audit(mechanism, PAIR, epsilon=1.0, trials=200, method="event") for _ in range(2))
        assert first.bounds == second.bounds
        assert first.generators == ()
