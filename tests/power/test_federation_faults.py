"""Each fault that the federation oracle found, planted again: the oracle finds it, and the product refuses it."""

import importlib
import math
from fractions import Fraction
from importlib import import_module

import federation as fed
import pytest
import sides
from cases import at_night
from worlds import World

from dpcert.accounting import Bracket, epsilon
from dpcert.accounting.billboard import faced_noise, observers
from dpcert.mechanisms import Gaussian, InputError
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification import verify as verification

dominating = import_module("dpcert.accounting.pricing.dominating")  # the package has a function of that name


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
            (observers, "_lower", lambda *_: NOTHING_KNOWN),
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
    "whoever sees a cohort of everybody sees who is there": (
        [(dominating, "refuse_seen_presence", nothing)],
        World("gaussian", "shown poisson at rate 1", "add-remove", "hidden", clients=2, rounds=1),
    ),
    "beside a light client that is drawn twice the unit weighs more": (
        [(faced_noise, "_fits", nothing)],
        World(
            "gaussian", "with-replacement", "replace-one", "all others", "sample counts", clients=3, cohort=3, rounds=1
        ),
    ),
}


SLOW = "random allocation, by the realised cohort"
"""The same plant as the one before it, in a scheme whose price takes ten seconds."""


@pytest.mark.parametrize("fault", [at_night(fault) if fault == SLOW else fault for fault in FAULTS])
def test_the_oracle_finds_the_planted_fault_and_the_product_refuses_it(fault, monkeypatch):
    taken_out, world = FAULTS[fault]
    with pytest.raises(InputError):
        world.ask()
    for module, name, instead in taken_out:
        monkeypatch.setattr(module, name, instead)
    bracket = world.ask()
    low, _ = world.most(bracket.upper, lambda low, high: low > world.delta)
    assert low > world.delta or _not_attained(world, bracket.lower)


def _not_attained(world, epsilon):
    """Whether every pair of neighbours stays well below delta at a lower end."""
    return world.most(epsilon, lambda low, high: high < 0.95 * world.delta, extreme=False)[1] < 0.95 * world.delta


LOWER_ENDS = {
    "the largest weight for every cohort": (
        (faced_noise, "_lightest", lambda run, aggregation: run),
        World("gaussian", "fixed-size", "zero-out", "all others", "sample counts", clients=4, cohort=2),
    ),
    "a unit that is drawn twice brings one share of noise": (
        (faced_noise, "has_step", lambda run, kinds: False),
        World("gaussian", "with-replacement", "zero-out", "all others", "client noise", clients=2, cohort=2, rounds=1),
    ),
    "a unit that is drawn twice sends twice its update under the noise of one": (
        (faced_noise, "_drawn_at_all", lambda run: run),
        World("gaussian", "with-replacement", "zero-out", "server", "client noise", clients=2, cohort=2, rounds=1),
    ),
}


@pytest.mark.parametrize("fault", LOWER_ENDS)
def test_the_oracle_finds_a_lower_end_that_nobody_attains(fault, monkeypatch):
    planted, world = LOWER_ENDS[fault]
    low, _ = world.most(world.ask().lower, lambda low, high: low >= 0.999 * world.delta)
    assert low >= 0.999 * world.delta
    monkeypatch.setattr(*planted)
    assert _not_attained(world, world.ask().lower)


def test_a_full_cohort_tells_the_others_that_somebody_else_is_there():
    """The plant is what was certified: everybody takes part, and a unit that is in keeps another one out."""
    world = World("gaussian", "truncated", "add-remove", "pooled", rounds=1, rate=0.8, scale=2.0, delta=0.02)
    assert world.ask().upper == math.inf
    planted = epsilon(Gaussian(2.0), world.delta, "replace-one").upper
    assert world.most(planted, lambda low, high: low > world.delta)[0] > world.delta


def test_a_mean_that_divides_by_who_is_there(monkeypatch):
    """Two clients, at 1 and at -1: without the second the mean goes from 0 to 1. Priced as half of that, planted."""
    tables = {
        "claim": {"title": "t", "neighbouring": "add-remove", "epsilon": 1.0, "delta": 0.05},
        "mechanism": {"kind": "gaussian-mean", "noise_std": 1.0, "clip_norm": 1.0},
        "sampling": {"population": 2},
    }
    one = Fraction(1)
    setting = fed.Setting(fed.everybody(1), one, weights=(one, one))  # over who is there
    pairs = [((sides.constant((-one,)), sides.constant((one,))), (None, sides.constant((one,))))]

    def at_least(epsilon):
        return fed.most(setting, pairs, epsilon, 1e-6, lambda low, high: False)[0]

    claim = parse_claim(tables)
    assert at_least(verification.verify(claim).certified.upper) <= 0.05
    worse = importlib.import_module("dpcert.proofs_checks.verification.exposure")
    monkeypatch.setattr(worse, "divides_by_who_is_there", lambda *_: False)
    assert at_least(verification.verify(claim).certified.upper) > 0.05
