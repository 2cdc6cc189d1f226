"""docs/sampling.md: the quick rows of its table, computed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcert.accounting import epsilon
from dpcert.mechanisms import Cyclic, Gaussian, Mechanism, Poisson, RandomAllocation, Repeat

PAGE = Path(__file__).parents[1] / "docs" / "sampling.md"
SETTINGS = ((60_000, 250, 1.1, 15, 1e-5), (50_000, 5_000, 4.0, 30, 1e-5), (100_000, 1_000, 0.8, 3, 1e-6))


def row(name: str) -> list[float]:
    line = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} |"))
    return [float(cell) for cell in line.split("|")[2:5]]


def run(name: str, population: int, batch: int, noise: float, epochs: int) -> Mechanism:
    batches, mechanism = population // batch, Gaussian(noise)
    return {
        "Poisson": Repeat(Poisson(mechanism, batch / population), epochs * batches),
        "cyclic batches": Repeat(Cyclic(mechanism, batches), epochs),
        "random allocation (balls in bins)": Repeat(RandomAllocation(mechanism, batches), epochs),
    }[name]


@pytest.mark.parametrize("name", ["Poisson", "cyclic batches"])
def test_rows_are_what_is_computed(name):
    for printed, (population, batch, noise, epochs, delta) in zip(row(name), SETTINGS, strict=True):
        found = epsilon(run(name, population, batch, noise, epochs), delta, "zero-out")
        assert found.lower * (1 - 5e-4) <= printed <= found.upper * (1 + 5e-4)


def test_random_allocation_in_its_shortest_setting():
    name = "random allocation (balls in bins)"
    population, batch, noise, epochs, delta = SETTINGS[1]
    found = epsilon(run(name, population, batch, noise, epochs), delta, "zero-out")
    assert found.lower * (1 - 5e-4) <= row(name)[1] <= found.upper * (1 + 5e-4)
