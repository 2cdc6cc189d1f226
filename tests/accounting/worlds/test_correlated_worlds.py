"""Correlated noise against runs of a few rounds in full: every pattern of participations, contributions on a grid.

tests/oracles/correlated.py looks at what is released (prefix sums, a tree's nodes), the accountants at the encoder.
"""

from importlib import import_module

import pytest
from cases import few
from correlated import largest, prefix_sums, profile, tree

from dpcert.accounting import epsilon
from dpcert.mechanisms import (
    BandedFactorisation,
    InputError,
    MatrixFactorisation,
    Repeat,
    ToeplitzFactorisation,
    TreeAggregation,
)

TARGETS = (0.3, 1e-3, 1e-9)
VIEWS = ({}, {"participation": "visible"}, {"notion": "billboard"})
LIMITS = [(1, 1), (1, 2), (2, 2), (1, 3), (2, 3)]
"""Minimum separation and maximum participations."""

WORLDS = [(f"tree of {t}", t, lambda s, m, t=t: (TreeAggregation(1.3, t, s, m), tree(t, 1.3))) for t in (1, 2, 3, 4)]
WORLDS += [
    (
        f"toeplitz {column}",
        3,
        lambda s, m, column=column: (
            ToeplitzFactorisation(0.8, column, 3, s, m),
            prefix_sums([[(*column, 0.0, 0.0)[i - j] if j <= i else 0.0 for j in range(3)] for i in range(3)], 0.8),
        ),
    )
    for column in ((1.0, 0.5), (1.0, 0.5, 0.25), (2.0,))
]
WORLDS += [
    (
        f"encoder {rows}",
        len(rows),
        lambda s, m, rows=rows: (MatrixFactorisation(1.1, rows, s, m), prefix_sums(rows, 1.1)),
    )
    for rows in (
        ((1.0, 0.0), (0.5, 1.0)),
        ((1.0, 0.0, 0.0), (0.75, 1.0, 0.0), (0.5, 0.25, 2.0)),
        ((1.0, 0.0, 0.0), (-0.5, 1.0, 0.0), (0.25, -0.5, 1.0)),
    )
]
BANDED = ((3.0, 0.0, 0.0), (4.0, 4.0, 0.0), (0.0, 3.0, 5.0))
WORLDS += [("banded", 3, lambda s, m: (BandedFactorisation(4.0, (5.0, 5.0, 5.0), 2, s, m), prefix_sums(BANDED, 4.0)))]
CASES = few([(build, rounds) for _, rounds, build in WORLDS], 4)
NAMES = [name for name, _, _ in WORLDS]


def judged(run, squared, relation, target, **view):
    """AssertionError where the bracket is false, as far as the enumerated neighbours tell; whether one attains it."""
    bracket = epsilon(run, target, relation, **view)
    assert profile(squared, bracket.upper)[0] <= target
    return not bracket.lower or profile(squared, bracket.lower)[0] >= target * (1 - 1e-9)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace-one"])
@pytest.mark.parametrize(
    ("build", "rounds"), few([(build, t) for _, t, build in WORLDS], 8), ids=[name for name, _, _ in WORLDS]
)
def test_no_pattern_exceeds_the_bracket_and_one_attains_it(build, rounds, relation, dimension):
    seen_worlds = 0
    for separation, most in LIMITS:
        if (most - 1) * separation >= rounds or (most == 3 and dimension == 2):
            continue
        try:
            run, seen = build(separation, most)
            run.squared_sensitivity()
        except InputError:  # bands that are wider than the separation
            continue
        squared = largest(seen, relation, separation, most, dimension)
        for target in TARGETS:
            for view in VIEWS:
                if relation == "add-remove" and view.get("participation"):
                    continue
                assert judged(run, squared, relation, target, **view) or dimension == 2
                seen_worlds += 1
    assert seen_worlds >= 6


def test_a_run_that_is_repeated_is_its_own_composition():
    """Two restarts of a tree: twice the squared distance."""
    squared = 2 * largest(tree(3, 1.3), "zero-out", 1, 2, 1)
    assert judged(Repeat(TreeAggregation(1.3, 3, 1, 2), 2), squared, "zero-out", 1e-3)


@pytest.mark.parametrize("fault", ["one participation", "no overlap"])
def test_a_sensitivity_that_is_too_small_is_caught(fault, monkeypatch):
    """The plants: the worst single column whatever the participations; columns as if they were orthogonal."""
    rows = ((1.0, 0.0), (0.5, 1.0))
    norms = [sum(row[j] ** 2 for row in rows) for j in range(2)]
    wrong = max(norms) if fault == "one participation" else sum(norms)
    module = import_module("dpcert.mechanisms.matrix_sensitivity")
    monkeypatch.setattr(module, "general", lambda *_: (wrong, wrong))
    squared = largest(prefix_sums(rows, 1.1), "zero-out", 1, 2, 1)
    with pytest.raises(AssertionError):
        judged(MatrixFactorisation(1.1, rows, 1, 2), squared, "zero-out", 1e-3)
