"""The dominating pairs against random federations: no neighbours may be told apart better than the pair says."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from cases import few
from numpy.typing import NDArray

from dpcert.accounting.losses.closed_form import profile
from dpcert.accounting.pairs import GaussianPair, Pair, Sampling, SubsampledPair
from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Sequence

SEED = 20261123
GAMMAS = (0.2, 0.7, 1.0, 1.3, 2.0, 6.0)
REACH, POINTS = 8.5, 681
AXIS = np.linspace(-REACH, REACH, POINTS)
CELL = (AXIS[1] - AXIS[0]) ** 2
ROUNDING = 2e-5
"""Error of the grid sums: the kink of (p - gamma q)_+ costs step^2 / 8 times the jump of slope along it."""

Grid = NDArray[np.float64]


def gaussian(centre: NDArray[np.float64]) -> Grid:
    """The density of N(centre, I) in the plane."""
    x, y = (np.exp(-0.5 * (AXIS - c) ** 2) / math.sqrt(2 * math.pi) for c in centre)
    return np.outer(x, y)


def hockey_stick(p: Grid, q: Grid, gamma: float) -> float:
    return float(np.sum(np.maximum(p - gamma * q, 0.0)) * CELL)


def claimed(pair: SubsampledPair, gamma: float) -> float:
    """The pair's H_gamma, below 1 by reversal."""
    if gamma >= 1:
        return float(profile(pair, 1, math.log(gamma)).mid())
    swapped: dict[Sampling, Sampling] = {"remove": "add", "add": "remove"}
    back = SubsampledPair(pair.base, pair.rate, swapped.get(pair.order, pair.order))
    return 1 - gamma + gamma * claimed(back, 1 / gamma)


