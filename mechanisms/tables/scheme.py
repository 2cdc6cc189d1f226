"""How the units of a round are chosen, by the names that claims and --sampling use, and what that says of a scheme."""

from __future__ import annotations

from ..word import Word


class Scheme(Word):
    """NONE: nobody is chosen, everybody takes part in every round. docs/claims.md describes the others.

    >>> [str(scheme) for scheme in Scheme if scheme.partitions_epochs]
    ['shuffle', 'cyclic']
    """

    NONE = "none"
    POISSON = "poisson"
    FIXED_SIZE = "fixed-size"
    SHUFFLE = "shuffle"
    CYCLIC = "cyclic"
    RANDOM_ALLOCATION = "random-allocation"
    CYCLIC_POISSON = "cyclic-poisson"
    BALLS_IN_BINS = "balls-in-bins"
    MIN_SEPARATED = "min-separated"

    @property
    def partitions_epochs(self) -> bool:
        """Whether batches are dealt: everybody is in one of an epoch, of which the last may be smaller."""
        return self in (Scheme.SHUFFLE, Scheme.CYCLIC)

    @property
    def has_fixed_cohorts(self) -> bool:
        """Whether the size of a cohort is stated, not drawn; the last one of an epoch may be smaller."""
        return self.partitions_epochs or self == Scheme.FIXED_SIZE

    @property
    def is_random(self) -> bool:
        """Whether chance decides who takes part."""
        return self not in (Scheme.NONE, Scheme.CYCLIC)

    @property
    def draws_units_independently(self) -> bool:
        """Whether every unit comes by a coin or a pick of its own, whoever else comes."""
        return self.is_random and not self.has_fixed_cohorts
