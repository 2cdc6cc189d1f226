"""epsilon(run, delta) and delta(run, epsilon): the best certified bracket that the accountants give together.

Each accountant is a module with three functions of a product pair:
`supports(composition)`, `epsilon(composition, delta)` and `delta(composition, epsilon)`, the latter two
returning a Bracket of the composed pair's own value.
"""

from __future__ import annotations

from types import ModuleType
from typing import Literal

import numpy as np

from ..mechanisms import NOTIONS, InputError, Mechanism, Neighbouring, Notion, Run, Visibility, as_run, default_relation
from ..mechanisms.validate import choice, delta_below_one, nonnegative
from . import closed_form, gaussian, gdp, one_event, shuffled, truncated
from .bracket import Bracket, EmptyBracket, OutOfReach
from .contour import contour
from .currencies.pure_dp import pure_epsilon
from .dominating import Participation, dominating
from .pairs import Composition, SubsampledPair
from .participation import participation, revealed
from .pld import pld
from .rdp import rdp

ACCOUNTANTS: dict[str, ModuleType] = {
    "gaussian": gaussian,
    "closed-form": closed_form,
    "contour": contour,
    "participation": participation,
    "pld": pld,
    "rdp": rdp,
    "revealed-coins": revealed,
    "one-event": one_event,
}
"""Certified accountants in the order in which "best" tries them."""

ESTIMATES: dict[str, ModuleType] = {"gdp-clt": gdp}
"""Approximations: available by name, never part of "best", and never certified where they estimate."""

NARROW = 1e-4
"""Relative width at which "best" asks no further accountant: the next ones would take long to narrow it a little."""

Accountant = Literal[
    "best",
    "gaussian",
    "closed-form",
    "contour",
    "participation",
    "pld",
    "rdp",
    "revealed-coins",
    "one-event",
    "gdp-clt",
]
"""The names of all of them; "best" is the certified ones together."""


def epsilon(
    run: Run,
    delta: float,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = "dp",
    participation: Visibility | None = None,
    accountant: Accountant = "best",
) -> Bracket:
    """The smallest epsilon for which the run is (epsilon, delta)-DP, as a certified bracket.

    neighbouring: add-remove for dp with hidden participation, else replace-one, unless named (`default_relation`).
    The true value is never above `upper`, and never below `lower`. run: a mechanism description, a list of them, one
    after the other, or a DpEvent of dp_accounting. delta: from 0 (pure DP: the largest privacy loss, infinite for
    Gaussian noise) to below 1.

    >>> from dpcert.mechanisms import Gaussian, Poisson, Repeat
    >>> found = epsilon(Repeat(Poisson(Gaussian(1.1), 0.01), 1_000), delta=1e-5)
    >>> found.certified, found.at_most(1.516), found.exceeds(1.515)
    (True, True, True)

    Raises InputError (a ValueError) for values out of range and combinations without a known bound.
    """
    relation = neighbouring or default_relation(notion, participation)
    if delta_below_one("delta", delta) == 0.0:
        return pure_epsilon(as_run(run), relation, seen_by(notion, participation))
    return _bracket(as_run(run), relation, notion, participation, accountant, "epsilon", float(delta))


def delta(
    run: Run,
    epsilon: float,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = "dp",
    participation: Visibility | None = None,
    accountant: Accountant = "best",
) -> Bracket:
    """The smallest delta for which the run is (epsilon, delta)-DP, as a certified bracket.

    >>> from dpcert.mechanisms import Gaussian
    >>> round(delta(Gaussian(1.0), epsilon=1.0).upper, 6)
    0.126937

    Raises InputError as `epsilon` does.
    """
    nonnegative("epsilon", epsilon)
    relation = neighbouring or default_relation(notion, participation)
    return _bracket(as_run(run), relation, notion, participation, accountant, "delta", float(epsilon))


def _bracket(
    run: Mechanism,
    neighbouring: Neighbouring,
    notion: Notion,
    participation: Visibility | None,
    accountant: Accountant,
    quantity: str,
    at: float,
) -> Bracket:
    if truncated.is_truncated(run):
        return _truncated(run, neighbouring, notion, participation, accountant, quantity, at)
    pairs = dominating(run, neighbouring, seen_by(notion, participation))
    upper = _largest(pairs.upper, accountant, quantity, at)
    if pairs.lower == pairs.upper:
        return upper
    unpaired = _unpaired_lower(run, neighbouring, quantity, at)
    if not pairs.lower:
        return Bracket(unpaired, upper.upper, upper.certified, upper.method)
    lower = _largest(pairs.lower, accountant, quantity, at)
    certified = upper.certified and lower.certified
    return Bracket(max(lower.lower, unpaired), upper.upper, certified, upper.method)


def _truncated(
    run: Mechanism,
    neighbouring: Neighbouring,
    notion: Notion,
    participation: Visibility | None,
    accountant: Accountant,
    quantity: str,
    at: float,
) -> Bracket:
    """Of a run that cuts Poisson cohorts: from the run that does not, and the one where everybody takes part."""
    uncut, whole = truncated.as_poisson(run), truncated.as_unsampled(run)

    def poisson(x: float) -> Bracket:
        return _bracket(uncut, neighbouring, notion, participation, accountant, quantity, x)

    def unsampled(x: float) -> Bracket:
        return _bracket(whole, "replace-one", notion, participation, "best", quantity, x)

    if quantity == "delta":
        return truncated.delta(run, at, poisson)
    return truncated.epsilon(run, at, poisson, unsampled)


