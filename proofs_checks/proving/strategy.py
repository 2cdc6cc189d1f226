"""The order in which a proof is looked for: a few entries, then all of them by induction, else one more at a time."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .checker.check import Checked, check_proof, shown_by
from .checker.progress import OutOfTime, Watch
from .checker.refusals import Raises, Refused, TooManyWays
from .counterexamples import found, where
from .inductions.loops import NoInduction, of_function
from .inductions.search import induction
from .proof import PROVED, PROVED_UP_TO, Proof
from .question import Progress, Question
from .search import Piece, search
from .solver import OutOfWork, Pair, pairs

FEW = 2
"""Entries up to which a function with an induction is proved one by one, too: the checker runs it on real numbers."""


def answer(question: Question, progress: Progress) -> Proof:
    """Merged values first, since they fork less; where these know too little of the data, without."""
    try:
        attempt = Attempt(question, progress)
        proof = attempt.proof()
        if attempt.merged and (question.examples or attempt.loose):
            other = Attempt(question, progress, merging=False, bounded=attempt.bounded).proof()
            proof = other if other.every_size or not attempt.loose else proof
    except Refused as problem:
        return question.proof("unsupported", str(problem))
    except OverflowError:  # of ours: one of the function's own is an Unsupported
        return question.proof("unsupported", "numbers too large or too small for the floats of the search")
    return proof


class Attempt:
    """One search. bounded: why there is no proof for all numbers of entries; merged: whether values were; loose: a few
    entries seem to cost more than any number of them."""

    def __init__(self, question: Question, progress: Progress, merging: bool = True, bounded: str = "") -> None:
        self.question, self.progress, self.merging, self.bounded = question, progress, merging, bounded
        self.merged = self.stopped = self.loose = False
        self.done = self.total = 0

    def proof(self) -> Proof:
        """What is proved when nothing is left to do, or when the search is stopped. Raises Refused."""
        question, few = self.question, min(FEW, self.question.entries)
        question.forget()
        self._sizes(range(1, few + 1))
        if not (self.bounded or self.stopped or question.examples):
            proof = self._for_all()
            if proof is not None:
                return proof
        if not (self.stopped or question.examples):
            self._sizes(range(few + 1, question.entries + 1))
        if question.examples:
            return question.proof("not proved", question.examples[0].why)
        if not question.cases:
            return question.proof("not proved", "stopped before anything was proved", stopped=True)
        try:
            return self._accepted({})
        except (KeyboardInterrupt, OutOfTime):
            return question.proof("not proved", "stopped before the checker had accepted anything", stopped=True)

    def _for_all(self) -> Proof | None:
        """By induction; or why not, or that it was stopped."""
        question = self.question
        try:
            if not question.cases:
                raise NoInduction("it raises an exception for a few entries")
            loops = of_function(question.mechanism, question.setting, question.work)
            made, epsilon = induction(loops, question.claim)
            least, question.epsilon = question.epsilon, max(epsilon, question.epsilon or epsilon)
            self.loose = question.claim is None and epsilon < question.epsilon
            few, most = question.cases, max(size for size, _ in question.cases)
            question.cases = {case: pieces for case, pieces in few.items() if case[0] == most}
            try:
                proof = self._accepted({"induction": made})
            finally:
                question.cases = few
        except (NoInduction, Refused) as problem:
            self.bounded = str(problem)
            return None
        except (KeyboardInterrupt, OutOfWork, OutOfTime):
            self.bounded, self.stopped = "the search for an induction was stopped", True
            return None
        if proof.every_size:
            return self._where_dearest(proof) if question.claim is None else proof
        self.bounded, question.epsilon = proof.reason, least
        return None

    def _where_dearest(self, proof: Proof) -> Proof:
        """Where it costs most with as many entries as were asked for: for the auditor, who looks for a lower bound."""
        if self.question.entries <= FEW or not self.merging:
            return proof
        self.question.forget()
        with suppress(Refused, KeyboardInterrupt):
            self._sizes([self.question.entries])
        return replace(proof, dearest=self.question.dearest or proof.dearest)

    def _sizes(self, sizes: Iterable[int]) -> None:
        """Fills in the question's cases of these numbers of entries, until one has an example or it is stopped."""
        question = self.question
        asked = {size: list(pairs(question.setting, size, self.merging)) for size in sizes}
        self.total += sum(len(each) for each in asked.values())
        for size in list(asked):
            each = asked.pop(size)
            try:
                question.cases |= {(size, pair.name): self._pieces(pair) for pair in each}
            except Raises:
                if question.cases or size == question.entries:
                    raise
                self.total -= len(each)  # too few entries for this function
            except TooManyWays as problem:
                if not question.cases:
                    raise
                self.bounded, self.stopped = str(problem), True
                return
            except (KeyboardInterrupt, OutOfWork):
                self.stopped = True
                return
            if question.examples:
                return

    def _pieces(self, pair: Pair) -> list[Piece]:
        question, pair.space.work = self.question, self.question.work
        pieces, failures = search(question.mechanism, pair, question.setting.container)
        self.merged = self.merged or bool(pair.case.data.merged)
        dearest = max(pieces, key=lambda piece: piece.cost, default=None)
        worst = Fraction(0) if dearest is None else dearest.cost
        if dearest is not None and question.epsilon is not None and worst > question.epsilon:
            question.dearest = where(pair, dearest)
        question.examples += found(pair, pieces, failures, worst if question.claim is None else question.claim)
        question.epsilon = None if failures or question.epsilon is None else max(question.epsilon, worst)
        self.done += 1
        self.progress(self.done, self.total)
        return pieces

    def _accepted(self, more: dict[str, Any]) -> Proof:
        """What the checker says of it. more: of every number of entries."""
        question = self.question
        assert question.epsilon is not None
        certificate = question.certificate(self.merging) | more
        watch = Watch(question.checking, time.monotonic() + question.seconds)
        try:
            verdict = check_proof(certificate, question.mechanism, watch)
        except (KeyboardInterrupt, OutOfTime):
            if more or not watch.sizes:
                raise
            self.stopped = True
            certificate |= {
                "sizes": watch.sizes,
                "cases": [case for case in certificate["cases"] if case["entries"] in watch.sizes],
            }
            question.cases = {case: each for case, each in question.cases.items() if case[0] in watch.sizes}
            verdict = Checked(True, shown_by(watch.steps, watch.runs), watch.steps, watch.runs)
        if verdict.sizes and not (verdict.ok or more):  # what is shown for fewer entries stands
            question.cases = {case: pieces for case, pieces in question.cases.items() if case[0] in verdict.sizes}
            self.bounded = f"the checker does not accept what the search found ({verdict.reason})"
            return self._accepted({})
        if not verdict.ok:
            return question.proof("not proved", f"the checker rejects what the search found: {verdict.reason}")
        return question.proof(
            PROVED if verdict.every_size else PROVED_UP_TO,
            verdict.reason + _taken(question),
            certificate=certificate | {"up_to": question.up_to},
            stopped=self.stopped and not more,
            bounded="" if more else self.bounded,
        )


def _taken(question: Question) -> str:
    """Which parts are not proved here."""
    parts = sorted({s for pieces in question.cases.values() for p in pieces for kind, s in p.draws if kind == "part"})
    return (
        f"; taken for granted: parts that are {', '.join(f'{float(Fraction(s)):g}' for s in parts)}-DP" if parts else ""
    )
