"""The threshold rule that promises the largest lower bound on epsilon at one delta."""

from __future__ import annotations

import numpy as np

from ...mechanisms.arrays import Floats
from . import guessing_game
from .rules import FEW, Candidates, Rule, best

CAUTION = 2.0
"""Standard deviations by which exploration counts are distrusted: the luckiest of many rules looks too good.

Less for fewer than rules.FEW wrong guesses, whose number is fitted rather than counted.
"""


def choose(grids: tuple[Candidates, ...], delta: float, trials: int, error: float) -> tuple[float, Rule]:
    """The rule with the largest bound to be expected of `trials` fresh trials, and that bound."""

    def expected(grid: Candidates) -> Floats:
        scale = trials / grid.trials
        doubt = CAUTION * np.minimum(1.0, grid.wrong / FEW)
        # Half a wrong guess is added where there are few, a little more for guessing the second side for nothing.
        wrong = grid.wrong + 0.4 + 0.2 * grid.share
        correct = np.floor(scale * np.maximum(0.0, grid.correct - doubt * np.sqrt(grid.correct)))
        wrong = np.ceil(scale * (wrong + doubt * np.sqrt(wrong)))
        bound = np.empty_like(correct)
        for share in (0.5, 1.0):
            some = grid.share == share
            bound[some] = guessing_game.epsilon_lower(correct[some], wrong[some], trials, share * delta, error)
        return bound

    return best(grids, expected)
