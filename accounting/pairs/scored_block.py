"""A block of rounds in some of which, at random, a unit stands out, as a sum of scores shows it: a lower end's pair."""

from __future__ import annotations

from dataclasses import dataclass

from ..allocation import scored_block
from ..losses.atoms import laws
from ..losses.atoms.edges import Resolution
from ..losses.atoms.transform import AtomLaw, Law
from ..rounding import End
from .pair import Pair


@dataclass(frozen=True, slots=True)
class ScoredBlockPair(Pair):
    """The law of a sum of rounded scores of `rounds` releases N(0, 1), of which `participations`, hidden and uniform,
    move by `first` shifts under P and by `second` under Q.

    (2, 1): shuffled batches, all others -u, the unit u or nothing in its place. (1, -1): random allocation, the unit u
    or -u. The scores, and which sums count as one outcome, are those of accounting/allocation/scored_block.py: both
    distributions are discrete, and known up to rounding.
    shift: at most 1 / noise_multiplier (more noise is post-processing), taken as the double that it is.
    """

    shift: float
    rounds: int
    participations: int
    first: int
    second: int

    def losses(self) -> laws.Losses | None:
        """Both laws are attained."""

        def law(end: End, resolution: Resolution) -> Law:
            return AtomLaw(scored_block.losses_of_scores(self, end))

        return laws.Losses(law, cut=laws.Cut(1e-5, 1e-3))

    def _divergence(self, alpha: float) -> float:
        """That of Gaussian rounds: which releases move would have to be known."""
        move = self.shift * (self.first - self.second)
        return 0.5 * alpha * self.participations * move * move * (1 + 2.0**-40)
