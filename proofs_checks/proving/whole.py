"""Forms that are whole numbers whatever the data: counts of comparisons, whole entries, discrete noise."""

from __future__ import annotations

from collections.abc import Mapping

from . import state
from .exact import Number

DISCRETE = ("discrete-laplace", "geometric")


def is_whole(terms: Mapping[str, Number], constant: Number) -> bool:
    """Whether whole multiples of whole variables and a whole constant are added."""
    run = state.current()
    discrete = {f"n{k}" for k, (kind, _) in enumerate(run.draws) if kind in DISCRETE}
    known = all(name in run.space.whole or name in discrete for name in terms)
    return known and all(value.denominator == 1 for value in (*terms.values(), constant))
