"""int(), round() and floor of what is whole whatever the data, and of nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import few

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import check, tracer
from dpcert.proofs_checks.proving.checker.real import runs


def int_of_a_count(d, rng):
    return int((d > 0.5).sum()) + rng.laplace(0, 1)


def round_of_a_count(d, rng):
    return round(sum(x > 0.5 for x in d)) + rng.laplace(0, 1)


def floor_of_a_count(d, rng):
    twice = np.rint(2 * (d > 0.5).sum())
    return math.floor(np.sum(d > 0.5)) + twice - 2 * np.ceil((d > 0.5).sum()) + rng.laplace(0, 1)


def counted_by_a_loop(d, rng):
    count = 0
    for x in d:
        if x > 0.5:
            count += 1
    return int(count) + rng.laplace(0, 1)


def integers_of_an_array(d, rng):
    return ((d > 0.5) * 2).astype(int).sum() + rng.laplace(0, 2)


@pytest.mark.parametrize(
    "mechanism",
    few([int_of_a_count, round_of_a_count, floor_of_a_count, counted_by_a_loop, integers_of_an_array], 8),
    ids=lambda f: f.__name__,
)
def test_counts_are_whole(mechanism) -> None:
    assert prove(mechanism, epsilon=1, up_to=3).proved
    assert not prove(mechanism, epsilon=0.9, up_to=2).proved


@pytest.mark.parametrize("mechanism", [int_of_a_count, round_of_a_count], ids=lambda f: f.__name__)
def test_of_sums_of_comparisons_for_every_number_of_entries(mechanism) -> None:
    assert prove(mechanism, epsilon=1, up_to=2).every_size


def truncated(d, rng):
    return int(d.sum()) + rng.laplace(0, 1)


def test_whole_entries_are_whole() -> None:
    assert prove(truncated, epsilon=1, up_to=2, whole=True).proved
    assert prove(truncated, epsilon=1, up_to=2).verdict == "not proved"


def to_tens(d, rng):
    return round((d > 0.5).sum() * 5, -1) + rng.laplace(0, 5)


def to_a_byte(d, rng):
    return np.array([200 * (d > 0.5).sum()]).astype(np.int8)[0] + rng.laplace(0, 200)


def to_truth_values(d, rng):
    return np.array([(d > 0.5).sum()]).astype(bool)[0]


def is_an_int(d, rng):
    return rng.laplace(0, 1) if isinstance(int((d > 0.5).sum()), int) else d[0]


def in_an_array_of_integers(d, rng):
    """numpy cuts off what is added, as its array holds integers: in real numbers nothing tells."""
    counts = np.array([(d > 0.5).sum(), 0])
    counts[0] = counts[0] + rng.laplace(0, 1)
    return counts[0]


@pytest.mark.parametrize(
    "mechanism",
    [to_tens, to_a_byte, to_truth_values, is_an_int, in_an_array_of_integers],
    ids=lambda f: f.__name__,
)
def test_what_need_not_be_whole_is_refused(mechanism) -> None:
    assert not prove(mechanism, epsilon=1, up_to=2).proved


def test_without_looking_whether_a_number_is_whole_real_runs_notice(monkeypatch) -> None:
    """Planted: whatever is rounded is taken for whole; and no real runs but at points that a solver chose."""
    monkeypatch.setattr(tracer.Tracer, "is_whole", lambda self, form: True)
    assert "the real output is" in prove(truncated, epsilon=1, up_to=1).reason
    monkeypatch.setattr(check, "at_random", lambda *_, **__: 0)
    assert "the real output is" in prove(truncated, epsilon=1, up_to=1).reason
    monkeypatch.setattr(runs, "_somewhere", lambda *_: None)
    assert prove(truncated, epsilon=1, up_to=1).proved
