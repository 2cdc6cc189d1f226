"""What an observer learns of kinds around each other, and of selections, reports and public ranges, in small worlds.

As test_observed_noise.py; the worlds are those of tests/oracles/observed_worlds.py: no enumerated pair of neighbours
exceeds the certified upper end, and some pair attains a lower end above 0.
"""

from collections import Counter
from itertools import product

import pytest
from cases import at_night
from judging import judged
from nested_worlds import KINDS, NOISES, RELATIONS
from nesting import OTHERS
from observed_worlds import AROUND, OBSERVERS, Observed, choice

from dpcert.accounting.billboard import known_reports
from dpcert.mechanisms import InputError

DELTAS = (0.05, 0.3)
LEAVES = [
    ("randomized-response", "shuffled"),
    ("staircase", "alone"),
    ("shuffled two categories", "alone"),
    ("shuffled two categories", "shown"),
    ("sparse-vector", "cyclic"),
    ("pure-dp", "allocated"),
]
CASES = [*LEAVES, *(at_night(case) for case in product(OTHERS, AROUND) if case not in LEAVES)]
OUTER = ("Disjoint", "Group", "Cyclic", "Sequence")
"""Around what else there is, cohorts among it."""


def answered(leaf, scheme):
    """How many questions were answered, each checked."""
    found = 0
    for relation, observer in product(RELATIONS, OBSERVERS):
        world = choice(leaf, scheme, relation, observer)
        for delta in DELTAS:
            try:
                bracket = world.ask(observer, 1, delta)
            except InputError:
                break
            world.check(bracket, observer, 1, delta)
            found += 1
    return found


@pytest.mark.parametrize(("leaf", "scheme"), CASES)
def test_choices_and_reports_before_observers(leaf, scheme):
    assert answered(leaf, scheme) >= (0 if "histogram" in leaf or leaf.startswith("shuffled") else len(DELTAS))


NESTED = [("Cyclic", "Poisson", "discrete-laplace")]


@pytest.mark.parametrize(
    ("outer", "inner", "noise"),
    [*NESTED, *(at_night(case) for case in product(OUTER, KINDS, NOISES) if case not in NESTED)],
)
def test_kinds_around_each_other_before_observers(outer, inner, noise):
    found = Counter()
    for relation, observer, stateful in product(RELATIONS, OBSERVERS, (True, False)):
        world = Observed((outer, inner), noise, relation, observer, stateful=stateful)
        try:
            is_generated = world.is_small
        except InputError:
            continue
        if is_generated:
            found[judged(world, extreme=True)] += 1
    assert found["infinite"] == 0


def test_colluders_who_are_taken_for_strangers_are_noticed(monkeypatch):
    """The plant: of 20 shuffled reports one other client knows none, and all others know none of theirs."""
    for observer in ("one other", "all others"):
        world = choice("shuffled two categories", "alone", "replace-one", observer)
        world.check(world.ask(observer, 1, 0.05), observer, 1, 0.05)
    monkeypatch.setattr(known_reports, "_left", lambda step, colluders: step)
    with pytest.raises(AssertionError, match="is at least"):
        world.check(world.ask(observer, 1, 0.05), observer, 1, 0.05)
