"""prove() on small mechanisms: proofs, the least epsilon, refusals; each with what must not be proved."""

import doctest
import functools
import importlib
import math
import random
import time

import numpy as np
import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks import assert_proved, prove
from dpcert.proofs_checks.proving import alignment, part
from dpcert.proofs_checks.proving.checker import runs, tracer
from dpcert.proofs_checks.proving.checker.check import Checked
from dpcert.proofs_checks.proving.inductions.loops import of_function

strategy = importlib.import_module("dpcert.proofs_checks.proving.strategy")


def clipped_sum(dataset, rng):
    return float(np.clip(dataset, 0, 1).sum()) + rng.laplace(0, 2)


def noisy_max(answers, rng):
    best, where = -math.inf, -1
    for i, answer in enumerate(answers):
        value = answer + rng.laplace(0, 2)
        if value > best:
            best, where = value, i
    return where


def test_the_least_epsilon_of_a_clipped_sum_over_all_reals():
    proof = prove(clipped_sum, up_to=3, low=None, high=None)
    assert proof.proved
    assert proof.epsilon == 0.5
    assert str(proof).splitlines()[0].endswith("is 0.5-DP for any number of entries (replace-one, all real numbers)")


@pytest.mark.parametrize(("epsilon", "proved"), [(0.5, True), (math.nextafter(0.5, 0), False), (0, False)])
def test_a_claim_below_the_least_epsilon_is_not_proved(epsilon, proved):
    assert prove(clipped_sum, epsilon=epsilon, up_to=2).proved is proved


def test_code_that_was_replaced_is_read_anew():
    def noisy(data, rng):
        return data.sum() + rng.laplace(0, 1)

    def noisier(data, rng):
        return data.sum() + rng.laplace(0, 2)

    assert prove(noisy, up_to=1).epsilon == 1
    noisy.__code__ = noisier.__code__
    assert prove(noisy, up_to=1).epsilon == 0.5


def test_without_clipping_nothing_is_proved_over_all_reals():
    proof = prove(lambda dataset, rng: dataset.sum() + rng.laplace(), up_to=2, low=None, high=None)
    assert proof.verdict == "not proved"
    assert proof.counterexamples


def test_noisy_max_by_a_loop_and_by_numpy():
    def by_numpy(answers, rng):
        return int(np.argmax(np.asarray(answers) + rng.laplace(0, 2, len(answers))))

    assert prove(noisy_max, relation="answers").epsilon == 1
    assert prove(by_numpy, relation="answers").epsilon == 1


def test_the_released_maximum_is_not_proved():
    proof = prove(
        lambda answers, rng: max(a + rng.laplace(0, 2) for a in answers), epsilon=1, up_to=3, relation="answers"
    )
    assert proof.verdict == "not proved"


def test_noise_whose_scale_depends_on_the_path_is_kept_apart():
    """The first prototype took the scales of one path for all, and proved this; the true epsilon is infinite."""

    def mechanism(dataset, rng):
        scale = 1 if dataset[0] > 0.5 else 100
        return rng.laplace(0, scale)

    assert prove(mechanism, up_to=1).verdict == "not proved"


def test_a_scale_that_follows_what_was_released_is_proved():
    def mechanism(dataset, rng):
        first = dataset[0] + rng.laplace(0, 2)
        above = first > 0
        return above, dataset[0] + rng.laplace(0, 2 if above else 4)

    assert prove(mechanism, up_to=1).epsilon == 1


