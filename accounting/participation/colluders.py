"""Fixed-size cohorts before c < m - 1 pooling clients, as runs of several phases that the plain accountants know.

J colluders in a cohort leave the unit the conditional rate (q - J)/(m - c); J is public, hypergeometric and independent
of the data. Over T rounds the sorted rates lie, but for a stated probability, between two staircases: at most u_g (at
least n_g) rounds have J <= j_g, by binomial tails. A larger rate dominates a smaller one, so the run is at most as
revealing as the upper staircase and, on the stated event, at least as revealing as the lower one
(docs/theory/billboard.md, section "Coalitions of c").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mechanisms import FixedSize, Gaussian, Mechanism, Poisson, Relation, Repeat, Sequence, sensitivity
from ...mechanisms.arrays import Floats
from .gaussian_mixture import binomial

_SLACK = 1e-9
"""Relative error allowed for the masses of J and their sums; they carry some 1e-13."""

_CUTS = (0.02, 0.1, 0.25, 0.5, 0.75, 0.95)
"""Shares of the rounds at which the staircases step down, from the highest rates on."""


@dataclass(frozen=True, slots=True)
class Stair:
    """Values first, ..., last of J, and the mass of everything up to `last`."""

    first: int
    last: int
    up_to: float


def colluders_in_cohort(population: int, colluders: int, cohort: int) -> tuple[int, Floats]:
    """(least, masses) of J on least, least + 1, ...: products of exact ratios from the mode, normalised."""
    least, most = max(0, cohort - (population - colluders)), min(colluders, cohort)
    j = np.arange(least, most, dtype=np.float64)
    others = population - colluders - cohort
    ratios = (colluders - j) * (cohort - j) / ((j + 1.0) * (others + j + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    mode = int(np.argmax(logs))
    up = np.cumprod(ratios[mode:])
    down = np.cumprod(1.0 / ratios[:mode][::-1])[::-1]
    masses = np.concatenate([down, [1.0], up])
    return least, np.asarray(masses / math.fsum(masses))


def more_revealing(step: FixedSize, colluders: int, rounds: int, delta: float) -> Mechanism:
    """A run that dominates `rounds` rounds of the step before the colluders, but for probability `delta`."""
    least, masses = colluders_in_cohort(step.population, colluders, step.cohort)
    below = np.concatenate([[0.0], np.cumsum(masses)])
    never = int(np.searchsorted(rounds * below * (1 + _SLACK), delta / 2, side="right")) - 1
    stairs = _stairs(least, masses, never)
    allowed = delta / (2 * len(stairs))
    tops = [_at_most(rounds, stair.up_to * (1 + _SLACK), allowed) for stair in stairs[:-1]] + [rounds]
    parts = []
    done = 0
    for stair, top in zip(stairs, tops, strict=True):
        drawn = step.cohort - stair.first
        if top > done and drawn > 0:
            others = step.population - colluders
            parts.append(Repeat(FixedSize(step.mechanism, others, min(others, drawn)), top - done))
        done = max(done, top)
    # Nobody but colluders in any cohort: one uniform draw of one client is certainly more than nothing.
    return Sequence(tuple(parts)) if parts else FixedSize(step.mechanism, step.population - colluders, 1)


def less_revealing(
    step: FixedSize, colluders: int, rounds: int, failure: float, relation: Relation
) -> Mechanism | None:
    """A run, for zero-out neighbours, that the step before the colluders dominates but for probability `failure`.

    The attained neighbours: all others at -u, the unit at +u against -u (replace-one), or others and the changed unit
    at zero (zero-out). Within a stair J is forgotten (post-processing), which leaves the mean rate. Gaussian noise
    only; None otherwise, and for add-remove.
    """
    if not isinstance(step.mechanism, Gaussian) or relation == Relation.ADD_REMOVE:
        return None
    base = Gaussian(step.mechanism.noise_multiplier / sensitivity(relation))
    least, masses = colluders_in_cohort(step.population, colluders, step.cohort)
    stairs = _stairs(least, masses, 0)
    allowed = failure / len(stairs)
    tops = [_at_least(rounds, stair.up_to * (1 - _SLACK), allowed) for stair in stairs[:-1]] + [rounds]
    rates = (step.cohort - (least + np.arange(len(masses)))) / (step.population - colluders)
    parts: list[Mechanism] = []
    done = 0
    for stair, top in zip(stairs, tops, strict=True):
        inside = slice(stair.first - least, stair.last + 1 - least)
        rate = float(np.dot(rates[inside], masses[inside]) / masses[inside].sum()) * (1 - _SLACK)
        if top > done and rate > 0:
            parts.append(Repeat(Poisson(base, rate), top - done))
        done = max(done, top)
    return Sequence(tuple(parts)) if parts else None


def _stairs(least: int, masses: Floats, never: int) -> list[Stair]:
    """The values of J from index `never` on in at most len(_CUTS) + 1 stairs."""
    up_to = np.cumsum(masses)
    ends = sorted({max(never, int(np.searchsorted(up_to, cut))) for cut in _CUTS} | {len(masses) - 1})
    firsts = [never] + [end + 1 for end in ends[:-1]]
    return [Stair(least + a, least + b, float(min(1.0, up_to[b]))) for a, b in zip(firsts, ends, strict=True)]


def _at_most(rounds: int, rate: float, failure: float) -> int:
    """The least n with P[Bin(rounds, rate) > n] <= failure for certain."""
    if rate >= 1.0:
        return rounds
    law = binomial(rounds, rate, 1.0, 1e-6 * failure / rounds)
    beyond = law.missing + np.concatenate([np.cumsum(law.mass_high[::-1])[::-1][1:], [0.0]])
    fine = np.flatnonzero(beyond * (1 + _SLACK) <= failure)
    return int(law.low[fine[0]]) if len(fine) else rounds


def _at_least(rounds: int, rate: float, failure: float) -> int:
    """The largest n with P[Bin(rounds, rate) < n] <= failure for certain."""
    return rounds - _at_most(rounds, 1.0 - rate, failure) if rate < 1.0 else rounds
