"""The digits that `calibrate` and `plan` print, read back as a user would type them, meet the target they name."""

import re

import pytest

from dpcert.accounting import epsilon
from dpcert.accounting.calibration import plan
from dpcert.accounting.calibration import solve_for as solved
from dpcert.cli import run
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat

DELTA = 1.23456789e-6
TARGET = 1.23456789
"""Both of more digits than a table shows: they have to be printed in full."""

GIVEN = {
    "noise-multiplier": ["--rounds", "300", "--sampling", "poisson", "--sampling-rate", "0.02"],
    "noise-std": [
        "--clip-norm",
        "0.3",
        "--rounds",
        "30",
        "--sampling",
        "fixed-size",
        "--population",
        "70",
        "--cohort",
        "7",
    ],
    "clip-norm": [
        "--noise-std",
        "0.7",
        "--rounds",
        "30",
        "--sampling",
        "fixed-size",
        "--population",
        "70",
        "--cohort",
        "7",
    ],
    "sampling-rate": ["--noise-multiplier", "1.1", "--rounds", "300", "--sampling", "poisson"],
    "rounds": ["--noise-multiplier", "1.1", "--sampling", "poisson", "--sampling-rate", "0.02"],
    "cohort": ["--noise-multiplier", "2.3", "--rounds", "9", "--sampling", "poisson", "--population", "500"],
}
RUNS = {
    "noise-multiplier": lambda z: Repeat(Poisson(Gaussian(z), 0.02), 300),
    "noise-std": lambda s: Repeat(FixedSize(Gaussian(s * 7 / 0.3), 70, 7), 30),
    "clip-norm": lambda c: Repeat(FixedSize(Gaussian(0.7 * 7 / c), 70, 7), 30),
    "sampling-rate": lambda q: Repeat(Poisson(Gaussian(1.1), q), 300),
    "rounds": lambda n: Repeat(Poisson(Gaussian(1.1), 0.02), int(n)),
    "cohort": lambda n: Repeat(Poisson(Gaussian(2.3), int(n) / 500), 9),
}


def calibrated(solve_for, capsys):
    """The printed value, and the epsilon and delta that it is said to meet."""
    asked = ["calibrate", "--epsilon", str(TARGET), "--delta", str(DELTA), "--solve-for", solve_for]
    assert run([*asked, *GIVEN[solve_for]]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    found = re.fullmatch(rf"{solve_for} = (\S+) meets \((\S+), (\S+)\)", first)
    return [float(text) for text in found.groups()]


@pytest.mark.parametrize("solve_for", GIVEN)
def test_what_calibrate_prints_meets_what_it_prints(solve_for, capsys):
    value, target, delta = calibrated(solve_for, capsys)
    assert (target, delta) == (TARGET, DELTA)
    assert epsilon(RUNS[solve_for](value), delta, rtol=1e-9).upper <= target


def planned(sampling, capsys):
    """(cohort, target, noise multiplier, noise on the mean) of every entry of the printed table."""
    setting = ["--population", "900", "--rounds", "40", "--delta", str(DELTA), "--clip-norm", "0.3"]
    targets = ["--epsilons", f"0.7,{TARGET}", "--cohorts", "7,30"]
    assert run(["plan", *setting, *targets, "--sampling", sampling]) == 0
    head, *rows = [line for line in capsys.readouterr().out.splitlines() if re.match(r"\s*(cohort|\d+) ", line)]
    names = [float(text) for text in re.findall(r"epsilon (\S+)", head)]
    assert names == [0.7, TARGET]
    for row in rows:
        entries = re.findall(r"(\S+)  \((\S+)\)", row)
        for target, (multiplier, std) in zip(names, entries, strict=True):
            yield int(row.split()[0]), target, float(multiplier), float(std)


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
def test_what_plan_prints_meets_what_it_prints(sampling, capsys):
    entries = list(planned(sampling, capsys))
    assert len(entries) == 4
    for cohort, target, multiplier, std in entries:
        for z in (multiplier, std * cohort / 0.3):
            assert _planned_run(z, cohort, sampling, target) <= target


def _planned_run(z, cohort, sampling, target):
    base = Gaussian(z)
    sampled = Poisson(base, cohort / 900) if sampling == "poisson" else FixedSize(base, 900, cohort)
    return epsilon(Repeat(sampled, 40), DELTA, rtol=1e-9).upper


def test_digits_rounded_to_the_nearest_would_miss(capsys, monkeypatch):
    """The plant, with five digits: some miss."""
    monkeypatch.setattr(solved, "rounded_up", lambda value, digits: f"{value:.5g}")
    monkeypatch.setattr(solved, "rounded_down", lambda value, digits: f"{value:.5g}")
    missed = 0
    for solve_for in GIVEN:
        value, target, delta = calibrated(solve_for, capsys)
        missed += epsilon(RUNS[solve_for](value), delta, rtol=1e-9).upper > target
    monkeypatch.setattr(plan, "rounded_up", lambda value, digits: f"{value:.{digits}g}")
    off = sum(
        _planned_run(z, cohort, "poisson", target) > target for cohort, target, z, _ in planned("poisson", capsys)
    )
    assert missed
    assert off


@pytest.mark.parametrize("rtol", [1e-9, 1e-12])
def test_an_interval_that_is_asked_narrow_is_printed_narrow(rtol: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Rounded outwards by a tenth of the width at most, and still around what the accountants found."""
    asked = ["--noise-multiplier", "1.1", *GIVEN["sampling-rate"][2:], "--sampling-rate", "0.01", "--delta", "1e-5"]
    assert run(["epsilon", *asked, "--rtol", repr(rtol)]) == 0
    ends = re.search(r"\[([\d.]+), ([\d.]+)\]", capsys.readouterr().out)
    assert ends is not None
    low, high = map(float, ends.groups())
    found = epsilon(Repeat(Poisson(Gaussian(1.1), 0.01), 300), 1e-5, rtol=rtol)
    assert low <= found.lower <= found.upper <= high
    assert high - low <= 1.2 * rtol * high
