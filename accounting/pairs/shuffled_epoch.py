"""One epoch of shuffled batches as the others' worst contributions show it: a lower end's pair."""

from __future__ import annotations

from dataclasses import dataclass

from .pair import Pair


@dataclass(frozen=True, slots=True)
class ShuffledEpochPair(Pair):
    """The law of a sum of rounded scores of `batches` releases, one of which, at random, stands out: by 2 shifts
    under P, by 1 under Q.

    All others contribute -u; the unit u, or nothing in its place. The scores, and which sums count as one outcome, are
    those of accounting/allocation/shuffled_epoch.py: both distributions are discrete, and known exactly up to rounding.
    shift: at most 1 / noise_multiplier (more noise is post-processing), taken as the double that it is.
    """

    shift: float
    batches: int
