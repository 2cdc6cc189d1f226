"""For every number of entries: the search for an induction over the steps of a loop, which the checker then proves.

The configurations are found by asking what steps can do (loops.py, configurations.py); by how much the numbers of the
state differ in each, how noise is shifted and what is left to pay is one linear program (solution.py). What is
found is a suggestion only: the checker cuts the function itself and proves every step again.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..checker.refusals import Refused
from .configurations import Search
from .discrete_states import Layouts
from .exact_solution import Exact
from .loops import Loops, NoInduction
from .solution import Solution


def induction(loops: Loops, most: Fraction | None = None) -> tuple[dict[str, Any], Fraction]:
    """A certificate's part on all numbers of entries, and its epsilon. most: no dearer one is wanted.

    Raises NoInduction with a reason.
    """
    loops = Layouts(loops).settled()
    events = [(stage, name) for stage, names in enumerate(loops.names) for name in names]
    reason = ""
    for event in (None, *(events if (loops.setting.relation, loops.setting.notion) == ("answers", "dp") else ())):
        search = Search(replace(loops, event=event), loops.setting, loops.setting.data())
        try:
            found = Exact(Solution(search.explored())).document()
        except (NoInduction, Refused) as problem:
            reason = reason or str(problem)
            continue
        if most is None or found[1] <= most:
            return found
        reason = f"for all N it costs {float(found[1]):g}"
    raise NoInduction(reason)