def _unpaired_lower(run: Mechanism, neighbouring: Neighbouring, quantity: str, at: float) -> float:
    """A lower bound where no attained product pair is known: 0, or what one shuffled epoch reveals by itself."""
    bound = shuffled.epsilon_lower if quantity == "epsilon" else shuffled.delta_lower
    return max((bound(epoch, at) for epoch in shuffled.epochs(run, neighbouring)), default=0.0)


def attained(
    run: Mechanism,
    epsilon: float,
    delta: float,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = "dp",
    participation: Visibility | None = None,
) -> tuple[Composition, Bracket] | None:
    """An attained product pair that needs more than delta at epsilon, and its delta; None where none is known.

    Such a pair is a counterexample to (epsilon, delta): some two neighbours give exactly these distributions, of all
    the run's outputs or of those of its steps that have an attained pair (`dominating.Dominating`).
    """
    relation = neighbouring or default_relation(notion, participation)
    pairs = dominating(run, relation, seen_by(notion, participation))
    for product in sorted(pairs.lower, key=_reveals_less):
        found = _composed(product, "best", "delta", float(epsilon))
        if found.certified and found.lower > delta:
            return product, found
    return None


def profile_at(
    run: Run,
    epsilon: float,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = "dp",
    participation: Visibility | None = None,
) -> tuple[Bracket, Bracket | None]:
    """delta at epsilon over all neighbours and both orders, and that of one attained order alone, always the same one.

    The second is what a single attacker sees, who knows both neighbours; None where no attained order is known.
    """
    described, relation = as_run(run), neighbouring or default_relation(notion, participation)
    whole = delta(described, epsilon, relation, notion=notion, participation=participation)
    if truncated.is_truncated(described):
        return whole, None
    pairs = dominating(described, relation, seen_by(notion, participation))
    if not pairs.lower:
        return whole, None
    first = min(pairs.lower, key=_reveals_less)
    return whole, whole if pairs.lower == (first,) else _composed(first, "best", "delta", float(epsilon))


def _reveals_less(product: Composition) -> tuple[bool, bool]:
    """Sorts the orders of the neighbours that usually reveal most to the front: remove, replace, add."""
    orders = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair)}
    return "add" in orders, "replace" in orders


def seen_by(notion: Notion, participation: Visibility | None) -> Participation:
    """What the notion's adversary knows of the cohorts.

    For billboard and joint privacy that is the coalition of all others, who see their own participation unless
    it is said to be hidden even from them; for plain DP, whoever sees the output, and nothing else by default.
    """
    choice("notion", notion, NOTIONS)
    if participation is not None:
        choice("participation", participation, ("hidden", "visible"))
    if notion == "dp":
        return participation or "hidden"
    return "hidden" if participation == "hidden" else "pooled"


def _largest(products: tuple[Composition, ...], accountant: Accountant, quantity: str, at: float) -> Bracket:
    """A bracket of the largest of the products' values; most are the smaller one's, for which a quick bound serves."""
    first, *others = sorted(products, key=_reveals_less)
    result = _composed(first, accountant, quantity, at)
    for product in others:
        if not _exceeded(result, product, accountant, quantity, at):
            result = result.maximum(_composed(product, accountant, quantity, at))
    return result


def _exceeded(bracket: Bracket, product: Composition, accountant: Accountant, quantity: str, at: float) -> bool:
    """Whether the product pair's value is certainly at most the bracket's upper end, so that it widens nothing."""
    if accountant not in ("best", "contour") or not contour.supports(product) or not _narrow(bracket):
        return False
    epsilon, delta = (bracket.upper, at) if quantity == "epsilon" else (at, bracket.upper)
    return contour.at_most(product, epsilon, delta)


def _narrow(bracket: Bracket) -> bool:
    return bracket.width <= NARROW * bracket.upper


def _composed(product: Composition, accountant: Accountant, quantity: str, at: float) -> Bracket:
    """The named accountant's bracket, or the best that the certified ones give together."""
    if accountant == "best":
        return _best(product, quantity, at)
    named = ACCOUNTANTS | ESTIMATES
    choice("accountant", accountant, ("best", *named))
    if not named[accountant].supports(product):
        serving = [name for name, module in named.items() if module.supports(product)]
        raise InputError("accountant", accountant, "one that serves this run: " + ", ".join(["best", *serving]))
    try:
        return _asked(named[accountant], product, quantity, at)
    except OutOfReach as reason:
        raise InputError("accountant", accountant, f"one that reaches {product} ({reason})") from reason


def _asked(accountant: ModuleType, product: Composition, quantity: str, at: float) -> Bracket:
    """The accountant's bracket. Where its floating point breaks down it has none: that is out of its reach.

    Contradicting brackets are another matter: they are a bug that must surface.
    """
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):  # numpy's default: a warning, then go on
            bracket: Bracket = getattr(accountant, quantity)(product, at)
    except (EmptyBracket, InputError, OutOfReach):
        raise
    except (ArithmeticError, ValueError) as failure:
        raise OutOfReach(f"{accountant.__name__.rsplit('.', 1)[-1]}: {failure}") from failure
    return bracket


def _best(product: Composition, quantity: str, at: float) -> Bracket:
    """The first supporting accountant's bracket if it is narrow, else its intersection with the next ones'."""
    best: Bracket | None = None
    for accountant in ACCOUNTANTS.values():
        if not accountant.supports(product):
            continue
        try:
            bracket = _asked(accountant, product, quantity, at)
        except OutOfReach:
            continue
        best = bracket if best is None else best.intersect(bracket)
        if _narrow(best):
            break
    if best is None:
        raise InputError("run", product, "a composition that some accountant supports")
    return best
