"""`prove`: is this Python function (epsilon, 0)-DP, for all data?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.validate import choice, count, nonnegative, number, positive
from .arrays import Symbols
from .certificate import document
from .checker.check import check_proof
from .checker.following import under_way
from .checker.invariant import annotating
from .configurations import NoInduction
from .counterexamples import dearest, found
from .enumeration import enumerated
from .exact import exact
from .induction import induction
from .instrument import instrumented
from .proof import Counterexample, Proof
from .question import Progress, Question
from .relations import RELATIONS, Domain, pairs
from .search import Piece, search
from .state import active
from .unsupported import Raises, Unsupported, unsupported
from .work import OutOfWork

FEW = 2
"""Entries for which a function with an induction is proved by itself, too: the checker runs it on real numbers."""


@annotating
def prove(
    mechanism: Callable[..., Any],
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    notion: str | None = None,
    entries: int = 4,
    relation: str = "replace-one",
    low: float | None = 0.0,
    high: float | None = 1.0,
    whole: bool = False,
    values: Sequence[float] | None = None,
    delta: float = 0.0,
    container: str = "array",
    max_seconds: float = 300.0,
    max_work: int | None = None,
    progress: Progress | None = None,
) -> Proof:
    """Prove that mechanism(dataset, rng) is epsilon-DP, or the least epsilon for which a proof is found.

    mechanism: dataset is a numpy array of numbers, rng a numpy Generator; it is not changed, but run on symbols.
    epsilon: the claim, at least 0; None asks for the least. rho: instead, rho-zCDP of a mechanism with Gaussian noise
    only (notion "zcdp" asks for the least). entries: for datasets of 1, 2, ... this many entries, and
    all values in them: in [low, high] (None: no bound; whole: integers); add-remove counts the larger dataset.
    relation: "replace-one", "add-remove", or "answers" (every entry moves by at most 1: answers to queries).
    values: entries are these numbers only, and the mechanism has finitely many outcomes (coins and choices, no other
    noise): all of them are enumerated with their exact probabilities, and the least epsilon is the true one.
    delta: only with values and a claimed epsilon: (epsilon, delta)-DP, below 1.
    container: what dataset is: a numpy "array" or a "list".
    max_work: so many questions may be put to solvers (a thousand take about a second): a limit that ends at the same
    place on every machine.
    progress: called with the cases done and their number.

    Method: randomness alignment (Zhang, Kifer 2017, arXiv 1607.08228, section 4), found by linear programs and proved
    by checker/. A function that is one loop over its data (or sums) is then proved for every number of entries, by
    induction; `every_size` says so, and epsilon is that of all sizes. What is proved is about real numbers:
    floating-point noise leaks (docs/prove.md). Ctrl-C, the end of
    max_seconds or of max_work answers with the sizes that are done. Raises InputError.

    >>> def noisy_sum(dataset, rng):
    ...     return dataset.sum() + rng.laplace(0, 2)
    >>> prove(noisy_sum, entries=3).epsilon
    0.5
    """
    if active() or under_way():
        raise unsupported("prove() inside of a mechanism")
    if not callable(mechanism):
        raise InputError("mechanism", mechanism, "a callable mechanism(dataset, rng) -> output")
    notion = choice("notion", notion or ("dp" if rho is None else "zcdp"), ("dp", "zcdp"))
    if (epsilon if notion == "zcdp" else rho) is not None:
        raise InputError("notion", notion, "dp with a claimed epsilon, zcdp with a claimed rho, and not both claims")
    stated = ("epsilon", epsilon) if notion == "dp" else ("rho", rho)
    claim = None if stated[1] is None else Fraction(nonnegative(*stated))
    question = Question(
        mechanism,
        claim,
        count("entries", entries),
        choice("relation", relation, RELATIONS),
        _domain(low, high, whole),
        notion,
    )
    question.work.limit = None if max_work is None else count("max_work", max_work)
    question.container = choice("container", container, ("array", "list"))
    deadline, progress = time.monotonic() + positive("max_seconds", max_seconds), progress or (lambda *_: None)
    if delta and (values is None or epsilon is None or not 0 < number("delta", delta) < 1):
        raise InputError("delta", delta, "0, or below 1 with a claimed epsilon and the values of the entries")
    question.delta = Fraction(delta)
    if values is not None and notion == "zcdp":
        raise InputError("notion", notion, "dp, for a mechanism with finitely many outcomes")
    if values is not None:
        return enumerated(question, values, deadline, progress)
    return _answer(question, deadline, progress)


def _domain(low: float | None, high: float | None, whole: bool) -> Domain:
    ends = [None if end is None else exact(number(name, end)) for name, end in (("low", low), ("high", high))]
    if None not in ends and not ends[0] < ends[1]:  # type: ignore[operator]
        raise InputError("high", high, f"a number above low = {low}")
    return Domain(ends[0], ends[1], whole)


def _answer(question: Question, deadline: float, progress: Progress) -> Proof:
    """For every number of entries, where there is an induction; else for one number after the other."""
    try:
        proof, bounded = _by_induction(question, deadline, progress)
    except KeyboardInterrupt:
        return question.proof("not proved", "stopped before anything was proved", stopped=True)
    return proof or _one_by_one(question, deadline, progress, bounded)


def _by_induction(question: Question, deadline: float, progress: Progress) -> tuple[Proof | None, str]:
    """The proof for all, checked also for FEW entries one by one; or why there is none."""
    try:
        if question.notion == "zcdp":
            raise NoInduction("inductions are about epsilon only")
        found, epsilon = induction(question.mechanism, question.relation, question.domain, question.claim)
    except NoInduction as problem:
        return None, str(problem)
    for merging in (True, False):
        question.forget()
        few = range(min(FEW, question.entries), min(FEW, question.entries) + 1)
        try:
            stopped, merged = _search(question, merging, few, deadline, progress)
        except Unsupported:
            return None, "its steps can be followed, all of it cannot"
        if stopped or not question.examples or not merged:
            break
    if stopped:
        return question.proof("not proved", "stopped before anything was proved", stopped=True), ""
    if question.examples or question.epsilon is None:
        return None, ""
    epsilon = max(epsilon, question.epsilon)
    proof = _accepted(question, merging, False, {"induction": found}, epsilon, "")
    if not proof.proved:
        return None, proof.reason
    return (proof if question.claim is not None else replace(proof, dearest=_dearest(question, merging, proof))), ""


def _dearest(question: Question, merging: bool, proof: Proof) -> Counterexample | None:
    """Where it costs most with as many entries as were asked for: for the auditor, who looks for a lower bound."""
    if question.entries <= FEW:
        return proof.dearest
    question.forget()
    sizes = range(question.entries, question.entries + 1)
    try:
        _search(question, merging, sizes, math.inf, lambda *_: None)
    except (Unsupported, KeyboardInterrupt):
        return proof.dearest
    return question.dearest or proof.dearest


def _one_by_one(question: Question, deadline: float, progress: Progress, bounded: str) -> Proof:
    """Merged values first, since they fork less; where these know too little of the data, without."""
    for merging in (True, False):
        question.forget()
        try:
            stopped, merged = _search(question, merging, range(1, question.entries + 1), deadline, progress)
        except Unsupported as problem:
            return question.proof("unsupported", str(problem))
        if not question.examples or not merged:
            break
    if question.examples:
        return question.proof("not proved", question.examples[0].why)
    if not question.cases:
        return question.proof("not proved", "stopped before anything was proved", stopped=True)
    assert question.epsilon is not None
    return _accepted(question, merging, stopped, {}, question.epsilon, bounded)


def _search(
    question: Question, merging: bool, sizes: Sequence[int], deadline: float, progress: Progress
) -> tuple[bool, bool]:
    """Fills in the question's cases. Whether it was stopped; whether values were merged."""
    function, merged, done = instrumented(question.asked), False, 0
    total = sum(len(list(pairs(question.relation, n, question.domain, merging))) for n in sizes)
    for size in sizes:
        cases: dict[tuple[int, str], list[Piece]] = {}
        try:
            for pair in pairs(question.relation, size, question.domain, merging):
                if time.monotonic() > deadline:
                    return True, merged
                pair.space.work = question.work
                pieces, failures = search(function, pair, Symbols.of)
                merged = merged or bool(pair.space.merged)
                worst, where = dearest(pair, pieces)
                if question.epsilon is not None and worst > question.epsilon:
                    question.dearest = where
                claim = question.claim
                question.examples += found(pair, pieces, failures, worst if claim is None else claim)
                question.epsilon = None if failures or question.epsilon is None else max(question.epsilon, worst)
                cases[size, pair.name] = pieces
                done += 1
                progress(done, total)
        except Raises:
            if question.cases or size == sizes[-1]:
                raise
            continue  # too few entries for this function
        except (KeyboardInterrupt, OutOfWork):
            return True, merged
        question.cases |= cases
        if question.examples:
            return False, merged
    return False, merged


def _accepted(
    question: Question, merging: bool, stopped: bool, more: dict[str, Any], epsilon: Fraction, bounded: str
) -> Proof:
    certificate = document(
        question.mechanism,
        question.name,
        question.relation,
        question.domain,
        question.notion,
        epsilon,
        merging,
        question.cases,
    )
    certificate |= more
    certificate["container"] = question.container
    try:
        verdict = check_proof(certificate, question.mechanism)
    except KeyboardInterrupt:
        return question.proof("not proved", "interrupted before the checker was done", stopped=True)
    if not verdict.ok:
        return question.proof("not proved", f"the checker rejects what the search found: {verdict.reason}")
    parts = sorted({s for pieces in question.cases.values() for p in pieces for kind, s in p.draws if kind == "part"})
    taken = f"; taken for granted: parts that are {', '.join(f'{float(s):g}' for s in parts)}-DP" if parts else ""
    question.epsilon = epsilon
    return question.proof(
        "proved",
        verdict.reason + taken,
        certificate=certificate,
        stopped=stopped,
        every_size=verdict.every_size,
        bounded=bounded,
    )
