"""Which canaries were in: guesses from scores, their number fixed in advance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms import InputError
from ...mechanisms.validate import count


@dataclass(frozen=True, slots=True)
class Guesses:
    """canaries: how many coins there were. made: guesses, fixed in advance. correct: how many were right."""

    canaries: int
    made: int
    correct: int


def guess(scores: ArrayLike, included: ArrayLike, made: int) -> Guesses:
    """Guesses "in" for the made/2 largest scores and "out" for the smallest (ties by position).

    scores, included: shape (canaries,). Raises InputError when there are fewer canaries than guesses.
    """
    value, truth = np.asarray(scores, float), np.asarray(included, bool)
    if value.ndim != 1 or value.shape != truth.shape:
        raise InputError("included", truth.shape, f"one coin for each score, shape {value.shape}")
    guesses = count("made", made, least=1)
    if guesses > len(value):
        raise InputError("made", made, f"at most the number of canaries, {len(value)}")
    order = np.argsort(value, kind="stable")
    low, high = guesses // 2, guesses - guesses // 2
    correct = np.count_nonzero(~truth[order[:low]]) + np.count_nonzero(truth[order[len(order) - high :]])
    return Guesses(len(value), guesses, int(correct))
