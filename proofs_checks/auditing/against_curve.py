"""The default test: is the whole claimed curve violated anywhere?

On the exploration trials two rules are chosen, each with one line (epsilon, delta) of the claim: the pair that
promises the largest standardised violation, and the rule that separates the two sides best without abstaining.
Each is then one exact test on the other trials, at half of the error probability. Why the second: a deficit of
1% moves every line by little, so that the largest of many promises is mostly chance; the best separation is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats
from . import guessing_game
from .curve import ClaimedCurve
from .rules import Candidates, Rule, best, rates, separation

MOST_LINES = 24


@dataclass(frozen=True, slots=True)
class Attack:
    """A rule, and the line of the claim that it is to refute. promise: expected z-value per root trial."""

    rule: Rule
    epsilon: float
    delta: float
    promise: float

    def p_value(self, correct: int, wrong: int, trials: int, error: float = 0.05) -> float:
        """Exact (never too small) p-value of the line, from the counts on fresh trials, to be compared with error."""
        leak = self.delta * self.rule.share
        if self.rule.total:
            return float(guessing_game.total_p_value(correct, trials, self.epsilon, leak))
        nuisance = min(guessing_game.NUISANCE_ERROR, error / 100)
        return guessing_game.p_value(correct, wrong, trials, self.epsilon, leak, nuisance)


def lines(claim: ClaimedCurve) -> list[tuple[float, float]]:
    """At most MOST_LINES of the claim's lines, evenly picked; those at delta = 1 say nothing."""
    pairs = [line for line in claim.lines if line[1] < 1.0]
    step = max(1, -(-len(pairs) // MOST_LINES))
    return pairs[::step]


def most_violated(grids: tuple[Candidates, ...], claim: ClaimedCurve) -> Attack | None:
    """The rule and line with the largest expected standardised violation; None for a claim that says nothing."""
    return _top(grids, lines(claim), None)


def best_separated(grids: tuple[Candidates, ...], claim: ClaimedCurve) -> Attack | None:
    """The rule of the largest total variation estimate, with the line that it violates most."""
    value, rule = best(grids, separation)
    return _top(grids, lines(claim), rule) if value > 0 else None


def _top(grids: tuple[Candidates, ...], pairs: list[tuple[float, float]], only: Rule | None) -> Attack | None:
    found: Attack | None = None
    for grid in grids:
        if only is not None and grid.sign != only.sign:
            continue
        correct, wrong = rates(grid)
        share = grid.share
        rows, columns = slice(None), slice(None)
        if only is not None:
            row = int(np.searchsorted(grid.uppers, only.upper))
            column = int(np.searchsorted(grid.lowers, only.lower))
            rows, columns = slice(row, row + 1), slice(column, column + 1)
        for epsilon, delta in pairs:
            value = _promise(correct, wrong, share, epsilon, delta)[rows, columns]
            cell = int(np.argmax(value))
            if found is None or value.flat[cell] > found.promise:
                rule = only or grid.rule(cell)
                found = Attack(rule, epsilon, delta, float(value.flat[cell]))
    return found


def _promise(correct: Floats, wrong: Floats, share: Floats, epsilon: float, delta: float) -> Floats:
    odds = np.exp(epsilon)
    excess = correct - odds * wrong - share * delta
    spread = correct + odds * odds * wrong - (correct - odds * wrong) ** 2
    return np.asarray(excess / np.sqrt(np.maximum(spread, 1e-12)))
