"""Names that a function sets anew: data = np.clip(data, 0, 1), total = total + noise, for every number of entries."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.cutting import reassigned_names
from dpcert.proofs_checks.proving.checker.cutting.cut import cut
from dpcert.proofs_checks.proving.checker.cutting.real_runs import same_outputs
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused


def clipped_data(data, rng):
    data = np.asarray(data)
    data = np.clip(data, 0, 1)
    return data.sum() + rng.laplace(0, 1)


def step_by_step(data, rng):
    x = np.clip(data, 0, 1)
    x = x.sum()
    x = x + rng.laplace(0, 1)
    return x


def scores(data, rng):
    values = data * 1.0
    values = values + rng.laplace(0, 2, len(values))
    return int(np.argmax(values))


def mean(data, rng):
    data = np.clip(data, 0, 1)
    found = np.mean(data)
    found += rng.laplace(0, 1 / len(data))
    return found


def listed(data, rng):
    total = [min(max(x, 0), 1) for x in data]
    total = sum(total)
    return total + rng.laplace(0, 1)


def five_times(data, rng):
    data = np.clip(data, 0, 1)
    data = data * 5
    return data.sum() + rng.laplace(0, 1)


def later_weight(data, rng):
    weight = 1
    first = data * weight
    weight = 5
    first = data * weight
    return first.sum() + rng.laplace(0, 1)


def earlier_noise(data, rng):
    noise = rng.laplace(0, 1)
    total = data.sum() + noise
    noise = rng.laplace(0, 1)
    total = total - noise
    return total, data.sum() + noise


def swapped(data, rng):
    one, other = data.sum(), rng.laplace(0, 1)
    one, other = other, one
    return other


def in_the_loop(data, rng):
    weight, total = 1, 0
    for x in data:
        total = total + x * weight
        weight = 5
    return total + rng.laplace(0, 1)


def named_like_a_version(data, rng):
    data_2 = data.sum()
    data = data * 0
    return data.sum() + rng.laplace(0, 1), data_2


def evaluated_later(data, rng):
    total = lambda: data.sum()  # noqa: E731
    data = data * 0
    return total() + rng.laplace(0, 1)


LOW_HIGH = {"low": 0, "high": 1}
PRIVATE = [clipped_data, step_by_step, scores, mean, listed]
BROKEN = [five_times, later_weight, earlier_noise, swapped, in_the_loop, named_like_a_version]


@pytest.mark.parametrize("function", PRIVATE)
def test_they_are_proved_for_every_number_of_entries(function):
    assert prove(function, epsilon=1, **LOW_HIGH).every_size


@pytest.mark.parametrize("function", BROKEN)
def test_what_leaks_is_not_proved(function):
    assert not prove(function, epsilon=1, **LOW_HIGH).proved


def test_what_is_evaluated_later_keeps_its_names():
    with pytest.raises(Refused, match="the name 'data' is set"):
        cut(evaluated_later, "replace-one", "array")


def test_a_refusal_names_what_is_written():
    def looped(data, rng):
        data = np.clip(data, 0, 1)
        return data.sum() * data[0] + rng.laplace(0, 1)

    with pytest.raises(Refused, match="the array 'data' is used otherwise"):
        cut(looped, "replace-one", "array")


def only_what_is_set(node, names):
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            inner.id = names.get(inner.id, inner.id)


@pytest.mark.parametrize("function", [five_times, step_by_step])
def test_a_former_value_in_the_place_of_the_present_one_is_noticed(function, monkeypatch):
    """Planted: names are read as they were set first. The comparison with the function itself notices it."""
    same_outputs(function, cut(function, "replace-one", "array"), Setting())
    monkeypatch.setattr(reassigned_names, "_rename", only_what_is_set)
    with pytest.raises(Refused):
        same_outputs(function, cut(function, "replace-one", "array"), Setting())
