"""Evidence that may be looked at after every trial: a test martingale against the claim.

Each trial plays the guessing game. For a line (epsilon, delta) of the claim and a rule fixed before the trial,

    Z = 1 for a correct guess, -e^epsilon for a wrong one, 0 for none,     E[Z] <= leak under the claim,

so 1 + bet (Z - leak) with 0 <= bet < 1 / (e^epsilon + leak) has mean at most 1, and the running product of such
factors stays below 1/error for ever with probability at least 1 - error (Ville 1939). Lines, rules and bets are
chosen anew from the trials so far; several are averaged, which keeps the mean. Trials may come from different
pairs, even chosen by the outcomes so far, as long as the claim is made for all of them.

How large epsilon is: one such process for each of a ladder of epsilons above the claim's. The process at epsilon is a
supermartingale if epsilon holds, and then so are those at all larger ones. Let e be the smallest rung for which the
mechanism is (e, delta)-DP: its process ever reaches 1/error with probability at most `error`. The bound is the last
rung of those that were reached one after the other from the lowest, so that a bound above the truth needs that very
process to have reached it: nothing is lost for asking all rungs at once. Of claims of many lines the rungs are mus: the
process at mu bets against lines of mu-GDP, all of which hold if it does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .against_curve import lines
from .classifiers import learned
from .curve import ClaimedCurve, gdp_delta
from .outputs import Outputs, aligned, join
from .rules import Candidates, Rule, candidates, rates
from .scores import HANDICAP, Score, Scorer
from .simple_scores import applicable

RUNGS, HIGHEST = 24, 8.0
"""Epsilons above the claim's, and the largest of them less the claim's; the nearer to the claim the closer together."""
STEEPS, STEEPEST = 12, 6.0
"""The same of mu."""
SHARES = np.array([0.0, 1.0, 2.0])
"""Lines of mu-GDP that are bet against: epsilon as a multiple of mu."""


class Played(Protocol):
    """A bet against (epsilon, delta), fixed before the trials it is played on."""

    def factors(self, dataset: Outputs, neighbour: Outputs) -> tuple[Floats, Floats]: ...


class Ladder:
    """quantity: "epsilon" or "mu". lines: of each rung, some (epsilon, delta) that hold if it does.

    Feed bets, at most one a rung, with the trials that they are played on.
    """

    def __init__(self, quantity: str, lines: Mapping[float, Sequence[tuple[float, float]]]) -> None:
        self.quantity = quantity
        self.lines = {rung: tuple(lines[rung]) for rung in sorted(lines)}
        self._wealth = dict.fromkeys(self.lines, 0.0)
        self._largest = dict.fromkeys(self.lines, 0.0)

    def play(
        self, bets: Mapping[float, Played], dataset: Outputs, neighbour: Outputs, order: NDArray[np.int64]
    ) -> None:
        """order: of the trials of both sides, the dataset's first, in which they are taken to have come."""
        for rung, bet in bets.items():
            path = self._wealth[rung] + np.cumsum(np.log(np.concatenate(bet.factors(dataset, neighbour)))[order])
            self._largest[rung] = max(self._largest[rung], float(path.max()))
            self._wealth[rung] = float(path[-1])

    def bound(self, error: float) -> float:
        """A lower bound, wrong with probability at most `error`; 0 where the first rung is not reached."""
        found = 0.0
        for rung in self.lines:
            if self._largest[rung] < math.log(1 / error):
                break
            found = rung
        return found


def above(claim: ClaimedCurve) -> Ladder:
    """The ladder over a claim: of epsilons at its delta where it is one line, else of mus."""
    if len(claim.epsilons) == 1:
        (delta,) = claim.deltas
        return Ladder("epsilon", {each: [(each, delta)] for each in _rungs(claim.epsilons[0], HIGHEST, RUNGS)})
    steps = _rungs(claim.mu or 0.0, STEEPEST, STEEPS)
    return Ladder("mu", {mu: [(float(eps), float(gdp_delta(eps, mu))) for eps in SHARES * mu] for mu in steps})


