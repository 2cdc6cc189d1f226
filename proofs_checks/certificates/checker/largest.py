"""Section 4.6, delta = 0: the largest loss of a product is the sum of its pairs' largest losses."""

from flint import arb, fmpq

from .format import require
from .pairs import ONE, ZERO, Pair, Product


def above(product: Product, end: fmpq) -> fmpq | arb:
    """[4.6] By how much the largest losses' sum is above the end: exactly where all of it is rational."""
    exact, rest = fmpq(0), ZERO
    for pair, n in product:
        require(bool(pair.law) and pair.lost.is_zero() and pair.mu.is_zero(), "a loss without a bound")
        if pair.order in ("both", "visible") and pair.most is not None:
            exact += n * pair.most
        else:
            rest += n * _single(pair)
    return exact - end if rest.is_zero() else rest + arb(exact - end)


def _single(pair: Pair) -> arb:
    """[4.6] Of one round: L = kg with k at most the largest, behind a public coin too, or mixed by a hidden one."""
    top, p = pair.g * max(pair.law), pair.p
    if pair.order in ("both", "visible"):
        return top
    require(pair.order in ("remove", "add"), f"no largest loss of {pair.order}")
    return (ONE + p * (top.exp() - 1)).log() if pair.order == "remove" else -(ONE + p * ((-top).exp() - 1)).log()
