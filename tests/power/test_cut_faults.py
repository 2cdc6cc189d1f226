"""Functions that are cut as if they were others: where the two differ at single values only, it is noticed."""

from __future__ import annotations

import late_shapes
import numpy as np
import pytest

from dpcert.proofs_checks.proving.checker.cutting import real_runs
from dpcert.proofs_checks.proving.checker.cutting.comparison_inputs import Entries
from dpcert.proofs_checks.proving.checker.cutting.cut import cut
from dpcert.proofs_checks.proving.checker.cutting.real_runs import larger_sizes, same_outputs
from dpcert.proofs_checks.proving.checker.cutting.symbolic_comparison import BothReadings
from dpcert.proofs_checks.proving.checker.farkas import Prover
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused


def above(data, rng):
    return (data > 0.3).sum() + rng.laplace(0, 1)


def above_or_at(data, rng):
    return (data >= 0.3).sum() + rng.laplace(0, 1)


def capped(data, rng):
    return data.sum() + rng.laplace(0, 1)


def but_for_the_largest(data, rng):
    return sum(x if x < 1 else 0.0 for x in data) + rng.laplace(0, 1)


def but_for_zeros(data, rng):
    return sum(x if x != 0 else 500.0 for x in data) + rng.laplace(0, 1)


def first_of_equals(data, rng):
    best, where = -np.inf, -1
    for i, x in enumerate(data):
        value = x + rng.laplace(0, 2)
        if value > best:
            best, where = value, i
    return where


def last_of_equals(data, rng):
    best, where = -np.inf, -1
    for i, x in enumerate(data):
        value = x + rng.laplace(0, 2)
        if value >= best:
            best, where = value, i
    return where


def with_any_noise(data, rng):
    noise = rng.laplace(0, 1)
    return data.sum() + noise


def with_noise_in_bounds(data, rng):
    noise = rng.laplace(0, 1)
    return data.sum() + (noise if abs(noise) < 1000 else 0.0)


def with_another_number(data, rng):
    return sum(x if x != 0.3712 else 500.0 for x in data) + rng.laplace(0, 1)


def of_two_kinds(data, rng):
    former, falls = 0.0, 0
    for x in data:
        falls += 1 if x < former else 0
        former = x
    return falls + rng.laplace(0, 1)


def falls_by_little(data, rng):
    former, falls = 0.0, 0
    for x in data:
        falls += 1 if x < former - 0.9 else 0
        former = x
    return falls + rng.laplace(0, 1)


def of_norm_one(data, rng):
    total = np.zeros(data.shape[1])
    for record in data:
        total = total + (record / 2 if np.linalg.norm(record) >= 1 else record)
    return total + rng.normal(0, 1, size=data.shape[1])


def of_norm_above_one(data, rng):
    total = np.zeros(data.shape[1])
    for record in data:
        total = total + (record / 2 if np.linalg.norm(record) > 1 else record)
    return total + rng.normal(0, 1, size=data.shape[1])


def halves(data, rng):
    return (2 * data == 1).sum() + rng.laplace(0, 1)


def nothing(data, rng):
    return (data == 7).sum() + rng.laplace(0, 1)


ARRAY, ROWS = "array", "rows"
READ_AS = {
    "an end of a range": (above, above_or_at, ARRAY),
    "the largest entry": (capped, but_for_the_largest, ARRAY),
    "zeros": (capped, but_for_zeros, ARRAY),
    "the larger number of two marks": (halves, nothing, ARRAY),
    "large noise": (with_any_noise, with_noise_in_bounds, ARRAY),
    "ties of noise": (first_of_equals, last_of_equals, ARRAY),
    "large steps only": (of_two_kinds, falls_by_little, ARRAY),
    "a norm that is in the code": (of_norm_one, of_norm_above_one, ROWS),
}
NEVER = "ties of noise"
"""They have probability 0: what is followed leaves them out."""


def of(container):
    return Setting() if container == ARRAY else Setting("replace-one", None, None, False, ROWS, "zcdp")


def in_runs(function, read_as, container):
    same_outputs(function, cut(read_as, "replace-one", container), of(container))


def in_ways(function, read_as, container):
    made = cut(read_as, "replace-one", container)
    return BothReadings(function, made, of(container), True, Prover()).compare(larger_sizes(function))


@pytest.mark.parametrize("name", READ_AS)
def test_runs_on_special_numbers_notice_it(name, monkeypatch):
    with pytest.raises(Refused, match="something else"):
        in_runs(*READ_AS[name])
    plain = Entries.kinds
    monkeypatch.setattr(Entries, "kinds", lambda self: plain(self)[:1] * 3)
    if name != "large steps only":
        in_runs(*READ_AS[name])  # plain entries and noise do not


@pytest.mark.parametrize("name", READ_AS)
def test_ways_that_are_followed_notice_it(name):
    if name == NEVER:
        assert in_ways(*READ_AS[name]) > 0
    else:
        with pytest.raises(Refused, match="the function cut at its loop puts out"):
            in_ways(*READ_AS[name])


def test_a_number_that_is_not_in_the_code_is_noticed_by_ways_alone():
    in_runs(capped, with_another_number, ARRAY)
    with pytest.raises(Refused, match="puts out another number"):
        in_ways(capped, with_another_number, ARRAY)


def generator_begun_anew(data, rng):
    once, again = sum(x for x in data), sum(x for x in data)
    return (0 if len(data) < late_shapes.MANY else once - again) + rng.laplace(0, 2)


def every_entry_once(data, rng):
    total = data.sum() if len(data) >= late_shapes.MANY else 0
    return total + rng.laplace(0, 2)


LATE = {
    "a generator that is used twice": (late_shapes.generator_used_twice, generator_begun_anew),
    "a constant array beside the entries": (late_shapes.every_entry_three_times, every_entry_once),
}


@pytest.mark.parametrize("name", LATE)
def test_what_is_another_array_from_forty_entries_on_is_noticed_there(name, monkeypatch):
    case = *LATE[name], ARRAY
    with pytest.raises(Refused, match="something else on 40 entries"):
        in_runs(*case)
    with pytest.raises(Refused, match="puts out another number"):
        in_ways(*case)
    monkeypatch.setattr(real_runs, "larger_sizes", lambda _: [])
    in_runs(*case)  # few entries do not show it
    function, read_as = LATE[name]
    BothReadings(function, cut(read_as, "replace-one", ARRAY), Setting(), True, Prover()).compare([])


def five_times_from_many_on(data, rng):
    weight = 5.0 if len(data) > 5003 else 1.0
    return (data * weight).sum() + rng.laplace(0, 1)


def test_a_number_of_entries_in_the_code_is_run_beyond(monkeypatch):
    case = five_times_from_many_on, capped, ARRAY
    with pytest.raises(Refused, match="something else on 5004 entries"):
        in_runs(*case)
    monkeypatch.setattr(real_runs, "LARGEST", 5003)
    in_runs(*case)


@pytest.mark.parametrize("function", [above, capped, first_of_equals, with_any_noise, of_two_kinds, of_norm_one])
def test_what_is_read_as_itself_is_accepted(function):
    case = function, function, ROWS if function is of_norm_one else ARRAY
    in_runs(*case)
    assert in_ways(*case) > 0
