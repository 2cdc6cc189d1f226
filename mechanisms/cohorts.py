"""Further ways to choose who takes part in a round (see sampled.py for Poisson, fixed-size and shuffled cohorts).

What these amplify, and against whom, is decided by accounting/billboard/observers.py; the plain accountants do
not know them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .base import Mechanism
from .composition import rounds_by_step
from .sampled import FixedSize, Poisson, Shuffled, released
from .validate import InputError, count


@dataclass(frozen=True, slots=True)
class WithReplacement(Mechanism):
    """One round: `draws` units drawn uniformly and independently, so that one unit may come up several times.

    A unit that comes up j times contributes j times. The mechanism's noise is on the sum over the draws.

    draws: how many units are drawn in one round, at least 1.

    >>> from dpcert import Gaussian
    >>> WithReplacement(Gaussian(1.0), population=1000, draws=10).draws
    10
    """

    mechanism: Mechanism
    population: int
    draws: int

    def __post_init__(self) -> None:
        released(self.mechanism)
        object.__setattr__(self, "population", count("population", self.population))
        object.__setattr__(self, "draws", count("draws", self.draws))


@dataclass(frozen=True, slots=True)
class Cyclic(Mechanism):
    """One pass over a fixed, public partition of the units into `batches` groups, always in the same order.

    >>> from dpcert import Gaussian, epsilon
    >>> epsilon(Cyclic(Gaussian(1.0), batches=10), 1e-5) == epsilon(Gaussian(1.0), 1e-5)  # one round for each unit
    True
    """

    mechanism: Mechanism
    batches: int

    def __post_init__(self) -> None:
        released(self.mechanism)
        object.__setattr__(self, "batches", count("batches", self.batches))


@dataclass(frozen=True, slots=True)
class RandomAllocation(Mechanism):
    """A block of `rounds` rounds of which every unit, independently of all others, picks `participations` uniformly.

    Sums are divided by a constant, never by the realised cohort. (Feldman, Shenfeld 2025, arXiv 2502.08202,
    "random allocation"; with one participation also "balls and bins" sampling, Chua et al. 2024, arXiv 2412.16802; what
    it costs: docs/theory/allocation.md and rdp.md, "Random allocation".)

    participations: in how many rounds of the block each unit takes part, from 1 to `rounds`.

    >>> from dpcert import Gaussian
    >>> RandomAllocation(Gaussian(1.0), rounds=100).participations
    1
    """

    mechanism: Mechanism
    rounds: int
    participations: int = 1

    def __post_init__(self) -> None:
        released(self.mechanism)
        object.__setattr__(self, "rounds", count("rounds", self.rounds))
        object.__setattr__(self, "participations", count("participations", self.participations))
        if self.participations > self.rounds:
            raise InputError("participations", self.participations, f"at most the {self.rounds} rounds of the block")


def among_idle_others(one: Mechanism) -> Mechanism:
    """At most what a round reveals where all other units contribute nothing.

    Among contributions of zero a cohort of a fixed size is a Poisson one to whoever sees no cohorts, and it reveals no
    less to whoever does; a shuffled epoch is one round of several that the unit picks: to permute its rounds, and to
    forget all but one release of a batch, is post-processing, and the pick is even where the last batch is smaller.
    """
    if isinstance(one, Shuffled):
        return RandomAllocation(next(iter(rounds_by_step(one.mechanism))), one.batches)
    return Poisson(one.mechanism, one.sampling_rate) if isinstance(one, FixedSize) else one
