"""The parts of an audit that choose on exploration trials and count once on fresh ones (docs/auditing-methods.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats
from . import band as bands
from . import event, likelihood, mu, weighted
from .against_curve import Attack, best_separated, most_violated
from .eprocess import EProcess
from .evaluation import Found
from .evidence import Evidence
from .result import LowerBound, Test
from .rules import best, separation


@dataclass(frozen=True, slots=True)
class Sequential:
    """The e-process that watched the trials: valid whenever they ended."""

    process: EProcess
    at_any_time: bool = True

    def __call__(self, samples: Evidence, error: float) -> Found:
        process = self.process
        test = Test("e-process", process.p_value, error, process.trials_at_largest or process.trials)
        if not (test.refutes and process.bets_at_largest):
            return Found(tests=(test,))
        bet = process.bets_at_largest[0]
        scores = bet.scorer(samples.samples.dataset), bet.scorer(samples.samples.neighbour)
        above = process.ladder.bound(error)
        if process.ladder.quantity == "epsilon":  # several lines are refuted together, none of them alone
            bound = LowerBound("epsilon", max(bet.epsilon, above), bet.delta, error, "e-process")
        else:
            bound = LowerBound("mu", max(process.claim.mu or 0.0, above), None, error, "e-process")
        counts, line = bet.rule.counts(*scores), (bet.epsilon, bet.delta)
        witness = samples.question.witness(
            bet.scorer, bet.score, bet.rule, scores, counts, line, test.p_value, test.method
        )
        return Found((test,), (bound,), (witness,))


@dataclass(frozen=True, slots=True)
class CurveTest:
    """Is the whole claimed curve violated anywhere? Two attacks, half of the error each (against_curve.py)."""

    at_any_time: bool = False

    def __call__(self, samples: Evidence, error: float) -> Found:
        claim = samples.claim
        if claim is None or not samples.views:
            return Found()
        attacks: list[tuple[int, Attack]] = []
        for choose in (most_violated, best_separated):
            found = [(number, choose(view.grids, claim)) for number, view in enumerate(samples.views)]
            some = [(number, attack) for number, attack in found if attack is not None]
            if some:
                attacks.append(max(some, key=lambda item: samples.views[item[0]].weighed(item[1].promise)))
        p_values, bounds, witnesses = [1.0], [], []
        for number, attack in attacks:
            counts = samples.counts(number, [attack.rule])[0]
            value = min(1.0, len(attacks) * attack.p_value(*counts, samples.fresh_trials, error))
            p_values.append(value)
            if value <= error:
                line = attack.epsilon, attack.delta
                bounds.append(LowerBound("epsilon", *line, error, "curve test"))
                witnesses.append(samples.witness(number, attack.rule, counts, line, value, "curve test"))
        test = Test("curve test", min(p_values), error, samples.fresh_trials)
        return Found((test,), tuple(bounds), tuple(witnesses))


@dataclass(frozen=True, slots=True)
class EventBound:
    """A lower bound on epsilon at delta, from weighted guesses (weighted.py)."""

    at_any_time: bool = False

    def __call__(self, samples: Evidence, error: float) -> Found:
        if not samples.views:
            return Found()
        delta, trials = samples.delta, samples.fresh_trials
        chosen = [weighted.choose(view.grids, *view.explored, delta, trials, error) for view in samples.views]
        number = max(range(len(chosen)), key=lambda index: chosen[index][0] * samples.views[index].weight)
        rule = chosen[number][1]
        right, wrong = rule.counts(*samples.scored(number))
        leak = rule.share * delta
        value = weighted.epsilon_lower(right, wrong, trials, leak, error)
        bound, claim = LowerBound("epsilon", value, delta, error, "event"), samples.claim
        if claim is None or not claim.forbids(value, delta):
            return Found(bounds=(bound,))
        line = max((e, d) for e, d in samples.lines() if e < value and d <= delta)
        p_value = weighted.p_value(right, wrong, trials, line[0], leak, error)
        counts = int(right.sum()), int(wrong.sum())
        return Found(bounds=(bound,), witnesses=(samples.witness(number, rule, counts, line, p_value, "event bound"),))


@dataclass(frozen=True, slots=True)
class SeparationBound:
    """A lower bound on mu, from a rule that never abstains (mu.py)."""

    at_any_time: bool = False

    def __call__(self, samples: Evidence, error: float) -> Found:
        if not samples.views:
            return Found()
        chosen = [best(view.grids, separation) for view in samples.views]
        scale = [view.weight / view.grids[0].trials for view in samples.views]
        number = max(range(len(chosen)), key=lambda index: chosen[index][0] * scale[index])
        rule = chosen[number][1]
        if not rule.total:
            return Found()
        counts = samples.counts(number, [rule])[0]
        value = float(mu.mu_lower(counts[0], samples.fresh_trials, error))
        bounds = [LowerBound("mu", value, None, error, "separation")]
        if samples.delta > 0:
            modelled = mu.epsilon_if_gaussian(value, samples.delta)
            bounds.append(LowerBound("epsilon", modelled, samples.delta, error, "separation", "gaussian"))
        if samples.claim is None or samples.claim.mu is None or value <= samples.claim.mu:
            return Found(bounds=tuple(bounds))
        line = samples.lines()[0]
        p_value = samples.p_value(rule, counts, line)
        witness = samples.witness(number, rule, counts, line, p_value, "mu bound")
        return Found(bounds=tuple(bounds), witnesses=(witness,))


@dataclass(frozen=True, slots=True)
class SimultaneousBand:
    """Lower bounds for all (epsilon, delta) at once (band.py)."""

    at_any_time: bool = False

    def __call__(self, samples: Evidence, error: float) -> Found:
        if not samples.views:
            return Found()
        delta, trials = samples.delta, samples.fresh_trials
        promised = [event.choose(view.grids, delta, trials, error)[0] * view.weight for view in samples.views]
        number = int(np.argmax(promised))
        rules = bands.choose(samples.views[number].grids, delta, trials, error)
        counts = samples.counts(number, rules)
        found = bands.band(rules, counts, trials, error)
        bounds = (
            LowerBound("epsilon", found.epsilon(delta), delta, error, "band"),
            LowerBound("mu", found.mu(), None, error, "band"),
        )
        violated = found.violates(samples.claim) if samples.claim is not None else None
        if violated is None:
            return Found(bounds=bounds, band=found)
        rule, seen, line = rules[violated[0]], counts[violated[0]], violated[1:]
        witness = samples.witness(number, rule, seen, line, samples.p_value(rule, seen, line), "band")
        return Found(bounds=bounds, witnesses=(witness,), band=found)


@dataclass(frozen=True, slots=True)
class Densities:
    """A bound as true as the given log density ratio (likelihood.py): both orders, half of the error each."""

    loss: Callable[[Floats], Floats]
    at_any_time: bool = False

    def __call__(self, samples: Evidence, error: float) -> Found:
        forward = np.asarray(self.loss(samples.samples.dataset.rows), float).ravel()
        backward = -np.asarray(self.loss(samples.samples.neighbour.rows), float).ravel()
        value = max(likelihood.epsilon_lower(side, samples.delta, error / 2) for side in (forward, backward))
        return Found(bounds=(LowerBound("epsilon", value, samples.delta, error, "likelihood", "densities"),))
