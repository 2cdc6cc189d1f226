"""Tables round epsilon to the safe side and hide no missing seed."""

from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcert.trainers.experiments import numbers
from dpcert.trainers.experiments.cell import Cell
from dpcert.trainers.experiments.presets import combinations
from dpcert.trainers.experiments.table import Row, grid, summarise

PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
positive = st.floats(1e-6, 1e60)


def read(text):
    """The number that a table shows."""
    mantissa, _, exponent = text.partition("·10")
    return float(mantissa + ("e" + exponent.translate(PLAIN) if exponent else ""))


def too_low(value):
    return read(numbers.upper(value)) < value * (1 - 1e-15)


@given(positive)
def test_upper_ends_are_rounded_up(value):
    assert not too_low(value)
    assert read(numbers.upper(value)) <= value * 1.0101


def test_planted_rounding_to_nearest(monkeypatch):
    monkeypatch.setattr(numbers, "ROUND_CEILING", "ROUND_HALF_EVEN")
    assert too_low(1.2341)


@given(positive, positive)
def test_brackets_are_rounded_outwards(one, other):
    low, high = sorted((one, other))
    shown = numbers.bracket((low, high)).split(" to ")
    assert read(shown[-1]) >= high * (1 - 1e-15)
    assert len(shown) == 1 or read(shown[0]) <= low * (1 + 1e-15)
    if len(shown) == 1:
        assert high - low <= 1e-3 * high


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.0, 1.0), "at most 1"),
        ((math.inf, math.inf), "∞"),
        ((1.5, math.inf), "1.5 to ∞"),
        ((0.0, 0.0), "0"),
        ((8.3e34, 8.3e34), "8.31·10³⁴"),
        ((99999.0, 99999.0), "1·10⁵"),
    ],
)
def test_brackets(ends, expected):
    assert numbers.bracket(ends) == expected


def test_accuracies():
    assert numbers.accuracy(0.12345, 0.001) == "0.123 ± 0.001"
    assert numbers.accuracy(0.12345, None) == "0.123"
    assert numbers.accuracy(None, None) == "-"
    assert numbers.upper(None) == "none"


def test_a_line_for_each_noise_and_missing_seeds_are_told():
    rows = [
        Row("local", 0.0, 0.0, 0.0, 0.3, 0.01, 3),
        Row("pmtl", 0.0, None, None, 0.5, 0.01, 3),
        Row("pmtl", 2.0, 40.5, 12.1, 0.4, None, 1),
        Row("dp-fedavg", 2.0, 40.5, 12.1, 0.45, 0.02, 3),
    ]
    assert grid(rows).splitlines() == [
        "| noise multiplier | ε, certified | ε, printed | pmtl | dp-fedavg |",
        "|---|---|---|---|---|",
        "| 0 | none | none | 0.500 ± 0.010 | - |",
        "| 2 | 40.5 | 12.1 | 0.400 (1 of 3 seeds) | 0.450 ± 0.020 |",
        "",
        "local: 0.300 ± 0.010, at ε = 0.",
    ]


def test_methods_that_cost_different_epsilons_get_lines_of_their_own():
    rows = [Row("pmtl", 2.0, 40.5, 12.1, 0.4, None, 1), Row("naive-joint", 2.0, 19.7, 12.1, 0.1, None, 1)]
    assert len(grid(rows).splitlines()) == 4


def test_fine_tuning_has_a_column_for_each_objective():
    rows = [
        Row(f"{name} + {objective}" if objective else name, 4.0, 13.1, 3.2, 0.5, None, 1, finetune=objective)
        for name in ("pmtl", "dp-fedavg")
        for objective in ("", "vanilla", "ewc")
    ]
    lines = grid(rows).splitlines()
    assert lines[0] == "| noise multiplier | ε, certified | ε, printed | trained | none | vanilla | ewc |"
    assert [line.split(" | ")[3] for line in lines[2:]] == ["pmtl", "dp-fedavg"]


def test_under_each_sigma_the_cost_against_whom():
    ends = {"server": (math.inf, math.inf), "all-other-clients": (3.0, 3.0), "one-other-client": (1.0, 3.0)}
    rows = [
        Row("FedAvg", 0.0, None, None, 0.6, 0.01, 2, by_sample=(0.7, None)),
        Row(
            "DPFedMTL, corrected, poisson",
            1.3,
            3.0,
            6.7,
            0.2,
            0.01,
            2,
            sigma=0.65,
            observers=ends,
            by_sample=(0.3, 0.02),
        ),
    ]
    lines = grid(rows).splitlines()
    assert lines[3:8] == [
        "| **DPFedMTL, corrected, poisson** | 0.200 ± 0.010 |",
        "| by sample | 0.300 ± 0.020 |",
        "| ε against the server | ∞ |",
        "| ε against all other clients | 3 |",
        "| ε against one other client | 1 to 3 |",
    ]
    assert lines[-1] == "Without noise: FedAvg 0.600 ± 0.010 (by sample 0.700)."


def test_combinations_of_one_multiplier_are_told_apart_by_their_clip_norms():
    cells = combinations(Cell("pmtl", "synthetic", 0), [0])
    assert len({cell.key for cell in cells}) == len(cells) == 10
    assert sorted(cell.clip_norm for cell in cells if cell.noise_multiplier == 10) == [0.2, 0.5, 1.0]
    told = {"epsilon_upper": 3.0, "epsilon_printed": 2.0, "test_accuracy": 0.5}
    rows = summarise([asdict(cell) | told for cell in cells])
    assert [row.method for row in rows if row.noise_multiplier == 10] == [
        f"pmtl, clip norm {clip:g}" for clip in (0.2, 0.5, 1)
    ]
    assert len(rows) == 10
