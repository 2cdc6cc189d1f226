"""What the checker's symbols make of numpy is what numbers make of it, also where entries are equal, 0 or 1."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from numpy_expressions import EXPRESSIONS
from symbolic_runs import at, flat, loaded

from dpcert.proofs_checks.proving.checker.farkas import Prover
from dpcert.proofs_checks.proving.checker.language import methods
from dpcert.proofs_checks.proving.checker.outputs import real_parts
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused
from dpcert.proofs_checks.proving.checker.runs import tree


def computing(expressions, folder):
    """mechanism(d, rng) for each expression."""
    return loaded([f"def f{i}(d, rng):\n    return {each}\n" for i, each in enumerate(expressions)], folder)


def unequal(function, merging):
    """Entries and both outputs where the symbolic run means another thing than the real one; None where there are none,
    "refused" where the symbolic run is."""
    case = next(iter(Setting().cases(3, merging)))
    try:
        node = tree(function, case.dataset, case.data, Prover())
    except Refused:
        return "refused"
    for values in itertools.product((Fraction(0), Fraction(1, 2), Fraction(1)), repeat=3):
        point = {"y": Fraction(0)} | {entry.name()[2:]: v for entry, v in zip(case.dataset, values, strict=True)}
        leaf, full = at(node, case.data.complete(point))
        symbolic = flat(json.loads(leaf.key), [float(form.value(full)) for form in leaf.reals])
        try:
            real = flat(real_parts(function(np.array([float(v) for v in values]), None)))
        except (TypeError, ValueError, Refused):  # the checker's real runs refuse it
            return "refused"
        if symbolic != pytest.approx(real):
            return [float(v) for v in values], symbolic, real
    return None


def wrong(expressions, folder):
    """The expressions of which the two differ, and how many are followed."""
    found, followed = [], 0
    for expression, function in zip(expressions, computing(expressions, folder), strict=True):
        for merging in (False, True):
            differing = unequal(function, merging)
            followed += differing != "refused"
            if differing not in (None, "refused"):
                found.append((expression, *differing))
    return found, followed


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.nightly)])
def test_symbols_are_like_numbers(step, tmp_path):
    """By night all of them: the gate of the tables."""
    expressions = list(EXPRESSIONS)[::step]
    found, followed = wrong(expressions, tmp_path)
    assert found == []
    assert followed > len(expressions)  # of twice as many


def test_a_table_that_ignores_an_axis_is_noticed(tmp_path, monkeypatch):
    """Planted: a mean along an axis that is one of everything."""
    whole = methods.ARRAYS["mean"]
    monkeypatch.setitem(methods.ARRAYS, "mean", lambda value, axis=None: whole(value))
    assert wrong(["np.stack([d, 2 * d]).mean(axis=0)"], tmp_path)[0]