@pytest.mark.parametrize(
    ("mechanism", "what"),
    [
        (lambda dataset, rng: np.fft.fft(dataset), "numpy.fft.fft is not in the language"),
        (lambda dataset, rng: dataset[0] + rng.laplace(0, 1 + dataset[0]), "noise whose scale depends on the data"),
        (lambda dataset, rng: rng.poisson(dataset[0]), "rng.poisson"),
        (lambda dataset, rng: random.random(), "random.random (builtins.random) is not in the language"),
        (lambda dataset, rng: np.random.laplace(), "numpy.random.laplace is not in the language"),  # noqa: NPY002
        (lambda dataset, rng: {dataset[0]: 1}, "as a key"),
        (lambda dataset, rng: dataset.tolist()[5], "raises IndexError"),
        (lambda dataset, rng: type(dataset[0])(1), "type is not in the language"),
        (lambda dataset, rng: id(dataset), "id is not in the language"),
        (lambda dataset, rng: np, "an output of type module"),
    ],
)
def test_what_is_not_supported_is_one_sentence_with_the_line(mechanism, what):
    proof = prove(mechanism, up_to=2)
    assert proof.verdict == "unsupported"
    assert what in proof.reason
    assert proof.reason.startswith("test_prove.py, line ")
    assert "\n" not in proof.reason


def test_a_swallowed_refusal_is_not_forgotten():
    def mechanism(dataset, rng):
        try:
            return int(dataset[0])
        except BaseException:
            return 0

    assert "`try`" in prove(mechanism, up_to=1).reason


def test_a_function_that_does_not_repeat_itself_is_refused():
    calls = []

    def mechanism(dataset, rng):
        calls.append(1)
        noisy = dataset[0] + rng.laplace()
        return noisy > len(calls)

    assert prove(mechanism, up_to=1).verdict == "unsupported"


def test_the_line_is_drawn_in_helpers_too():
    def helper(value):
        return abs(value) // {}

    proof = prove(lambda dataset, rng: helper(dataset[0]) + rng.laplace(), up_to=1)
    assert "abs(value) // {}" in proof.reason


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"up_to": 0},
        {"relation": "swap"},
        {"low": 1, "high": 0},
        {"low": math.nan},
        {"max_seconds": 0},
    ],
)
def test_bad_input(options):
    with pytest.raises(InputError):
        prove(clipped_sum, **options)


def test_assert_proved():
    assert assert_proved(clipped_sum, epsilon=0.5, up_to=2).proved
    with pytest.raises(AssertionError, match="not proved") as failure:
        assert_proved(clipped_sum, epsilon=0.4, up_to=2)
    assert [entry.name for entry in failure.traceback.filter(failure)] == ["test_assert_proved"]
    with pytest.raises(InputError, match="epsilon"):
        assert_proved(clipped_sum)


@pytest.mark.dp(epsilon=0.5)
def test_assert_proved_takes_the_claim_of_the_mark():
    assert_proved(clipped_sum, up_to=2)


ONE_BY_ONE = functools.partial(clipped_sum)
"""No plain function, so that no induction is tried."""


def test_progress_and_the_time_budget():
    steps = []
    assert prove(ONE_BY_ONE, up_to=2, progress=lambda done, total: steps.append((done, total))).proved
    assert steps == [(1, 3), (2, 3), (3, 3)]
    for mechanism in (ONE_BY_ONE, clipped_sum):
        proof = prove(mechanism, max_seconds=1e-9)
        assert proof.stopped
        assert not proof.proved


def test_with_an_induction_only_up_to_two_entries_are_proved_one_by_one():
    steps = []
    proof = prove(clipped_sum, up_to=8, epsilon=0.5, progress=lambda done, total: steps.append((done, total)))
    assert (proof.sizes, proof.every_size, steps) == ((2,), True, [(1, 3), (2, 3), (3, 3)])


def test_what_is_said_of_all_is_not_what_few_cost():
    """Two entries cost .5; the claim of 1 is proved for all, so that 1 is what is said."""

    def one_above(answers, rng):
        bound, out = rng.laplace(0, 2), []
        for answer in answers:
            above = bool(answer + rng.laplace(0, 4) >= bound)
            out.append(above)
            if above:
                break
        return out

    proof = prove(one_above, relation="answers", epsilon=1)
    assert (proof.epsilon, proof.every_size, proof.certificate["epsilon"]) == (1.0, True, "1")


def test_an_interrupt_answers_with_what_is_done():
    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    proof = prove(ONE_BY_ONE, up_to=4, progress=interrupt)
    assert (proof.verdict, proof.proved) == ("proved up to N", False)
    assert proof.stopped
    assert proof.sizes == (1,)


