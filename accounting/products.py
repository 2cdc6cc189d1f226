"""The largest of several product pairs' values: what is surely smaller is not computed, what can be shared is."""

from __future__ import annotations

from collections.abc import Sequence

from .accountants import CONTOUR, RENYI, composed, composed_together
from .bracket import Bracket
from .losses.atoms import pld as lattices
from .losses.atoms.fineness import is_cut
from .losses.smooth import contour
from .pairs import Composition, ReplacedAllocationPair, Sampling, ScoredBlockPair
from .quantity import Quantity
from .question import Question
from .renyi import renyi as rdp


def together(question: Question, points: Sequence[float]) -> dict[float, Bracket]:
    """The brackets at those points where all product pairs share their work, if these pairs are what is attained."""
    pairs = question.pairs()
    if pairs.lower != pairs.upper:
        return {}
    asked = sorted({at for at in points if question.quantity == Quantity.DELTA or at})
    rows = [
        composed_together(product, question.accountant, question.quantity, asked, question.rtol)
        for product in pairs.upper
    ]
    found = {}
    for at, brackets in zip(asked, zip(*rows, strict=True), strict=True):
        narrow = [bracket for bracket in brackets if bracket is not None]
        others = [product for product, known in zip(pairs.upper, brackets, strict=True) if known is None]
        if narrow:
            ends = max(bracket.lower for bracket in narrow), max(bracket.upper for bracket in narrow)
            largest_known = Bracket(*ends, True, narrow[0].method)
            if all(_exceeded(largest_known, product, question, at) for product in others):
                found[at] = largest_known
    return found


def reveals_less(product: Composition) -> tuple[bool, bool, bool]:
    """Sorts what usually reveals most to the front: of dealt rounds what all of them together show, or their scores;
    of the orders of the neighbours remove, replace, add."""
    orders = {noise.coin for pair, _ in product if (noise := pair.gaussian()) is not None}
    dealt = any(isinstance(pair, ReplacedAllocationPair | ScoredBlockPair) for pair, _ in product)
    return not dealt, Sampling.ADD in orders, Sampling.REPLACE in orders


def largest(products: tuple[Composition, ...], question: Question, at: float) -> Bracket:
    """A bracket of the largest of the products' values; most are the smaller one's, for which a quick bound serves."""
    asked = rdp.largest_of(products) if question.asks_alone(RENYI) else products
    first, *others = sorted(asked, key=reveals_less)
    result = composed(first, question.accountant, question.quantity, at, question.rtol)
    for product in others:
        if not _exceeded(result, product, question, at):
            result = result.maximum(composed(product, question.accountant, question.quantity, at, question.rtol))
    return result


def _exceeded(bracket: Bracket, product: Composition, question: Question, at: float) -> bool:
    """Whether the product pair's value is certainly so small that it widens nothing and raises nothing: at most the
    bracket's lower end, or the upper end of one that is narrow (of another its value may lie inside)."""
    if question.asks(CONTOUR) and contour.supports(product):
        narrow = bracket.narrower_than(question.rtol)
        return narrow and contour.at_most(product, *point_of(question, at, bracket.upper))
    if not question.asks_all or not (lattices.supports(product) and is_cut(product)):
        return False
    return lattices.at_most(product, *point_of(question, at, bracket.lower))


def point_of(question: Question, at: float, value: float) -> tuple[float, float]:
    """(epsilon, delta), of which one was asked for at the other."""
    return (value, at) if question.quantity == Quantity.EPSILON else (at, value)
