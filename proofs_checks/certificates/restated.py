"""What a certificate states of mechanisms and groups that its format has no words for: something that it has.

Each is taken as given by the checker; the certificate's source, and a finding, say so.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from ...accounting import delta, epsilon
from ...accounting.currencies.pure_dp import pure_epsilon
from ...accounting.pairs import Order
from ...accounting.pricing.local_randomisers import separation, told_apart
from ...accounting.pricing.stable_histogram import pairs_of_new_group
from ...accounting.pricing.stated_parameters import staircase_apart
from ...accounting.rounding import End, float_above, float_below, up
from ...mechanisms import (
    DiscreteLaplace,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Mechanism,
    Relation,
    Repeat,
    ReportNoisyMax,
    SparseVector,
    StableHistogram,
    Staircase,
    TruncatedLaplace,
    Zcdp,
    sensitivity,
)
from ...mechanisms.tables.correlated import CorrelatedTable
from ...mechanisms.tables.norms import NormedTable
from ...mechanisms.tables.phase import Phase
from ...mechanisms.tables.scheme import Scheme
from .checker import format

Table = dict[str, Any]

_BITS = 128

_DIVIDED = {"gaussian": "noise_multiplier", "laplace": "noise_multiplier"}
_MULTIPLIED = {"discrete-gaussian": "clip", "discrete-laplace": "clip", "pure-dp": "epsilon"}
"""The number of each kind by which a group's move is that of one unit."""


class NoCertificate(Exception):
    """The checker could prove nothing of this claim; the message says why."""


def is_restated(phase: Phase) -> bool:
    """Whether the format has no such mechanism; correlated noise is one Gaussian release there (stated.py)."""
    table = phase.mechanism
    known = table.kind in format.FIELDS and not (isinstance(table, NormedTable) and table.adds_up)
    return not known and phase.sampling.scheme == Scheme.NONE and not isinstance(table, CorrelatedTable)


def restated_rounds(phase: Phase, relation: Relation, units: int, at: float | None) -> list[tuple[Table, int]]:
    """Mechanism tables of the format, each with its rounds, that together are as revealing as the phase, or more.

    at: the claim's delta, where they are to show little. Raises NoCertificate where the format has nothing of the kind.
    """
    mechanism = phase.described().upper
    if units == 1 and isinstance(mechanism, StableHistogram):
        return _of_histogram(mechanism, relation, phase.steps)
    if units == 1 and isinstance(mechanism, TruncatedLaplace):
        return _truncated(mechanism, relation, phase.steps)
    apart = _three_valued(mechanism) if units == 1 else None
    if apart is not None:
        return [(apart, phase.steps)]
    largest = _largest_loss(mechanism, relation, units, phase.mechanism.kind)
    return [(_pure(mechanism, largest, phase.steps, at), phase.steps)]


def of_group(mechanism: Table, units: int) -> Table:
    """The same noise for a move that is so many times as large, or the group's stated bound
    (accounting/pricing/stated_parameters.py, for_group). Raises NoCertificate for another kind."""
    kind = mechanism["kind"]
    if kind == "zcdp":
        return mechanism | {"rho": _written(Fraction(mechanism["rho"]) * units**2)}
    if kind in _DIVIDED:
        return mechanism | {_DIVIDED[kind]: _written(Fraction(mechanism[_DIVIDED[kind]]) / units)}
    if kind in _MULTIPLIED:
        moved = Fraction(mechanism[_MULTIPLIED[kind]]) * units
        return mechanism | {_MULTIPLIED[kind]: int(moved) if kind.startswith("discrete") else _written(moved)}
    raise NoCertificate(f"the certificate's format has no group under {kind}")


