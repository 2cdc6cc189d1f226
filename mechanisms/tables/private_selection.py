"""[mechanism] of hyper-parameter search: the best of a random number of runs, each of which is a phase of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from .. import BestOfSeveral
from ..validate import number
from .cohort import SamplingTable
from .fields import Positive, Probability, checked
from .kinds import Described, MechanismTable
from .phase import Phase, run_of


class BestOfSeveralTable(MechanismTable):
    """run: one run, its own mechanism, sampling and composition; gamma and shape, or poisson_mean: of the number of
    runs, which is secret."""

    kind: Literal["best-of-several"]
    run: Phase
    gamma: Probability | None = None
    shape: Annotated[float, checked(number)] = 1.0
    poisson_mean: Positive | None = None

    def described(self, sampling: SamplingTable) -> Described:
        mechanism = BestOfSeveral(run_of((self.run,)), self.gamma, self.shape, self.poisson_mean)
        return Described(mechanism, mechanism if self.run.described().lower == self.run.described().upper else None)