def test_a_counterexample_has_a_value_for_every_noise():
    (example,) = prove(lambda data, rng: data.sum() + rng.laplace(0, 0.5), epsilon=1, up_to=1).counterexamples
    assert {example.dataset, example.neighbour} == {(1.0,), (0.0,)}  # which is first is the solver's choice
    assert example.noise == (0.0,)


def test_an_array_that_is_read_by_place_is_named():
    def with_gap(answers, rng):
        noisy = answers + rng.laplace(0, 2, len(answers))
        where = int(np.argmax(noisy))
        return where, noisy[where] - max(noisy[i] for i in range(len(answers)) if i != where)

    assert (
        prove(with_gap, relation="answers", up_to=2).bounded
        == "the array 'noisy' is used otherwise than entry by entry"
    )


def test_too_many_paths_leave_what_was_proved_for_fewer_entries(monkeypatch):
    def each_above(answers, rng):
        return [bool(answer + rng.laplace(0, 4) > 0) for answer in answers.tolist()]

    monkeypatch.setattr(runs, "LIMIT", 5)
    proof = prove(functools.partial(each_above), relation="answers", up_to=4)
    assert (proof.up_to, proof.sizes, proof.stopped) == (2, (1, 2), True)
    assert "not proved for more entries: too many ways through the function (more than 5)" in str(proof)
    monkeypatch.setattr(runs, "LIMIT", 1)
    assert "more than 1)" in prove(each_above, relation="answers").reason


