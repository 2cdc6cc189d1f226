"""The pair of a local randomiser on two values of a unit: randomized response where they can be told apart at all.

On two values every one of these reports is e^epsilon times as likely under the one, or under the other, or as likely
under both: with probability `apart` it is randomized response of this epsilon, else it says nothing of the two
(docs/theory/local_randomisers.md).
"""

from __future__ import annotations

from functools import singledispatch

from flint import arb, ctx

from ...mechanisms import (
    DuchiMechanism,
    HadamardResponse,
    LocalHash,
    Mechanism,
    PiecewiseMechanism,
    RandomizedResponse,
    UnaryEncoding,
)
from ..rounding import float_above, float_below
from .stated_parameters import StatedPairs, stated_pairs, three_valued

_BITS = 128

LocalRandomiser = (
    RandomizedResponse | UnaryEncoding | HadamardResponse | LocalHash | PiecewiseMechanism | DuchiMechanism
)


@singledispatch
def separation(mechanism: Mechanism) -> tuple[arb, arb] | None:
    """Balls around (epsilon, apart); None for what is no local randomiser. Called under a working precision."""
    return None


@separation.register
def _categories(mechanism: RandomizedResponse) -> tuple[arb, arb]:
    flip, others = arb(mechanism.flip_probability), mechanism.categories - 1
    return ((1 - flip) * others / flip).log(), 1 - flip + flip / others


@separation.register
def _unary(mechanism: UnaryEncoding) -> tuple[arb, arb]:
    """Two values differ in two bits; which of the two is set decides."""
    keep, false = arb(mechanism.keep), arb(mechanism.false)
    truth, other = keep * (1 - false), false * (1 - keep)
    return (truth / other).log(), truth + other


@separation.register
def _hadamard(mechanism: HadamardResponse) -> tuple[arb, arb]:
    """Half of each value's half of the codewords is not the other value's."""
    return arb(mechanism.epsilon), arb(1) / 2


@separation.register
def _hash(mechanism: LocalHash) -> tuple[arb, arb]:
    """Where the hash function, which is public, tells the two values apart."""
    odds = arb(mechanism.epsilon).exp()
    return arb(mechanism.epsilon), (odds + 1) / (odds + mechanism.buckets - 1)


@separation.register
def _piecewise(mechanism: PiecewiseMechanism) -> tuple[arb, arb]:
    """The intervals about -1 and 1 do not overlap, and each has probability e^(eps/2) / (e^(eps/2) + 1)."""
    half = (arb(mechanism.epsilon) / 2).exp()
    return arb(mechanism.epsilon), (half + 1 / half) / (half + 1)


@separation.register
def _duchi(mechanism: DuchiMechanism) -> tuple[arb, arb]:
    return arb(mechanism.epsilon), arb(1)


def _reported(mechanism: Mechanism) -> StatedPairs:
    """The pair, rounded outwards where its epsilon is computed."""
    with ctx.workprec(_BITS):
        found = separation(mechanism)
        assert found is not None
        loss, apart = found
        if isinstance(mechanism, UnaryEncoding):
            return StatedPairs(three_valued(float_above(loss), apart), (three_valued(float_below(loss), apart),))
        epsilon = float(loss.mid())
        return StatedPairs(three_valued(epsilon, apart), (three_valued(epsilon, told_apart(mechanism, apart)),))


def told_apart(mechanism: Mechanism, apart: arb) -> arb:
    """What is attained of `apart`: a universal hash function need not tell two values apart more often than this."""
    return apart * (1 - 1 / arb(mechanism.buckets)) if isinstance(mechanism, LocalHash) else apart


for _kind in (UnaryEncoding, HadamardResponse, LocalHash, PiecewiseMechanism, DuchiMechanism):
    stated_pairs.register(_kind, _reported)
