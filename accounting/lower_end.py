"""Brackets of runs that are known as a bound: the upper end is of the bound, the lower end of what ran at the least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..mechanisms import InputError, Mechanism
from .bracket import Bracket, EmptyBracket


def with_lower_end(found: Bracket, least: Mechanism | None, ask: Callable[[Mechanism], Bracket]) -> Bracket:
    """The bracket of the bound, with the lower end of what ran at the least: 0 where nothing is known of that, or no
    accountant serves it. ask: the bracket of a run. An estimate, which may be below a certified lower end, stays one.

    >>> from dpcert import Gaussian, epsilon
    >>> worst = epsilon(Gaussian(1.0), 1e-5)
    >>> found = with_lower_end(worst, Gaussian(2.0), lambda run: epsilon(run, 1e-5))
    >>> found.lower == epsilon(Gaussian(2.0), 1e-5).lower < worst.lower, found.upper == worst.upper
    (True, True)
    """
    lower = 0.0
    if least is not None:
        try:
            lower = ask(least).lower
        except EmptyBracket:  # a contradiction, which must surface
            raise
        except (InputError, ArithmeticError):
            pass
    return replace(found, lower=lower if found.certified else min(lower, found.upper))