@pytest.mark.parametrize("way", ["by Ctrl-C", "by the clock"])
def test_a_search_for_an_induction_that_is_stopped_answers_with_what_is_done(way, monkeypatch):
    """The clock is the test's own: it stands until the checker is first asked what the loop's steps can do."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def stopping(function, setting, work):
        if way == "by Ctrl-C":
            raise KeyboardInterrupt
        now[0] = 301.0
        return of_function(function, setting, work)

    monkeypatch.setattr(strategy, "of_function", stopping)
    proof = prove(clipped_sum, epsilon=0.5, up_to=4)
    assert (proof.up_to, proof.sizes, proof.stopped, proof.every_size) == (2, (1, 2), True, False)
    assert str(proof).splitlines()[1:] == [
        "  stopped before the requested number of entries",
        "  not proved for more entries: the search for an induction was stopped",
        "  If datasets have at most so many entries, ask for that: --up-to 2 (up_to=2)",
        "  It assumes real numbers, without rounding or overflow: floating-point numbers may reveal more.",
    ]


def test_an_induction_whose_check_is_stopped_leaves_what_was_proved_one_by_one(monkeypatch):
    real, shown = strategy.check_proof, []

    def interrupted(document, function, watch):
        shown.append("induction" in document)
        if shown[-1]:
            raise KeyboardInterrupt
        return real(document, function, watch)

    monkeypatch.setattr(strategy, "check_proof", interrupted)
    proof = prove(clipped_sum, epsilon=0.5, up_to=4)
    assert shown == [True, False]
    assert (proof.up_to, proof.epsilon, proof.sizes, proof.every_size) == (2, 0.5, (1, 2), False)


def histogram(dataset, rng):
    counts = [0, 0]
    for entry in dataset:
        counts[0 if entry < 0.5 else 1] += 1
    return [count + rng.normal(0, 1) for count in counts]


def test_gaussian_noise_has_a_rho_and_no_epsilon():
    assert prove(histogram, up_to=2, notion="zcdp").epsilon == 1
    assert prove(histogram, up_to=2, rho=1).proved
    assert prove(histogram, up_to=2, rho=0.99).verdict == "not proved"
    assert prove(histogram, up_to=1).verdict == "not proved"
    assert prove(clipped_sum, up_to=1, notion="zcdp").verdict == "not proved"


def test_gaussian_noise_may_decide_what_is_released_of_it():
    def tested(dataset, rng):
        noisy = dataset.sum() + rng.normal()
        return noisy if noisy > 0 else None

    def leaking(dataset, rng):
        noisy = dataset.sum() + rng.normal()
        return noisy if noisy > 0 else dataset.sum()

    def fresh(dataset, rng):
        noisy = dataset.sum() + rng.normal()
        return noisy if noisy > 0 else dataset.sum() + rng.normal()

    assert prove(tested, up_to=1, rho=0.5).proved
    assert prove(tested, up_to=1, rho=0.499).verdict == "not proved"
    assert prove(leaking, up_to=1, rho=100).verdict == "not proved"
    assert prove(fresh, up_to=1, rho=0.5).verdict == "not proved"


def randomised_response(dataset, rng):
    return [entry if rng.random() < 0.75 else 1 - entry for entry in dataset]


def test_finitely_many_outcomes_give_the_exact_epsilon():
    proof = prove(randomised_response, values=[0, 1], up_to=3)
    assert math.log(3) <= proof.epsilon <= math.nextafter(math.log(3), 2)
    assert prove(randomised_response, values=[0, 1], up_to=2, epsilon=1.0987).proved
    refused = prove(randomised_response, values=[0, 1], up_to=2, epsilon=1.0986)
    assert refused.verdict == "not proved"
    assert refused.counterexamples[0].dataset in ((0.0,), (1.0,))


def test_choices_permutations_and_narrowed_coins():
    def exponential_mechanism(dataset, rng):
        weights = [2.0 ** sum(dataset), 2.0 ** (len(dataset) - sum(dataset))]
        return int(rng.choice(2, p=[w / sum(weights) for w in weights]))

    def thirds(dataset, rng):
        coin = rng.random()
        return "low" if coin < 0.25 else "middle" if coin < (0.5 if dataset[0] else 0.75) else "high"

    assert prove(exponential_mechanism, values=[0, 1], up_to=3).epsilon == pytest.approx(math.log(4), abs=0.4)
    assert prove(thirds, values=[0, 1], up_to=1).epsilon == pytest.approx(math.log(2))
    shuffled = prove(lambda dataset, rng: rng.permutation(dataset).tolist(), values=[0, 1], up_to=2, epsilon=5)
    assert shuffled.verdict == "not proved"


@pytest.mark.parametrize(
    "options", [{"values": [1]}, {"values": [0, 1], "relation": "answers"}, {"rho": 1, "epsilon": 1}]
)
def test_bad_input_of_the_other_modes(options):
    with pytest.raises(InputError):
        prove(randomised_response, **options)


def test_parts_are_black_boxes_at_a_price():
    count = part(lambda dataset, rng: len(dataset) + rng.laplace(0, 2), epsilon=0.5)

    def mechanism(dataset, rng):
        if count(dataset, rng) > 3:
            return sum(dataset) + rng.laplace(0, 4)
        return count(dataset, rng)

    proof = prove(mechanism, relation="add-remove", up_to=2)
    assert proof.epsilon == 1
    assert "taken for granted" in proof.reason
    assert prove(mechanism, relation="add-remove", up_to=2, epsilon=0.9).verdict == "not proved"
    assert count(np.zeros(3), np.random.default_rng(0)) != 3


def test_a_part_of_the_data_is_no_part():
    first = part(lambda dataset, rng: dataset[0] + rng.laplace(), epsilon=1)
    assert "whole dataset" in prove(lambda dataset, rng: first(2 * dataset, rng), up_to=1).reason


class Screen:
    """State that lasts over the queries of an interactive mechanism."""

    def __init__(self, rng):
        self.rng, self.bound, self.left = rng, rng.laplace(0, 2), 1

    def ask(self, answer):
        if self.left == 0:
            return None
        above = answer + self.rng.laplace(0, 4) >= self.bound
        if above:
            self.left -= 1
        return bool(above)


def test_state_across_the_queries_of_an_interactive_mechanism():
    def session(answers, rng):
        screen = Screen(rng)
        return [screen.ask(answer) for answer in answers]

    assert prove(session, relation="answers", up_to=3, epsilon=1).proved
    assert prove(session, relation="answers", up_to=3, epsilon=0.7).verdict == "not proved"


def test_a_loop_that_may_go_on_for_ever_is_refused():
    def redrawn(dataset, rng):
        value = rng.laplace()
        while value < 0:
            value = rng.laplace()
        return dataset[0] + value

    assert "a loop that is not over" in prove(redrawn, up_to=1).reason


def test_casts_to_integers_cut_off():
    def cut_off(dataset, rng):
        return dataset.astype(int).sum() + rng.laplace()

    assert prove(cut_off, up_to=2, high=2.5, epsilon=3).proved  # 0, 1 or 2, as anything between 0 and 3
    assert not prove(cut_off, up_to=2, high=2.5, epsilon=1.5).proved


def no_other_way(self, ways):
    """Takes the first possible way, and forgets the others."""
    known = [*self.data.facts, *self.assumed]
    chosen = next(k for k, way in enumerate(ways) if not self.prover.contradictory([*known, *way]))
    self.trail.append((tuple(ways), chosen, [], self.known()))
    self.assumed += ways[chosen]
    return chosen


MUTANTS = {
    "the cost is not checked": (alignment, "_cost", lambda *_: 0),
    "a branch is forgotten": (tracer.Tracer, "choose", no_other_way),
    "a wrong scale": (alignment, "weight", lambda kind, scale: 1),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_search_with_a_fault_proves_nothing_broken_because_of_the_checker(name, monkeypatch):
    """Without the checker it would: each mutant of the search is satisfied with a mechanism that is not private."""

    def half_noise(dataset, rng):
        return dataset.sum() + rng.laplace(0, 0.5)

    def exact_branch(dataset, rng):
        return "large" if dataset[0] > 0.5 else "small"

    broken = exact_branch if name == "a branch is forgotten" else half_noise
    monkeypatch.setattr(*MUTANTS[name])
    with monkeypatch.context() as only_the_search:
        if name == "a branch is forgotten":  # the checker asks the same tracer: here it is the real one
            real = strategy.check_proof
            only_the_search.setattr(strategy, "check_proof", lambda *given: checked_by(tracer.Tracer, real, given))
        assert "the checker rejects" in prove(broken, epsilon=1, up_to=1).reason
    monkeypatch.setattr(strategy, "check_proof", lambda *_: Checked(True, "", every_size=True))
    assert prove(broken, epsilon=1, up_to=1).proved


right_choice = tracer.Tracer.choose


def checked_by(kind, check, given):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind, "choose", right_choice)
        return check(*given)


def test_datasets_that_are_lists():
    def mechanism(dataset, rng):
        return sum([*dataset, *([] if dataset else [0])]) + len(dataset.copy()) + rng.laplace()

    assert prove(mechanism, up_to=2, epsilon=1, container="list").proved
    assert prove(mechanism, up_to=2, epsilon=0.9, container="list").verdict == "not proved"
    assert prove(randomised_response, up_to=2, values=[0, 1], container="list").proved
    with pytest.raises(InputError, match="container"):
        prove(mechanism, container="frame")


def test_an_interrupted_check_proves_nothing(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(strategy, "check_proof", interrupted)
    proof = prove(clipped_sum, up_to=1)
    assert not proof.proved
    assert proof.stopped


@pytest.mark.parametrize("module", ["prove", "checker.language.black_boxes"])
def test_examples(module):
    tested = doctest.testmod(importlib.import_module(f"dpcert.proofs_checks.proving.{module}"))
    assert tested.attempted > 0
    assert tested.failed == 0


def leaky_response(dataset, rng):
    """Tells the truth openly one time in a hundred."""
    if rng.random() < 0.01:
        return ["openly", *dataset]
    return randomised_response(dataset, rng)


def test_a_delta_of_finitely_many_outcomes_is_exact():
    claim = {"values": [0, 1], "up_to": 2, "epsilon": 1.1}
    assert prove(leaky_response, **claim).verdict == "not proved"
    assert prove(leaky_response, **claim, delta=0.0100001).proved
    proof = prove(leaky_response, **claim, delta=0.0099999)
    assert proof.verdict == "not proved"
    assert "a delta of 0.01" in proof.reason
    with pytest.raises(InputError, match="delta"):
        prove(leaky_response, values=[0, 1], delta=0.1)
