"""Every dimension of the search: a number made with that convention, by arithmetic of the test's own, is found and
named; the same number spoilt is found by none.

The arithmetic: the binomial sum of the moments accountant (Abadi et al. 2016; Mironov, Talwar, Zhang 2019, section
3.3) and the conversions, the profile of a Gaussian (Balle, Wang 2018, Theorem 8), both at 50 digits; for cohorts of
fixed size dp-accounting's accountant.
"""

import math
import warnings
from functools import cache

import mpmath
import pytest
from cases import few
from dp_accounting import NeighboringRelation
from dp_accounting import rdp as peers

from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat, Shuffled
from dpcert.proofs_checks.reproduction.explain import explain
from dpcert.proofs_checks.reproduction.printed import Chance, Convention, chances, not_reproduced, printed
from dpcert.proofs_checks.reproduction.run_variants import Sizes

DELTA = 1e-5


@cache
def log_moment(rate, z, order):
    """log E[(P/Q)^order] of one Poisson-sampled round, P against Q, at an integer order."""
    with mpmath.workdps(50):
        q, z = mpmath.mpf(rate), mpmath.mpf(z)
        terms = (
            mpmath.binomial(order, k) * (1 - q) ** (order - k) * q**k * mpmath.exp(k * (k - 1) / (2 * z**2))
            for k in range(order + 1)
        )
        return mpmath.log(mpmath.fsum(terms))


def classic(rate, z, rounds, orders, delta=DELTA):
    return float(min((rounds * log_moment(rate, z, a) - mpmath.log(delta)) / (a - 1) for a in orders))


def improved(rate, z, rounds, orders, delta=DELTA):
    """Canonne, Kamath, Steinke 2020, Proposition 12."""

    def at(a):
        bound = rounds * log_moment(rate, z, a) / (a - 1)
        return bound + mpmath.log(1 - mpmath.mpf(1) / a) - (mpmath.log(delta) + mpmath.log(a)) / (a - 1)

    return float(min(at(a) for a in orders))


def gaussian(mu, delta=DELTA):
    """The epsilon at which a Gaussian of that sensitivity over noise has this delta."""
    with mpmath.workdps(50):

        def excess(e):
            return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu) - delta

        low, high = mpmath.mpf(0), mpmath.mpf(mu * mu / 2 + 10 * mu)
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return float(low)


