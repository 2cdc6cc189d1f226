"""Planted: accountants that check_source must not pass."""

from dataclasses import replace
from functools import partial

import pytest
from check_source import check_source

from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.accounting.pairs import GaussianPair

PRODUCT = ((GaussianPair(0.5), 4),)
HONEST = {"delta": partial(gaussian.delta, PRODUCT), "epsilon": partial(gaussian.epsilon, PRODUCT)}


def truth(epsilon):
    return gaussian.delta(PRODUCT, epsilon).upper


def scaled(name, end, factor):
    def ask(at):
        found = HONEST[name](at)
        return replace(found, **{end: getattr(found, end) * factor})

    return HONEST | {name: ask}


FAULTS = {
    "delta from above, too low": scaled("delta", "upper", 1 - 1e-6) | {},
    "epsilon from above, too low": scaled("epsilon", "upper", 1 - 1e-6),
    "epsilon from below, too high": scaled("epsilon", "lower", 1 + 1e-6),
    "delta at twice the epsilon": HONEST | {"delta": lambda at: HONEST["delta"](2 * at)},
    "delta that rises": HONEST | {"delta": lambda at: HONEST["delta"](1 / at)},
    "an estimate": HONEST | {"delta": lambda at: replace(HONEST["delta"](at), certified=False)},
}


def test_the_honest_one_passes():
    assert check_source(**HONEST, truth=truth, others=[HONEST["delta"]]) == 6


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("known", [truth, None])
def test_caught(fault, known):
    """Without a truth, by the other accountants and by its own inverse."""
    with pytest.raises((AssertionError, EmptyBracket)):
        check_source(**FAULTS[fault], truth=known, others=[HONEST["delta"]])
