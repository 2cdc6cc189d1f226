"""From samples to results: exploration first, then one count on the fresh trials for each part of an audit.

The first trials choose scores, rules and lines; all others are counted once, and the counts go into exact tests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats
from . import band as bands
from . import event, likelihood, mu, weighted
from .against_curve import Attack, best_separated, most_violated
from .applicable import applicable
from .classifiers import learned
from .curve import ClaimedCurve
from .eprocess import EProcess
from .outputs import Outputs
from .result import AuditResult, LowerBound, Test
from .rules import Candidates, Rule, best, candidates, separation
from .scores import HANDICAP, Score, Scorer
from .trials import Samples
from .witness import AuditWitness, Guess, Question

EXPLORE = 0.15
"""Part of the trials that choices are made on; half as much again for outputs of more than eight numbers."""
MOST_EXPLORED = 150_000
SURE = 10.0
"""Expected deviations of a violation from chance at which no further score is fitted."""


@dataclass(frozen=True, slots=True)
class View:
    """One score, fitted: the rules it offers on exploration trials, and the scores of the fresh trials."""

    name: str
    grids: tuple[Candidates, ...]
    scorer: Scorer
    weight: float
    explored: tuple[Floats, Floats]


class Evaluation:
    """Turns samples into a result: exploration first, then one count on the fresh trials for each part."""

    def __init__(
        self,
        samples: Samples,
        claim: ClaimedCurve | None,
        delta: float,
        parts: dict[str, float],
        scores: tuple[Score, ...] | None,
        loss: Callable[[Floats], Floats] | None,
        process: EProcess | None,
        question: Question,
        alpha: float,
    ) -> None:
        self.samples, self.claim, self.delta, self.parts, self.loss = samples, claim, delta, parts, loss
        self.process, self.question, self.alpha = process, question, alpha
        self.tests: list[Test] = []
        self.bounds: list[LowerBound] = []
        self.witnesses: list[AuditWitness] = []
        self.band: bands.Band | None = None
        self.scores = scores
        self._fresh: dict[int, tuple[Floats, Floats]] = {}
        self._taken: int | None = None

    def result(self, started: float) -> AuditResult:
        """Parts are independent of each other: those that were finished when Ctrl-C came are reported."""
        stopped = self.samples.stopped
        if self.process is not None:
            self._evidence(self.process)
        try:
            # There the number of trials depends on their outcomes: only the e-process may speak.
            if stopped not in ("early", "failure") and set(self.parts) - {"eprocess"}:
                self._fixed_size()
        except KeyboardInterrupt:
            stopped = "interrupt"
        refuted = any(test.refutes for test in self.tests) or bool(self.witnesses)
        return AuditResult(
            refuted=refuted,
            alpha=self.alpha,
            claim=self.claim,
            tests=tuple(self.tests),
            bounds=tuple(self.bounds),
            band=self.band,
            witness=min(self.witnesses, key=lambda found: found.p_value, default=None),
            trials=self.samples.trials,
            seconds=time.perf_counter() - started,
            stopped=stopped,
            seed=self.question.seed,
            blind=() if refuted else self._blind(),
        )

    def _blind(self) -> tuple[str, ...]:
        """The columns of codes in which no value came twice: there is nothing in them to compare, for this audit."""
        return tuple(
            f"{name}: a text that differed in every run, so that nothing could be learned from it"
            for name in self.question.layout.never_repeating()
        )

    def _fixed_size(self) -> None:
        self._split()
        if self.views:
            for part in ("curve", "event", "mu", "band"):
                if part in self.parts:
                    getattr(self, f"_{part}")(self.parts[part])
        if "densities" in self.parts and self.loss is not None:
            self._densities(self.parts["densities"], self.loss)

    def _split(self) -> None:
        mine, other = self.samples.dataset, self.samples.neighbour
        total = len(mine) + len(other)
        # Learning many weights needs more examples than choosing a threshold does. How wide outputs are is looked up
        # on trials that are explored in any case: fresh ones must not have a say in what they are tested with.
        some = min(16, int(EXPLORE * total) // 4)
        wide = max(mine.part(0, some).used, other.part(0, some).used) > 8
        explored = min(int((1.5 if wide else 1.0) * EXPLORE * total), (3 if wide else 1) * MOST_EXPLORED)
        # The sides of the explored trials are as random as if each trial had kept its own coin.
        rng = np.random.default_rng((self.question.seed, 0xC01))
        first = int(rng.hypergeometric(len(mine), len(other), explored)) if explored else 0
        self.cut = first, explored - first
        self.fresh_trials = total - explored
        seen = mine.part(0, first), other.part(0, explored - first)
        width = max(seen[0].used, seen[1].used)
        seen = seen[0].of_width(width), seen[1].of_width(width)
        self.views = self._views(*seen) if min(map(len, seen)) >= max(4, some) and self.fresh_trials > 0 else []

    def _views(self, mine: Outputs, other: Outputs) -> list[View]:
        """Of the simple scores; and of learned ones, which take seconds, where no simple one is sure to refute."""
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

    def _counts(self, view: int, rules: Sequence[Rule]) -> list[tuple[int, int]]:
        return [rule.counts(*self._scored(view)) for rule in rules]

    def _scored(self, view: int) -> tuple[Floats, Floats]:
        """The scores of the fresh trials on either side."""
        if view not in self._fresh:
            score = self.views[view].scorer
            mine, other = self.samples.dataset, self.samples.neighbour
            fresh = mine.part(self.cut[0], len(mine)), other.part(self.cut[1], len(other))
            self._fresh[view] = score(fresh[0]), score(fresh[1])
        return self._fresh[view]

    def _evidence(self, process: EProcess) -> None:
        error = self.parts["eprocess"]
        test = Test("e-process", process.p_value, error, process.trials_at_largest or process.trials)
        self.tests.append(test)
        if test.refutes and process.bets_at_largest:
            bet = process.bets_at_largest[0]
            scores = bet.scorer(self.samples.dataset), bet.scorer(self.samples.neighbour)
            if process.ladder.quantity == "epsilon":  # several lines are refuted together, none of them alone
                value = max(bet.epsilon, process.ladder.bound(error))
                self.bounds.append(LowerBound("epsilon", value, bet.delta, error, "e-process"))
            else:
                value = max(process.claim.mu or 0.0, process.ladder.bound(error))
                self.bounds.append(LowerBound("mu", value, None, error, "e-process"))
            about = bet.scorer, bet.score, bet.rule, scores, bet.rule.counts(*scores), (bet.epsilon, bet.delta)
            self.witnesses.append(self.question.witness(*about, test.p_value, test.method))

    def _curve(self, error: float) -> None:
        assert self.claim is not None
        attacks: list[tuple[int, Attack]] = []
        for choose in (most_violated, best_separated):
            found = [(number, choose(view.grids, self.claim)) for number, view in enumerate(self.views)]
            some = [(number, attack) for number, attack in found if attack is not None]
            if some:
                attacks.append(max(some, key=lambda item: self._weighed(item[0], item[1].promise)))
        p_values = []
        for number, attack in attacks:
            counts = self._counts(number, [attack.rule])[0]
            value = min(1.0, len(attacks) * attack.p_value(*counts, self.fresh_trials, error))
            p_values.append(value)
            if value <= error:
                line = attack.epsilon, attack.delta
                self.bounds.append(LowerBound("epsilon", *line, error, "curve test"))
                self._refuted(number, attack.rule, counts, line, value, "curve test")
        self.tests.append(Test("curve test", min([1.0, *p_values]), error, self.fresh_trials))

    def _weighed(self, view: int, promise: float) -> float:
        return promise * self.views[view].weight if promise > 0 else promise

    def _per_trial(self, view: int) -> float:
        return self.views[view].weight / self.views[view].grids[0].trials

    def _sharpest(self, error: float) -> int:
        """The view that promises the largest bound on epsilon; the one that _event took, if it did."""
        if self._taken is not None:
            return self._taken
        chosen = [event.choose(view.grids, self.delta, self.fresh_trials, error) for view in self.views]
        return max(range(len(chosen)), key=lambda index: chosen[index][0] * self.views[index].weight)

    def _event(self, error: float) -> None:
        chosen = [
            weighted.choose(view.grids, *view.explored, self.delta, self.fresh_trials, error) for view in self.views
        ]
        number = max(range(len(chosen)), key=lambda index: chosen[index][0] * self.views[index].weight)
        rule, self._taken = chosen[number][1], number
        right, wrong = rule.counts(*self._scored(number))
        leak = rule.share * self.delta
        value = weighted.epsilon_lower(right, wrong, self.fresh_trials, leak, error)
        self.bounds.append(LowerBound("epsilon", value, self.delta, error, "event"))
        if self.claim is not None and self.claim.forbids(value, self.delta):
            line = max((e, d) for e, d in self._lines() if e < value and d <= self.delta)
            p_value = weighted.p_value(right, wrong, self.fresh_trials, line[0], leak, error)
            self._refuted(number, rule, (int(right.sum()), int(wrong.sum())), line, p_value, "event bound")

    def _mu(self, error: float) -> None:
        chosen = [best(view.grids, separation) for view in self.views]
        number = max(range(len(chosen)), key=lambda index: chosen[index][0] * self._per_trial(index))
        rule = chosen[number][1]
        if not rule.total:
            return
        counts = self._counts(number, [rule])[0]
        value = float(mu.mu_lower(counts[0], self.fresh_trials, error))
        self.bounds.append(LowerBound("mu", value, None, error, "separation"))
        if self.delta > 0:
            modelled = mu.epsilon_if_gaussian(value, self.delta)
            self.bounds.append(LowerBound("epsilon", modelled, self.delta, error, "separation", "gaussian"))
        if self.claim is not None and self.claim.mu is not None and value > self.claim.mu:
            line = self._lines()[0]
            self._refuted(number, rule, counts, line, self._p_value(rule, counts, line), "mu bound")

    def _band(self, error: float) -> None:
        number = self._sharpest(error)
        rules = bands.choose(self.views[number].grids, self.delta, self.fresh_trials, error)
        counts = self._counts(number, rules)
        self.band = bands.band(rules, counts, self.fresh_trials, error)
        self.bounds.append(LowerBound("epsilon", self.band.epsilon(self.delta), self.delta, error, "band"))
        self.bounds.append(LowerBound("mu", self.band.mu(), None, error, "band"))
        found = self.band.violates(self.claim) if self.claim is not None else None
        if found is not None:
            rule, seen, line = rules[found[0]], counts[found[0]], found[1:]
            self._refuted(number, rule, seen, line, self._p_value(rule, seen, line), "band")

    def _p_value(self, rule: Rule, counts: tuple[int, int], line: tuple[float, float]) -> float:
        return Attack(rule, *line, promise=0.0).p_value(*counts, self.fresh_trials)

    def _refuted(
        self, view: int, rule: Guess, counts: tuple[int, int], line: tuple[float, float], p_value: float, method: str
    ) -> None:
        taken, scores = self.views[view], self._scored(view)
        self.witnesses.append(
            self.question.witness(taken.scorer, taken.name, rule, scores, counts, line, p_value, method)
        )

    def _densities(self, error: float, loss: Callable[[Floats], Floats]) -> None:
        """Both orders, at half of the error each."""
        forward = np.asarray(loss(self.samples.dataset.rows), float).ravel()
        backward = -np.asarray(loss(self.samples.neighbour.rows), float).ravel()
        value = max(likelihood.epsilon_lower(side, self.delta, error / 2) for side in (forward, backward))
        self.bounds.append(LowerBound("epsilon", value, self.delta, error, "likelihood", "densities"))

    def _lines(self) -> list[tuple[float, float]]:
        assert self.claim is not None
        return list(zip(self.claim.epsilons, self.claim.deltas, strict=True))
