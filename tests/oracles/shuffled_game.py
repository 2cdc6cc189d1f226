"""Two shuffled batches of one unit each, as a game: the largest profile over what the other unit, and the unit, do.

The first round's outcome y is seen. With g, h what the unit and the other contribute to it, and V the best of the
second round,

    H_gamma = 1/2 * integral of n_h(y) V((n_g(y) - gamma n_g'(y)) / n_h(y)) dy,
    V(t) = max over g, h, g' of the integral of (t n_h + n_g - gamma n_g')_+.

The second round's contributions follow the first one's outcome, in one dimension or in the plane. Every choice is one
that an attacker has, so that each value is a lower end. Only numpy: nothing of the accountants.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

Density = Callable[[float, np.ndarray], np.ndarray]

LINE = np.linspace(-9.0, 9.0, 1501)
RATIOS = np.concatenate([-np.geomspace(1e4, 1e-4, 70), [0.0], np.geomspace(1e-4, 1e4, 70)])
PLACES = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""Contributions that are tried, in units of the largest."""


def normal(centre: float, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-0.5 * (x - centre) ** 2) / np.sqrt(2 * np.pi))


def laplace(centre: float, x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * np.exp(-np.abs(x - centre)))


def game_value(
    shift: float, gamma: float, neighbours: str, density: Density = normal, line: np.ndarray = LINE
) -> float:
    """neighbours: "remove" (the unit against nothing), "add" (the reverse), "replace" (any against any)."""
    step = float(line[1] - line[0])
    pairs = [(shift * g, shift * other) for g, other in _pairs(neighbours)]
    gains = [density(g, line) - gamma * density(other, line) for g, other in pairs]
    others = [density(shift * h, line) for h in PLACES]
    second = np.max(
        [[np.maximum(t * h + gain, 0.0).sum() * step for t in RATIOS] for h in others for gain in gains], axis=0
    )
    first = [
        0.5 * step * float(h @ np.interp(np.clip(gain / np.maximum(h, 1e-300), -1e4, 1e4), RATIOS, second))
        for h in others
        for gain in gains
    ]
    return max(first)


def _pairs(neighbours: str) -> list[tuple[float, float]]:
    if neighbours == "replace":
        return [(g, other) for g in PLACES for other in PLACES]
    return [(g, 0.0) if neighbours == "remove" else (0.0, g) for g in PLACES]


def three_batches(shift: float, gamma: float, neighbours: str, cells: int = 61) -> float:
    """Three rounds in one dimension: the others at any of three places, which they and the unit may turn where the
    first outcome is low. By sums over all outcomes; the unit contributes all that it may."""
    x = np.linspace(-5.5, 5.5, cells)
    step = float(x[1] - x[0])
    first, second, third = (x.reshape([-1 if at == axis else 1 for at in range(3)]) for axis in range(3))
    unit = {"remove": (1.0, 0.0), "add": (0.0, 1.0), "replace": (1.0, -1.0)}[neighbours]
    best = 0.0
    for others in itertools.combinations_with_replacement((-1.0, 0.0, 1.0), 2):
        for turned in (False, True):
            after = np.where(first < 0.0, -1.0, 1.0) if turned else np.ones_like(first)

            def law(own: float, placed: tuple[float, ...] = others, after: np.ndarray = after) -> np.ndarray:
                orders = itertools.permutations((own, *placed))
                return sum(
                    normal(shift * a, first) * normal(shift * b * after, second) * normal(shift * c * after, third)
                    for a, b, c in orders
                )

            best = max(best, float(np.maximum(law(unit[0]) - gamma * law(unit[1]), 0.0).sum()) * step**3 / 6)
    return best


def game_in_the_plane(shift: float, gamma: float, neighbours: str) -> float:
    """The second round's contributions at any angle, of full length; the first round's opposed."""
    x = np.linspace(-8.0, 8.0, 121)
    plane = np.stack(np.meshgrid(x, x, indexing="ij"))
    area = float(x[1] - x[0]) ** 2

    def at(angle: float, length: float = 1.0) -> np.ndarray:
        centre = shift * length * np.array([np.cos(angle), np.sin(angle)])
        return np.asarray(np.exp(-0.5 * ((plane - centre[:, None, None]) ** 2).sum(axis=0)) / (2 * np.pi))

    none, unit = at(0.0, 0.0), at(0.0)
    gain = {"remove": unit - gamma * none, "add": none - gamma * unit, "replace": unit - gamma * at(np.pi)}[neighbours]
    ratios = RATIOS[::3]
    second = np.max(
        [
            [np.maximum(t * at(angle, length) + gain, 0.0).sum() * area for t in ratios]
            for angle in np.linspace(0, np.pi, 9)
            for length in (0.5, 1.0)
        ],
        axis=0,
    )
    values = []
    for h in (at(np.pi), at(0.0), at(np.pi / 2)):
        ratio = np.clip(gain / np.maximum(h, 1e-300), -1e4, 1e4)
        values.append(0.5 * area * float((h * np.interp(ratio, ratios, second)).sum()))
    return max(values)
