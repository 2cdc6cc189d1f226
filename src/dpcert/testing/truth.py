"""The truth that bounds are held against: proved in ball arithmetic, by the checker of certificates.

The composed privacy profile is decreasing in epsilon. So if delta(reported) > delta is proved for two neighbours, the
true epsilon is above `reported`, and no accountant for them may report it. Nothing here is an estimate: where the
proof does not succeed, nothing is said.
"""

from __future__ import annotations

from functools import lru_cache

from flint import ctx

from ..mechanisms import Neighbouring
from ..proofs_checks.certificates.checker import format
from ..proofs_checks.certificates.checker.command import PRECISION
from ..proofs_checks.certificates.checker.pairs import Product, products
from ..proofs_checks.certificates.evidence import Search
from .subject import Phase

Phases = tuple[Phase, ...]

SCHEDULE = ((1e-7, 16384), (1e-4, 65536))
"""What a proof may leave open, relative to delta, and how many terms it may take: a bound that is too low by less than
about 1e-7 may go unnoticed, which keeps a proof to a second or so."""


def proved_above(phases: Phases, epsilon: float, delta: float, neighbouring: Neighbouring) -> frozenset[str]:
    """The directions (such as "remove" and "add") in which the true epsilon is proved to be above `epsilon`.

    >>> from dpcert.testing import Phase
    >>> sorted(proved_above((Phase(1.0, 1.0, 1),), 4.0, 1e-5, "add-remove"))  # it is 4.377
    ['both']
    """
    pairs = _products(phases, neighbouring, False)
    return frozenset(name for name in pairs if _proved(phases, name, epsilon, delta, neighbouring, False))


def proved_below(phases: Phases, epsilon: float, delta: float, neighbouring: Neighbouring) -> bool:
    """Whether the true epsilon is proved to be at most `epsilon`, in every direction.

    >>> from dpcert.testing import Phase
    >>> proved_below((Phase(1.0, 1.0, 1),), 4.38, 1e-5, "add-remove")
    True
    """
    pairs = _products(phases, neighbouring, True)
    return all(_proved(phases, name, epsilon, delta, neighbouring, True) for name in pairs)


def directions(phases: Phases, neighbouring: Neighbouring) -> frozenset[str]:
    """The directions of a run; one where both are the same."""
    return frozenset(_products(phases, neighbouring, False))


@lru_cache(maxsize=4096)
def _proved(
    phases: Phases, direction: str, epsilon: float, delta: float, neighbouring: Neighbouring, upper: bool
) -> bool:
    if epsilon < 0 or epsilon != epsilon or epsilon == float("inf"):
        return epsilon < 0 and not upper
    search = Search(_products(phases, neighbouring, upper)[direction], delta, schedule=list(SCHEDULE))
    return search.evidence(direction, repr(float(epsilon)), upper) is not None


@lru_cache(maxsize=1024)
def _products(phases: Phases, neighbouring: Neighbouring, worst: bool) -> dict[str, Product]:
    """The checker's reading of a run: what dominates it, or what is attained by two neighbours."""
    with ctx.workprec(PRECISION):
        return products([format.phase(_table(phase)) for phase in phases], neighbouring, "hidden", worst)


def _table(phase: Phase) -> dict[str, object]:
    sampled = phase.sampling_rate < 1
    return {
        "mechanism": {"kind": "gaussian", "noise_multiplier": repr(float(phase.noise_multiplier))},
        "sampling": {
            "scheme": "poisson" if sampled else "none",
            "population": None,
            "cohort": None,
            "sampling_rate": repr(float(phase.sampling_rate)) if sampled else None,
        },
        "rounds": phase.rounds,
    }
