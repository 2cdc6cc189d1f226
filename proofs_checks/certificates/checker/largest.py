"""Section 4.6, delta = 0: the largest loss of a product is the sum of its pairs' largest losses."""

from flint import arb, fmpq

from .format import require
from .pairs import ONE, ZERO, Pair, Product


def largest(product: Product) -> tuple[fmpq, arb]:
    """[4.6] The sum in two parts: of what is rational, exactly, and of the rest."""
    exact, rest = fmpq(0), ZERO
    for pair, n in product:
        require(bool(pair.law) and pair.lost.is_zero() and pair.mu.is_zero(), "a loss without a bound")
        if pair.order in ("both", "visible") and pair.most is not None:
            exact += n * pair.most
        else:
            rest += n * _single(pair)
    return exact, rest


def _single(pair: Pair) -> arb:
    """[4.6] Of one round: L = kg with k at most the largest, behind a public coin too, or mixed by a hidden one."""
    top, p = pair.g * max(pair.law), pair.p
    if pair.order in ("both", "visible"):
        return top
    require(pair.order in ("remove", "add"), f"no largest loss of {pair.order}")
    return (ONE + p * (top.exp() - 1)).log() if pair.order == "remove" else -(ONE + p * ((-top).exp() - 1)).log()


def at_most(product: Product, end: fmpq) -> bool:
    """[4.6] Whether no loss is above the end."""
    exact, rest = largest(product)
    return bool(exact <= end) if rest.is_zero() else bool(rest <= arb(end - exact))


def at_least(product: Product, end: fmpq) -> bool:
    """[4.6] Whether losses reach the end, or come as near to it as one likes."""
    exact, rest = largest(product)
    return bool(exact >= end) if rest.is_zero() else bool(rest >= arb(end - exact))
