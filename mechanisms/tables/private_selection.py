"""What a [mechanism] table of hyper-parameter search says beside its description: the run, a phase of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from ..quantity import Quantity, as_given
from .cohort import SamplingTable
from .described import DescribedTable
from .kinds import Described
from .phase import Phase, run_of


class SearchTable(DescribedTable):
    """The best of a random number of runs."""

    otherwise = ("mechanism",)
    run: Annotated[Phase, Quantity(as_given, "one training run, with its mechanism, sampling and composition")]

    @classmethod
    def lacking(cls, given: Mapping[str, Any]) -> dict[str, str]:
        """One law of the number of runs."""
        absent = super().lacking(given)
        if given.get("gamma") is None and given.get("poisson_mean") is None:
            absent["gamma"] = "a number strictly between 0 and 1, or poisson_mean in its place"
        return absent

    def described(self, sampling: SamplingTable) -> Described:
        search = self.mechanism(mechanism=run_of((self.run,)))
        return Described(search, search if self.run.described().lower == self.run.described().upper else None)
