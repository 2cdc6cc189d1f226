"""`prove`: is this Python function (epsilon, 0)-DP, for all data?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    mechanism: takes what `container` says ("array": numpy's; "list"; "rows": a 2-d array with a record in each row, of
    any length that holds the columns read by number) and a numpy Generator; it is read, and never run on symbols.
    epsilon, rho, mu: the claim; without one the least of `notion` ("dp", "zcdp", "gdp") is found. delta: with epsilon.
    entries: without a proof for every number of entries one is looked for of 1, 2, ... this many ("proved up to N";
    add-remove counts the larger dataset). up_to: datasets have no more, so that this is what is asked.
    relation: "replace-one", "add-remove", or "answers" (to queries: every entry moves by at most 1). low, high: between
    which entries lie (None: no bound; whole: integers). values: they are these numbers only, which are enumerated.
    rounds, sampling_rate: so many runs, each on a Poisson sample: the accountants compose what is proved of one.
    max_seconds: of the search, and as many of the checker. max_work: questions to solvers, alike on every machine.
    progress, checking: called with the cases done and their number, of the search and of the checker.

    Randomness alignment (Zhang, Kifer 2017, arXiv 1607.08228, section 4), and for every number of entries an induction
    (docs/prove.md), proved by checker/ of real numbers: floating-point noise leaks. `proved` says whether what was
    asked is proved. Ctrl-C and the ends of time or work answer with what is done by then. Raises InputError.

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
    setting = _setting(relation, {"low": low, "high": high}, whole, container, notion, values)
    most = count("entries", entries) if up_to is None else count("up_to", up_to)
    question = Question(mechanism, claim, most, setting, _delta(delta), up_to, checking=checking or silent)
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


def _setting(
    relation: str, ends: dict[str, float | None], whole: bool, container: str, notion: str, values: Any
) -> Setting:
    """Which neighbours are meant. Raises InputError."""
    choice("relation", relation, RELATIONS), choice("container", container, CONTAINERS)
    low, high = (None if end is None else written(number(name, end)) for name, end in ends.items())
    if low is not None and high is not None and not low < high:
        raise InputError("high", ends["high"], f"a number above low = {ends['low']}")
    if container != "rows":
        return Setting(relation, low, high, whole, container, notion)
    if relation == "answers":
        raise InputError("relation", relation, "replace-one or add-remove, for records")
    usual = {"low": 0.0, "high": 1.0, "whole": False, "values": None}
    for name, given in (ends | {"whole": whole, "values": values}).items():
        if given != usual[name]:
            raise InputError(name, given, "to be left out beside container = rows, whose records may be any")
    return Setting(relation, None, None, whole, container, notion)
