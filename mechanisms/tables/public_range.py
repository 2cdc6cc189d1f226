"""What [mechanism] tables of noise that is cut, or whose outputs are, and of withheld sums say beside descriptions."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from .. import Gaussian, Laplace
from ..quantity import Quantity, noise_over_bound
from ..validate import choice
from .cohort import SamplingTable
from .described import DescribedTable
from .kinds import Described
from .norms import NormedTable


class OneNumberTable(NormedTable, DescribedTable):
    """A number with noise that is cut, or in a public range."""

    def described(self, sampling: SamplingTable) -> Described:
        self.only_one_number("of noise or outputs that are cut, in several dimensions, no bound is known")
        return super().described(sampling)


_NOISES: dict[str, type[Laplace | Gaussian]] = {"laplace": Laplace, "gaussian": Gaussian}


class ThresholdedSumsTable(DescribedTable):
    """The noise of one group's sum has a key for its kind, and one for its size."""

    noise: Annotated[
        Literal["laplace", "gaussian"],
        Quantity(partial(choice, allowed=_NOISES), "kind of noise on the sums: laplace or gaussian"),
    ]
    noise_multiplier: Annotated[
        float,
        noise_over_bound("its scale or standard deviation, divided by the most that a unit adds to one group"),
    ]

    def mechanism(self, **otherwise: Any) -> Any:
        return super().mechanism(noise=_NOISES[self.noise](self.noise_multiplier))
