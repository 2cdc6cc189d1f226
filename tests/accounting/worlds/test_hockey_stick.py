"""The federation oracle's own arithmetic: its ends hold closed forms and mpmath's quadrature, at every step."""

from fractions import Fraction
from itertools import pairwise

import hockey_stick
import pytest
from hockey_stick import Cells, Fixed, divergence
from mpmath import mp, mpf

ONE, ZERO, HALF = Fraction(1), Fraction(0), Fraction(1, 2)


def narrowed(found, resolution=1e-5):
    """Every pair of ends on the way."""
    yield found.low, found.high
    while found.open and found.high - found.low > resolution:
        found.refine(resolution)
        yield found.low, found.high


def cells(p, q, epsilon, law="gaussian"):
    """Also where a closed form would do."""
    return Cells(p, q, hockey_stick.ball(epsilon).exp(), (law,) * len(next(iter(p))[0]))


def by_quadrature(p, q, epsilon):
    """Of mixtures of normals on the line, {(centre, variance): mass}."""
    with mp.workdps(20):

        def density(law, x):
            return sum(
                w * mp.exp(-((x - mpf(c)) ** 2) / (2 * mpf(v))) / mp.sqrt(2 * mp.pi * mpf(v))
                for (c, v), w in law.items()
            )

        def over(x):
            return density(p, x) - mp.exp(epsilon) * density(q, x)

        nodes = mp.linspace(-12, 12, 97)
        turns = [
            mp.findroot(over, ends, solver="bisect") for ends in pairwise(nodes) if over(ends[0]) * over(ends[1]) < 0
        ]
        pieces = [mp.quad(over, ends, maxdegree=6) for ends in pairwise(sorted([*nodes[::8], *turns]))]
        return sum(max(mpf(0), piece) for piece in pieces)


MIXTURES = [
    ({(0, 1): 1}, {(1, 1): 1}, 0.3),
    ({(0, 1): 0.75, (1, 1): 0.25}, {(0, 1): 1}, 0.1),
    ({(0, 1): 1}, {(0, 1): 0.5, (1, 1): 0.25, (-1, 1): 0.25}, 0.05),
    ({(1, 2): 1}, {(0, 1): 1}, 0.5),
    ({(0, 1): 1}, {(1, 0.25): 0.5, (-1, 2): 0.5}, 1.0),
]


def exact(law):
    return {((Fraction(c),), (Fraction(v),)): Fraction(w) for (c, v), w in law.items()}


@pytest.mark.parametrize(("p", "q", "epsilon"), MIXTURES)
def test_on_the_line_against_quadrature(p, q, epsilon):
    truth = by_quadrature(p, q, epsilon)
    found = list(narrowed(cells(exact(p), exact(q), epsilon)))
    for low, high in found:
        assert low - 1e-9 <= truth <= high + 1e-9
    assert found[-1][1] - found[-1][0] <= 1e-5


REPEATED = (
    {((ONE, 2 * ONE, ZERO), (ONE, HALF, ONE)): HALF, ((ZERO, ZERO, ONE), (ONE, HALF, ONE)): HALF},
    {((ZERO, ZERO, ZERO), (ONE, HALF, ONE)): ONE},
)
"""Twice what the first coordinate has, in the second, whose noise is another."""


def test_coordinates_that_repeat_each_other_are_as_telling_as_one():
    p, _, laws = hockey_stick._repeated(*REPEATED, ("gaussian",) * 3)
    assert laws == ("gaussian",) * 2
    assert p == {((ONE, ZERO), (ONE / 9, ONE)): HALF, ((ZERO, ONE), (ONE / 9, ONE)): HALF}
    *_, (low, high) = narrowed(cells(*REPEATED, 0.2), 2e-3)
    *_, (below, above) = narrowed(divergence(*REPEATED, 0.2, "gaussian", ONE), 1e-4)
    assert low <= above
    assert below <= high
    assert above - below <= 1e-4


def test_a_coordinate_that_is_forgotten_would_be_noticed():
    less = [{((a, c), (v, x)): mass for ((a, _, c), (v, _, x)), mass in law.items()} for law in REPEATED]
    *_, (low, _) = narrowed(cells(*REPEATED, 0.2), 2e-3)
    *_, (_, above) = narrowed(divergence(*less, 0.2, "gaussian", ONE), 1e-4)
    assert above < low


