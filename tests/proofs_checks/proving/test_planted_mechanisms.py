"""Thirty-nine broken mechanisms and their correct twins: no broken one is proved, whatever the number of entries."""

import pytest
from cases import few

from dpcert.proofs_checks.planted.provable import provable
from dpcert.proofs_checks.proving import prove

CASES = provable()
NAMES = [case.name for case in CASES]


def test_there_are_enough():
    assert len({id(m) for case in CASES for m in (case.broken, case.correct)}) >= 60
    assert len(set(NAMES)) == len(NAMES) >= 30
    assert not [case.name for case in CASES if case.unproved]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_broken_one_is_not_proved(case):
    proof = prove(case.broken, epsilon=case.epsilon, entries=case.entries, **case.options)
    assert proof.verdict == "not proved"
    assert proof.counterexamples


@pytest.mark.parametrize("case", few(CASES, 3), ids=NAMES)
def test_the_correct_one_is_proved_for_two_entries(case):
    assert prove(case.correct, epsilon=case.epsilon, entries=2, **case.options).proved


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_correct_one_is_proved_where_the_broken_one_fails(case):
    assert prove(case.correct, epsilon=case.epsilon, entries=case.entries, **case.options).proved


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_broken_one_is_not_proved_for_any_larger_number(case):
    """Sizes one by one: a failure at a small one would end the question."""
    from dpcert.proofs_checks.proving.arrays import Symbols
    from dpcert.proofs_checks.proving.instrument import instrumented
    from dpcert.proofs_checks.proving.relations import Domain, pairs
    from dpcert.proofs_checks.proving.search import search

    domain = Domain(case.options.get("low", 0), case.options.get("high", 1))
    for entries in range(case.entries, 9):
        worst = 0
        for pair in pairs(case.options.get("relation", "replace-one"), entries, domain, merging=True):
            pieces, failures = search(instrumented(case.broken), pair, Symbols.of)
            worst = max([worst, *(piece.alignment.cost for piece in pieces)])
            if failures or worst > case.epsilon:
                break
        else:
            pytest.fail(f"{case.name}: {float(worst)} at {entries} entries")
