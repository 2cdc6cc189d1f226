"""Everything at once: a simultaneous lower bound on the privacy profile, for all (epsilon, delta).

About twenty rules are chosen on the exploration trials, from bold to cautious. On the other trials each gets an
exact lower bound on its rate of correct guesses and an exact upper bound on that of wrong ones; a union bound
makes them hold together. All statements below follow from these bounds, hence hold together as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...mechanisms.arrays import Floats
from . import clopper_pearson
from .curve import ClaimedCurve
from .rules import Candidates, Rule, best, largest_bound, rates, separation

LEVELS = 20
WRONG_SHARE = 0.75
"""Part of each rule's error that its wrong guesses get: they are fewer, so that their bound costs more."""


@dataclass(frozen=True, slots=True)
class Band:
    """With probability at least 1 - error, every rule has c >= correct and w <= wrong, all at once."""

    rules: tuple[Rule, ...]
    correct: tuple[float, ...]
    wrong: tuple[float, ...]
    error: float

    def delta(self, epsilon: float) -> float:
        """delta(epsilon) is at least this."""
        bounds = [(c - math.exp(epsilon) * w) / rule.share for rule, c, w in self._rows()]
        return max(0.0, *bounds)

    def epsilon(self, delta: float) -> float:
        """epsilon(delta) is at least this."""
        bounds = [math.log((c - delta * r.share) / w) for r, c, w in self._rows() if c > delta * r.share and w > 0]
        return max([0.0, *bounds])

    def mu(self) -> float:
        """mu-GDP for no mu below this: G(w / share) >= c / share for the concave G = 1 - trade-off curve."""
        bounds = [
            float(special.ndtri(min(1.0, c / r.share)) - special.ndtri(min(1.0, w / r.share)))
            for r, c, w in self._rows()
            if c > 0 and w < r.share
        ]
        return max([0.0, *bounds])

    def tradeoff(self, alpha: ArrayLike) -> Floats:
        """An upper bound, at levels alpha, on every symmetric trade-off curve that the pair satisfies."""
        a = np.asarray(alpha, float)
        points = [(0.0, 1.0), (1.0, 0.0)]
        for rule, c, w in self._rows():
            size, power = min(1.0, w / rule.share), min(1.0, c / rule.share)
            points += [(size, 1 - power), (1 - power, size)]
        points.sort()
        return _below(np.array(points), a)

    def violates(self, claim: ClaimedCurve) -> tuple[int, float, float] | None:
        """(index of a rule, epsilon, delta) where the band refutes a line of the claim by most, or None."""
        excess = [
            ((c - math.exp(eps) * w) / rule.share - bound, index, eps, bound)
            for eps, bound in claim.lines
            for index, (rule, c, w) in enumerate(self._rows())
        ]
        worst = max(excess, default=(0.0, 0, 0.0, 0.0))
        return worst[1:] if worst[0] > 0 else None

    def _rows(self) -> list[tuple[Rule, float, float]]:
        return list(zip(self.rules, self.correct, self.wrong, strict=True))


def choose(grids: tuple[Candidates, ...], delta: float, trials: int, error: float) -> tuple[Rule, ...]:
    """For LEVELS values of epsilon the rule of the largest expected lower bound on delta(epsilon).

    The values end at the largest bound to be expected at `delta`, which gets a rule of its own.
    """
    spread = -float(special.ndtri(error / (2 * LEVELS)))
    rules: dict[Rule, None] = {}
    value, rule = best(grids, separation)
    if value > 0:
        rules[rule] = None
    top, rule = largest_bound(grids, delta, trials, error / LEVELS)
    rules[rule] = None
    for epsilon in np.linspace(0.0, max(top, 0.1), LEVELS - 2):
        odds = float(np.exp(epsilon))

        def bound(grid: Candidates, odds: float = odds) -> Floats:
            correct, wrong = rates(grid)
            doubt = np.sqrt(correct / trials) + odds * np.sqrt(wrong / trials)
            return np.asarray((correct - odds * wrong - spread * doubt) / grid.share)

        value, rule = best(grids, bound)
        if value > 0:
            rules[rule] = None
    return tuple(rules)


def band(rules: tuple[Rule, ...], counts: list[tuple[int, int]], trials: int, error: float) -> Band:
    """The band from the counts (correct, wrong) of each rule on fresh trials."""
    if not rules:
        return Band((), (), (), error)
    each = error / len(rules)
    right, bad = np.array(counts, float).T
    lower = clopper_pearson.lower(right, trials, each * (1 - WRONG_SHARE))
    upper = clopper_pearson.upper(bad, trials, each * WRONG_SHARE)
    return Band(rules, tuple(lower.tolist()), tuple(upper.tolist()), error)


def _below(points: Floats, at: Floats) -> Floats:
    """The largest convex function below points, shape (n, 2), sorted; at abscissas between the first and the last."""
    hull: list[Floats] = []
    for point in points:
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    curve = np.array(hull)
    return np.asarray(np.interp(at, curve[:, 0], curve[:, 1]))


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
