"""Arrays of which something else is computed from some number of entries on are not proved for every number."""

from __future__ import annotations

import late_shapes
import pytest

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.cutting import columns, real_runs, statements
from dpcert.proofs_checks.proving.checker.cutting.shapes import Shape


@pytest.mark.parametrize("function", late_shapes.CHANGED + late_shapes.SPREAD + late_shapes.PLACES)
def test_no_proof_for_every_number_is_found(function):
    proof = prove(function, entries=1)
    assert not proof.every_size, str(proof)


def test_what_does_not_change_is_proved():
    assert prove(late_shapes.in_two_lines, epsilon=0.5, entries=1).every_size


def test_without_refusing_changes_a_late_leak_is_believed(monkeypatch):
    monkeypatch.setattr(columns, "refuse_changes", lambda *_: None)
    assert not prove(late_shapes.weight_in_a_list, entries=1).every_size  # runs on more entries differ
    monkeypatch.setattr(real_runs, "larger_sizes", lambda _: [])
    assert prove(late_shapes.weight_in_a_list, entries=1).every_size


def test_without_shapes_a_late_leak_is_believed(monkeypatch):
    monkeypatch.setattr(columns, "shape_of", lambda *_: Shape.FLAT)
    assert not prove(late_shapes.every_pair, entries=1).every_size  # runs on more entries differ
    monkeypatch.setattr(real_runs, "larger_sizes", lambda _: [])
    assert prove(late_shapes.every_pair, entries=1).every_size


def test_without_refusing_the_loops_variable_before_it_a_late_leak_is_believed(monkeypatch):
    monkeypatch.setattr(statements, "refuse_mentions", lambda *_: None)
    assert not prove(late_shapes.place_before_the_loop, entries=1).every_size  # runs on more entries differ
    monkeypatch.setattr(real_runs, "larger_sizes", lambda _: [])
    assert prove(late_shapes.place_before_the_loop, entries=1).every_size