def _rungs(claimed: float, highest: float, count: int) -> list[float]:
    """The first is less than a hundredth of the way up: what exceeds its claim by little is told, too."""
    return [claimed + highest * ((k + 1) / count) ** 2 for k in range(count)]


BETS = np.array([0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95])
"""Fractions of the largest bet."""
ACTIVE = 3
MEMORY = 1 << 14
"""Trials that a choice looks back on, at most."""


@dataclass(frozen=True, slots=True)
class Bet:
    """A rule on a score, against a line of the claim, with a stake."""

    score: str
    scorer: Scorer
    rule: Rule
    epsilon: float
    delta: float
    stake: float

    def factors(self, dataset: Outputs, neighbour: Outputs) -> tuple[Floats, Floats]:
        """Wealth factors of each trial, on either side."""
        leak = self.delta * self.rule.share
        win, loss = self.stake * (1 - leak), self.stake * (-math.exp(self.epsilon) - leak)
        pass_ = -self.stake * leak

        def side(outputs: Outputs, home: bool) -> Floats:
            score = self.rule.sign * self.scorer(outputs)
            up, down = score >= self.rule.upper, score <= self.rule.lower
            right, wrong = (up, down) if home else (down, up)
            return np.where(right, 1 + win, np.where(wrong, 1 + loss, 1 + pass_))

        return side(dataset, True), side(neighbour, False)


