"""Each reduction on a small mechanism whose every probability is known exactly."""

import itertools
import math
from fractions import Fraction

import pytest

from dpcert.accounting import Bracket
from dpcert.accounting.billboard import reductions
from dpcert.accounting.billboard.guarantees import (
    EVERYBODY_ELSE,
    ONE_OTHER_CLIENT,
    OUTSIDE,
    SERVER,
    Guarantee,
    UnlikeGuarantees,
)
from dpcert.mechanisms import InputError


def guarantee(epsilon=1.0, delta=0.0, notion="dp", observer=OUTSIDE, relation="replace-one"):
    return Guarantee(notion, "client", relation, Bracket(epsilon, epsilon, True, "test"), delta, observer)


def hockey_stick(p, q, epsilon):
    keys = set(p) | set(q)
    return sum(max(0.0, float(p.get(k, 0)) - math.exp(epsilon) * float(q.get(k, 0))) for k in keys)


def noisy_or_billboard(data, flip=Fraction(1, 4)):
    """g(D) = majority of the bits, flipped with probability 1/4: (log 3)-DP under replace-one."""
    majority = int(2 * sum(data) > len(data))
    return {majority: 1 - flip, 1 - majority: flip}


def outputs_of_others(data, i):
    """Law of (f_j(D_j, g))_{j != i}, with f_j randomised by its own fair coin: (D_j xor g, D_j and coin)."""
    law = {}
    others = [j for j in range(len(data)) if j != i]
    for g, mass in noisy_or_billboard(data).items():
        for coins in itertools.product((0, 1), repeat=len(others)):
            view = tuple((data[j] ^ g, data[j] & coin) for j, coin in zip(others, coins, strict=True))
            law[view] = law.get(view, 0) + mass * Fraction(1, 2 ** len(others))
    return law


def test_billboard_lemma_on_every_pair_of_neighbours():
    found = reductions.billboard_lemma(guarantee(math.log(3)), "the-billboard-only")
    assert (found.notion, found.observer) == ("billboard", EVERYBODY_ELSE)
    worst = 0.0
    for data in itertools.product((0, 1), repeat=3):
        for i in range(3):
            changed = tuple(1 - b if j == i else b for j, b in enumerate(data))
            worst = max(
                worst, hockey_stick(outputs_of_others(data, i), outputs_of_others(changed, i), found.epsilon.upper)
            )
    assert worst <= 1e-15
    # Not vacuous: at a slightly smaller epsilon the same outputs are distinguishable.
    p, q = outputs_of_others((1, 1, 0), 0), outputs_of_others((0, 1, 0), 0)
    assert hockey_stick(p, q, math.log(3) - 0.01) > 1e-3


@pytest.mark.parametrize("learned", ["own-participation", "own-noise-share"])
def test_the_lemma_refuses_what_clients_learn_beside_the_billboard(learned):
    with pytest.raises(UnlikeGuarantees, match="the coalition of all other clients"):
        reductions.billboard_lemma(guarantee(), learned)
    assert reductions.billboard_lemma(guarantee(observer=EVERYBODY_ELSE), learned).notion == "billboard"


def test_the_lemma_needs_dp_of_the_billboard():
    with pytest.raises(UnlikeGuarantees) as caught:
        reductions.billboard_lemma(guarantee(notion="joint", observer=EVERYBODY_ELSE), "the-billboard-only")
    assert caught.value.field == "notion"
    with pytest.raises(UnlikeGuarantees):
        reductions.billboard_lemma(guarantee(observer=ONE_OTHER_CLIENT), "the-billboard-only")
    with pytest.raises(InputError):
        reductions.billboard_lemma(guarantee(), "everything")


def test_billboard_implies_joint_and_not_the_other_way():
    board = reductions.billboard_lemma(guarantee(), "the-billboard-only")
    assert reductions.billboard_implies_joint(board).notion == "joint"
    with pytest.raises(UnlikeGuarantees):
        reductions.billboard_implies_joint(reductions.billboard_implies_joint(board))
    assert reductions.dp_implies_joint(guarantee(observer=EVERYBODY_ELSE)).notion == "joint"
    with pytest.raises(UnlikeGuarantees):
        reductions.dp_implies_joint(guarantee(observer=SERVER))


def test_group_on_randomised_response_chains():
    # Three steps of a chain P0, P1, P2 with exactly (eps, delta)-close neighbours: a leak of mass delta beside RR.
    delta, keep = Fraction(1, 100), Fraction(3, 4)
    laws = [
        {"leak0": delta, "a": (1 - delta) * keep, "b": (1 - delta) * (1 - keep)},
        {"leak1": delta, "a": (1 - delta) * (1 - keep), "b": (1 - delta) * keep},
        {"leak2": delta, "a": (1 - delta) * keep / 9, "b": (1 - delta) * (1 - keep / 9)},
    ]
    epsilon = max(
        math.log(float(p[k] / q[k]))
        for p, q in [*itertools.pairwise(laws), *itertools.pairwise(laws[::-1])]
        for k in "ab"
    )
    for p, q in itertools.pairwise(laws):
        assert max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)) <= float(delta) + 1e-15
    two = reductions.group(guarantee(epsilon, float(delta), "joint", EVERYBODY_ELSE), 2)
    assert hockey_stick(laws[0], laws[2], two.epsilon.upper) <= two.delta
    assert two.epsilon.upper >= 2 * epsilon
    assert two.delta == pytest.approx(float(delta) * (1 + math.exp(epsilon)))
    assert two.unit == "group of 2 clients"


def test_group_delta_is_tight_for_a_chain_that_uses_it_up():
    # delta_2 = delta (1 + e^eps): P -> Q1 loses delta, and what Q1 -> Q2 loses counts e^eps times.
    epsilon, delta = math.log(2), 0.05
    p, q1 = {"x": 0.45, "y": 0.55}, {"x": 0.2, "y": 0.8}  # .45 = 2 * .2 + .05
    q2 = {"x": 0.075, "y": 0.925}  # .2 = 2 * .075 + .05
    assert hockey_stick(p, q1, epsilon) == pytest.approx(delta)
    assert hockey_stick(q1, q2, epsilon) == pytest.approx(delta)
    two = reductions.group(guarantee(epsilon, delta), 2)
    assert hockey_stick(p, q2, 2 * epsilon) == pytest.approx(two.delta)


def test_group_edges():
    assert reductions.group(guarantee(), 1) == guarantee()
    assert reductions.group(guarantee(0.0, 0.1), 3).delta == pytest.approx(0.3)
    assert reductions.group(guarantee(1.0, 0.5), 5).delta == 1.0
    assert reductions.group(guarantee(math.inf, 1e-9), 2).delta == 1.0
    with pytest.raises(InputError):
        reductions.group(guarantee(), 0)


def test_post_processing_keeps_everything_but_the_name():
    after = reductions.post_process(guarantee())
    assert (after.epsilon, after.delta, after.observer) == (guarantee().epsilon, guarantee().delta, OUTSIDE)
    assert "post-processing" in after.theorem
