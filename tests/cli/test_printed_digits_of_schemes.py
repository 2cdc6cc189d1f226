"""The decimals that `calibrate` and `plan --schemes` print, read as exact numbers, meet their targets in every scheme.

The oracle is the closed form of Gaussian noise in mpmath: of what a unit shows in so many rounds, whoever sees them.
Where none is known, the product's own upper end, at a double that is not above the decimal.
"""

import math
import re
from fractions import Fraction

import mpmath
import pytest
from cases import at_night
from mpmath import mpf

from dpcert.accounting import epsilon
from dpcert.accounting.calibration import plan_schemes as table
from dpcert.accounting.calibration import solve_for
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, Poisson, RandomAllocation, Repeat, TruncatedPoisson

TARGET, DELTA = "1.23456789", "0.000123456789"
LOTS = "--population 70 --cohort 7"


def gaussian(square, eps):
    """delta of Gaussian noise moved by the root of this square."""
    if not square:
        return max(mpf(0), 1 - mpmath.exp(eps))
    mu = mpmath.sqrt(mpf(square.numerator) / square.denominator)
    return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


def seen(rounds, rate, square):
    """Coins that are seen: delta of so many rounds that the unit is in, each moving by this square."""
    q = mpf(rate.numerator) / rate.denominator
    return lambda eps: mpmath.fsum(
        mpmath.binomial(rounds, k) * q**k * (1 - q) ** (rounds - k) * gaussian(k * square, eps)
        for k in range(rounds + 1)
    )


def hidden(square, rate):
    """One round behind a coin, both orders."""

    def delta(eps):
        q, odds = mpf(rate.numerator) / rate.denominator, mpmath.exp(eps)

        def forth(x):
            return 1 - x if x <= 1 - q else q * gaussian(square, mpmath.log(1 + (x - 1) / q))

        return max(forth(odds), 1 - odds + odds * forth(1 / odds))

    return delta


TENTH = Fraction(1, 10)
SEEN = "--rounds 30 --participation visible"
ORACLES = {
    f"noise-multiplier --sampling shuffle {LOTS} {SEEN} --neighbouring zero-out": lambda z: seen(
        3, Fraction(1), 1 / z**2
    ),
    f"noise-multiplier --sampling shuffle {LOTS} {SEEN} --neighbouring replace-one": lambda z: seen(
        3, Fraction(1), 4 / z**2
    ),
    f"clip-norm --noise-std 0.7 --sampling shuffle {LOTS} {SEEN} --neighbouring zero-out": lambda c: seen(
        3, Fraction(1), (c / Fraction("4.9")) ** 2
    ),
    f"noise-std --clip-norm 0.3 --sampling cyclic {LOTS} --rounds 30 --neighbouring zero-out": lambda s: seen(
        3, Fraction(1), (Fraction("0.3") / (7 * s)) ** 2
    ),
    f"noise-multiplier --sampling fixed-size {LOTS} --rounds 5 --notion billboard": lambda z: seen(5, TENTH, 4 / z**2),
    f"noise-multiplier --sampling fixed-size {LOTS} --rounds 1": lambda z: hidden(4 / z**2, TENTH),
    "noise-multiplier --sampling poisson --sampling-rate 0.1 --rounds 9 --participation visible": lambda z: seen(
        9, TENTH, 4 / z**2
    ),
    f"noise-std --mechanism per-client-gaussian --clip-norm 0.3 --sampling fixed-size {LOTS} --rounds 5 "
    "--participation visible": lambda s: seen(5, TENTH, 4 * Fraction("0.09") / (7 * s**2)),
}
"""What is solved for and the options; the delta that every unit has at most, with the printed decimal."""


