"""The logarithm that every node's loss is: its error against 200-bit balls stays far inside the stated bound."""

from __future__ import annotations

import numpy as np
import pytest
from cases import many
from flint import acb, arb, ctx

from dpcert.accounting.losses.smooth.paths import mixture_log
from dpcert.accounting.rounding import UNIT


def largest_error(seed: int, flaw: float) -> tuple[float, float]:
    """Over random arguments: (error / |log|, error / stated bound), in UNITs; flaw: a planted relative error."""
    rng = np.random.default_rng(seed)
    relative, share = 0.0, 0.0
    with ctx.workprec(200):
        for _ in range(many(400)):
            rate = float(rng.choice([10.0 ** rng.uniform(-7.0, -0.001), rng.uniform(0.3, 0.999)]))
            real = float(rng.choice([rng.uniform(-40.0, 60.0), rng.normal(), rng.normal() - np.log(rate)]))
            imag = float(rng.choice([rng.uniform(0.0, 1.4), 10.0 ** rng.uniform(-6.0, 0.0)]))
            (value,), (bound,) = mixture_log(np.array([real]), imag, rate, np.zeros(1))
            value *= 1.0 + flaw
            truth = (1 + arb(rate) * (acb(real, imag).exp() - 1)).log()
            error = float(abs(acb(value.real, value.imag) - truth).mid()) / UNIT
            relative = max(relative, error / float(abs(truth).mid()))
            share = max(share, error / float(bound))
    return relative, share


@pytest.mark.parametrize("seed", range(4))
def test_errors_are_a_few_units(seed: int) -> None:
    """96 are stated; 8 are twice what was ever measured."""
    relative, share = largest_error(seed, 0.0)
    assert relative < 8.0
    assert share < 0.2


def test_an_error_beyond_the_bound_shows() -> None:
    assert largest_error(0, 200.0 * UNIT)[1] > 1.0
