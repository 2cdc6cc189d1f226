"""Thirty-nine broken mechanisms and their correct twins: no broken one is proved, whatever the number of entries."""

import pytest
from cases import few
from planted.provable import provable

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.exact_numbers import written
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.search import Failure, by_output
from dpcert.proofs_checks.proving.solver import pairs

CASES = provable()
NAMES = [case.name for case in CASES]


def test_there_are_enough():
    assert len({id(m) for case in CASES for m in (case.broken, case.correct)}) >= 60
    assert len(set(NAMES)) == len(NAMES) >= 30
    assert not [case.name for case in CASES if case.unproved]


@pytest.mark.parametrize("case", few(CASES, 8), ids=NAMES)
def test_the_broken_one_is_not_proved_for_up_to_eight_entries(case):
    """A proof for up to N entries is one for each number up to N: it ends at the first without one, whatever N."""
    proof = prove(case.broken, epsilon=case.epsilon, up_to=8, **case.options)
    assert proof.verdict == "not proved"
    assert not proof.stopped
    assert proof.counterexamples
    assert max(len(example.dataset) for example in proof.counterexamples) <= case.entries


@pytest.mark.parametrize("case", few(CASES, 12), ids=NAMES)
def test_the_correct_one_is_proved_for_two_entries(case):
    assert prove(case.correct, epsilon=case.epsilon, up_to=2, **case.options).proved


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_correct_one_is_proved_where_the_broken_one_fails(case):
    assert prove(case.correct, epsilon=case.epsilon, up_to=case.entries, **case.options).proved


def searched(case, entries):
    """What the search alone says of one size; of smaller ones nothing is asked, as one failure ends a question."""
    ends = (case.options.get("low", 0), case.options.get("high", 1))
    ends = [None if end is None else written(end) for end in ends]
    setting = Setting(case.options.get("relation", "replace-one"), *ends)
    worst = 0
    for pair in pairs(setting, entries, merging=True):
        for found in by_output(case.broken, pair, "array"):
            if isinstance(found, Failure):
                return "not proved"
            worst = max([worst, *(piece.cost for piece in found)])
            if worst > case.epsilon:
                return "not proved"
    return f"found for {float(worst)}"


LONGEST = {"histogram as if one were added", "gap to exact answers"}
"""A quarter of a minute, and two seconds, with 8 entries."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=[pytest.mark.nightly] if name in LONGEST or i % 6 else [])
        for i, (case, name) in enumerate(zip(CASES, NAMES, strict=True))
    ],
)
def test_the_broken_one_is_not_proved_for_any_larger_number(case):
    """Up to 8, each number alone: there is an output without a proof within the claim, and none is left open."""
    assert {searched(case, entries) for entries in range(case.entries, 9)} == {"not proved"}


def test_what_runs_out_is_proved_for_what_was_done_only():
    case = CASES[NAMES.index("noisy max in numpy")]
    proof = prove(case.correct, epsilon=case.epsilon, up_to=5, max_work=60, **case.options)
    assert not proof.proved
    assert proof.stopped
    assert proof.sizes == tuple(proof.certificate["sizes"])
    assert 0 < proof.up_to < 5
    assert "stopped before the requested number of entries" in str(proof)
    broken = prove(case.broken, epsilon=case.epsilon, up_to=5, max_work=1, **case.options)
    assert broken.up_to is None or broken.up_to < case.entries  # where it is private