def printed(options, capsys):
    assert run(["calibrate", "--epsilon", TARGET, "--delta", DELTA, "--solve-for", *options.split()]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    value, target, delta = re.fullmatch(r"\S+ = (\S+) meets \((\S+), (\S+)\)", first).groups()
    assert (target, delta) == (TARGET, DELTA)
    return Fraction(value)


def meets(oracle, value):
    with mpmath.workdps(40):
        return oracle(value)(mpf(TARGET)) <= mpf(DELTA)


SLOW = [options for options in ORACLES if "shuffle" in options and "zero-out" in options]


@pytest.mark.parametrize("options", [at_night(each) if each in SLOW else each for each in ORACLES])
def test_the_decimal_meets_the_target(options, capsys, monkeypatch):
    """Planted: four digits, rounded to the other side."""
    assert meets(ORACLES[options], printed(options, capsys))
    sides = {side: getattr(solve_for, f"rounded_{side}") for side in ("up", "down")}
    for right, wrong in (("up", "down"), ("down", "up")):
        monkeypatch.setattr(
            solve_for,
            f"rounded_{wrong}",
            lambda value, _, side=right: sides[side](value, 4),
        )
    assert not meets(ORACLES[options], printed(options, capsys))


def test_laplace_noise_at_delta_0(capsys):
    asked = ["--solve-for", "noise-multiplier", "--mechanism", "laplace", "--rounds", "7"]
    assert run(["calibrate", "--epsilon", TARGET, "--delta", "0", *asked]) == 0
    value = Fraction(re.search(r"= (\S+) meets", capsys.readouterr().out).group(1))
    assert 7 / value <= Fraction(TARGET) < 7 / (value - Fraction(1, 10**5))


OTHERS = {
    "noise-multiplier --sampling random-allocation --block 3 --rounds 3": lambda z: RandomAllocation(Gaussian(z), 3),
    f"noise-multiplier --sampling poisson {LOTS} --max-cohort 12 --rounds 2": lambda z: Repeat(
        TruncatedPoisson(Gaussian(z), 0.1, 70, 12), 2
    ),
}


@pytest.mark.parametrize("options", [at_night(each) for each in OTHERS])
def test_of_others_the_upper_end_meets_it(options, capsys):
    value = printed(options, capsys)
    below = float(value) if Fraction(float(value)) <= value else math.nextafter(float(value), 0.0)
    assert epsilon(OTHERS[options](below), float(DELTA)).upper <= float(TARGET)


def test_the_table_of_schemes_names_its_targets_in_full(capsys, monkeypatch):
    """Cyclic batches, two epochs: two releases to each unit. Planted: digits rounded down."""
    asked = f"plan --population 1000 --batch-size 100 --epochs 2 --delta {DELTA} --epsilons {TARGET},3.0"

    def cells():
        assert run([*asked.split(), "--schemes", "cyclic", "--neighbouring", "zero-out"]) == 0
        out = capsys.readouterr().out
        head, *rows = re.findall(r"^ *(?:scheme|cyclic)  .*$", out, re.MULTILINE)
        targets = re.findall(r"epsilon (\S+)", head)
        assert targets == [TARGET, "3"]
        assert re.findall(r"^epsilon (\S+):", out, re.MULTILINE) == targets
        for row in rows:
            yield from zip(targets, map(Fraction, row.split()[1:]), strict=True)

    def missed():
        with mpmath.workdps(40):
            return [gaussian(2 / z**2, mpf(target)) > mpf(DELTA) for target, z in cells()]

    assert missed() == [False] * 2
    down = table.rounded_down
    monkeypatch.setattr(table, "rounded_up", lambda value, _: down(value, 3))
    assert missed() == [True] * 2


def test_poisson_batches_of_the_table_meet_the_target_that_it_names(capsys):
    """A target whose six first digits are below it was named by them."""
    target = "1.2345649"
    asked = f"plan --population 1000 --batch-size 100 --epochs 1 --delta {DELTA} --epsilons {target} --schemes poisson"
    assert run(asked.split()) == 0
    out = capsys.readouterr().out
    assert re.search(r"epsilon (\S+)", out).group(1) == target
    noise = float(re.search(r"^ *poisson +(\S+)", out, re.MULTILINE).group(1))
    assert epsilon(Repeat(Poisson(Gaussian(noise), 0.1), 10), float(DELTA), "zero-out").upper <= float(target)
