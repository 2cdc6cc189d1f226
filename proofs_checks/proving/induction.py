"""For every number of entries: the search for an induction over the steps of a loop, that checker/induction.py proves.

The configurations are found by running steps (configurations.py); by how much the numbers of the state differ in each,
how noise is shifted and what is left to pay is one linear program (potentials.py). Runs, layouts and the cut of the
loop are the checker's own (nothing goes the other way), since what is found here is a suggestion only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .checker.cut import cut
from .checker.following import Refused
from .checker.steps import Steps
from .checker.surroundings import Surroundings
from .configurations import NoInduction, Search
from .exact_induction import Exact
from .layouts import Layouts
from .potentials import Solution
from .relations import Domain


def induction(
    function: Callable[..., Any], relation: str, domain: Domain, most: Fraction | None = None
) -> tuple[dict[str, Any], Fraction]:
    """A certificate's part on all numbers of entries, and its epsilon. most: no dearer one is wanted.

    Raises NoInduction with a reason.
    """
    try:
        made = cut(function, relation)
        steps = Layouts(Steps(made, Surroundings(function)), relation, domain).settled()
        events = [(stage, name) for stage, loop in enumerate(made.loops) for name in loop.names]
        reason = ""
        for event in (None, *(events if relation == "answers" else ())):
            search = Search(replace(steps, event=event), relation, domain)
            try:
                found = Exact(Solution(search.explored())).document()
            except (NoInduction, Refused) as problem:
                reason = reason or str(problem)
                continue
            if most is None or found[1] <= most:
                return found
            reason = f"for all N it costs {float(found[1]):g}"
        raise NoInduction(reason)
    except Refused as problem:
        raise NoInduction(str(problem)) from problem