def test_noise_that_is_not_alike_in_all_components_is_left_alone():
    p, q = {((ONE, ONE), (ONE, ONE)): ONE}, {((ZERO, ZERO), (HALF, ONE)): ONE}
    assert hockey_stick._repeated(p, q, ("gaussian",) * 2) == (p, q, ("gaussian",) * 2)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_several_coordinates_against_the_closed_form(axes):
    p, q = ({((centre,) * axes, (ONE,) * axes): ONE} for centre in (ZERO, HALF))
    truth = divergence(p, q, 0.2, "gaussian", ONE)
    assert isinstance(truth, Fixed)
    assert truth.high - truth.low < 1e-14
    found = list(narrowed(cells(p, q, 0.2), 1e-3))
    assert all(low <= truth.high and truth.low <= high for low, high in found)
    assert found[-1][1] - found[-1][0] <= 1e-3
    mu = mp.sqrt(axes) / 2
    plain = mp.ncdf(mu / 2 - 0.2 / mu) - mp.exp(0.2) * mp.ncdf(-mu / 2 - 0.2 / mu)
    assert abs(plain - truth.low) < 1e-14


@pytest.mark.parametrize(("scale", "epsilon"), [(1, 0.25), (2, 0.1), (HALF, 1.5)])
def test_laplace_noise_against_the_closed_form(scale, epsilon):
    variance = (Fraction(scale) ** 2,)
    found = list(narrowed(divergence({((ZERO,), variance): ONE}, {((ONE,), variance): ONE}, epsilon, "laplace", ONE)))
    truth = 1 - mp.exp((epsilon - 1 / mpf(float(scale))) / 2)
    assert all(low <= truth <= high for low, high in found)
    assert found[-1][1] - found[-1][0] <= 1e-5


@pytest.mark.parametrize("law", ["discrete-laplace", "discrete-gaussian"])
@pytest.mark.parametrize(("scale", "epsilon"), [(0.6, 2.4), (2.0, 0.3), (0.6, 16.0)])
def test_lattices_against_sums(law, scale, epsilon):
    share = Fraction(scale) ** 2
    centres = ((ZERO, ZERO), (ONE, ONE))
    p, q = ({(centre, (share, share)): ONE} for centre in centres)
    found = divergence(p, q, epsilon, law, share)
    with mp.workdps(40):
        weigh = (
            (lambda k: mp.exp(-abs(k) / mpf(scale)))
            if "laplace" in law
            else (lambda k: mp.exp(-(k**2) / (2 * mpf(scale) ** 2)))
        )
        points = range(-60, 62)
        total = sum(weigh(mpf(k)) for k in range(-200, 201))
        mass = {k: weigh(mpf(k)) / total for k in range(-61, 62)}
        odds = mp.exp(mpf(epsilon))
        truth = sum(
            max(mpf(0), mass[i] * mass[j] - odds * mass[i - 1] * mass[j - 1]) for i in points if i < 62 for j in points
        )
    assert found.low <= truth + mpf(1e-25)
    assert truth - mpf(1e-12) <= found.high <= found.low + 1e-6


def test_what_is_known_for_certain_counts_in_full():
    found = divergence({((), ()): HALF}, {((), ()): Fraction(1, 8)}, 0.0, "gaussian", ONE)
    assert found.low <= 0.375 <= found.high <= found.low + 1e-15
    only = divergence({((ONE,), (ONE,)): HALF}, {}, 3.0, "gaussian", ONE)
    assert only.low <= 0.5 <= only.high


@pytest.mark.parametrize("fault", ["mass", "ratio"])
def test_ends_that_do_not_hold_are_caught(fault, monkeypatch):
    """The plants: masses of cells a thousandth too large, and the extremes of f taken at the left end only."""
    right_mass, right_ratio = hockey_stick.Line.mass, hockey_stick.Line.ratio
    hockey_stick.line.cache_clear()
    if fault == "mass":
        monkeypatch.setattr(
            hockey_stick.Line, "mass", lambda line, a, b: tuple(1.001 * x for x in right_mass(line, a, b))
        )
    else:
        monkeypatch.setattr(hockey_stick.Line, "ratio", lambda line, a, b, to: right_ratio(line, a, a, to))
    p, q = ({((centre,), (ONE,)): ONE} for centre in (ZERO, HALF))
    truth = divergence(p, q, 0.2, "gaussian", ONE)
    found = list(narrowed(cells(p, q, 0.2)))
    hockey_stick.line.cache_clear()
    assert any(not (low <= truth.high and truth.low <= high) for low, high in found)
