"""Runs whose lower end once was of neighbours that do not exist, with the truth by enumeration or in closed form."""

from itertools import product as every

import mpmath as mp

from dpcert import epsilon
from dpcert.mechanisms import BestOfSeveral, DiscreteLaplace, Disjoint, Laplace, Poisson, Sequence

ONE = 1 - 1e-12
"""A number of runs that is one but for 1e-12."""
QUIET, LOUD = (0.256, 0.01597), (0.7689, 0.34184)
RUN = Sequence(
    (BestOfSeveral(Poisson(DiscreteLaplace(QUIET[0]), QUIET[1]), gamma=ONE), Poisson(DiscreteLaplace(LOUD[0]), LOUD[1]))
)
PARTS = Disjoint([BestOfSeveral(Poisson(Laplace(0.3), 0.01), gamma=ONE)] * 2)


def sampled(scale, rate, most=60):
    """[(mass without the unit, mass with it)] of discrete Laplace noise, cut where it is below e^-75 of the largest."""
    with mp.workdps(40):
        rest = mp.e ** (-1 / mp.mpf(scale))
        law = {k: (1 - rest) / (1 + rest) * rest ** abs(k) for k in range(-most - 1, most + 1)}
        return [(law[k], (1 - mp.mpf(rate)) * law[k] + mp.mpf(rate) * law[k - 1]) for k in range(-most, most + 1)]


def enumerated(epsilon):
    """The larger delta of the two orders, of both rounds together, in 40 digits."""
    with mp.workdps(40):
        laws = [(a * c, b * d) for (a, b), (c, d) in every(sampled(*QUIET), sampled(*LOUD))]
        odds = mp.e ** mp.mpf(epsilon)
        return max(sum(max(mp.mpf(0), x - odds * y) for x, y in each) for each in (laws, [(b, a) for a, b in laws]))


def the_best_of_several_sampled_runs_beside_a_sampled_round():
    """It was .646947, of neighbours that do not exist."""
    found = epsilon(RUN, 0.007)
    assert enumerated(found.lower) >= 0.007 * (1 - 1e-9) > enumerated(0.646947)
    assert abs(found.lower - 0.631524) < 1e-6


def the_best_of_several_sampled_runs_in_disjoint_parts():
    """A unit leaves the one and enters the other: log(1 + q (e^s - 1)) - log(1 - q (1 - e^-s)) with s = 1 / .3 is what
    the two orders have together; it was .47659, twice the larger of the two."""
    with mp.workdps(30):
        q, s = mp.mpf("0.01"), 1 / mp.mpf("0.3")
        most = mp.log(1 + q * (mp.e**s - 1)) - mp.log(1 - q * (1 - mp.e**-s))
    found = epsilon(PARTS, 1e-6, "replace-one")
    assert 0.2489 < found.lower < most
    assert found.upper >= most - 1e-4
