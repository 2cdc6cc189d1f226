"""Thirty-nine broken mechanisms and their correct twins: no broken one is proved, whatever the number of entries."""

import pytest
from cases import few

from dpcert.proofs_checks.planted.provable import provable
from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.arrays import Symbols
from dpcert.proofs_checks.proving.instrument import instrumented
from dpcert.proofs_checks.proving.relations import Domain, pairs
from dpcert.proofs_checks.proving.search import Failure, by_output
from dpcert.proofs_checks.proving.unsupported import Unsupported
from dpcert.proofs_checks.proving.work import OutOfWork, Work

CASES = provable()
NAMES = [case.name for case in CASES]


def test_there_are_enough():
    assert len({id(m) for case in CASES for m in (case.broken, case.correct)}) >= 60
    assert len(set(NAMES)) == len(NAMES) >= 30
    assert not [case.name for case in CASES if case.unproved]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_broken_one_is_not_proved_for_up_to_eight_entries(case):
    """A proof for up to N entries is one for each number up to N: it ends at the first without one, whatever N."""
    proof = prove(case.broken, epsilon=case.epsilon, entries=8, **case.options)
    assert proof.verdict == "not proved"
    assert not proof.stopped
    assert proof.counterexamples
    assert max(len(example.dataset) for example in proof.counterexamples) <= case.entries


@pytest.mark.parametrize("case", few(CASES, 3), ids=NAMES)
def test_the_correct_one_is_proved_for_two_entries(case):
    assert prove(case.correct, epsilon=case.epsilon, entries=2, **case.options).proved


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_correct_one_is_proved_where_the_broken_one_fails(case):
    assert prove(case.correct, epsilon=case.epsilon, entries=case.entries, **case.options).proved


def searched(case, entries, most):
    """What the search alone says of one size; of smaller ones nothing is asked, as one failure ends a question."""
    domain, work = Domain(case.options.get("low", 0), case.options.get("high", 1)), Work(most)
    worst = 0
    try:
        for pair in pairs(case.options.get("relation", "replace-one"), entries, domain, merging=True):
            pair.space.work = work
            for found in by_output(instrumented(case.broken), pair, Symbols.of):
                if isinstance(found, Failure):
                    return "not proved"
                worst = max([worst, *(piece.alignment.cost for piece in found)])
                if worst > case.epsilon:
                    return "not proved"
    except OutOfWork:
        return "ran out"
    except Unsupported:
        return "not followed"
    return f"found for {float(worst)}"


@pytest.mark.parametrize(
    ("case", "most"),
    [pytest.param(case, 500, id=case.name) for case in CASES[1::10]]
    + [pytest.param(case, 400_000, id=f"{case.name}, more", marks=pytest.mark.nightly) for case in CASES],
)
def test_the_broken_one_is_not_proved_for_any_larger_number(case, most):
    """Up to 8, with a limit in questions, the same everywhere. Of what runs out nothing is known: it is told apart."""
    answers = {}
    for entries in range(case.entries, 9):
        answers[entries] = searched(case, entries, most)
        if answers[entries] != "not proved":
            break
    print(f"{case.name}: {answers}")
    assert answers.pop(case.entries) == "not proved"
    assert set(answers.values()) <= {"not proved", "ran out", "not followed"}


def test_what_runs_out_is_proved_for_what_was_done_only():
    case = CASES[NAMES.index("noisy max in numpy")]
    proof = prove(case.correct, epsilon=case.epsilon, entries=5, max_work=200, **case.options)
    assert proof.proved
    assert proof.stopped
    assert proof.sizes == tuple(proof.certificate["sizes"])
    assert 0 < max(proof.sizes) < 5
    assert "stopped before the requested number of entries" in str(proof)
    broken = prove(case.broken, epsilon=case.epsilon, entries=5, max_work=1, **case.options)
    assert not broken.proved or max(broken.sizes) < case.entries  # where it is private
