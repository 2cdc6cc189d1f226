"""epsilon(run, delta) and delta(run, epsilon): the best certified bracket that the accountants give together."""

from __future__ import annotations

from collections.abc import Iterable

from ..mechanisms import Neighbouring, Notion, PrivacyNotion, Run, Visibility
from ..mechanisms.validate import delta_below_one, listed, nonnegative
from .accountants import AccountantName
from .answer import answer_with_report, answers
from .bracket import Bracket
from .quantity import Quantity
from .question import RTOL, Question


def epsilon(
    run: Run,
    delta: float,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    accountant: AccountantName = "best",
    rtol: float = RTOL,
) -> Bracket:
    """The smallest epsilon for which the run is (epsilon, delta)-DP, as a certified bracket.

    The true value is never above `upper`, and never below `lower`.

    run: a mechanism description, a list of them, one after the other, or a DpEvent of dp_accounting. delta: from 0
    (pure DP: the largest privacy loss, infinite for Gaussian noise) to below 1. neighbouring: add-remove for dp
    with hidden participation, else replace-one, unless named (`default_relation`). notion: who the attacker is.
    participation: whether the attacker sees when a unit takes part; None: hidden for dp, and else what the other
    clients know. accountant: the method; "best" asks all certified ones together. rtol: the relative width that is
    asked for; where no accountant gets there, the bracket is the narrowest that was reached, and its `reached` is
    False.

    >>> from dpcert.mechanisms import Gaussian, Poisson, Repeat
    >>> found = epsilon(Repeat(Poisson(Gaussian(1.1), 0.01), 1_000), delta=1e-5)
    >>> found.certified, found.reached, found.at_most(1.516), found.exceeds(1.515)
    (True, True, True, True)

    Raises InputError (a ValueError) for values out of range and combinations without a known bound.
    """
    delta_below_one("delta", delta)
    question = Question.about(run, Quantity.EPSILON, neighbouring, notion, participation, accountant, rtol)
    return answer_with_report(question, float(delta), notion)


def delta(
    run: Run,
    epsilon: float,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    accountant: AccountantName = "best",
    rtol: float = RTOL,
) -> Bracket:
    """The smallest delta for which the run is (epsilon, delta)-DP, as a certified bracket.

    >>> from dpcert.mechanisms import Gaussian
    >>> round(delta(Gaussian(1.0), epsilon=1.0).upper, 6)
    0.126937

    Raises InputError as `epsilon` does.
    """
    nonnegative("epsilon", epsilon)
    question = Question.about(run, Quantity.DELTA, neighbouring, notion, participation, accountant, rtol)
    return answer_with_report(question, float(epsilon), notion)


def epsilons(
    run: Run,
    deltas: Iterable[float],
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    accountant: AccountantName = "best",
    rtol: float = RTOL,
) -> tuple[Bracket, ...]:
    """`epsilon` at each of many deltas; the run is taken apart once.

    >>> from dpcert.mechanisms import Gaussian
    >>> [round(found.upper, 4) for found in epsilons(Gaussian(1.0), [1e-3, 1e-6])]
    [3.1387, 4.8866]
    """
    points = [delta_below_one("deltas", delta) for delta in listed("deltas", deltas)]
    return answers(Question.about(run, Quantity.EPSILON, neighbouring, notion, participation, accountant, rtol), points)


def deltas(
    run: Run,
    epsilons: Iterable[float],
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    accountant: AccountantName = "best",
    rtol: float = RTOL,
) -> tuple[Bracket, ...]:
    """`delta` at each of many epsilons; the run is taken apart once.

    >>> from dpcert.mechanisms import Gaussian
    >>> [round(found.upper, 6) for found in deltas(Gaussian(1.0), [1.0, 2.0])]
    [0.126937, 0.020924]
    """
    points = [nonnegative("epsilons", epsilon) for epsilon in listed("epsilons", epsilons)]
    return answers(Question.about(run, Quantity.DELTA, neighbouring, notion, participation, accountant, rtol), points)
