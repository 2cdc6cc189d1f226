"""How wide the certified interval is for hidden cohorts of a fixed size, and whether other attained pairs would help.

    python benchmarks/fixed_size.py

For three settings of federated learning and 20 random ones (seeded), replace-one and zero-out: the interval, its
relative width, and the largest epsilon of products that mix two attained pairs over the rounds (every such product is
attained too). For zero-out also the width that replace-one's pair above and the idle others' below would leave.
"""

from __future__ import annotations

import math

import numpy as np

from dpcert.accounting import epsilon
from dpcert.accounting.measures.densities import accountant as contour
from dpcert.accounting.measures.lattices import accountant as pld
from dpcert.accounting.pairs import Composition, GaussianPair, OpposedPair, Pair, SubsampledPair
from dpcert.mechanisms import FixedSize, Gaussian, Neighbouring, Repeat

SEED = 20261122
SHARES = (0.02, 0.25, 0.5, 0.75)
Setting = tuple[float, int, int, int, float]
NAMED: tuple[Setting, ...] = ((16, 100, 205, 1000, 1e-5), (8, 100, 515, 1000, 1e-5), (8, 100, 400, 600, 1e-5))


def random_settings(count: int) -> list[Setting]:
    """(noise multiplier, cohort, population, rounds, delta)."""
    rng = np.random.default_rng(SEED)
    settings: list[Setting] = []
    for _ in range(count):
        noise, population = math.exp(rng.uniform(0, math.log(30))), int(math.exp(rng.uniform(3.5, 11)))
        cohort = max(1, int(population * math.exp(rng.uniform(math.log(1e-3), math.log(0.8)))))
        rounds = int(math.exp(rng.uniform(0, math.log(2e4))))
        settings.append((noise, cohort, population, rounds, float(10 ** rng.uniform(-10, -4))))
    return settings


def coin(shift: float, rate: float, order: str) -> SubsampledPair:
    return SubsampledPair(GaussianPair(shift), rate, order)  # type: ignore[arg-type]


def attained(setting: Setting, relation: Neighbouring) -> tuple[Pair, list[Pair]]:
    """The pair that reveals most, and others that some rounds might have instead."""
    noise, cohort, population, *_ = setting
    s, rate = 1 / noise, cohort / population
    if relation == "replace-one":
        return coin(2 * s, rate, "remove"), [coin(2 * s, rate, "add"), coin(s, rate, "replace")]
    return OpposedPair(s, rate, "remove"), [coin(s, rate, "remove"), coin(s, rate, "add")]


def best_mixture(setting: Setting, relation: Neighbouring) -> float:
    """The largest certified epsilon of products with at least one round of another pair."""
    *_, rounds, delta = setting
    accountant = contour if relation == "replace-one" else pld
    first, others = attained(setting, relation)
    found = 0.0
    for other in others:
        for moved in {max(1, round(share * rounds)) for share in SHARES} - {rounds}:
            product: Composition = ((first, rounds - moved), (other, moved))
            try:
                found = max(found, accountant.epsilon(product, delta).lower)
            except ArithmeticError:
                continue
    return found


def before(setting: Setting) -> str:
    """Zero-out with replace-one's pair above and "remove" with idle others below."""
    noise, cohort, population, rounds, delta = setting
    rate = cohort / population
    try:
        upper = contour.epsilon(((coin(2 / noise, rate, "hybrid"), rounds),), delta).upper
        lower = contour.epsilon(((coin(1 / noise, rate, "remove"), rounds),), delta).lower
    except ArithmeticError:
        return "      ?"
    return f"{upper / lower - 1:7.2%}" if lower else "    inf"


def main() -> None:
    print(" noise     cohort of      rounds delta    relation         lower     upper   width  mixed/lower  was")
    for setting in (*NAMED, *random_settings(20)):
        noise, cohort, population, rounds, delta = setting
        run = Repeat(FixedSize(Gaussian(noise), population, cohort), rounds)
        relations: tuple[Neighbouring, ...] = ("replace-one", "zero-out")
        for relation in relations:
            found = epsilon(run, delta, relation)
            width = found.width / found.lower if found.lower else math.inf
            mixed = best_mixture(setting, relation) / found.lower if found.lower else math.nan
            was = before(setting) if relation == "zero-out" else f"{width:7.2%}"
            print(
                f"{noise:6.2f} {cohort:6d} {population:7d} {rounds:7d} {delta:.1e} {relation:11s} "
                f"{found.lower:10.5g} {found.upper:10.5g} {width:7.2%} {mixed:11.4f} {was}",
                flush=True,
            )


if __name__ == "__main__":
    main()
