"""Neighbouring pairs differ in one unit exactly as the relation says, for every kind of dataset."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpcert.mechanisms import InputError
from dpcert.proofs_checks import neighbours, worst_case_pairs

numbers = st.integers(-5, 5)
lists = st.lists(numbers, min_size=1, max_size=6)
federations = st.dictionaries(st.text(max_size=3), lists, min_size=1, max_size=4)
matrices = arrays.arrays(float, st.tuples(st.integers(1, 5), st.just(2)), elements=st.floats(-1, 1))


@given(neighbours(lists, "replace-one"))
def test_replace_one_keeps_the_size_and_changes_at_most_one(pair):
    left, right = pair
    assert len(left) == len(right)
    assert sum(a != b for a, b in zip(left, right, strict=True)) <= 1


@given(neighbours(lists, "add-remove"))
def test_add_remove_differs_by_one_unit(pair):
    small, large = sorted(pair, key=len)
    assert len(large) == len(small) + 1
    assert any(large[:i] + large[i + 1 :] == small for i in range(len(large)))


@given(neighbours(lists, "zero-out"))
def test_zero_out_puts_a_zero(pair):
    changed = [(a, b) for a, b in zip(*pair, strict=True) if a != b]
    assert len(changed) <= 1
    assert all(0 in both for both in changed)


@given(neighbours(federations, "add-remove"))
def test_federations_lose_one_client(pair):
    small, large = sorted(pair, key=len)
    assert set(small) < set(large)
    assert len(large) == len(small) + 1


@given(neighbours(matrices, "zero-out"))
def test_arrays_zero_one_row(pair):
    left, right = pair
    rows = [row for row in range(len(left)) if not np.array_equal(left[row], right[row])]
    assert len(rows) <= 1
    assert all((left[row] == 0).all() or (right[row] == 0).all() for row in rows)


def test_data_frames_by_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2, 3], "income": [4.0, 5.0, 6.0]})
    pair = find(neighbours(st.just(frame), "add-remove"), lambda found: len(found[0]) > len(found[1]))
    assert len(pair[1]) == 2
    pair = find(neighbours(st.just(frame), "replace-one"), lambda found: not found[0].equals(found[1]))
    assert (pair[0] != pair[1]).any(axis=1).sum() == 1


def test_both_orders_are_drawn():
    strategy = neighbours(lists, "add-remove")
    assert find(strategy, lambda pair: len(pair[0]) > len(pair[1]))
    assert find(strategy, lambda pair: len(pair[0]) < len(pair[1]))


def test_a_pair_shrinks_to_a_small_one():
    left, right = find(neighbours(lists, "replace-one"), lambda pair: sum(pair[0]) != sum(pair[1]))
    assert len(left) == 1
    assert {*left, *right} == {0, 1}


@pytest.mark.parametrize("relation", ["add-remove", "replace-one", "zero-out"])
@pytest.mark.parametrize("dimension", [0, 3])
def test_worst_cases_are_neighbours_with_extremes(relation, dimension):
    found = list(worst_case_pairs(4, 1.0, relation, dimension))
    assert any(np.isnan(left).any() for left, _ in found)
    assert any(np.isinf(left).any() for left, _ in found)
    for left, right in found:
        if relation == "add-remove":
            assert len(left) == len(right) + 1
        else:
            assert np.array_equal(left[1:], right[1:])
    assert any(len(right) == 0 for _, right in found) == (relation == "add-remove")
    assert any(np.array_equal(left, -right) for left, right in worst_case_pairs(1, 1.0, "replace-one", dimension))


def test_bad_input_is_named():
    with pytest.raises(InputError, match="neighbouring"):
        neighbours(lists, "nearby")
    with pytest.raises(InputError, match="bound"):
        next(worst_case_pairs(3, -1.0))
    with pytest.raises(InputError, match="dataset"):
        find(neighbours(st.just(3.0)), lambda pair: True)
    with pytest.raises(InputError, match="unit"):
        find(neighbours(st.just(["text"]), "zero-out"), lambda pair: True)
