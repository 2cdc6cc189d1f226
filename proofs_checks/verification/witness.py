"""What refutes a claim: two neighbouring federations, and the pair of output distributions that they give.

Such a witness is no search result of chance: it is the attained pair behind a certified lower bound, in words that
let a reader rebuild both federations and the two distributions. Those of draws (simulated.py) and of audits say so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass

from ...accounting.allocation.shuffled_event import Epoch, delta_lower, epochs
from ...accounting.pairs import (
    AllocationPair,
    Composition,
    OpposedPair,
    Sampling,
    SubsampledPair,
)
from ...accounting.pricing.counterexamples import counterexample
from ...accounting.pricing.dominating import dominating
from ...accounting.products import reveals_less
from ...accounting.question import seen_by
from ...mechanisms import Mechanism, Relation, rounds_by_step
from ...mechanisms.digits import rounded_down
from ...mechanisms.tables.scheme import Scheme
from ..claims.claim import Claim, divides_by_who_is_there
from ..claims.statement import Statement


@dataclass(frozen=True, slots=True)
class PairWitness(ABC):
    """Two neighbouring federations that refute a claim, and the pair of output distributions that they give."""

    neighbours: str
    pair: str
    direction: str

    @property
    @abstractmethod
    def shows(self) -> str:
        """What of these two refutes the claim."""

    def __str__(self) -> str:
        return f"{self.neighbours}.\n{self.pair}.\n{self.shows}."

    def to_json(self) -> dict[str, object]:
        """Plain data, under the names of the fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Witness(PairWitness):
    """A certified counterexample: at the claimed epsilon these neighbours need more than the claimed delta.

    delta_at_claimed_epsilon: a certified lower bound on the delta that they need there; above `delta`.
    """

    delta: float
    delta_at_claimed_epsilon: float

    @property
    def shows(self) -> str:
        needed = rounded_down(self.delta_at_claimed_epsilon, 4)
        return f"At the claimed epsilon these two need a delta of at least {needed}"


@dataclass(frozen=True, slots=True)
class SimulatedWitness(Witness):
    """The same by draws: the lower confidence bound exceeds the true delta with probability `error` at most.

    draws, seed: what repeats it. certified: it is evidence, and no proof.
    """

    error: float
    draws: int
    seed: int
    certified: bool = False


@dataclass(frozen=True, slots=True)
class CurrencyWitness(PairWitness):
    """A certified counterexample in another currency: these neighbours need more than the claimed number.

    quantity: what is compared. needed: a certified lower bound on it, above `claimed`.
    """

    quantity: str
    claimed: float
    needed: float

    @property
    def shows(self) -> str:
        return f"For these two, {self.quantity} is at least {rounded_down(self.needed, 6)}"


def witness(claim: Claim, run: Mechanism) -> Witness | None:
    """The attained pair of `run` that refutes the claim, in words; None if no attained pair is known to."""
    statement = claim.statement
    schemes = {phase.sampling.scheme for phase in claim.phases}
    threshold, delta = statement.threshold, statement.delta
    assert delta is not None  # an epsilon is claimed
    found = counterexample(
        run,
        threshold,
        delta,
        statement.neighbouring,
        notion=statement.notion,
        participation=statement.participation,
    )
    if found is not None:
        product, at_claim = found
        neighbours = _neighbours(statement, _others(product, schemes, claim))
        pair = _product(product) + ("; of a block's rounds their sum" if Scheme.RANDOM_ALLOCATION in schemes else "")
        pair += _ignored(product, claim)
        return Witness(neighbours, pair, _direction(product), delta, at_claim.lower)
    shuffled = [(delta_lower(epoch, threshold), epoch) for epoch in epochs(run, statement.neighbouring)]
    if not shuffled:
        return None
    needed, epoch = max(shuffled, key=lambda entry: entry[0])
    if needed <= delta:
        return None
    neighbours = _neighbours(statement, "-clip u")
    return Witness(neighbours, *_shuffled(epoch), delta, needed)