def _written(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"


def _in_range(failure: float) -> str:
    """At least this probability, of a size that the format's numbers of mechanisms have."""
    return repr(max(failure, 1 / format.LARGE)) if failure else "0"


def _largest_loss(mechanism: Mechanism, relation: Relation, units: int, kind: str) -> float:
    try:
        found = pure_epsilon(mechanism if units == 1 else Group(mechanism, units), relation)
    except InputError as problem:
        raise NoCertificate(f"of a group in such rounds nothing is known: {problem}") from None
    if not math.isfinite(found.upper):
        raise NoCertificate(f"the certificate's format has no {kind}, and its loss has no bound")
    return found.upper


def _pure(mechanism: Mechanism, largest: float, rounds: int, at: float | None) -> Table:
    """Any mechanism with this largest loss, or any of them whose loss grows with the scores' move (docs: selection.md,
    "Moved gradually"); over many rounds of the exponential mechanism, whose loss stays within a range, any whose Renyi
    divergences are at most alpha epsilon^2/8 (Cesar, Rogers 2021, arXiv 2004.07223, Lemma 3.2). What that proves from
    above holds, and nothing from below."""
    gradual = isinstance(mechanism, ReportNoisyMax | SparseVector | Laplace | DiscreteLaplace)
    table = {"kind": "gradual" if gradual else "pure-dp", "epsilon": repr(largest)}
    if at and isinstance(mechanism, ReportNoisyMax) and mechanism.noise == "gumbel":
        rho = up(largest**2 / 8, 2)
        moved, within = Repeat(Laplace(1 / largest), rounds), Repeat(Zcdp(rho), rounds)
        if epsilon(within, at, Relation.ZERO_OUT).upper < epsilon(moved, at, Relation.ZERO_OUT).upper:
            return {"kind": "zcdp", "rho": repr(rho)}
    return table


def _three_valued(mechanism: Mechanism) -> Table | None:
    """Outputs that are e^epsilon times as likely under the one or the other, or as likely under both."""
    with ctx.workprec(_BITS):
        if isinstance(mechanism, Staircase):
            loss, apart = arb(mechanism.epsilon), staircase_apart(mechanism)
        else:
            found = separation(mechanism)
            if found is None:
                return None
            loss, apart = found
        least = told_apart(mechanism, apart)
        return {
            "kind": "three-valued",
            "least_epsilon": repr(float_below(loss)),
            "most_epsilon": repr(float_above(loss)),
            "least_apart": repr(float_below(least)),
            "most_apart": repr(min(1.0, float_above(apart))),
        }


def _truncated(mechanism: TruncatedLaplace, relation: Relation, rounds: int) -> list[tuple[Table, int]]:
    """Laplace noise, and a failure: at least the one, at most both (docs/certificates.md, end of section 6)."""
    noise, most = Fraction(repr(mechanism.noise_multiplier)), Fraction(repr(mechanism.bound))
    moved = int(sensitivity(relation)) / noise
    apart = delta(mechanism, up(float(moved)), relation).upper
    with ctx.workprec(_BITS):
        cut, tied = (-_ball(most / noise)).exp(), (-_ball(moved / 2)).exp()
        failure = float_above((arb(apart) + (1 - tied) * cut / (1 - cut)) / tied)
    return [(_moved("laplace", noise), rounds), (_failing(failure), rounds)]


def _ball(number: Fraction) -> arb:
    return arb(number.numerator) / number.denominator


def _of_histogram(histogram: StableHistogram, relation: Relation, rounds: int) -> list[tuple[Table, int]]:
    """Every group, of those that a unit leaves and enters, at once as one that others are in, whose sum moves by one,
    and as one of the unit's own, which is released or not (docs/theory/stable_histogram.md)."""
    groups = rounds * histogram.buckets * (2 if relation == Relation.REPLACE_ONE else 1)
    alone = StableHistogram(histogram.noise, histogram.threshold)
    kind = "gaussian" if isinstance(histogram.noise, Gaussian) else "laplace"
    moved = _moved(kind, Fraction(repr(histogram.noise.noise_multiplier)) * int(sensitivity(relation)))
    return [(moved, groups), (_failing(pairs_of_new_group(alone, End.UPPER)[Order.REMOVE].likely), groups)]


def _moved(kind: str, noise: Fraction) -> Table:
    return {"kind": kind, "noise_multiplier": _written(noise)}


def _failing(failure: float) -> Table:
    """Nothing is shown, but with this probability all."""
    return {"kind": "approximate-dp", "epsilon": "0", "delta": _in_range(failure)}
