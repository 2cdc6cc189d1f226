"""The ways to an answer about a run: each is one object that says what it serves, what it may add, and its bracket.

`answer.answers` asks them in turn (source.py), with the question's own rtol. The accountants (accountants.py) are what
`Products` asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from ..mechanisms import BestOfSeveral, InputError, Mechanism, Participation, Relation, rounds_by_step
from . import products
from .accountants import CLOSED_FORM, LATTICES
from .allocation import shuffled_event as shuffled
from .bracket import Bracket, OutOfReach
from .cohorts import hidden_cohorts as cohorts
from .currencies.pure_dp import METHOD as PURE
from .currencies.pure_dp import pure_epsilon
from .losses import closed_form
from .pairs import Pair
from .pairs.pair import largest_loss
from .pricing import truncated_poisson as truncated
from .pricing.stated_parameters import stated_pairs
from .quantity import Quantity
from .question import Question
from .rounding import down, up, widened_down
from .source import Source

Ask = Callable[[Question, float], Bracket]


class LargestLoss(Source[Question]):
    """Pure DP (currencies/pure_dp.py), decimals as a user writes them: the answer at delta = 0, and from there on delta
    is 0. A named accountant is to answer by itself."""

    name = PURE

    def serves(self, asked: Question) -> bool:
        """For delta, where losses have a bound."""
        if asked.quantity == Quantity.EPSILON:
            return True
        if not asked.asks_all or _unpaired(asked):
            return False
        upper = asked.pairs().upper
        return bool(upper) and all(largest_loss(pair) < math.inf for product in upper for pair, _ in product)

    def epsilon(self, asked: Question, delta: float, rtol: float) -> Bracket:
        """The largest loss, at delta = 0."""
        if delta:
            raise OutOfReach("epsilon is the largest loss at delta = 0")
        if not settled(asked):
            asked.pairs()  # refuses what has no meaning, or no known bound, also where a sum of stated losses has one
        return pure_epsilon(asked.run, asked.neighbouring, asked.participation)

    def delta(self, asked: Question, epsilon: float, rtol: float) -> Bracket:
        """None beyond the largest loss."""
        if epsilon < _beyond(asked.run, asked.neighbouring, asked.participation):
            raise OutOfReach("delta is 0 from the largest loss on")
        return Bracket(0.0, 0.0, True, self.name)


@dataclass(frozen=True)
class Uncut(Source[Question]):
    """A run that cuts Poisson cohorts at a largest size, from the run that does not (truncated_poisson.py): the less
    the rarer cuts are."""

    ask: Ask

    def serves(self, asked: Question) -> bool:
        """Where cohorts are cut."""
        return asked.is_cut

    def epsilon(self, asked: Question, delta: float, rtol: float) -> Bracket:
        uncut = asked.of(truncated.as_poisson(asked.run))
        return truncated.epsilon(asked.run, delta, lambda at: self.ask(uncut, at))

    def delta(self, asked: Question, epsilon: float, rtol: float) -> Bracket:
        uncut = asked.of(truncated.as_poisson(asked.run))
        return truncated.delta(asked.run, epsilon, lambda at: self.ask(uncut, at))


class OneRelease(Source[Question]):
    """One release by itself whose worst neighbours depend on epsilon (StatedPairs.alone): exact."""

    def serves(self, asked: Question) -> bool:
        """Where such a pair is known."""
        return _alone(asked) is not None

    def epsilon(self, asked: Question, delta: float, rtol: float) -> Bracket:
        return closed_form.epsilon(((_known(asked), 1),), delta)

    def delta(self, asked: Question, epsilon: float, rtol: float) -> Bracket:
        return closed_form.delta(((_known(asked), 1),), epsilon)


class Products(Source[Question]):
    """The product pairs that dominate the run and that neighbours attain, by the accountants."""

    def serves(self, asked: Question) -> bool:
        """Where there is no exact answer, and pairs are known."""
        return not settled(asked)

    def bracket(self, asked: Question, quantity: Quantity, at: float, rtol: float, found: Bracket | None) -> Bracket:
        pairs = asked.pairs()
        upper = products.largest(pairs.upper, asked, at)
        if pairs.lower == pairs.upper:
            return upper
        if not pairs.lower:
            return Bracket(0.0, upper.upper, upper.certified, upper.method)
        lower = products.largest(pairs.lower, asked, at)
        return Bracket(lower.lower, upper.upper, upper.certified and lower.certified, upper.method)


class Amplified(Source[Question]):
    """Further upper ends, by pairs that the accountant of lattices alone takes (round.py): the smallest counts."""

    knows_below = False

    def serves(self, asked: Question) -> bool:
        """Where such pairs are known, and who takes them is asked."""
        return asked.asks(LATTICES) and not settled(asked) and bool(asked.pairs().amplified)

    def bracket(self, asked: Question, quantity: Quantity, at: float, rtol: float, found: Bracket | None) -> Bracket:
        ends = (products.largest(bound, asked, at) for bound in asked.pairs().amplified)
        return replace(min(ends, key=lambda each: each.upper), lower=0.0)


class FromBelow(Source[Question]):
    """Lower ends of what some neighbours reveal, where the product pairs that are known leave a gap."""

    builds_on_found = True

    def serves(self, asked: Question) -> bool:
        """Nothing is to be had where the pairs are tight."""
        if settled(asked):
            return False
        pairs = asked.pairs()
        return pairs.lower != pairs.upper

    def bracket(self, asked: Question, quantity: Quantity, at: float, rtol: float, found: Bracket | None) -> Bracket:
        """The upper end's name stands for both."""
        assert found is not None
        own = super().bracket(asked, quantity, at, rtol, found)
        return replace(found, lower=max(found.lower, own.lower))