def currency_witness(claim: Claim, run: Mechanism, needed: float) -> CurrencyWitness | None:
    """The attained pair of `run` that shows the most, in words; None if none is known."""
    statement = claim.statement
    products = dominating(run, statement.neighbouring, seen_by(statement.notion, statement.participation)).lower
    if not products:
        return None
    product = min(products, key=reveals_less)
    schemes = {phase.sampling.scheme for phase in claim.phases}
    neighbours = _neighbours(statement, _others(product, schemes, claim))
    pair = _product(product) + _ignored(product, claim)
    currency = statement.currency
    return CurrencyWitness(neighbours, pair, _direction(product), currency.words, currency.threshold, needed)


def _neighbours(statement: Statement, others: str) -> str:
    unit = {
        Relation.REPLACE_ONE: "In data sets A and B one unit has different data: in every round its clipped "
        "contribution is +clip u in A and -clip u in B",
        Relation.ADD_REMOVE: "Data set A has one unit more than data set B; its clipped contribution is +clip u in "
        "every round",
        Relation.ZERO_OUT: "In every round one unit's clipped contribution is +clip u in data set A and zero in data "
        "set B",
    }[statement.neighbouring]
    if statement.group is not None:
        unit = _of_a_group(statement.group)[statement.neighbouring]
    if statement.phases_per_unit is not None:
        unit = unit.replace("every round", f"every round of {statement.phases_per_unit} of the phases")
    return f"{unit}. All others contribute {others} (u is a vector of length 1 that the attacker knows)"


def _of_a_group(units: int) -> dict[str, str]:
    return {
        Relation.REPLACE_ONE: f"In data sets A and B, {units} units have different data: in every round the clipped "
        "contribution of each is +clip u in A and -clip u in B",
        Relation.ADD_REMOVE: f"Data set A has {units} units more than data set B; the clipped contribution of each is "
        "+clip u in every round",
        Relation.ZERO_OUT: f"In every round the clipped contribution of each of {units} units is +clip u in data set "
        "A and zero in data set B",
    }


def _others(product: Composition, schemes: set[Scheme], claim: Claim) -> str:
    """What everybody else contributes, who takes the unit's place in a cohort of a fixed size, or is left in a mean."""
    if divides_by_who_is_there(claim.statement, claim.phases):
        return "zero"
    if not schemes & {Scheme.FIXED_SIZE, Scheme.SHUFFLE}:
        return "anything"
    coins = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair)}
    alone = coins & {Sampling.REMOVE, Sampling.ADD} or any(isinstance(pair, AllocationPair) for pair, _ in product)
    if Sampling.REPLACE in coins or (claim.statement.neighbouring == Relation.ZERO_OUT and alone):
        return "zero"
    return "-clip u"


def _product(product: Composition) -> str:
    """What an attacker sees in the rounds of A and of B: P against Q."""
    told = [f"{rounds:,} round{'s' if rounds > 1 else ''}: {pair.words()}" for pair, rounds in product]
    return "What the attacker sees of A against B: " + "; ".join(told)


def _ignored(product: Composition, claim: Claim) -> str:
    """That outputs are left out, where they are: of phases that the claim bounds and does not describe."""
    if not claim.statement.is_ordinary:
        return ""
    rounds = sum(rounds_by_step(claim.run).values()) - sum(rounds for _, rounds in product)
    return f"; the outputs of the other {rounds} rounds, which are only bounded, are ignored" if rounds else ""


def _direction(product: Composition) -> str:
    orders = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair | OpposedPair)}
    return "+".join(sorted(orders)) or "both"


def _shuffled(epoch: Epoch) -> tuple[str, str]:
    pair = (
        f"One epoch of {epoch.batches} batches with noise {epoch.noise:.6g}: the sum of a batch at a random position "
        f"is shifted by {epoch.a} under A and by {epoch.b} under B; the event is that some batch's sum exceeds a "
        "threshold"
    )
    return pair, f"{epoch.a} against {epoch.b}"
