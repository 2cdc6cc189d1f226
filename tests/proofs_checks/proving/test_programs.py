"""Random functions of the language: the interpreter on symbols says what Python does on numbers."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from cases import many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import programs
from symbolic_runs import at, flat, loaded

from dpcert.proofs_checks.proving.checker import runs
from dpcert.proofs_checks.proving.checker.farkas import Prover
from dpcert.proofs_checks.proving.checker.language import arrays, interpreter
from dpcert.proofs_checks.proving.checker.outputs import real_parts
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused

POINTS = list(itertools.product((Fraction(0), Fraction(1, 2), Fraction(7, 8)), repeat=2))


def differing(function):
    """A point at which the two say something else; None; or "refused"."""
    case = next(iter(Setting().cases(2, False)))
    try:
        node = runs.tree(function, case.dataset, case.data, Prover())
    except Refused:
        return "refused"
    for values in POINTS:
        point = {"y": Fraction(0)} | {entry.name()[2:]: v for entry, v in zip(case.dataset, values, strict=True)}
        leaf, full = at(node, case.data.complete(point))
        symbolic = flat(json.loads(leaf.key), [float(form.value(full)) for form in leaf.reals])
        real = flat(real_parts(function(np.array([float(v) for v in values]), None)))
        if symbolic != pytest.approx(real):
            return [float(v) for v in values], symbolic, real
    return None


def wrong(bodies, folder):
    """Of these programs those of which the two differ, and how many were followed."""
    functions = loaded([f"def f{i}(d, rng):\n{body}\n" for i, body in enumerate(bodies)], folder)
    found = [(body, differing(function)) for body, function in zip(bodies, functions, strict=True)]
    return [(body, how) for body, how in found if how not in (None, "refused")], [how != "refused" for _, how in found]


QUIET = [
    HealthCheck.function_scoped_fixture,
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]


@settings(max_examples=many(3), deadline=None, suppress_health_check=QUIET, derandomize=True, database=None)
@given(bodies=st.lists(programs(), min_size=8, max_size=8))
def test_programs_by_day(bodies, tmp_path):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runs, "LIMIT", 60)
        assert wrong(bodies, tmp_path)[0] == []


@pytest.mark.nightly
@settings(max_examples=many(400), deadline=None, suppress_health_check=QUIET, database=None)
@given(bodies=st.lists(programs(), min_size=25, max_size=25))
def test_ten_thousand_programs_by_night(bodies, tmp_path):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runs, "LIMIT", 60)
        assert wrong(bodies, tmp_path)[0] == []


SLICE = "    a = d.copy()\n    c = a[:1]\n    c[0] = 9.0\n    return a"
LIST = "    b = [d[0], 0.5]\n    e = b\n    e[0] = 9.0\n    return b"


def test_slices_that_copy_are_noticed(tmp_path, monkeypatch):
    """Planted: what is written to a slice is not written to its array."""
    assert wrong([SLICE, LIST], tmp_path)[0] == []
    taken = arrays.taken

    def copied(array, place):
        found = taken(array, place)
        return arrays.Array(found.cells.copy(), found.kind) if isinstance(found, arrays.Array) else found

    monkeypatch.setattr(interpreter.Interpreter, "item", lambda self, held, at: copied(held, at))
    assert [body for body, _ in wrong([SLICE], tmp_path)[0]] == [SLICE]
