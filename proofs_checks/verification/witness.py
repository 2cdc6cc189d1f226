"""What refutes a claim: two neighbouring federations, and the pair of output distributions that they give.

A witness is never a search result of chance: it is the attained pair behind a certified lower bound, in words that
let a reader rebuild both federations and the two distributions.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ...accounting.answer import reveals_less
from ...accounting.attained import attained
from ...accounting.dominating import dominating
from ...accounting.pairs import (
    Composition,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    OpposedPair,
    Pair,
    RandomizedResponsePair,
    SubsampledPair,
)
from ...accounting.question import seen_by
from ...accounting.shuffled import Epoch, delta_lower, epochs
from ...mechanisms import Mechanism, Neighbouring, rounds_by_step
from ..claims.claim import Claim


@dataclass(frozen=True, slots=True)
class Witness:
    """A certified counterexample: at the claimed epsilon these neighbours need more than the claimed delta.

    delta_at_claimed_epsilon: a certified lower bound on the delta that they need there; above `delta`.
    """

    neighbours: str
    pair: str
    direction: str
    delta: float
    delta_at_claimed_epsilon: float

    def to_json(self) -> dict[str, object]:
        """Plain data, under the names of the fields."""
        return asdict(self)


def witness(claim: Claim, run: Mechanism) -> Witness | None:
    """The attained pair of `run` that refutes the claim, in words; None if no attained pair is known to."""
    statement = claim.statement
    schemes: set[str] = {phase.sampling.scheme for phase in claim.phases}
    threshold, delta = statement.threshold, statement.delta
    assert delta is not None  # an epsilon is claimed
    found = attained(
        run,
        threshold,
        delta,
        statement.neighbouring,
        notion=statement.notion,
        participation=statement.participation,
    )
    if found is not None:
        product, at_claim = found
        neighbours = _neighbours(statement.neighbouring, _others(product, schemes, statement.neighbouring))
        pair = _product(product) + ("; of a block's rounds their sum" if "random-allocation" in schemes else "")
        pair += _ignored(product, claim)
        return Witness(neighbours, pair, _direction(product), delta, at_claim.lower)
    shuffled = [(delta_lower(epoch, threshold), epoch) for epoch in epochs(run, statement.neighbouring)]
    if not shuffled:
        return None
    needed, epoch = max(shuffled, key=lambda entry: entry[0])
    if needed <= delta:
        return None
    neighbours = _neighbours(statement.neighbouring, "-clip u")
    return Witness(neighbours, *_shuffled(epoch), delta, needed)


@dataclass(frozen=True, slots=True)
class CurrencyWitness:
    """A certified counterexample in another currency: these neighbours need more than the claimed number.

    quantity: what is compared. needed: a certified lower bound on it, above `claimed`.
    """

    neighbours: str
    pair: str
    direction: str
    quantity: str
    claimed: float
    needed: float

    def to_json(self) -> dict[str, object]:
        """Plain data, under the names of the fields."""
        return asdict(self)


def currency_witness(claim: Claim, run: Mechanism, needed: float) -> CurrencyWitness | None:
    """The attained pair of `run` that shows the most, in words; None if none is known."""
    statement = claim.statement
    products = dominating(run, statement.neighbouring, seen_by(statement.notion, statement.participation)).lower
    if not products:
        return None
    product = min(products, key=reveals_less)
    schemes: set[str] = {phase.sampling.scheme for phase in claim.phases}
    neighbours = _neighbours(statement.neighbouring, _others(product, schemes, statement.neighbouring))
    pair = _product(product) + _ignored(product, claim)
    currency = statement.currency
    return CurrencyWitness(neighbours, pair, _direction(product), currency.words, currency.threshold, needed)


def _neighbours(relation: Neighbouring, others: str) -> str:
    unit = {
        "replace-one": "one unit's clipped contribution is +clip u in the one and -clip u in the other, in every round",
        "add-remove": "one unit with clipped contribution +clip u is in the one and not in the other",
        "zero-out": "one unit's clipped contribution is +clip u in the one and zero in the other, in every round",
    }[relation]
    return f"{unit}; all others contribute {others} (u: a unit vector known to the observer)"


def _others(product: Composition, schemes: set[str], relation: Neighbouring) -> str:
    """What everybody else contributes, who takes the unit's place in a cohort of a fixed size."""
    if not schemes & {"fixed-size", "shuffle"}:
        return "anything"
    coins = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair)}
    if "replace" in coins or (relation == "zero-out" and coins & {"remove", "add"}):
        return "zero"
    return "-clip u"


def _product(product: Composition) -> str:
    return "; ".join(f"{rounds} x [{_described(pair)}]" for pair, rounds in product)


def _ignored(product: Composition, claim: Claim) -> str:
    """That outputs are left out, where they are: of phases that the claim bounds and does not describe."""
    rounds = sum(rounds_by_step(claim.run).values()) - sum(rounds for _, rounds in product)
    return f"; the outputs of the other {rounds} rounds, which are bounded only, are not looked at" if rounds else ""


def _direction(product: Composition) -> str:
    orders = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair | OpposedPair)}
    return "+".join(sorted(orders)) or "both"


def _described(pair: Pair) -> str:
    if isinstance(pair, SubsampledPair):
        return _subsampled(pair)
    named = {
        GaussianPair: lambda p: f"N({p.shift:.6g}, 1) against N(0, 1)",
        OpposedPair: lambda p: (
            f"N(-{p.shift:.6g}, 1), or with probability {p.rate:.6g} N({p.shift:.6g}, 1); "
            f"against N(-{p.shift:.6g}, 1), or with probability {p.rate:.6g} N(0, 1)"
        ),
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


def _shuffled(epoch: Epoch) -> tuple[str, str]:
    pair = (
        f"one epoch of {epoch.batches} batches with noise {epoch.noise:.6g}: the batch at a uniformly random position "
        f"is moved by {epoch.a}, against moved by {epoch.b}; event: some batch's sum exceeds a threshold"
    )
    return pair, f"{epoch.a} against {epoch.b}"
