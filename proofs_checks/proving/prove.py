"""`prove`: is this Python function (epsilon, 0)-DP, for all data?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.validate import choice, count, nonnegative, number, positive, rate
from .approximate import Over, approximate, gaussian_dp
from .checker.current_run import under_way
from .checker.exact_numbers import written
from .checker.invariant import annotating
from .checker.pairs import CONTAINERS, RELATIONS, Setting
from .checker.refusals import Refused
from .enumeration import enumerated
from .proof import NAMES, Proof
from .question import Progress, Question, silent
from .strategy import answer


@annotating
def prove(
    mechanism: Callable[..., Any],
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    notion: str | None = None,
    entries: int = 4,
    up_to: int | None = None,
    relation: str = "replace-one",
    low: float | None = 0.0,
    high: float | None = 1.0,
    whole: bool = False,
    values: Sequence[float] | None = None,
    delta: float = 0.0,
    rounds: int = 1,
    sampling_rate: float = 1.0,
    container: str = "array",
    max_seconds: float = 300.0,
    max_work: int | None = None,
    progress: Progress | None = None,
    checking: Progress | None = None,
) -> Proof:
    """Prove that mechanism(dataset, rng) is epsilon-DP, or the least epsilon for which a proof is found.

    mechanism: dataset is a numpy array of numbers, rng a numpy Generator; it is read, and never run on symbols.
    epsilon: the claim, at least 0; None asks for the least. rho: instead, rho-zCDP of a mechanism with Gaussian noise
    only (notion "zcdp" asks for the least); mu: likewise mu-GDP (notion "gdp"). entries: where there is no proof for
    every number of entries, one is looked for of 1, 2, ... this many (add-remove counts the larger dataset); that is
    another verdict, "proved up to N".
    up_to: datasets have at most this many entries, so that a proof for these is what is asked (in place of entries).
    low, high: between which entries lie (None: no bound; whole: integers).
    relation: "replace-one", "add-remove", or "answers" (every entry moves by at most 1: answers to queries).
    values: entries are these numbers only, and the mechanism has finitely many outcomes (coins and choices, no other
    noise): all of them are enumerated with their exact probabilities, and the least epsilon is the true one.
    delta: (epsilon, delta)-DP, of a function with Gaussian noise (without a claimed epsilon the accountants' least is
    found), or with values and a claimed epsilon.
    rounds, sampling_rate: (epsilon, delta) is that of so many runs, each on a Poisson sample of the data (1.0: on all):
    the step is proved, its composition is the accountants' (accounted.py; certificates are of the step).
    container: what dataset is: a numpy "array" or a "list" of numbers, or "rows", a 2-d array with a record in each row
    (of any length that holds the columns which the mechanism reads by number; they may be any, so that a private
    function clips them by a norm).
    max_work: so many questions may be put to solvers (a thousand take about a second): a limit that ends at the same
    place on every machine.
    max_seconds: of the search, and as many of the checker, which is not part of it.
    progress: called with the cases done and their number. checking: the same of the checker.

    Method: randomness alignment (Zhang, Kifer 2017, arXiv 1607.08228, section 4), found by linear programs and proved
    by checker/. A function that is made of loops over its data (or sums) is then proved for every number of entries, by
    induction, and epsilon is that of all sizes. `proved` says whether what was asked is proved: every number of
    entries, or up_to. What is proved is about real numbers: floating-point noise leaks (docs/prove.md). Ctrl-C, the end
    of max_seconds or of max_work answers with the sizes that are done; while the checker is at work, with those it has
    accepted. Raises InputError.

    >>> def noisy_sum(dataset, rng):
    ...     return dataset.sum() + rng.laplace(0, 2)
    >>> prove(noisy_sum, entries=3).epsilon
    0.5
    """
    if under_way():
        raise Refused("prove() inside of a mechanism")
    if not callable(mechanism):
        raise InputError("mechanism", mechanism, "a callable mechanism(dataset, rng) -> output")
    notion, claim = _claim(notion, {"dp": epsilon, "zcdp": rho, "gdp": mu})
    ends = {name: None if end is None else written(number(name, end)) for name, end in (("low", low), ("high", high))}
    held, related = choice("container", container, CONTAINERS), choice("relation", relation, RELATIONS)
    setting = Setting(related, **ends, whole=whole, container=held, notion=notion)
    _checked(setting, values)
    question = Question(
        mechanism,
        claim,
        count("entries", entries) if up_to is None else count("up_to", up_to),
        setting if container != "rows" else replace(setting, low=None, high=None),
        delta=_delta(delta),
        up_to=up_to,
        checking=checking or silent,
    )
    question.limited(positive("max_seconds", max_seconds), None if max_work is None else count("max_work", max_work))
    return _answered(question, values, _over(question, values, rounds, sampling_rate), progress or silent)


def _answered(question: Question, values: Sequence[float] | None, over: Over, progress: Progress) -> Proof:
    """By the method that the claim asks for. Raises InputError."""
    if values is not None and question.notion != "dp":
        raise InputError("notion", question.notion, "dp, for a mechanism with finitely many outcomes")
    if values is not None:
        return enumerated(question, values, progress)
    if question.notion == "gdp":
        return gaussian_dp(question, progress)
    return approximate(question, progress, over) if question.delta else answer(question, progress)


def _delta(delta: float) -> Fraction:
    if delta and not 0 < number("delta", delta) < 1:
        raise InputError("delta", delta, "a number below 1, and at least 0")
    return written(delta)


def _over(question: Question, values: Sequence[float] | None, rounds: int, sampling_rate: float) -> Over:
    """How often it runs, each time on which sample; and whether delta fits that and the claim. Raises InputError."""
    delta = float(question.delta)
    if delta and (question.notion != "dp" or (values is not None and question.claim is None)):
        raise InputError(
            "delta", delta, "0 beside a claimed rho or mu, and where values are enumerated without a claimed epsilon"
        )
    over = Over(count("rounds", rounds), rate("sampling_rate", sampling_rate))
    if not over.once and (not delta or values is not None):
        raise InputError("delta", delta, "a number above 0 where rounds or samples are accounted, and no values")
    if over.sampling_rate < 1 and question.setting.relation != "add-remove":
        raise InputError("sampling_rate", sampling_rate, "1, or relation add-remove: samples differ by a record")
    return over


def _claim(notion: str | None, claims: dict[str, float | None]) -> tuple[str, Fraction | None]:
    """The notion and what is claimed. claims: by notion."""
    claimed = [each for each, value in claims.items() if value is not None]
    notion = choice("notion", notion or (claimed[0] if claimed else "dp"), tuple(claims))
    if len(claimed) > 1 or (claimed and claimed[0] != notion):
        raise InputError(
            "notion",
            notion,
            "dp with a claimed epsilon, zcdp with a claimed rho, gdp with a claimed mu; one claim only",
        )
    stated = claims[notion]
    return notion, None if stated is None else written(nonnegative(NAMES[notion], stated))


def _checked(setting: Setting, values: Any) -> None:
    """Whether entries may be so. Raises InputError."""
    if setting.low is not None and setting.high is not None and not setting.low < setting.high:
        raise InputError("high", float(setting.high), f"a number above low = {float(setting.low)}")
    if setting.container != "rows":
        return
    if setting.relation == "answers":
        raise InputError("relation", setting.relation, "replace-one or add-remove, for records")
    usual = {"low": 0, "high": 1, "whole": False, "values": None}
    for name, value in usual.items():
        given = values if name == "values" else getattr(setting, name)
        if given != value:
            raise InputError(name, given, "to be left out beside container = rows, whose records may be any")
