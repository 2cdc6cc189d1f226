"""What the checker's symbols make of numpy is what numbers make of it, also where entries are equal, 0 or 1."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from cases import few
from numpy_expressions import EXPRESSIONS

from dpcert.proofs_checks.proving.checker import tables
from dpcert.proofs_checks.proving.checker.farkas import Prover
from dpcert.proofs_checks.proving.checker.following import Refused
from dpcert.proofs_checks.proving.checker.names import followed
from dpcert.proofs_checks.proving.checker.pairs import cases
from dpcert.proofs_checks.proving.checker.runs import Branch, complete, parts, tree


def computing(expression):
    """mechanism(d, rng) that puts it out; built as code, since a mechanism must not call eval."""
    scope = {"np": np}
    exec(f"def mechanism(d, rng):\n    return {expression}\n", scope)
    return scope["mechanism"]


def unequal(expression, merging):
    """Entries and both outputs where the symbolic run means another thing than the real one; None where there are none,
    or where the symbolic run is refused."""
    function = computing(expression)
    case = next(iter(cases("replace-one", 3, Fraction(0), Fraction(1), False, merging)))
    try:
        node = tree(followed(function), case.dataset, case.data, Prover())
    except Refused:
        return None
    for values in itertools.product((Fraction(0), Fraction(1, 2), Fraction(1)), repeat=3):
        point = {"y": Fraction(0)} | {entry.name()[2:]: v for entry, v in zip(case.dataset, values, strict=True)}
        leaf = at(node, complete(point, case.data))
        symbolic = flat(json.loads(leaf.key), [float(form.value(complete(point, case.data))) for form in leaf.reals])
        try:
            real = flat(*parts(function(np.array([float(v) for v in values]), None)))
        except (TypeError, ValueError):  # the checker's real runs refuse it
            return None
        if symbolic != pytest.approx(real):
            return [float(v) for v in values], symbolic, real
    return None


def at(node, point):
    while isinstance(node, Branch):
        (way,) = [k for k, way in enumerate(node.ways) if all(holds(sign, point) for sign in way)]
        node = node.ends[way]
    return node


def holds(sign, point):
    value = sign.form.value(point)
    return value > 0 if sign.strict else value >= 0


def flat(key, reals):
    """The numbers of an output in order; of which kind they are the checker's real runs compare."""
    reals = iter(reals)

    def numbers(part):
        if part == "real":
            return [next(reals)]
        if len(part) == 2 and part[0] in ("bool", "int", "float"):
            return [{"True": 1.0, "False": 0.0}.get(part[1]) if part[0] == "bool" else float(part[1])]
        return [number for inner in part[1:] if inner == "real" or isinstance(inner, list) for number in numbers(inner)]

    return numbers(key)


@pytest.mark.parametrize("expression", few(EXPRESSIONS, 25))
def test_symbols_are_like_numbers(expression):
    for merging in (False, True):
        assert unequal(expression, merging) is None, expression


def test_an_option_that_is_passed_over_is_noticed(monkeypatch):
    """As it was: a mean of some entries taken for the mean of all."""
    whole = tables.Table.mean
    monkeypatch.setattr(tables.Table, "mean", lambda self, axis=None, **_: whole(self, axis))
    assert unequal("np.mean(d, where=d < 1)", False) is not None