def in_ball(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Contributions: often on the sphere and collinear, where the worst cases are."""
    angle = rng.choice([0.0, math.pi, rng.uniform(0, 2 * math.pi)], count) + rng.normal(0, 0.05, count)
    radius = np.where(rng.random(count) < 0.7, 1.0, rng.random(count))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def federations(scheme: str, cases: int) -> Iterator[tuple[float, float, Grid, Grid]]:
    """Random neighbours of one round: (rate, shift of the clip bound, law of D, law of D')."""
    rng = np.random.default_rng(SEED)
    for _ in range(cases):
        rate, shift = float(rng.uniform(0.05, 0.95)), float(rng.uniform(0.2, 2.0))
        g, other, h = shift * in_ball(rng, 3)
        nothing = gaussian(np.zeros(2))
        if scheme == "poisson replace-one":
            yield rate, shift, *((1 - rate) * nothing + rate * gaussian(v) for v in (g, other))
        elif scheme == "fixed-size replace-one":
            yield rate, shift, *((1 - rate) * gaussian(h) + rate * gaussian(v) for v in (g, other))
        elif scheme == "fixed-size add-remove":
            yield rate, shift, (1 - rate) * gaussian(h) + rate * gaussian(g), gaussian(h)
        else:
            yield rate, shift, (1 - rate) * nothing + rate * gaussian(g), nothing


DOMINATING: dict[str, tuple[float, Sampling]] = {
    "poisson replace-one": (1.0, "replace"),
    "poisson add-remove": (1.0, "remove"),
    "fixed-size replace-one": (2.0, "hybrid"),
    "fixed-size add-remove": (2.0, "remove"),
}
"""Move of the base pair, in clip bounds, and order."""


def worst_excess(scheme: str, move: float, order: Sampling, cases: int) -> float:
    """The most by which a federation beats the claimed pair."""
    return max(
        hockey_stick(p, q, gamma) - claimed(SubsampledPair(GaussianPair(move * shift), rate, order), gamma)
        for rate, shift, p, q in federations(scheme, cases)
        for gamma in GAMMAS
    )


def test_the_grid_is_accurate_enough() -> None:
    for gamma in GAMMAS:
        pair = SubsampledPair(GaussianPair(2.0), 0.4, "remove")
        p = 0.6 * gaussian(np.zeros(2)) + 0.4 * gaussian(np.array([1.2, 1.6]))
        assert hockey_stick(p, gaussian(np.zeros(2)), gamma) == pytest.approx(claimed(pair, gamma), abs=ROUNDING)


@pytest.mark.parametrize("scheme", few(list(DOMINATING), 4))
def test_no_random_federation_beats_its_pair(scheme: str) -> None:
    assert worst_excess(scheme, *DOMINATING[scheme], cases=40) <= ROUNDING


@pytest.mark.parametrize(
    ("scheme", "move", "order"),
    few(
        [
            ("fixed-size replace-one", 1.0, "hybrid"),
            ("fixed-size add-remove", 1.0, "remove"),
            ("fixed-size replace-one", 1.0, "replace"),
            ("poisson replace-one", 1.0, "hybrid"),
            ("fixed-size replace-one", 2.0, "remove"),
        ],
        8,
    ),
)
def test_wrong_pairs_are_beaten(scheme: str, move: float, order: Sampling) -> None:
    """Planted: half the sensitivity, the formula of the other scheme, one order where both are needed."""
    assert worst_excess(scheme, move, order, cases=60) > 0.01


@pytest.mark.parametrize("gamma", GAMMAS)
def test_attained_pairs_are_the_named_federations(gamma: float) -> None:
    rate, shift = 0.3, 0.8
    u = np.array([shift, 0.0])
    remove = SubsampledPair(GaussianPair(2 * shift), rate, "remove")
    mixture = (1 - rate) * gaussian(-u) + rate * gaussian(u)
    assert hockey_stick(mixture, gaussian(-u), gamma) == pytest.approx(claimed(remove, gamma), abs=ROUNDING)
    replace = SubsampledPair(GaussianPair(shift), rate, "replace")
    there, back = ((1 - rate) * gaussian(0 * u) + rate * gaussian(v) for v in (u, -u))
    assert hockey_stick(there, back, gamma) == pytest.approx(claimed(replace, gamma), abs=ROUNDING)


def test_the_pairs_of_the_module_are_the_proved_ones() -> None:
    def pairs(run: Poisson | FixedSize, relation: str) -> tuple[set[Pair], set[Pair]]:
        found = dominating(run, relation)  # type: ignore[arg-type]
        return tuple({pair for product in side for pair, _ in product} for side in (found.upper, found.lower))  # type: ignore[return-value]

    noise = Gaussian(2.0)
    for scheme, run in (("poisson", Poisson(noise, 0.25)), ("fixed-size", FixedSize(noise, 40, 10))):
        for relation in ("replace-one", "add-remove"):
            move, order = DOMINATING[f"{scheme} {relation}"]
            upper, lower = pairs(run, relation)
            expected = SubsampledPair(GaussianPair(move / 2), 0.25, order)
            assert expected in upper
            assert all(pair.base == expected.base for pair in upper if isinstance(pair, SubsampledPair))
            assert lower


def test_a_client_with_state_breaks_hidden_fixed_size_sampling() -> None:
    """docs/theory/dominating_pairs.md, "Fixed-size sampling": why contributions must not depend on private state."""
    noise, gamma = 0.7, math.e
    axis = np.linspace(-8, 8, 1201)
    step = axis[1] - axis[0]

    def law(centre: float) -> NDArray[np.float64]:
        return np.exp(-0.5 * ((axis - centre) / noise) ** 2) / (noise * math.sqrt(2 * math.pi))

    not_picked = law(1.0)  # both clients contribute +1 in round 2
    picked = 0.5 * law(-1.0) + 0.5 * law(1.0)
    first = {name: 0.5 * law(sign) + 0.5 * law(-1.0) for name, sign in (("D", 1.0), ("D'", -1.0))}
    both = {
        name: 0.5 * np.outer(law(sign), not_picked) + 0.5 * np.outer(law(-1.0), picked)
        for name, sign in (("D", 1.0), ("D'", -1.0))
    }
    one_round = float(np.sum(np.maximum(first["D"] - gamma * first["D'"], 0)) * step)
    assert one_round == pytest.approx(claimed(SubsampledPair(GaussianPair(2 / noise), 0.5, "remove"), gamma), abs=1e-5)
    assert float(np.sum(np.maximum(both["D"] - gamma * both["D'"], 0)) * step**2) > one_round + 0.007
    assert float(np.sum(np.maximum(first["D'"] - gamma * first["D"], 0)) * step) == 0
    assert float(np.sum(np.maximum(both["D'"] - gamma * both["D"], 0)) * step**2) > 0.02


def test_mixed_steps_cover_both_orders() -> None:
    run = Sequence([Poisson(Gaussian(1.0), 0.1), Gaussian(3.0)])  # type: ignore[arg-type]
    found = dominating(run, "add-remove")
    orders = {pair.order for product in found.upper for pair, _ in product if isinstance(pair, SubsampledPair)}
    assert orders == {"remove", "add"}
    assert all(any(isinstance(pair, GaussianPair) for pair, _ in product) for product in found.upper)
