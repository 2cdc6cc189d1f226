"""Kinds around each other around every leaf of docs/combinations.md that test_nested_worlds.py does not draw.

tests/oracles/nested_pairs.py has the neighbours' pairs of laws. No pair exceeds the certified upper end, and where a
lower end above 0 is printed some pair attains it: divergences of numbers that are put into cells to 1e-3.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import nesting
import pytest
from cases import few
from finite_worlds import VIEWS
from hockey_stick import LARGE
from nested_pairs import Around
from random_rounds import apart, bins
from worlds import RELATIONS

from dpcert import epsilon
from dpcert.mechanisms import BallsInBins, InputError

NEAR = 1e-3
PARTS = 40
WORST_BY_EPSILON = ("bounded-laplace", "truncated-gaussian")
"""Whose neighbours are on a grid, which is not fine enough to attain a lower end."""
DAILY = [
    (("Sequence",), "balls in bins", "zero-out", "visible"),
    (("Disjoint", "Cyclic"), "staircase", "replace-one", "hidden"),
    (("Poisson",), "truncated-laplace", "replace-one", "hidden"),
    (("FixedSize",), "truncated-laplace", "zero-out", "pooled"),
    (("BestOfSeveral", "Cyclic"), "laplace", "zero-out", "hidden"),
    (("TruncatedPoisson",), "pure-dp", "add-remove", "hidden"),
    (("Disjoint", "RandomAllocation"), "laplace", "add-remove", "hidden"),
    (("Repeat", "Sequence"), "skellam", "replace-one", "hidden"),
]


def held(world, delta):
    """Refused, infinite, or bracketed: AssertionError where the bracket is false."""
    try:
        bracket = world.ask(delta)
    except InputError:
        return "refused"
    assert bracket.certified
    if bracket.upper < math.inf:
        low, _ = world.most(bracket.upper)
        assert low <= delta, f"delta({bracket.upper}) is at least {low}, not {delta}: {world}"
    if bracket.lower > 0 and delta > 0 and world.leaf not in WORST_BY_EPSILON:
        low, _ = world.most(min(bracket.lower, LARGE))
        assert low >= delta * (1 - NEAR), f"delta({bracket.lower}) is {low}, below {delta}: {world}"
    return "bracketed" if bracket.upper < math.inf else "infinite"


@pytest.mark.parametrize(("names", "leaf", "relation", "sees"), DAILY)
def test_some_of_them(names, leaf, relation, sees):
    assert held(Around(names, leaf, relation, sees), 0.1) == "bracketed"


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_no_pair_exceeds_the_upper_end_and_one_attains_the_lower(part):
    """Answered, and so compared, is what the table has an answer to; at delta = 0 alone where its letter is 0. Where
    one of the two deltas is refused otherwise, nothing finite is said at the other (searches of runs that may fail)."""
    for names, leaf in nesting.paired()[part::PARTS]:
        for relation, sees in product(RELATIONS, VIEWS):
            letter = nesting.letter(names, leaf, relation, sees)
            found = Counter(held(Around(names, leaf, relation, sees), delta) for delta in (0.0, 0.1))
            assert (found["refused"] == 2) == (letter == "-"), (names, leaf, relation, sees)
            once = found["refused"] == 1
            assert once or letter != "0", (names, leaf, relation, sees)
            assert not once or letter == "0" or found["infinite"] == 1, (names, leaf, relation, sees)


@pytest.mark.parametrize(
    ("names", "leaf", "sees", "forgotten"),
    few(
        [
            (("Sequence",), "balls in bins", "visible", ()),
            (("Group",), "balls in bins", "visible", ()),
            (("Sequence",), "tree-aggregation", "hidden", ()),
            (("Disjoint",), "noisy-max gumbel", "hidden", ()),
            (("Repeat", "Poisson"), "truncated-laplace", "hidden", ("Poisson",)),
            (("BestOfSeveral", "Cyclic"), "laplace", "hidden", ("Cyclic",)),
            (("Group", "Sequence"), "duchi", "hidden", ("Group",)),
            (("Disjoint", "Poisson"), "truncated-laplace", "hidden", ("Poisson",)),
        ],
        4,
    ),
)
def test_what_is_forgotten_is_caught(names, leaf, sees, forgotten):
    """The plants: priced as if one kind were not there; of a replaced unit, the part it leaves."""
    relation = "add-remove" if "Disjoint" in names else "replace-one"
    cheaper = nesting.nested_run(forgotten, nesting.leaves()[leaf])
    wrong = epsilon(cheaper, 0.1, relation, **VIEWS[sees]).upper
    assert Around(names, leaf, "replace-one", sees).most(wrong)[0] > 0.1


def test_one_pass_over_the_bins_is_caught(monkeypatch):
    """The plant: of a unit's rounds, one."""
    monkeypatch.setattr(BallsInBins, "squared_sensitivity", lambda self: (0.0, 1.25))
    with pytest.raises(AssertionError, match="is at least"):
        held(Around(("Cyclic",), "balls in bins", "zero-out", "visible"), 0.1)


def test_draws_are_laws_of_one_rate():
    """Of rounds kept apart the first ones too: they are as in the middle of a run."""
    for draws, rate in ((bins(), Fraction(1, 2)), (apart(), Fraction(1, 3))):
        assert sum(mass for mass, _ in draws) == 1
        for at in range(4):
            assert sum(mass for mass, rounds in draws if at in rounds) == rate
