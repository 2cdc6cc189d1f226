"""Each fault that the federation oracle found, planted again: the oracle finds it, and the product refuses it."""

from importlib import import_module

import pytest
from federation import SLACK
from worlds import World

from dpcert.accounting import Bracket
from dpcert.accounting.billboard import faced_noise, observers
from dpcert.mechanisms import InputError

dominating = import_module("dpcert.accounting.dominating")  # the package has a function of that name


NOTHING_KNOWN = Bracket(0.0, 0.0, True, "none")


def nothing(*arguments, **options):
    """A check that has been taken out."""


FAULTS = {
    "an absent client takes its noise away": (
        [(dominating, "refuse_absent_shares", nothing)],
        World("distributed", "none", "add-remove", "hidden", clients=2, rounds=1),
    ),
    "a Poisson cohort brings a random amount of noise": (
        [(dominating, "refuse_absent_shares", nothing)],
        World("distributed", "poisson", "zero-out", "hidden", clients=3, rounds=1, rate=0.5),
    ),
    "all others know their shares of discrete noise": (
        [(dominating, "refuse_known_shares", nothing)],
        World("shares", "none", "zero-out", "pooled", clients=4, rounds=1),
    ),
    "how often a colluder is drawn tells who is there": (
        [
            (observers, "_counted", lambda step: False),
            (observers, "_lower", lambda *_: Bracket(0.0, 0.0, True, "none")),
        ],
        World("gaussian", "fixed-size", "add-remove", "one other", "none", clients=3, cohort=2, scale=2.0, delta=0.02),
    ),
    "a mean over exactly so many, over a Poisson cohort": (
        [(faced_noise, "_fits", nothing)],
        World("gaussian", "poisson", "replace-one", "all others", "sample counts", rounds=1, rate=0.2, scale=2.0),
    ),
    "random allocation, by the realised cohort": (
        [(faced_noise, "_fits", nothing)],
        World("gaussian", "allocated", "replace-one", "all others", "sample counts", delta=0.02),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_oracle_finds_the_planted_fault_and_the_product_refuses_it(fault, monkeypatch):
    taken_out, world = FAULTS[fault]
    with pytest.raises(InputError):
        world.ask()
    for module, name, instead in taken_out:
        monkeypatch.setattr(module, name, instead)
    bracket = world.ask()
    (found,) = world.worst((bracket.upper,))
    assert found > world.delta + SLACK


UNEVEN = World("gaussian", "fixed-size", "zero-out", "all others", "sample counts", clients=4, cohort=2, scale=1.0)


def test_the_lower_end_of_uneven_weights_was_that_of_the_largest_weight(monkeypatch):
    bracket = UNEVEN.ask()
    (found,) = UNEVEN.worst((0.99 * bracket.lower,))
    assert found >= UNEVEN.delta
    monkeypatch.setattr(faced_noise, "_lightest", lambda run, aggregation: run)
    wrong = UNEVEN.ask()
    (found,) = UNEVEN.worst((0.99 * wrong.lower,), extreme=False)
    assert found < 0.95 * UNEVEN.delta
