"""Kinds of mechanisms around each other, two deep, against small worlds in full (tests/oracles/nested_worlds.py).

Every kind around every kind around every additive noise, as docs/combinations.md lists them. What it says of other
noise rests on the pairs of what is inside: dominating_pairs.md, "Inside of each other".
"""

from collections import Counter
from itertools import product

import adaptive_cohorts
import nesting
import pytest
from cases import at_night
from judging import hold, judged
from nested_worlds import AROUND, NOISES, RELATIONS, VIEWS, Nested

from dpcert.mechanisms import InputError

QUICK = [
    (("Disjoint", "Cyclic"), "discrete-gaussian"),
    (("Cyclic", "Poisson"), "discrete-laplace"),
    (("Sequence", "FixedSize"), "discrete-laplace"),
    (("Poisson", "Repeat"), "discrete-laplace"),
    (("Poisson", "Poisson"), "discrete-laplace"),
    (("FixedSize", "FixedSize"), "discrete-laplace"),
    (("VisibleParticipation", "Poisson"), "distributed"),
]
CASES = [*QUICK, *(at_night(case) for case in product(AROUND, NOISES) if case not in QUICK)]


@pytest.mark.parametrize(("around", "noise"), CASES)
def test_no_pair_exceeds_the_upper_end_and_one_attains_the_lower(around, noise):
    """Answered, and so compared, is what the table has an answer to."""
    found = Counter()
    for relation, sees in product(RELATIONS, VIEWS):
        world = Nested(around, noise, relation, sees)
        letter = nesting.letter(around, noise, relation, sees)
        try:
            is_generated = world.is_small
        except InputError:
            assert letter == "-"
            continue
        if is_generated and not world.is_solved:
            result = judged(world, extreme=True)
            assert (result == "refused") == (letter == "-"), world
            found[result] += 1
    assert found["infinite"] == 0


def following(relation, epsilon):
    """Data that follow the first round, of noise 1."""
    one = Nested(("FixedSize",), "gaussian", relation, "hidden")
    return adaptive_cohorts.of_rounds(2, one.setting(), one.pairs(), relation, epsilon)


@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
def test_hidden_cohorts_whose_data_follow_the_first_round(relation):
    """Their lower ends are such federations', their upper ends hold for them. The plant: of data fixed beforehand."""
    world = Nested(("Repeat", "FixedSize"), "gaussian", relation, "hidden")
    assert world.is_solved
    bracket = world.ask()
    hold(bracket, lambda at, decided: following(relation, at), world.delta, world)
    _, fixed = world.most(bracket.lower, lambda low, high: high < world.delta)
    assert fixed < world.delta


@pytest.mark.parametrize(
    ("around", "less"),
    [
        (("Disjoint", "Group"), ("Disjoint",)),
        (("Group", "Sequence"), ("Sequence",)),
        (("Cyclic", "Group"), ("Cyclic",)),
        (("Sequence", "Poisson"), ("Poisson",)),
        (("Disjoint", "Sequence"), ("Disjoint",)),
        (("Repeat", "FixedSize"), ("FixedSize",)),
    ],
)
def test_a_kind_that_is_forgotten_is_caught(around, less):
    """The plant: what is priced lacks the group, or the second release."""
    world = Nested(around, "discrete-laplace", "add-remove", "hidden")
    wrong = Nested(less, "discrete-laplace", "add-remove", "hidden").ask().upper
    low, _ = world.most(wrong, lambda low, high: low > world.delta)
    assert low > world.delta


def test_a_cohort_for_each_release_is_caught():
    world = Nested(("FixedSize", "Sequence"), "discrete-laplace", "add-remove", "hidden")
    apart = Nested(("Sequence", "FixedSize"), "discrete-laplace", "add-remove", "hidden").ask().upper
    assert world.most(apart, lambda low, high: low > world.delta)[0] > world.delta


def test_the_part_that_is_left_alone_is_caught():
    """A replaced unit leaves one sampled part and enters another; the plant prices one of them."""
    world = Nested(("Disjoint", "Poisson"), "discrete-laplace", "replace-one", "hidden")
    one = Nested(("Poisson",), "discrete-laplace", "add-remove", "hidden").ask().upper
    assert world.most(one, lambda low, high: low > world.delta)[0] > world.delta