@dataclass(slots=True)
class EProcess:
    """The running e-value of "the claim holds". Feed trials in the order in which they were run.

    e_value: product so far. largest: its running maximum; 1/largest is a p-value at any stopping time.
    The claim is refuted at error probability `error` once `largest >= 1/error`.
    """

    claim: ClaimedCurve
    scores: tuple[Score, ...] | None = None
    seed: int = 0
    e_value: float = 1.0
    largest: float = 1.0
    trials: int = 0
    trials_at_largest: int = 0
    bets: tuple[Bet, ...] = ()
    bets_at_largest: tuple[Bet, ...] = ()
    ladder: Ladder = field(init=False)
    rungs: dict[float, Bet] = field(default_factory=dict)
    _past: list[tuple[Outputs, Outputs]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Several lines are refuted together, none of them alone: only a claim of one line has an epsilon to bound."""
        self.ladder = above(self.claim)

    @property
    def p_value(self) -> float:
        """Valid whenever one stops, however that was decided."""
        return min(1.0, 1.0 / self.largest)

    def feed(self, dataset: Outputs, neighbour: Outputs, stop_at: float = math.inf) -> bool:
        """Makes bets from the trials before these, and plays these with them. Whether `stop_at` was reached.

        The order of the two sides within a chunk is drawn here, as their coins were exchangeable.
        """
        count = len(dataset) + len(neighbour)
        if count == 0:
            return self.largest >= stop_at
        self.bets = self._choose()  # now, not ahead: nobody may play after the last trials
        order = np.random.default_rng((self.seed, self.trials)).permutation(count)
        self.ladder.play(self.rungs, dataset, neighbour, order)
        growth = np.zeros(count)
        if self.bets:
            factors = [np.concatenate(bet.factors(dataset, neighbour)) for bet in self.bets]
            growth = np.log(np.mean(factors, axis=0))[order]
        path = math.log(self.e_value) + np.cumsum(growth)
        reached = np.flatnonzero(path >= math.log(stop_at)) if stop_at < math.inf else np.empty(0, np.int64)
        top = int(reached[0]) if len(reached) else int(np.argmax(path))
        if path[top] > math.log(self.largest):
            self.largest, self.trials_at_largest = math.exp(min(700.0, float(path[top]))), self.trials + top + 1
            self.bets_at_largest = self.bets
        self.trials += count
        self.e_value = math.exp(max(-700.0, min(700.0, float(path[-1]))))
        self._remember(dataset, neighbour)
        return self.largest >= stop_at

    def _remember(self, dataset: Outputs, neighbour: Outputs) -> None:
        self._past.append((dataset, neighbour))
        while len(self._past) > 1 and sum(len(a) + len(b) for a, b in self._past[1:]) > MEMORY:
            self._past.pop(0)

    def _choose(self) -> tuple[Bet, ...]:
        if not self._past:
            return ()
        mine, other = join([a for a, _ in self._past]), join([b for _, b in self._past])
        mine, other = aligned(mine.part(0, MEMORY), other.part(0, MEMORY))
        if len(mine) < 8 or len(other) < 8:
            return ()
        found = self._bets(applicable(mine, other) if self.scores is None else self.scores, mine, other)
        if self.scores is None and not found:
            found = self._bets(learned(mine, other), mine, other)
        found.sort(key=lambda item: -item[0])
        return tuple(bet for _, bet in found[:ACTIVE])

    def _bets(self, scores: tuple[Score, ...], mine: Outputs, other: Outputs) -> list[tuple[float, Bet]]:
        """Bets with a positive expected growth; and, in `rungs`, the best one against each rung of the ladder."""
        found: list[tuple[float, Bet]] = []
        rungs: dict[float, tuple[float, Bet]] = {}
        for score in scores:
            cut = (len(mine) // 2, len(other) // 2) if score.learns else (0, 0)
            scorer = score.fit(mine.part(0, cut[0]), other.part(0, cut[1]), self.seed)
            fresh = scorer(mine.part(cut[0], len(mine))), scorer(other.part(cut[1], len(other)))
            weight = HANDICAP if score.learns else 1.0
            for grid in candidates(*fresh, most=20):
                for rung, growth, bet in self._promising(grid, score.name, scorer):
                    if rung is None:
                        found.append((weight * growth, bet))
                    elif rung not in rungs or growth > rungs[rung][0]:
                        rungs[rung] = growth, bet
        self.rungs = {rung: bet for rung, (_, bet) in rungs.items()}
        return found

    def _promising(self, grid: Candidates, name: str, scorer: Scorer) -> Iterator[tuple[float | None, float, Bet]]:
        """The rule and stake of the largest expected growth against each line of the claim (None) and of each rung.

        Growth is concave in the stake and 0 without one, so only cells where it rises at first can have any; a line
        without such a cell is left out.
        """
        correct, wrong = (rate.ravel() for rate in rates(grid))
        rest, share = np.maximum(1 - correct - wrong, 0.0), grid.share.ravel()
        against: list[tuple[float | None, tuple[float, float]]] = [(None, line) for line in lines(self.claim)[::2]]
        against += [(rung, line) for rung, own in self.ladder.lines.items() for line in own]
        for rung, (epsilon, delta) in against:
            odds, leak = math.exp(epsilon), share * delta
            rises = np.flatnonzero(correct * (1 - leak) > wrong * (odds + leak) + rest * leak)
            if not len(rises):
                continue
            lost = leak[rises]
            stake = BETS[:, None] / (odds + lost)
            growth = (
                correct[rises] * np.log1p(stake * (1 - lost))
                + wrong[rises] * np.log1p(-stake * (odds + lost))
                + rest[rises] * np.log1p(-stake * lost)
            )
            place = int(np.argmax(growth))
            chosen, cell = divmod(place, len(rises))
            rule = grid.rule(int(rises[cell]))
            bet = Bet(name, scorer, rule, epsilon, delta, float(BETS[chosen] / (odds + delta * rule.share)))
            if growth.flat[place] > 0.0:
                yield rung, float(growth.flat[place]), bet


def combined(e_values: list[float]) -> float:
    """The average of e-values of the same claim on different inputs: an e-value, however they depend on each other."""
    return sum(e_values) / len(e_values) if e_values else 1.0