class Epochs(FromBelow):
    """What one shuffled epoch reveals by itself, by a single event (shuffled_event.py)."""

    def epsilon(self, asked: Question, delta: float, rtol: float) -> Bracket:
        epochs = shuffled.epochs(asked.run, asked.neighbouring) if delta else ()
        return Bracket(max((shuffled.epsilon_lower(each, delta) for each in epochs), default=0.0), math.inf, True, "")

    def delta(self, asked: Question, epsilon: float, rtol: float) -> Bracket:
        epochs = shuffled.epochs(asked.run, asked.neighbouring)
        return Bracket(max((shuffled.delta_lower(each, epsilon) for each in epochs), default=0.0), 1.0, True, "")


@dataclass(frozen=True)
class Searches(FromBelow):
    """A Poisson distributed number of runs: all results are equally good and the first is kept, so that with
    probability 1 - e^-mean, which no data change, one run is seen."""

    ask: Ask

    def _of(self, asked: Question) -> Iterator[tuple[float, Question]]:
        for part in rounds_by_step(asked.run):
            if isinstance(part, BestOfSeveral) and part.poisson_mean is not None:
                yield widened_down(-math.expm1(-part.poisson_mean), 2.0**-45), asked.of(part.mechanism)

    def epsilon(self, asked: Question, delta: float, rtol: float) -> Bracket:
        """Of one run, at the share of delta that is left."""
        shares = [(up(delta / some) if delta else 0.0, one) for some, one in self._of(asked)]
        return Bracket(
            max((self.ask(one, at).lower for at, one in shares if at < 1.0), default=0.0), math.inf, True, ""
        )

    def delta(self, asked: Question, epsilon: float, rtol: float) -> Bracket:
        """So much of one run's."""
        found = (down(some * self.ask(one, epsilon).lower) for some, one in self._of(asked))
        return Bracket(max(found, default=0.0), 1.0, True, "")


class Cohorts(Source[Question]):
    """Hidden cohorts of a fixed size over many rounds, from both sides (cohorts/hidden_cohorts.py)."""

    name = cohorts.METHOD
    builds_on_found = True

    def bracket(self, asked: Question, quantity: Quantity, at: float, rtol: float, found: Bracket | None) -> Bracket:
        """It is laid out about what is known."""
        assert found is not None
        return cohorts.narrowed(asked, found, at)


def serves_many(asked: Question) -> bool:
    """Whether products can be asked at many points together: not of cohorts that are cut, of which each is apart."""
    return not (settled(asked) or asked.is_cut)


@lru_cache(maxsize=16)
def _beyond(run: Mechanism, neighbouring: Relation, participation: Participation) -> float:
    """From which epsilon on delta is 0."""
    return pure_epsilon(run, neighbouring, participation).upper


def _unpaired(asked: Question) -> bool:
    """Whether no pairs of cut cohorts are known: where others see that a full one left a unit out that may not be
    there, and of mechanisms of which it is not known what a unit in another's place costs."""
    if asked.neighbouring != Relation.ADD_REMOVE or not asked.is_cut:
        return False
    if asked.participation != Participation.HIDDEN:
        return True
    try:
        asked.pairs()
    except InputError:  # of another fault, the run without cuts tells
        return True
    return False


def settled(asked: Question) -> bool:
    """Whether no product pairs are asked: an exact pair is known, or none at all."""
    return _unpaired(asked) or _alone(asked) is not None


def _alone(asked: Question) -> Pair | None:
    if not asked.asks(CLOSED_FORM):
        return None
    steps = rounds_by_step(asked.run)
    known = stated_pairs(next(iter(steps))) if list(steps.values()) == [1] else None
    return None if known is None else known.alone


def _known(asked: Question) -> Pair:
    pair = _alone(asked)
    assert pair is not None
    return pair
