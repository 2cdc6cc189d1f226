"""How much noise, how many rounds, how large a cohort any target allows: a rho, a mu, an attack's success, ..."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...mechanisms import Mechanism
from ...mechanisms.digits import as_given
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import positive
from ..bracket import Bracket
from ..question import tolerance
from ..seconds import timed
from .search import Search
from .solve_for import Solved, SolveFor


@dataclass(frozen=True, slots=True)
class TargetCalibration(InNotebook):
    """The most favourable value found that meets the target.

    value: of `solve_for`. amount: what the run has of the quantity at that value; its upper end is at most the target.
    beyond: a value next to it whose upper end misses the target; None where the value is at its limit.
    target, quantity: what was to be met, and what that is called.

    >>> from dpcert import Gaussian, calibrate_to, mu
    >>> calibrate_to(Gaussian, mu, solve_for="noise_multiplier", target=0.5).amount.at_most(0.5)
    True
    """

    solve_for: SolveFor
    value: float
    amount: Bracket
    beyond: float | None
    target: float
    quantity: str
    seconds: float = field(default=0.0, compare=False, repr=False)

    def __str__(self) -> str:
        met = f"{self.quantity} = {as_given(self.target)}"
        first = f"{self.solve_for.in_words(self.value)} meets {met}"
        return f"{first}\n  {self.quantity} in {self.amount.ends}, in {self.seconds:.3g} s"

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        solved = {"solve_for": self.solve_for.option, "value": self.value, self.quantity: self.target}
        return solved | self.amount.to_json(self.quantity) | {"beyond": self.beyond, "seconds": self.seconds}


@timed
def calibrate_to(
    build: Callable[[float], Mechanism],
    measure: Callable[[Mechanism], Bracket],
    *,
    solve_for: Solved,
    target: float,
    most: float | None = None,
    rtol: float = 1e-4,
    quantity: str = "target",
) -> TargetCalibration:
    """The least noise, or the most rounds, cohort, rate or clip, for which a run's quantity is at most the target.

    measure: the run's certified bracket of the quantity, such as `mu`, `rho`, or a function that asks for them in a
    range; it must fall as the noise grows, and rise with the others. target: above 0. The search is on the bracket's
    upper end, so that the value meets the target for certain. rtol: the relative distance to a value that misses at
    which the search ends. quantity: its name in errors. The other arguments are those of `calibrate`.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> from dpcert.accounting import rho
    >>> def run(noise_multiplier):
    ...     return Repeat(Gaussian(noise_multiplier), rounds=8)
    >>> found = calibrate_to(run, rho, solve_for="noise_multiplier", target=0.25)
    >>> found.value, found.amount.upper  # 8 / (2 z^2)
    (4.0, 0.25)

    Raises InputError for targets out of range, and where no value meets the target.
    """
    solved = SolveFor.named("solve_for", solve_for)
    aim, gap = positive(quantity, target), tolerance("rtol", rtol)

    def bracket(value: float) -> Bracket:
        return measure(build(solved.printable(value)))

    search = Search(bracket, solved, aim, gap, quantity)
    found = search.at_decimal(search.found(math.inf if most is None else positive("most", most)))
    beyond = None if found.beyond is None else solved.printable(found.beyond)
    return TargetCalibration(solved, solved.printable(found.value), found.epsilon, beyond, aim, quantity)
