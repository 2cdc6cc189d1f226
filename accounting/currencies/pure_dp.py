"""Pure DP, delta = 0: epsilon is the largest privacy loss that any output can have, added up over the rounds.

The largest loss of a composition is the sum of its rounds' largest losses, attained or approached by the outputs at
which each round's is (Dwork, Roth 2014, Theorem 3.16: the sum is an upper bound; independent noise attains it).

Numbers that a user writes are decimals: 0.1 stands for one tenth, not for the double next to it. Losses that are
rational in those decimals (a stated epsilon, sensitivity over scale) are added exactly, so that twelve times 0.11 and
six times 0.22 are 2.64. An end that is such a decimal is that double; every other end is rounded outwards.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

from flint import arb, ctx, fmpq

from ...mechanisms import (
    ApproximateDp,
    DiscreteLaplace,
    DuchiMechanism,
    Group,
    HadamardResponse,
    Laplace,
    LocalHash,
    Mechanism,
    PiecewiseMechanism,
    Poisson,
    PureDp,
    ReportNoisyMax,
    SparseVector,
    Staircase,
)
from ...mechanisms.neighbours import (
    Neighbouring,
    Participation,
    Relation,
    Visibility,
    neighbouring_relation,
    sensitivity,
)
from ..bracket import Bracket
from ..pairs import Composition
from ..pairs.pair import dominated_parameters, dominating_parameters, summed_supremum
from ..pricing.change import Change, NeighbourCase
from ..pricing.dominating import of_case
from ..pricing.neighbour_cases import neighbour_cases
from ..pricing.schemes import refuse_seen_presence
from ..rounding import End, down, float_above, float_below, up

METHOD = "largest-loss"

_REPORTS = HadamardResponse | PiecewiseMechanism | DuchiMechanism | LocalHash

_BITS = 128

UNBOUNDED = "no epsilon holds at delta = 0: the privacy loss has no upper bound (Gaussian or cut noise, a stated delta)"
"""Why an epsilon at delta = 0 is infinite."""


def pure_epsilon(
    run: Mechanism, neighbouring: Neighbouring, participation: Visibility = Participation.HIDDEN
) -> Bracket:
    """The smallest epsilon for which the run is (epsilon, 0)-DP; both ends infinite where the loss has no bound.

    >>> from dpcert.mechanisms import Laplace, Repeat
    >>> pure_epsilon(Repeat(Laplace(10.0), 3), "add-remove")
    Bracket(lower=0.3, upper=0.3, certified=True, method='largest-loss', reached=True)

    Raises InputError for combinations that have no meaning or no known bound.
    """
    relation, seen = neighbouring_relation(neighbouring), Participation.named("participation", participation)
    found = [_of_case(case, relation, seen) for case in neighbour_cases(run, relation)]
    return reduce(Bracket.maximum, found)


def _of_case(case: NeighbourCase, relation: Relation, participation: Participation) -> Bracket:
    exact, low = Fraction(0), Fraction(0)
    others: NeighbourCase = {}
    for (part, change), rounds in case.items():
        if isinstance(part, Poisson) and part.sampling_rate == 1.0:  # everybody takes part
            part = part.mechanism
        between = relation if change == Change.STAYS else Relation.ADD_REMOVE
        refuse_seen_presence(part, between, participation)
        loss = _rational_loss(part, between)
        if loss is None:
            others[part, change] = rounds
            continue
        exact += rounds * loss
        low += rounds * loss if _attains(part) else 0  # the others state a bound only
    if not others:
        return Bracket(decimal_below(low), decimal_above(exact), True, METHOD)
    pairs = of_case(others, relation, participation)
    with ctx.workprec(_BITS):
        upper = max((_largest(product, exact, End.UPPER) for product in pairs.upper), default=math.inf)
        lower = max((_largest(product, low, End.LOWER) for product in pairs.lower), default=decimal_below(low))
    return Bracket(min(lower, upper), upper, True, METHOD)


def _attains(part: Mechanism) -> bool:
    """Whether some neighbours' losses reach it, or come as near as one likes (docs/theory/selection.md)."""
    base = part.mechanism if isinstance(part, Group) else part
    return not isinstance(base, PureDp | ApproximateDp | Staircase) or (base is part and isinstance(part, Staircase))


def _rational_loss(part: Mechanism, relation: Relation) -> Fraction | None:
    """One round's largest loss where it is a quotient of stated decimals; None where it is not, or has no bound."""
    if isinstance(part, Group):
        single = _rational_loss(part.mechanism, relation)
        return None if single is None else part.units * single
    if isinstance(part, PureDp) or (isinstance(part, ApproximateDp) and part.delta == 0):
        return decimal(part.epsilon)
    if isinstance(part, ReportNoisyMax | Staircase) or (
        isinstance(part, _REPORTS) and relation == Relation.REPLACE_ONE
    ):
        return decimal(part.epsilon)
    if isinstance(part, SparseVector):
        return _of_sparse_vector(part)
    if isinstance(part, Laplace):
        return decimal(sensitivity(relation)) / decimal(part.noise_multiplier)
    if isinstance(part, DiscreteLaplace):
        return int(sensitivity(relation)) * part.clip / decimal(part.scale)
    return None


def _of_sparse_vector(part: SparseVector) -> Fraction:
    each = (1 if part.monotone else 2) / decimal(part.query_scale)
    each += 1 / decimal(part.value_scale) if part.value_scale is not None else 0
    return 1 / decimal(part.threshold_scale) + part.hits * each


def decimal(number: float) -> Fraction:
    """The decimal that a double prints as: what a user who wrote it meant."""
    return Fraction(repr(float(number)))


def decimal_above(total: Fraction) -> float:
    """The double that prints as the number, or the next one above."""
    nearest = float(total)
    return nearest if decimal(nearest) >= total else up(nearest)


def decimal_below(total: Fraction) -> float:
    """The double that prints as the number, or the next one below; at least 0."""
    nearest = float(total)
    return nearest if decimal(nearest) <= total else max(0.0, down(nearest))


def _largest(product: Composition, stated: Fraction, end: End) -> float:
    """The largest loss of the product's rounds and of those whose losses are stated, together: at least or at most."""
    moved = dominating_parameters if end is End.UPPER else dominated_parameters
    loss = summed_supremum(tuple((moved(pair), rounds) for pair, rounds in product))
    if loss is None:
        return math.inf
    total = arb(fmpq(stated.numerator, stated.denominator)) + loss
    return float_above(total) if end is End.UPPER else max(0.0, float_below(total))
