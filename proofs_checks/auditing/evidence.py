"""What the parts of an audit share, and from samples to a result: a list of parts, each with its share of the error.

The first trials choose scores, rules and lines; the fresh ones are counted once for each part, in exact tests. A part
is an object `part(evidence, error) -> Found`; what it says without an assumption is wrong with probability `error` at
most. Parts know nothing of each other, so that those that were finished when Ctrl-C came are reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mechanisms.arrays import Floats
from .against_curve import Attack, most_violated
from .band import Band
from .checked import unchecked, unread
from .classifiers import learned
from .curve import ClaimedCurve
from .outputs import Outputs
from .result import AuditResult, LowerBound, Test
from .rules import Candidates, Rule, candidates
from .scores import HANDICAP, Score, Scorer
from .simple_scores import applicable
from .trials import Samples
from .witness import AuditWitness, Guess, Question

EXPLORE = 0.15
"""Part of the trials that choices are made on; half as much again for outputs of more than eight numbers."""
MOST_EXPLORED = 150_000
SURE = 10.0
"""Expected deviations of a violation from chance at which no further score is fitted."""

Line = tuple[float, float]


@dataclass(frozen=True, slots=True)
class View:
    """One score, fitted: the rules it offers on exploration trials, and what their promises are weighed with."""

    name: str
    grids: tuple[Candidates, ...]
    scorer: Scorer
    weight: float
    explored: tuple[Floats, Floats]

    def weighed(self, promise: float) -> float:
        return promise * self.weight if promise > 0 else promise


class Evidence:
    """The samples of an audit, its question, and what was learned on the exploration trials (when first asked for).

    claim: what is tested; None for bounds only. delta: what epsilon is bounded at. scores: the caller's, or None.
    """

    def __init__(
        self,
        samples: Samples,
        claim: ClaimedCurve | None,
        delta: float,
        scores: tuple[Score, ...] | None,
        question: Question,
    ) -> None:
        self.samples, self.claim, self.delta, self.scores, self.question = samples, claim, delta, scores, question
        self._fresh: dict[int, tuple[Floats, Floats]] = {}
        self._split()

    def _split(self) -> None:
        mine, other = self.samples.dataset, self.samples.neighbour
        total = len(mine) + len(other)
        # Learning many weights needs more examples than choosing a threshold does. How wide outputs are is looked up
        # on trials that are explored in any case: fresh ones must not have a say in what they are tested with.
        self._some = min(16, int(EXPLORE * total) // 4)
        wide = max(mine.part(0, self._some).used, other.part(0, self._some).used) > 8
        explored = min(int((1.5 if wide else 1.0) * EXPLORE * total), (3 if wide else 1) * MOST_EXPLORED)
        # The sides of the explored trials are as random as if each trial had kept its own coin.
        rng = np.random.default_rng((self.question.seed, 0xC01))
        first = int(rng.hypergeometric(len(mine), len(other), explored)) if explored else 0
        self.cut = first, explored - first
        self.fresh_trials = total - explored

    def explored(self) -> tuple[Outputs, Outputs]:
        """The outputs that choices are made on, either side's."""
        seen = self.samples.dataset.part(0, self.cut[0]), self.samples.neighbour.part(0, self.cut[1])
        width = max(seen[0].used, seen[1].used)
        return seen[0].of_width(width), seen[1].of_width(width)

    @cached_property
    def views(self) -> list[View]:
        """Of the simple scores; and of learned ones, which take seconds, where no simple one is sure to refute."""
        mine, other = self.explored()
        if min(len(mine), len(other)) < max(4, self._some) or self.fresh_trials <= 0:
            return []
        if self.scores is not None:
            return self._fitted(self.scores, mine, other)
        simple = self._fitted(applicable(mine, other), mine, other)
        return simple if self._sure(simple) else simple + self._fitted(learned(mine, other), mine, other)

    def _sure(self, views: list[View]) -> bool:
        """Whether the curve test is all but certain to refute by one of them."""
        if self.claim is None:
            return False
        attacks = [(view, most_violated(view.grids, self.claim)) for view in views]
        promises = [view.weight * attack.promise for view, attack in attacks if attack is not None]
        return bool(max(promises, default=0.0) * self.fresh_trials**0.5 >= SURE)

    def _fitted(self, scores: tuple[Score, ...], mine: Outputs, other: Outputs) -> list[View]:
        found = []
        for score in scores:
            cut = (2 * len(mine) // 3, 2 * len(other) // 3) if score.learns else (0, 0)
            scorer = score.fit(mine.part(0, cut[0]), other.part(0, cut[1]), self.question.seed)
            rest = scorer(mine.part(cut[0], len(mine))), scorer(other.part(cut[1], len(other)))
            if min(map(len, rest)) > 0:
                weight = HANDICAP if score.learns else 1.0
                found.append(View(score.name, candidates(*rest), scorer, weight, rest))
        return found

    def scored(self, view: int) -> tuple[Floats, Floats]:
        """The scores of the fresh trials on either side."""
        if view not in self._fresh:
            score = self.views[view].scorer
            mine, other = self.samples.dataset, self.samples.neighbour
            fresh = mine.part(self.cut[0], len(mine)), other.part(self.cut[1], len(other))
            self._fresh[view] = score(fresh[0]), score(fresh[1])
        return self._fresh[view]

    def counts(self, view: int, rules: Sequence[Rule]) -> list[tuple[int, int]]:
        """(correct, wrong) guesses of each rule on the fresh trials."""
        return [rule.counts(*self.scored(view)) for rule in rules]

    @property
    def lines(self) -> list[Line]:
        """The claim's (epsilon, delta)."""
        return [] if self.claim is None else self.claim.lines

    def p_value(self, rule: Rule, counts: tuple[int, int], line: Line) -> float:
        """Of the line, from a rule's counts on the fresh trials."""
        return Attack(rule, *line, promise=0.0).p_value(*counts, self.fresh_trials)

    def witness(
        self, view: int, rule: Guess, counts: tuple[int, int], line: Line, p_value: float, method: str
    ) -> AuditWitness:
        """In words: what a rule on this view's score found against the line."""
        taken = self.views[view]
        return self.question.witness(taken.scorer, taken.name, rule, self.scored(view), counts, line, p_value, method)


@dataclass(frozen=True, slots=True)
class Found:
    """What one part has to say. warning: a sentence on what refutes nothing, and should be known."""

    tests: tuple[Test, ...] = ()
    bounds: tuple[LowerBound, ...] = ()
    witnesses: tuple[AuditWitness, ...] = ()
    band: Band | None = None
    warning: str = ""


Part = Callable[[Evidence, float], Found]


Shared = Sequence[tuple[Part, float]]
"""Parts, each with its share of the error probability."""


def evaluate(evidence: Evidence, parts: Shared, alpha: float, started: float, at_any_time: Shared = ()) -> AuditResult:
    """The result of all parts. started: when the audit began, by time.perf_counter().

    at_any_time: the parts that may speak where the number of trials depends on their outcomes.
    """
    samples, stopped = evidence.samples, evidence.samples.stopped
    found: list[Found] = []
    try:
        for part, error in (*at_any_time, *(() if stopped in ("early", "failure") else parts)):
            found.append(part(evidence, error))
    except KeyboardInterrupt:
        stopped = "interrupt"
    tests = tuple(test for some in found for test in some.tests)
    witnesses = [witness for some in found for witness in some.witnesses]
    refuted = bool(witnesses) or any(test.refutes for test in tests)
    return AuditResult(
        refuted=refuted,
        alpha=alpha,
        claim=evidence.claim,
        tests=tests,
        bounds=tuple(bound for some in found for bound in some.bounds),
        band=next((some.band for some in found if some.band is not None), None),
        witness=min(witnesses, key=lambda one: one.p_value, default=None),
        trials=samples.trials,
        seconds=time.perf_counter() - started,
        stopped=stopped,
        seed=evidence.question.seed,
        blind=() if refuted else unread(samples),
        unchecked="" if refuted else unchecked(samples, evidence.question.pair, evidence.claim, alpha),
        warnings=tuple(some.warning for some in found if some.warning),
        generators=samples.generators,
    )
