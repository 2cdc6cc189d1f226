"""The ways to an answer: each is one object that says what it serves, what it may add, and its bracket.

`answer.answers` walks them. The accountants (accountants.py) are what `Products` asks. Those that know lower ends alone
are in sources_below.py.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from ..mechanisms import InputError, Mechanism, Participation, Relation, rounds_by_step
from . import products
from .accountants import CLOSED_FORM, LATTICES
from .bracket import Bracket
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

Ask = Callable[[Question, float], Bracket]


class Source:
    """A way to brackets of a run's epsilon at a delta, and of its delta at an epsilon. knows_below: lower ends, too."""

    knows_below: ClassVar[bool] = True

    def serves(self, asked: Question, at: float) -> bool:
        """Whether it knows anything here."""
        return True

    def adds(self, asked: Question, at: float, found: Bracket) -> bool:
        """Whether it may narrow what is known."""
        return not found.narrower_than(asked.rtol)

    @abstractmethod
    def bracket(self, asked: Question, at: float, found: Bracket | None) -> Bracket:
        """What is known afterwards; found: before, None for nothing."""


class Direct(Source):
    """A source that needs to know nothing beforehand. A subclass says `own`, or both of what it may be asked for."""

    def bracket(self, asked: Question, at: float, found: Bracket | None) -> Bracket:
        """Both are of the run itself."""
        own = self.own(asked, at)
        return own if found is None else found.intersect(own)

    def own(self, asked: Question, at: float) -> Bracket:
        """What is asked for, by itself."""
        return self.epsilon(asked, at) if asked.quantity == Quantity.EPSILON else self.delta(asked, at)

    def epsilon(self, asked: Question, delta: float) -> Bracket:
        """Of the run's epsilon at 0 <= delta < 1."""
        raise NotImplementedError

    def delta(self, asked: Question, epsilon: float) -> Bracket:
        """Of the run's delta at epsilon >= 0."""
        raise NotImplementedError


class LargestLoss(Direct):
    """Pure DP (currencies/pure_dp.py), decimals as a user writes them: the answer at delta = 0, and from there on delta
    is 0. A named accountant is to answer by itself."""

    def serves(self, asked: Question, at: float) -> bool:
        """At delta = 0, or at an epsilon beyond every loss."""
        if _at_zero(asked, at):
            return True
        if not asked.of_all or asked.quantity == Quantity.EPSILON or _unpaired(asked):
            return False
        upper = asked.pairs().upper
        if not upper or any(largest_loss(pair) == math.inf for product in upper for pair, _ in product):
            return False
        return at >= _beyond(asked.run, asked.neighbouring, asked.participation)

    def epsilon(self, asked: Question, delta: float) -> Bracket:
        """The largest loss, at delta = 0."""
        return pure_epsilon(asked.run, asked.neighbouring, asked.participation)

    def delta(self, asked: Question, epsilon: float) -> Bracket:
        """None beyond the largest loss."""
        return Bracket(0.0, 0.0, True, PURE)


@dataclass(frozen=True)
class Uncut(Direct):
    """A run that cuts Poisson cohorts at a largest size, from the run that does not (truncated_poisson.py): the less
    the rarer cuts are."""

    ask: Ask

    def serves(self, asked: Question, at: float) -> bool:
        """Where cohorts are cut."""
        return truncated.is_truncated(asked.run) and not _at_zero(asked, at)

    def epsilon(self, asked: Question, delta: float) -> Bracket:
        uncut = asked.of(truncated.as_poisson(asked.run))
        return truncated.epsilon(asked.run, delta, lambda at: self.ask(uncut, at))

    def delta(self, asked: Question, epsilon: float) -> Bracket:
        uncut = asked.of(truncated.as_poisson(asked.run))
        return truncated.delta(asked.run, epsilon, lambda at: self.ask(uncut, at))


class OneRelease(Direct):
    """One release by itself whose worst neighbours depend on epsilon (StatedPairs.alone): exact."""

    def serves(self, asked: Question, at: float) -> bool:
        """Where such a pair is known."""
        return asked.asks(CLOSED_FORM) and not _at_zero(asked, at) and _alone(asked) is not None

    def epsilon(self, asked: Question, delta: float) -> Bracket:
        return closed_form.epsilon(((_known(asked), 1),), delta)

    def delta(self, asked: Question, epsilon: float) -> Bracket:
        return closed_form.delta(((_known(asked), 1),), epsilon)


class Products(Direct):
    """The product pairs that dominate the run and that neighbours attain, by the accountants."""

    def serves(self, asked: Question, at: float) -> bool:
        """Where there is no exact answer, and pairs are known."""
        return not (_at_zero(asked, at) or settled(asked))

    def serves_any(self, asked: Question) -> bool:
        """Whether many points can be asked for together: not of cohorts that are cut, of which each point is apart."""
        return not (settled(asked) or truncated.is_truncated(asked.run))

    def adds(self, asked: Question, at: float, found: Bracket) -> bool:
        """To an estimate nothing can be added."""
        return found.certified and not found.narrower_than(asked.rtol)

    def own(self, asked: Question, at: float) -> Bracket:
        pairs = asked.pairs()
        upper = products.largest(pairs.upper, asked, at)
        if pairs.lower == pairs.upper:
            return upper
        if not pairs.lower:
            return Bracket(0.0, upper.upper, upper.certified, upper.method)
        lower = products.largest(pairs.lower, asked, at)
        return Bracket(lower.lower, upper.upper, upper.certified and lower.certified, upper.method)


class Amplified(Direct):
    """Further upper ends, by pairs that the accountant of lattices alone takes (round.py): the smallest counts."""

    knows_below = False

    def serves(self, asked: Question, at: float) -> bool:
        """Where such pairs are known, and who takes them is asked."""
        if not asked.asks(LATTICES) or _at_zero(asked, at) or settled(asked):
            return False
        return bool(asked.pairs().amplified)

    def own(self, asked: Question, at: float) -> Bracket:
        """From above."""
        found = (products.largest(bound, asked, at) for bound in asked.pairs().amplified)
        return replace(min(found, key=lambda each: each.upper), lower=0.0)


class Cohorts(Source):
    """Hidden cohorts of a fixed size over many rounds, from both sides (cohorts/hidden_cohorts.py)."""

    def bracket(self, asked: Question, at: float, found: Bracket | None) -> Bracket:
        """It is laid out about what is known."""
        assert found is not None
        return cohorts.narrowed(asked, found, at)


@lru_cache(maxsize=16)
def _beyond(run: Mechanism, neighbouring: Relation, participation: Participation) -> float:
    """From which epsilon on delta is 0."""
    return pure_epsilon(run, neighbouring, participation).upper


def _at_zero(asked: Question, at: float) -> bool:
    """Pure DP: whether epsilon is asked for at delta = 0."""
    return asked.quantity == Quantity.EPSILON and at == 0.0


def _unpaired(asked: Question) -> bool:
    """Whether no pairs of cut cohorts are known: where others see that a full one left a unit out that may not be
    there, and of mechanisms of which it is not known what a unit in another's place costs."""
    if asked.neighbouring != Relation.ADD_REMOVE or not truncated.is_truncated(asked.run):
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
