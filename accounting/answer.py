"""How a question is answered: the largest value of the product pairs that its run comes down to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..mechanisms import BestOfSeveral, Mechanism, Neighbouring, rounds_by_step
from . import closed_form, shuffled, truncated
from .accountants import Quantity, composed, composed_together
from .bracket import Bracket
from .cohorts.cohorts import narrowed
from .currencies.pure_dp import METHOD as PURE
from .currencies.pure_dp import pure_epsilon
from .dominating import Dominating
from .measures.densities import accountant as contour
from .measures.lattices import accountant as lattices
from .pairs import AllocationPair, Composition, ReplacedAllocationPair, ScoredBlockPair, SubsampledPair
from .question import Question
from .rounding import down, up, widened_down
from .stated import stated


def answers(question: Question, points: Sequence[float]) -> tuple[Bracket, ...]:
    """A bracket at each delta (of epsilon) or epsilon (of delta); the run is taken apart once."""
    cut = truncated.is_truncated(question.run)
    told = cut and question.participation != "hidden" and question.neighbouring == "add-remove"
    pairs = Dominating((), ()) if told else question.pairs()
    beyond = _beyond_every_loss(question, pairs)
    shared = [at for at in points if at < beyond and (question.quantity == "delta" or at)]
    together = {} if cut else _together(question, pairs, shared)
    found = []
    for at in points:
        if at >= beyond:
            found.append(Bracket(0.0, 0.0, True, PURE))
            continue
        if at in together:
            found.append(together[at])
            continue
        if question.quantity == "epsilon" and at == 0.0:
            pure = pure_epsilon(question.run, question.neighbouring, question.participation)
            found.append(replace(pure, lower=max([pure.lower, *_of_each_search(question, at)])))
            continue
        near = _truncated(question, at) if cut else None
        if near is not None and (told or near.narrower_than(question.rtol)):
            found.append(near)
        elif near is not None and near.certified:  # rare cuts tell little, frequent ones who came
            found.append(_between(question, pairs, at).intersect(near))
        else:
            found.append(_between(question, pairs, at))
    narrow = [bracket.narrower_than(question.rtol) for bracket in found]
    known = (
        bracket if bracket.reached is reached else replace(bracket, reached=reached)
        for bracket, reached in zip(found, narrow, strict=True)
    )
    return tuple(narrowed(question, bracket, at) for bracket, at in zip(known, points, strict=True))


def _beyond_every_loss(question: Question, pairs: Dominating) -> float:
    """From which epsilon on delta is 0: the run's pure epsilon, a decimal as a user writes it (currencies/pure_dp.py).

    Infinite where the loss has no bound, and where a named accountant is to answer by itself.
    """
    if question.quantity == "epsilon" or question.accountant != "best" or not pairs.upper:
        return math.inf
    if any(pair.largest_loss() == math.inf for product in pairs.upper for pair, _ in product):
        return math.inf
    return pure_epsilon(question.run, question.neighbouring, question.participation).upper


def answer(question: Question, at: float) -> Bracket:
    """The bracket at one point."""
    (found,) = answers(question, [at])
    return found


def _together(question: Question, pairs: Dominating, points: Sequence[float]) -> dict[float, Bracket]:
    """The brackets at those points where all product pairs share their work, if these pairs are what is attained."""
    if pairs.lower != pairs.upper:
        return {}
    asked = sorted(set(points))
    rows = [
        composed_together(product, question.accountant, question.quantity, asked, question.rtol)
        for product in pairs.upper
    ]
    found = {}
    for at, brackets in zip(asked, zip(*rows, strict=True), strict=True):
        narrow = [bracket for bracket in brackets if bracket is not None]
        if len(narrow) == len(brackets):
            ends = max(bracket.lower for bracket in narrow), max(bracket.upper for bracket in narrow)
            found[at] = Bracket(*ends, True, narrow[0].method)
    return found


def _between(question: Question, pairs: Dominating, at: float) -> Bracket:
    alone = _by_itself(question, at)
    if alone is not None:
        return alone
    upper = _largest(pairs.upper, question, at)
    if pairs.lower == pairs.upper:
        return upper
    if pairs.amplified and question.accountant in ("best", lattices.METHOD):
        upper = min(upper, _largest(pairs.amplified, question, at), key=lambda bracket: bracket.upper)
    unpaired = _unpaired_lower(question.run, question.neighbouring, question.quantity, at)
    unpaired = max([unpaired, *_of_each_search(question, at)])
    if not pairs.lower:
        return Bracket(unpaired, upper.upper, upper.certified, upper.method)
    lower = _largest(pairs.lower, question, at)
    certified = upper.certified and lower.certified
    return Bracket(max(lower.lower, unpaired), upper.upper, certified, upper.method)


def _truncated(question: Question, at: float) -> Bracket:
    """Of a run that cuts Poisson cohorts, from the run that does not."""
    uncut = question.of(truncated.as_poisson(question.run))
    if question.quantity == "delta":
        return truncated.delta(question.run, at, lambda x: answer(uncut, x))
    return truncated.epsilon(question.run, at, lambda x: answer(uncut, x))


def _unpaired_lower(run: Mechanism, neighbouring: Neighbouring, quantity: Quantity, at: float) -> float:
    """A lower bound where no attained product pair is known: 0, or what one shuffled epoch reveals by itself."""
    bound = shuffled.epsilon_lower if quantity == "epsilon" else shuffled.delta_lower
    return max((bound(epoch, at) for epoch in shuffled.epochs(run, neighbouring)), default=0.0)


def _of_each_search(question: Question, at: float) -> Iterator[float]:
    """From below, of a Poisson distributed number of runs: all results are equally good and the first is kept, so that
    with probability 1 - e^-mean, which no data change, one run is seen."""
    for part in rounds_by_step(question.run):
        if not isinstance(part, BestOfSeveral) or part.poisson_mean is None:
            continue
        some = widened_down(-math.expm1(-part.poisson_mean), 2.0**-45)
        one = question.of(part.mechanism)
        if question.quantity == "delta":
            yield down(some * answer(one, at).lower)
        elif (share := up(at / some) if at else 0.0) < 1.0:
            yield answer(one, share).lower


def _by_itself(question: Question, at: float) -> Bracket | None:
    """Of one release by itself whose worst neighbours depend on epsilon (stated.Stated.alone); None for other runs."""
    steps = rounds_by_step(question.run)
    if question.accountant not in ("best", closed_form.METHOD) or list(steps.values()) != [1]:
        return None
    known = stated(next(iter(steps)))
    if known is None or known.alone is None:
        return None
    ask = closed_form.epsilon if question.quantity == "epsilon" else closed_form.delta
    return ask(((known.alone, 1),), at)


def reveals_less(product: Composition) -> tuple[bool, bool, bool]:
    """Sorts what usually reveals most to the front: of dealt rounds what all of them together show, or their scores;
    of the orders of the neighbours remove, replace, add."""
    orders = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair)}
    dealt = any(isinstance(pair, ReplacedAllocationPair | ScoredBlockPair) for pair, _ in product)
    return not dealt, "add" in orders, "replace" in orders


def _largest(products: tuple[Composition, ...], question: Question, at: float) -> Bracket:
    """A bracket of the largest of the products' values; most are the smaller one's, for which a quick bound serves."""
    first, *others = sorted(products, key=reveals_less)
    result = composed(first, question.accountant, question.quantity, at, question.rtol)
    for product in others:
        if not _exceeded(result, product, question, at):
            result = result.maximum(composed(product, question.accountant, question.quantity, at, question.rtol))
    return result


def _exceeded(bracket: Bracket, product: Composition, question: Question, at: float) -> bool:
    """Whether the product pair's value is certainly so small that it widens nothing and raises nothing: at most the
    bracket's lower end, or the upper end of one that is narrow (of another its value may lie inside)."""
    if question.accountant == "best" and any(isinstance(pair, AllocationPair) for pair, _ in product):
        return lattices.supports(product) and lattices.at_most(product, *_point(question, at, bracket.lower))
    if question.accountant not in ("best", "contour") or not contour.supports(product):
        return False
    return bracket.narrower_than(question.rtol) and contour.at_most(product, *_point(question, at, bracket.upper))


def _point(question: Question, at: float, value: float) -> tuple[float, float]:
    """(epsilon, delta), of which one was asked for at the other."""
    return (value, at) if question.quantity == "epsilon" else (at, value)
