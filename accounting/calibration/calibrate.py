"""How much noise, how many rounds, how large a cohort or clip a privacy target allows: always on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...mechanisms import InputError, Mechanism, Neighbouring, Notion, PrivacyNotion, Visibility
from ...mechanisms.validate import delta_below_one, nonnegative, positive
from ..accountants import AccountantName
from ..answer import answer
from ..bracket import Bracket
from ..currencies.pure_dp import UNBOUNDED
from ..quantity import Quantity
from ..question import Question
from ..seconds import timed
from .search import Calibration, Search
from .solve_for import Solved, SolveFor


@timed
def calibrate(
    build: Callable[[float], Mechanism],
    *,
    solve_for: Solved,
    epsilon: float,
    delta: float,
    most: float | None = None,
    neighbouring: Neighbouring | None = None,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    accountant: AccountantName = "best",
    rtol: float = 1e-6,
) -> Calibration:
    """The least noise, or the most rounds, or the largest cohort, rate or clip, for which a run is (epsilon, delta)-DP.

    build: the run, of one phase or of many, as a function of the value that is solved for (an int for rounds and
    cohort), for instance `lambda z: Repeat(Poisson(Gaussian(z), 0.01), 10_000)`; epsilon must fall as the noise grows,
    and rise with the others. most: the largest value that build takes (a cohort's population). rtol: the relative
    distance to a value that misses at which the search ends, and the width asked of each bracket. The other arguments
    are those of accounting.epsilon. The result meets the target for certain, if the accountant is a certified one:
    the search is on the upper end of the bracket, and a value that misses by any amount is not returned.
    Raises InputError for targets out of range, and where no value meets the target (one round already misses it).

    >>> from dpcert.mechanisms import Gaussian, Poisson, Repeat
    >>> found = calibrate(
    ...     lambda z: Repeat(Poisson(Gaussian(z), 0.01), 1_000), solve_for="noise_multiplier", epsilon=2.0, delta=1e-5
    ... )
    >>> round(found.value, 6), found.epsilon.at_most(2.0)
    (0.959102, True)
    """
    return next(
        calibrations(
            build,
            solve_for=solve_for,
            epsilons=[epsilon],
            delta=delta,
            most=most,
            neighbouring=neighbouring,
            notion=notion,
            participation=participation,
            accountant=accountant,
            rtol=rtol,
        )
    )


def calibrations(
    build: Callable[[float], Mechanism],
    *,
    solve_for: Solved,
    epsilons: Sequence[float],
    delta: float,
    most: float | None = None,
    neighbouring: Neighbouring | None = None,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    accountant: AccountantName = "best",
    rtol: float = 1e-6,
) -> Iterator[Calibration]:
    """`calibrate` at every target epsilon, in the order given: each search begins between what the others have seen.

    The arguments are those of calibrate. Raises InputError for targets out of range before any work, and at a target
    that no value meets.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> found = calibrations(
    ...     lambda z: Repeat(Gaussian(z), 10), solve_for="noise_multiplier", epsilons=[1.0, 2.0, 4.0], delta=1e-5
    ... )
    >>> [round(each.value, 4) for each in found]
    [11.7973, 6.305, 3.4189]
    """
    solved = SolveFor.named("solve_for", solve_for)
    targets = [nonnegative("epsilon", epsilon) for epsilon in epsilons]
    delta_below_one("delta", delta)
    limit = math.inf if most is None else positive("most", most)

    def bracket(value: float) -> Bracket:
        run = build(int(value) if solved.is_whole else value)
        return answer(
            Question.about(run, Quantity.EPSILON, neighbouring, notion, participation, accountant, rtol), delta
        )

    seen = dict[float, Bracket]()

    def found(target: float) -> Calibration:
        search = Search(bracket, solved, target, rtol, seen=seen)
        try:
            found = search.found(limit)
        except InputError as missed:
            if delta > 0.0 or any(each.upper < math.inf for each in seen.values()):
                raise
            raise InputError("delta", delta, f"a number above 0: {UNBOUNDED}") from missed
        return replace(found if delta else search.at_decimal(found), delta=delta)

    return map(found, targets)
