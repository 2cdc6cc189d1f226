"""Proofs for every number of entries: loops that are private get one, loops that leak late get none."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction

import looping
import numpy as np
import pytest
import several_loops
from cases import few
from planted.provable import provable
from suggesting import attempt, suggested

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.cutting import columns, real_runs
from dpcert.proofs_checks.proving.checker.inductions import check as checking
from dpcert.proofs_checks.proving.checker.inductions.check import _Checking, check_induction
from dpcert.proofs_checks.proving.checker.inductions.comparing import Comparing
from dpcert.proofs_checks.proving.checker.inductions.states import Reading
from dpcert.proofs_checks.proving.checker.language import interpreter, methods
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused
from dpcert.proofs_checks.proving.inductions.configurations import Search

LOOPS = {
    "histogram as if one were added", "geometric count", "noisy max", "the largest value instead of its place",
    "sparse vector 3", "sparse vector 4", "sparse vector 5", "sparse vector 6", "threshold drawn again",
    "no noise on the threshold", "numeric sparse vector", "gap without query noise", "sparse vector with gap",
    "adaptive sparse vector", "size shown by the scale", "stability histogram without threshold",
    "branch on exact data", "exact sum after a noisy test", "half the noise", "sensitivity halved", "prefix sums",
    "only the first entry", "one noise for all", "one-sided noise", "bounded noise", "exact flag beside a noisy sum",
    "mean", "un-clipped sum", "clipped at another bound",
}  # fmt: skip
"""Cases whose correct mechanism is one loop over the data, or sums over them."""


@pytest.mark.parametrize(("function", "epsilon", "options"), few([*looping.PRIVATE, *several_loops.PRIVATE], 8))
def test_a_private_loop_is_proved_for_every_number_of_entries(function, epsilon, options):
    assert attempt(function, **options) == epsilon


@pytest.mark.parametrize(("function", "options"), few([*looping.LEAKING, *several_loops.LEAKING], 4))
def test_a_loop_that_leaks_is_not(function, options):
    found = attempt(function, **options)
    dear = {looping.many_above: 1, several_loops.long_data: 1000}
    assert found is None or (function in dear and found > dear[function])


@pytest.mark.parametrize("case", few(provable(), 8), ids=lambda case: case.name)
def test_planted_mechanisms_for_every_number_of_entries(case):
    options = {name: value for name, value in case.options.items() if name in ("relation", "low", "high")}
    broken, correct = attempt(case.broken, **options), attempt(case.correct, **options)
    assert broken is None or broken > case.epsilon
    assert (correct is not None and correct <= case.epsilon) == (case.name in LOOPS)


def test_the_first_line_says_how_far_it_goes():
    proof = prove(looping.noisy_sum, up_to=2)
    assert proof.every_size
    assert (
        str(proof)
        .splitlines()[0]
        .endswith("1.0-DP for any number of entries (replace-one, all real numbers in [0, 1])")
    )
    late = prove(looping.late_count, up_to=2)
    assert late.proved
    assert not late.every_size
    assert "for up to N = 2 entries" in str(late).splitlines()[0]
    assert str(late).splitlines()[1].startswith("  not proved for more entries: ")
    assert late.to_json()["every_size"] is False


def test_what_is_cheaper_for_few_entries_is_not_claimed_of_all():
    least = prove(looping.sparse_vector, relation="answers", up_to=2)
    assert (least.epsilon, least.every_size) == (1.0, True)
    claimed = prove(looping.sparse_vector, relation="answers", up_to=2, epsilon=0.5)
    assert not claimed.every_size
    assert claimed.proved is False or "it costs 1" in claimed.bounded


def test_dpcert_check_proves_the_induction_again():
    proof = prove(looping.noisy_sum, up_to=1)
    document = json.loads(json.dumps(proof.certificate))
    assert check_proof(document, looping.noisy_sum).every_size
    assert not check_proof(document, looping.running_sums).ok
    document["induction"]["moves"] = []
    assert check_proof(document, looping.noisy_sum).reason.startswith("no move for the label")
    del document["induction"]
    assert check_proof(document, looping.noisy_sum) == check_proof(document, looping.noisy_sum)
    assert not check_proof(document, looping.noisy_sum).every_size


@pytest.fixture(scope="module")
def certificate():
    document, epsilon = suggested(looping.sparse_vector, "answers")
    assert epsilon == 1
    return document


def checked(document, function=looping.sparse_vector, relation="answers", budget=Fraction(1)):
    check_induction(document, function, Setting(relation), budget)


def start_unmoved(document):
    move = next(move for move in document["moves"] if move["from"] == "start")
    move["shifts"], move["bounds"] = [{}], ["0"]


def above_unmoved(document):
    for move in document["moves"]:
        if '"true"' in move["label"].lower() and move["how"] == "entry":
            move["shifts"], move["bounds"] = [{} for _ in move["shifts"]], ["0" for _ in move["bounds"]]


def smaller_bounds(document):
    for move in document["moves"]:
        move["bounds"] = ["0" for _ in move["bounds"]]


def negative_bounds(document):
    for move in document["moves"]:
        move["bounds"] = ["-1" for _ in move["bounds"]]
        move["shifts"] = [{} for _ in move["shifts"]]


def no_potential(document):
    for each in document["configurations"]:
        each["potential"] = "0"


def negative_potential(document):
    document["configurations"][0]["potential"] = "-1"


def other_difference(document):
    document["configurations"][0]["differences"][-1] = {"form": {"": "2"}}


def interval_difference(document):
    document["configurations"][0]["differences"][-1] = {"ends": [None, None]}


def to_the_end(document):
    for move in document["moves"]:
        move["to"] = None


def elsewhere(document):
    for move in document["moves"]:
        move["to"] = -1


def without_configurations(document):
    document["configurations"] = []


def foreign_atoms(document):
    for move in document["moves"]:
        move["shifts"] = [{"s0": "1"} for _ in move["shifts"]]


def another_phase(document):
    document["configurations"][0]["phase"] = "before"


def an_event(document):
    document["event"] = [0, "count"]


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (start_unmoved, "differ otherwise"),
        (above_unmoved, "the other run may do"),
        (smaller_bounds, "larger than its bound"),
        (negative_bounds, "negative"),
        (no_potential, "costs"),
        (negative_potential, "negative potential"),
        (other_difference, "differ otherwise"),
        (interval_difference, "unknown kind"),
        (to_the_end, "a move to nowhere"),
        (elsewhere, "a move to nowhere"),
        (without_configurations, "a move to nowhere"),
        (foreign_atoms, "variable|unknown|s0"),
        (another_phase, "another state|phase"),
        (an_event, "no move"),
    ],
)
def test_a_tampered_certificate_is_rejected(certificate, tamper, reason):
    document = copy.deepcopy(certificate)
    checked(document)
    tamper(document)
    with pytest.raises(Refused, match=reason):
        checked(document)


def test_a_smaller_epsilon_is_rejected(certificate):
    with pytest.raises(Refused, match="costs"):
        checked(certificate, budget=Fraction(999, 1000))


def test_facts_of_a_configuration_are_proved():
    document, epsilon = suggested(looping.histogram, "replace-one")
    check_induction(document, looping.histogram, Setting("replace-one"), epsilon)
    false = {"form": {"x": "1", "": "-1/2"}, "strict": False}
    for phase, reason in (("after", "need not be one"), ("before", "unknown variables")):
        wrong = copy.deepcopy(document)
        for each in wrong["configurations"]:
            each["facts"] += [false] if each["phase"] == phase else []
        with pytest.raises(Refused, match=reason):
            check_induction(wrong, looping.histogram, Setting("replace-one"), epsilon)


def test_intervals_of_free_states_are_proved():
    document, _ = suggested(looping.noisy_max, "answers")
    for each in document["configurations"]:
        each["differences"] = [
            {"ends": ["-1/2", "1/2"]} if d.get("ends") == ["-1", "1"] else d for d in each["differences"]
        ]
    with pytest.raises(Refused, match="differ otherwise"):
        check_induction(document, looping.noisy_max, Setting("answers"), Fraction(1))


# Mutants: without one of its checks the checker believes something false, that it rejects with it.


def test_without_the_cost_check_any_epsilon_is_believed(certificate, monkeypatch):
    monkeypatch.setattr(_Checking, "affordable", lambda *_: None)
    checked(certificate, budget=Fraction(0))


def test_without_the_difference_check_an_unmoved_threshold_is_believed(certificate, monkeypatch):
    monkeypatch.setattr(_Checking, "differ", lambda *_: None)
    document = copy.deepcopy(certificate)
    start_unmoved(document)
    checked(document, budget=Fraction(1))


def test_without_comparing_released_numbers_unmoved_noise_is_believed(monkeypatch):
    document, _ = suggested(looping.noisy_sum, "replace-one")
    for move in document["moves"]:
        move["shifts"], move["bounds"] = [{} for _ in move["shifts"]], ["0" for _ in move["bounds"]]
    for each in document["configurations"]:
        each["potential"] = "0"
    with pytest.raises(Refused, match="a released number changes"):
        check_induction(document, looping.noisy_sum, Setting("replace-one"), Fraction(0))
    monkeypatch.setattr(_Checking, "_equal", lambda *_: None)
    check_induction(document, looping.noisy_sum, Setting("replace-one"), Fraction(0))


@pytest.fixture(scope="module")
def annotated():
    document, epsilon = suggested(several_loops.hundred_above, "answers")
    assert epsilon == 1
    return document


def a_false_fact(document):
    for each in document["configurations"]:
        each["facts"] = [{"form": {"s1": "-1", "": "9"}, "strict": False}] if each["facts"] else []


def a_smaller_spending(document):
    """As if every answer above cost half of what it costs."""
    for each in document["configurations"]:
        if each["facts"]:
            each["potential"] = {"": "1/4", "s1": "-1/400"}


def counted_by_entries(document):
    document["scaled"] = True


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [(a_false_fact, "need not be one"), (a_smaller_spending, "costs"), (counted_by_entries, "does not ask for")],
)
def test_a_false_invariant_is_rejected(annotated, tamper, reason):
    function = several_loops.hundred_above
    document = copy.deepcopy(annotated)
    checked(document, function)
    tamper(document)
    with pytest.raises(Refused, match=reason):
        checked(document, function)


def test_numbers_that_need_not_be_whole_are_not_taken_for_such(annotated):
    document = copy.deepcopy(annotated) | {"whole": ["bound", "count"]}
    with pytest.raises(Refused, match="need not be whole"):
        checked(document, several_loops.hundred_above)


def test_scales_that_hang_on_the_length_are_paid_for(monkeypatch):
    document, epsilon = suggested(several_loops.prefix_sums, "replace-one")
    assert epsilon == 1
    check_induction(document, several_loops.prefix_sums, Setting("replace-one"), epsilon)
    with pytest.raises(Refused, match="costs"):
        check_induction(document, several_loops.prefix_sums, Setting("replace-one"), Fraction(9, 10))
    unscaled = document | {"scaled": False}
    with pytest.raises(Refused, match="where costs do not"):
        check_induction(unscaled, several_loops.prefix_sums, Setting("replace-one"), epsilon)
    endless = copy.deepcopy(document)
    for each in endless["configurations"]:
        if each["phase"] == "after":
            each["potential"] = "1"
    with pytest.raises(Refused, match="costs"):
        check_induction(endless, several_loops.prefix_sums, Setting("replace-one"), epsilon)
    monkeypatch.setattr(_Checking, "affordable", lambda *_: None)
    check_induction(endless, several_loops.prefix_sums, Setting("replace-one"), Fraction(0))


def test_the_entry_that_differs_does_so_in_every_loop(monkeypatch):
    """Without that check a second loop is believed to see the same data."""
    function = several_loops.exact_sum_in_the_second
    monkeypatch.setattr(Search, "_differing", only_first(Search._differing))
    document, epsilon = suggested(several_loops.sum_then_each, "replace-one")
    with pytest.raises(Refused, match="no move for the label"):
        check_induction(document, several_loops.sum_then_each, Setting("replace-one"), epsilon)
    monkeypatch.setattr(_Checking, "_differing", only_first(_Checking._differing))
    check_induction(document, several_loops.sum_then_each, Setting("replace-one"), epsilon)
    assert attempt(function) is None  # its numbers differ from the first loop on


def only_first(method):
    def changed(self, k, place, steps):
        return method(self, k, place, steps) if place.phase == "before" else None

    return changed


def test_prove_inside_of_a_mechanism_is_refused():
    def inside(data, rng):
        prove(looping.noisy_sum, epsilon=1)
        return data.sum() + rng.laplace()

    proof = prove(inside, epsilon=1, up_to=2)
    assert proof.verdict == "unsupported"
    assert "prove() inside of a mechanism" in proof.reason


def test_an_invariant_does_nothing_in_a_run():
    rng = np.random.default_rng(7)
    assert several_loops.hundred_above([5.0] * 3, rng) == several_loops.hundred_above(
        [5.0] * 3, np.random.default_rng(7)
    )
    assert prove.invariant(False, spent="nonsense") is None


def test_without_counting_how_often_an_array_is_set_a_late_leak_is_believed(monkeypatch):
    monkeypatch.setattr(columns, "times_set", lambda *_: 1)
    monkeypatch.setattr(columns, "refuse_changes", lambda *_: None)
    assert attempt(several_loops.set_again) is None  # the second assignment is left over
    monkeypatch.setattr(columns, "left_over", lambda *_: [])
    monkeypatch.setattr(real_runs, "larger_sizes", lambda _: [])
    assert attempt(several_loops.set_again) is None  # noise above 100 leads to another output
    monkeypatch.setattr(checking.BothReadings, "compare", lambda *_: 0)
    assert attempt(several_loops.set_again) == 2.0


def test_without_facts_being_proved_a_false_one_is_believed(monkeypatch):
    """A counter that is said to be at most 9, so that ten answers above are paid for and a hundred given."""
    document, epsilon = suggested(several_loops.false_fact, "answers")
    assert epsilon <= 1
    with pytest.raises(Refused, match="need not be one"):
        checked(copy.deepcopy(document), several_loops.false_fact)
    monkeypatch.setattr(Comparing, "_target", without_facts(Comparing._target))
    checked(document, several_loops.false_fact)


def without_facts(method):
    def changed(*arguments):
        found = method(*arguments)
        return None if found is None else replace(found, facts=())

    return changed


def test_without_looking_at_globals_a_late_leak_is_believed(monkeypatch):
    """Planted: lists around the function are lists of its own."""
    assert attempt(looping.late_by_a_global) is None
    monkeypatch.setattr(interpreter, "writable", lambda held: held)
    monkeypatch.setattr(methods, "mutable", lambda held: held)
    assert attempt(looping.late_by_a_global) is not None


def test_without_looking_for_aliases_a_late_leak_is_believed(monkeypatch):
    monkeypatch.setattr(Reading, "no_aliases", lambda _: None)
    assert attempt(looping.late_by_an_alias) is not None


def test_without_the_free_phase_check_the_last_noise_above_is_believed(monkeypatch):
    """The winner of noisy max with a best value that is forgotten: intervals are what ties the runs together."""
    document, _ = suggested(looping.noisy_max, "answers")
    for each in document["configurations"]:
        each["differences"] = [{"ends": ["0", "0"]} if "ends" in d else d for d in each["differences"]]
    with pytest.raises(Refused):
        check_induction(document, looping.noisy_max, Setting("answers"), Fraction(1))
    monkeypatch.setattr(_Checking, "again", lambda *_: None)
    check_induction(document, looping.noisy_max, Setting("answers"), Fraction(1))


def test_without_trials_a_wrong_cut_is_believed(certificate, monkeypatch):
    """A cut that takes every loop for an empty one, say."""
    from dpcert.proofs_checks.proving.checker.cutting import real_runs

    def wrong(*given):
        made = real(*given)
        loops = [replace(loop, real=(loop.real[0], lambda *_: ("return", "nothing"))) for loop in made.loops]
        return replace(made, loops=loops)

    real = real_runs.cut
    monkeypatch.setattr(real_runs, "cut", wrong)
    with pytest.raises(Refused, match="puts out something else"):
        checked(certificate)
    monkeypatch.setattr(checking, "same_outputs", lambda *_: 0)
    checked(certificate)
