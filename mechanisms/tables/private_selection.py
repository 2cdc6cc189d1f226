"""What a [mechanism] table of hyper-parameter search says beside its description: the run, a phase of its own."""

from __future__ import annotations

from typing import Annotated, ClassVar

from ..quantity import Quantity, as_given
from .cohort import SamplingTable
from .described import DescribedTable
from .kinds import Described
from .phase import Phase, run_of


class PrivateSelectionTable(DescribedTable):
    """The best of a random number of runs."""

    otherwise = ("mechanism",)
    alternatives: ClassVar = {"gamma": ("a number strictly between 0 and 1", "poisson_mean")}
    run: Annotated[Phase, Quantity(as_given, "one training run, with its mechanism, sampling and composition")]

    def described(self, sampling: SamplingTable) -> Described:
        search = self.mechanism(mechanism=run_of((self.run,)))
        once = self.run.described()
        return Described(search, search if once.lower == once.upper else None)
