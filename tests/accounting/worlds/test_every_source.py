"""check_source on every accountant and every source, on pairs and runs whose truth is enumerated or has a formula."""

import math
from functools import cache, partial
from itertools import product as every

import mpmath as mp
import numpy as np
import pytest
from check_source import check_source

from dpcert.accounting import Bracket, delta
from dpcert.accounting.accountants import CERTIFIED
from dpcert.accounting.answer import SOURCES
from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.pairs import (
    AllocationPair,
    ApproximateDpPair,
    GaussianPair,
    LaplacePair,
    Order,
    RandomizedResponsePair,
    ReplacedAllocationPair,
    Sampling,
    ScoredBlockPair,
    SubsampledPair,
)
from dpcert.accounting.question import Question
from dpcert.accounting.source import known_together
from dpcert.mechanisms import (
    BestOfSeveral,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    RandomizedResponse,
    Repeat,
    ReportNoisyMax,
    Shuffled,
    TruncatedPoisson,
)


def gaussian(shift, epsilon):
    """Balle, Wang 2018, Theorem 8, in 30 digits."""
    with mp.workdps(30):
        s, e = mp.mpf(shift), mp.mpf(epsilon)
        return float(mp.ncdf(s / 2 - e / s) - mp.exp(e) * mp.ncdf(-s / 2 - e / s))


def finite(law, rounds, epsilon):
    """By enumeration of all outcomes of a few rounds; law: (p, q) each."""
    masses = [(math.prod(p for p, _ in each), math.prod(q for _, q in each)) for each in every(law, repeat=rounds)]
    return math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in masses)


def sampled(law, rate):
    return [((1 - rate) * q + rate * p, q) for p, q in law]


def swapped(law):
    return [(q, p) for p, q in law]


COIN = [(0.7, 0.3), (0.3, 0.7)]
STATED = [(0.01, 0.0), (0.99 / (1 + math.exp(-0.5)), 0.99 / (1 + math.exp(0.5)))]
STATED += swapped(STATED)
PAIRS = {
    "gaussian": (((GaussianPair(0.5), 4),), partial(gaussian, 1.0)),
    "coin": (((RandomizedResponsePair(0.3, 2), 3),), partial(finite, COIN, 3)),
    "stated": (((ApproximateDpPair(0.5, 0.01), 2),), partial(finite, STATED, 2)),
    "visible": (
        ((SubsampledPair(GaussianPair(0.8), 0.25, Sampling.VISIBLE), 1),),
        lambda epsilon: 0.25 * gaussian(0.8, epsilon),
    ),
    "laplace": (((LaplacePair(1.5), 1),), lambda epsilon: max(0.0, 1 - math.exp((epsilon - 1.5) / 2))),
    "sampled gaussian": (((SubsampledPair(GaussianPair(1.0), 0.1, Sampling.REMOVE), 20),), None),
    "replaced gaussian": (((SubsampledPair(GaussianPair(1.0), 0.1, Sampling.REPLACE), 20),), None),
    "seen gaussian": (((SubsampledPair(GaussianPair(1.0), 0.1, Sampling.VISIBLE), 20),), None),
    "block": (((AllocationPair(GaussianPair(1.0), 8, 1, Order.REMOVE), 1),), None),
    "block, added": (((AllocationPair(GaussianPair(1.0), 8, 1, Order.ADD), 1),), None),
    "replaced block": (
        ((ReplacedAllocationPair(AllocationPair(GaussianPair(1.0), 8, 1, Order.REMOVE)), 1),),
        None,
    ),
    "replaced blocks": (
        ((ReplacedAllocationPair(AllocationPair(GaussianPair(1.0), 8, 1, Order.REMOVE)), 3),),
        None,
    ),
    "scores": (((ScoredBlockPair(1.0, 8, 1, 2, 1), 2),), None),
} | {
    f"sampled coin, {order}": (
        ((SubsampledPair(RandomizedResponsePair(0.3, 2), 0.25, Sampling.of(order)), 3),),
        partial(finite, sampled(COIN, 0.25) if order is Order.REMOVE else swapped(sampled(COIN, 0.25)), 3),
    )
    for order in Order
}


def asked(accountant, product):
    """As `accountants` asks it: where its floating point breaks down, it has no bracket."""

    return partial(_one, accountant, "delta", product), partial(_one, accountant, "epsilon", product)


@cache
def _one(accountant, quantity, product, at):
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return getattr(accountant, quantity)(product, at, 1e-3)
    except (ArithmeticError, ValueError) as failure:
        raise OutOfReach(str(failure)) from failure


@pytest.mark.parametrize("accountant", CERTIFIED, ids=lambda accountant: accountant.name)
def test_every_accountant(accountant):
    """On every pair that it takes, beside all others that take it."""
    answered = 0
    for product, truth in PAIRS.values():
        if not accountant.serves(product):
            continue
        others = [asked(each, product)[0] for each in CERTIFIED if each is not accountant and each.serves(product)]
        near = [reaching(other) for other in others]
        answered += check_source(*asked(accountant, product), truth, near, (0.3, 2.0), (1e-3,))
    assert answered >= 3, "no pair of the table is its"


def reaching(ask):
    """What says nothing excludes nothing."""

    def found(at):
        try:
            return ask(at)
        except (InputError, OutOfReach):
            return Bracket(0.0, 1.0, True, "nothing")

    return found


RUNS = {
    "LargestLoss": (Laplace(1.0), "zero-out", lambda epsilon: max(0.0, 1 - math.exp((epsilon - 1.0) / 2))),
    "Uncut": (Repeat(TruncatedPoisson(Gaussian(2.0), 0.1, 100, 40), 3), "zero-out", None),
    "OneRelease": (ReportNoisyMax(1.0, "exponential"), "replace-one", None),
    "Products": (Repeat(RandomizedResponse(0.3), 3), "replace-one", partial(finite, COIN, 3)),
    "Amplified": (Repeat(Shuffled(Gaussian(1.0), 40), 2), "zero-out", None),
    "Epochs": (Shuffled(Gaussian(1.0), 40), "zero-out", None),
    "Searches": (BestOfSeveral(RandomizedResponse(0.3), poisson_mean=2.0), "replace-one", None),
    "Cohorts": (Repeat(FixedSize(Gaussian(8.0), 400, 100), 60), "replace-one", None),
}
NOTHING = {"delta": Bracket(0.0, 1.0, True, "nothing"), "epsilon": Bracket(0.0, math.inf, True, "nothing")}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: type(source).__name__)
def test_every_source(source):
    """By itself, from what the sources before it know where it needs that; beside the whole answer."""
    run, relation, truth = RUNS[type(source).__name__]
    before = SOURCES[: SOURCES.index(source)] if type(source).__name__ == "Cohorts" else ()

    def ask(quantity, at):
        question = Question.about(run, quantity, relation, rtol=0.02)
        return known_together((*before, source), question, question.quantity, at, question.rtol, NOTHING[quantity])

    whole = partial(delta, run, neighbouring=relation, rtol=0.02)
    assert source.knows_below or ask("delta", 2.0).lower == 0.0
    assert check_source(partial(ask, "delta"), partial(ask, "epsilon"), truth, [whole], (0.3, 2.0), (1e-5,)) == 3
