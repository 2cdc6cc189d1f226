"""What refutes a claim: two neighbouring federations, and the pair of output distributions that they give.

A witness is never a search result of chance: it is the attained pair behind a certified lower bound, in words that
let a reader rebuild both federations and the two distributions.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ..accounting import delta as delta_of
from ..accounting.epsilon import attained
from ..accounting.pairs import (
    Composition,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomizedResponsePair,
    SubsampledPair,
)
from ..accounting.shuffled import epochs, epsilon_lower
from ..mechanisms import Mechanism, Neighbouring
from .claims import Claim


@dataclass(frozen=True, slots=True)
class Witness:
    """A certified counterexample: at `delta` these neighbours need at least `epsilon_lower`.

    delta_at_claimed_epsilon: a certified lower bound on the delta that the claimed epsilon would need.
    """

    neighbours: str
    pair: str
    direction: str
    epsilon_lower: float
    delta: float
    delta_at_claimed_epsilon: float

    def to_json(self) -> dict[str, object]:
        """Plain data, under the names of the fields."""
        return asdict(self)


def witness(claim: Claim, run: Mechanism, epsilon_lower: float) -> Witness:
    """The attained pair behind the lower bound of `run`, which is above the claim's epsilon."""
    statement = claim.statement
    relation, delta = statement.neighbouring, statement.delta
    notion, participation = statement.notion, statement.participation
    found = attained(run, delta, relation, notion=notion, participation=participation)
    at_claim = delta_of(run, statement.threshold, relation, notion=notion, participation=participation)
    pair, direction = _shuffled(run, relation, delta) if found is None else (_product(found[0]), _direction(found[0]))
    neighbours = _neighbours(relation, {phase.sampling.scheme for phase in claim.phases})
    return Witness(neighbours, pair, direction, epsilon_lower, delta, at_claim.lower)


def _neighbours(relation: Neighbouring, schemes: set[str]) -> str:
    unit = {
        "replace-one": "one unit's clipped contribution is +clip u in the one and -clip u in the other, in every round",
        "add-remove": "one unit with clipped contribution +clip u is in the one and not in the other",
        "zero-out": "one unit's clipped contribution is +clip u in the one and zero in the other, in every round",
    }[relation]
    others = (
        "all others contribute -clip u" if schemes & {"fixed-size", "shuffle"} else "all others contribute anything"
    )
    return f"{unit}; {others} (u: a unit vector known to the observer)"


def _product(product: Composition) -> str:
    return "; ".join(f"{rounds} x [{_described(pair)}]" for pair, rounds in product)


def _direction(product: Composition) -> str:
    orders = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair)}
    return "+".join(sorted(orders)) or "both"


def _described(pair: Pair) -> str:
    if isinstance(pair, SubsampledPair):
        return _subsampled(pair)
    named = {
        GaussianPair: lambda p: f"N({p.shift:.6g}, 1) against N(0, 1)",
        LaplacePair: lambda p: f"Laplace({p.shift:.6g}, 1) against Laplace(0, 1)",
        DiscreteGaussianPair: lambda p: f"N_Z({p.shift}, {p.sigma:.6g}^2) against N_Z(0, {p.sigma:.6g}^2)",
        DiscreteLaplacePair: lambda p: f"Laplace_Z({p.shift}, {p.scale:.6g}) against Laplace_Z(0, {p.scale:.6g})",
        RandomizedResponsePair: lambda p: (
            f"one of {p.categories} categories against another, flipped with {p.flip:.6g}"
        ),
    }
    return named[type(pair)](pair) if type(pair) in named else repr(pair)


def _subsampled(pair: SubsampledPair) -> str:
    base, rate = _described(pair.base), f"{pair.rate:.6g}"
    return {
        "remove": f"with probability {rate} the first of, else the second of: {base}; against the second",
        "add": f"the second of: {base}; against: with probability {rate} the first, else the second",
        "replace": f"with probability {rate} N(+s, 1), else N(0, 1); against N(-s, 1), else N(0, 1); s from: {base}",
        "visible": f"with probability {rate}, seen by the observer: {base}; else no difference",
    }.get(pair.order, repr(pair))


def _shuffled(run: Mechanism, relation: Neighbouring, delta: float) -> tuple[str, str]:
    best = max(epochs(run, relation), key=lambda epoch: epsilon_lower(epoch, delta))
    pair = (
        f"one epoch of {best.batches} batches with noise {best.noise:.6g}: the batch at a uniformly random position is "
        f"moved by {best.a}, against moved by {best.b}; event: some batch's sum exceeds a threshold"
    )
    return pair, "both" if {best.a, best.b} == {0, 2} else f"{best.a} against {best.b}"
