"""docs/sampling.md: what each scheme costs, as the page prints it. Run as a program it prints the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcert.accounting import Bracket, epsilon
from dpcert.accounting.calibration.plan_schemes import SCHEMES
from dpcert.mechanisms import Gaussian, Mechanism, RandomAllocation

PAGE = Path(__file__).parents[1] / "docs" / "sampling.md"
SETTINGS = ((60_000, 250, 1.1, 15, 1e-5), (50_000, 5_000, 4.0, 30, 1e-5), (100_000, 1_000, 0.8, 3, 1e-6))


def bins_drawn_once(noise: float, population: int, batch: int, epochs: int) -> Mechanism:
    return RandomAllocation(Gaussian(noise / math.sqrt(epochs)), population // batch)


ROWS: dict[str, Callable[[float, int, int, int], Mechanism]] = {
    "Poisson": SCHEMES["poisson"],
    "Poisson, cut at 4 standard deviations above the mean": SCHEMES["truncated-poisson"],
    "random allocation, drawn anew in every epoch": SCHEMES["random-allocation"],
    "balls in bins, drawn once": bins_drawn_once,
    "fixed size, hidden": SCHEMES["fixed-size"],
    "shuffled batches": SCHEMES["shuffle"],
    "cyclic batches": SCHEMES["cyclic"],
}


def cell(found: Bracket) -> str:
    """One number where both ends agree in four digits, else both, rounded outwards."""
    shown = f"{found.lower:.4g}"
    if shown == f"{found.upper:.4g}":
        return shown
    unit = 10.0 ** (math.floor(math.log10(found.upper)) - 3)
    return f"[{math.floor(found.lower / unit) * unit:.5g}, {math.ceil(found.upper / unit) * unit:.5g}]"


def row(name: str) -> str:
    cells = (
        cell(epsilon(ROWS[name](noise, population, batch, epochs), delta, "zero-out"))
        for population, batch, noise, epochs, delta in SETTINGS
    )
    return f"| {name} | {' | '.join(cells)} |"


DEAR = (
    "Poisson, cut at 4 standard deviations above the mean",
    "random allocation, drawn anew in every epoch",
    "balls in bins, drawn once",
    "fixed size, hidden",
)


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.nightly] * (each in DEAR)) for each in ROWS])
def test_rows_are_what_is_computed(name):
    assert row(name) in PAGE.read_text(encoding="utf-8").splitlines()


def test_shuffled_is_more_than_poisson_by_what_the_page_says():
    for (population, batch, noise, epochs, delta), times in zip(SETTINGS, (5.4, 1.1, 4.3), strict=True):
        shuffled, poisson = (
            epsilon(ROWS[name](noise, population, batch, epochs), delta, "zero-out")
            for name in ("shuffled batches", "Poisson")
        )
        assert times <= shuffled.lower / poisson.upper < times + 0.1


if __name__ == "__main__":
    print("\n".join(row(name) for name in ROWS))