def fixed_size_peer(z, population, cohort, rounds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accountant = peers.RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
        from dp_accounting import GaussianDpEvent, SampledWithoutReplacementDpEvent

        event = SampledWithoutReplacementDpEvent(population, cohort, GaussianDpEvent(z))
        return float(accountant.compose(event, rounds).get_epsilon(DELTA))


INTEGERS = range(2, 34)
TF = [*range(2, 64), 128, 256, 512]
RUN = Repeat(Poisson(Gaussian(1.5), 0.04), 1000)
LONG = Repeat(Poisson(Gaussian(6.0), 0.01), 300)  # its best order is far above 33
CIFAR = Repeat(Poisson(Gaussian(10.0), 4096 / 50000), 875)
EPOCHS = Repeat(Poisson(Gaussian(2.0), 0.15), 20)  # 3 epochs of 6 2/3 rounds
REPLACED = Repeat(Poisson(Gaussian(3.0), 0.04), 1000)
CASES = {
    "conversion: classic": (RUN, classic(0.04, 1.5, 1000, INTEGERS), "RDP, classic conversion"),
    "conversion: improved": (RUN, improved(0.04, 1.5, 1000, INTEGERS), "RDP, improved conversion"),
    "order grid: up to 33": (LONG, classic(0.01, 6.0, 300, INTEGERS), "classic conversion, moments accountant's"),
    "order grid: up to 512": (LONG, classic(0.01, 6.0, 300, TF), "classic conversion, TF-Privacy's orders"),
    "steps: rounded down": (EPOCHS, classic(0.15, 2.0, 18, INTEGERS), "3 epochs of floor(1/rate) rounds (18)"),
    "steps: rounded up": (EPOCHS, classic(0.15, 2.0, 21, INTEGERS), "3 epochs of ceil(1/rate) rounds (21)"),
    "steps: one less": (RUN, classic(0.04, 1.5, 999, INTEGERS), "one round less (999)"),
    "population: 45,000 of 50,000": (
        CIFAR,
        classic(4096 / 45000, 10, 875, INTEGERS),
        "population 45000 instead of 50000 (9/10 of it)",
    ),
    "population: one less": (CIFAR, classic(4096 / 49999, 10, 875, INTEGERS), "population 49999"),
    "population: whole batches": (CIFAR, classic(1 / 12, 10, 875, INTEGERS), "floor(population / cohort)"),
    "population: delta's": (CIFAR, classic(4096 / 100000, 10, 875, INTEGERS), "population 100000"),
    "population: rounded rate": (CIFAR, classic(0.08, 10, 875, INTEGERS), "sampling rate rounded to 0.08"),
    "delta: 1/population": (CIFAR, classic(4096 / 50000, 10, 875, INTEGERS, 2e-5), "delta = 1/population"),
    "neighbours": (REPLACED, classic(0.04, 3.0, 1000, INTEGERS), "add-remove instead of replace-one"),
    "scheme: full participation": (RUN, gaussian(math.sqrt(1000) / 1.5), "no amplification by sampling"),
    "scheme: shuffled": (RUN, gaussian(math.sqrt(40) / 1.5), "one participation in each of 40 epochs"),
    "scheme: fixed size": (
        RUN,
        fixed_size_peer(1.5, 100, 4, 1000),
        "dp-accounting's bound and orders; cohorts accounted as of fixed size",
    ),
    "scheme: Poisson": (
        Repeat(FixedSize(Gaussian(1.5), 100, 4), 1000),
        classic(0.04, 1.5, 1000, INTEGERS),
        "cohorts accounted as Poisson's",
    ),
}
DIGITS = 7
SPOILT = 1.0137
"""1.4% off: hundreds of units of the seventh digit, and no small change of the description does that."""


def searched(name, number):
    run = CASES[name][0]
    relation = "add-remove" if run not in (REPLACED, CASES["scheme: Poisson"][0]) else "replace-one"
    sizes = Sizes(50000, 4096) if run is CIFAR else Sizes()
    return explain(run, DELTA, relation, f"{number:.{DIGITS}g}", sizes=sizes)


LATER = (
    "conversion: improved",
    "order grid: up to 512",
    "steps: rounded up",
    "steps: one less",
    "population: one less",
    "population: whole batches",
)
"""Further values of dimensions that the default suite has already."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name in LATER else ()) for name in CASES]
)
def test_a_number_made_so_is_named_so(name):
    _, number, expected = CASES[name]
    found = searched(name, number)
    assert any(expected in convention.name for convention in found if convention.reproduces)


ONE_EACH = (
    "conversion: classic",
    "order grid: up to 33",
    "steps: rounded down",
    "population: 45,000 of 50,000",
    "neighbours",
    "scheme: fixed size",
)


@pytest.mark.parametrize("name", few(ONE_EACH, 4))
def test_the_same_number_spoilt_is_given_by_none(name):
    spoilt = CASES[name][1] * SPOILT
    found = searched(name, spoilt)
    assert not any(convention.reproduces for convention in found)
    nearest = not_reproduced(found, printed(f"{spoilt:.{DIGITS}g}"))
    assert nearest.startswith("We could not reproduce the printed number: none of the")
    assert f"The nearest is {found[0].value:.6g}" in nearest


def test_the_share_behind_an_unstated_population():
    """A rate alone: 45,000 of 50,000 is nine tenths of whatever it was."""
    number = f"{classic(0.01 / 0.9, 4, 10000, INTEGERS):.7g}"
    found = explain(Repeat(Poisson(Gaussian(4.0), 0.01), 10000), DELTA, "add-remove", number)
    assert "9/10 of the population behind the rate" in {c.changes[0] for c in found if c.reproduces}


def test_chua_et_al_on_one_shuffled_epoch():
    """arXiv 2403.17673, the introduction: 10.994 from below for shuffled batches, 10.997 for fixed ones."""
    for number, expected in [("10.994", "lower bound of one shuffled epoch"), ("10.997", "exact (PLD, contour)")]:
        found = explain(Shuffled(Gaussian(0.5), 10_000), 1e-6, "zero-out", number)
        assert any(convention.name.startswith(expected) for convention in found if convention.reproduces)


class TestChance:
    CONVENTIONS = tuple(
        Convention(str(value), value, False, "", printed("2.00").covered_by(value), changes)
        for value, changes in [(1.5, ()), (1.501, ()), (2.999, ("x",)), (9.0, ("x",)), (3.996, ("x", "y"))]
    )

    def test_shares_are_those_of_a_count(self):
        """Of a million numbers spread over half to twice 2.00, how many become one of the values?"""
        target = printed("2.00")
        for chance in chances(self.CONVENTIONS, target):
            group = [c for c in self.CONVENTIONS if len(c.changes) <= chance.changes_at_most]
            numbers = [1 + 3 * (k + 0.5) / 20_000 for k in range(20_000)]
            hits = [sum(abs(number - c.value) < target.unit for c in group) for number in numbers]
            assert chance.any == pytest.approx(sum(map(bool, hits)) / len(numbers), abs=2e-4)
            assert chance.expected == pytest.approx(sum(hits) / len(numbers), abs=2e-4)
            assert chance.tried == len(group)
            assert chance.window == (1.0, 4.0)

    def test_changes_add_up(self):
        assert [chance.changes_at_most for chance in chances(self.CONVENTIONS, printed("2.00"))] == [0, 1, 2]

    def test_nothing_to_compare_with(self):
        assert chances((), printed("2.00")) == ()
        assert chances(self.CONVENTIONS, printed("0")) == ()

    def test_fewer_digits_are_matched_more_often(self):
        """The same search for 1.2586 and for 1.3: the shorter number is worth less."""
        run = Repeat(Poisson(Gaussian(4.0), 0.01), 10000)
        long, short = (chances(explain(run, DELTA, "add-remove", n), printed(n))[-1] for n in ("1.2586", "1.3"))
        assert isinstance(long, Chance)
        assert long.any < 0.02 < 0.5 < short.any
        assert long.tried == pytest.approx(short.tried, abs=20)
