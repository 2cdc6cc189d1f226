"""The parts of an audit that choose on exploration trials and count once on fresh ones (docs/auditing-methods.md).

Two need a word. The bound on mu assumes nothing: it says for which mu the pair is not mu-GDP; the epsilon made of it is
right only for mechanisms whose trade-off curve is Gaussian, is typed as such and refutes nothing. The low-order bits of
outputs give a warning, which refutes nothing: noise that is added in floating point fails there, textbook-correct or
not (Mironov 2012, CCS), so that a test that is to fail has to ask for it: method = "low-bits".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...mechanisms.arrays import Floats
from . import band as bands
from . import clopper_pearson, likelihood, weighted
from .against_curve import Attack, best_separated, most_violated
from .curve import gdp_delta
from .eprocess import EProcess
from .evidence import Evidence, Found, Part
from .outputs import Outputs
from .result import LowerBound, Test
from .rules import best, candidates, largest_bound, separation
from .scores import LowBits


def mu_lower(correct: ArrayLike, trials: int, error: float) -> Floats:
    """From a rule that never abstains: the pair is mu-GDP for no mu below this, but for an error of `error`.

    mu-GDP bounds the total variation distance by 2 Phi(mu/2) - 1, hence P(correct) by Phi(mu/2)
    (Dong, Roth, Su 2022, Corollary 1 at epsilon = 0); P(correct) has an exact binomial bound.
    """
    rate = clopper_pearson.lower(correct, trials, error)
    return np.asarray(np.maximum(0.0, 2 * special.ndtri(rate)), float)


def epsilon_if_gaussian(mu: float, delta: float) -> float:
    """The largest epsilon (rounded down) that mu-GDP, attained, does not grant at delta; 0 when there is none."""
    if mu <= 0 or float(gdp_delta(0.0, mu)) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while float(gdp_delta(high, mu)) > delta:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if float(gdp_delta(middle, mu)) > delta else (low, middle)
    return low


def sequential(process: EProcess) -> Part:
    """The e-process that watched the trials: valid whenever they ended."""

    def part(samples: Evidence, error: float) -> Found:
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

    return part


def curve_test(samples: Evidence, error: float) -> Found:
    """Is the whole claimed curve violated anywhere? Two attacks, half of the error each (against_curve.py)."""
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


def event_bound(samples: Evidence, error: float) -> Found:
    """A lower bound on epsilon at delta, from weighted guesses (weighted.py)."""
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
    line = max((e, d) for e, d in samples.lines if e < value and d <= delta)
    p_value = weighted.p_value(right, wrong, trials, line[0], leak, error)
    counts = int(right.sum()), int(wrong.sum())
    return Found(bounds=(bound,), witnesses=(samples.witness(number, rule, counts, line, p_value, "event bound"),))


def separation_bound(samples: Evidence, error: float) -> Found:
    """A lower bound on mu, from a rule that never abstains."""
    if not samples.views:
        return Found()
    chosen = [best(view.grids, separation) for view in samples.views]
    scale = [view.weight / view.grids[0].trials for view in samples.views]
    number = max(range(len(chosen)), key=lambda index: chosen[index][0] * scale[index])
    rule = chosen[number][1]
    if not rule.total:
        return Found()
    counts = samples.counts(number, [rule])[0]
    value = float(mu_lower(counts[0], samples.fresh_trials, error))
    bounds = [LowerBound("mu", value, None, error, "separation")]
    if samples.delta > 0:
        modelled = epsilon_if_gaussian(value, samples.delta)
        bounds.append(LowerBound("epsilon", modelled, samples.delta, error, "separation", "gaussian"))
    if samples.claim is None or samples.claim.mu is None or value <= samples.claim.mu:
        return Found(bounds=tuple(bounds))
    line = samples.lines[0]
    p_value = samples.p_value(rule, counts, line)
    witness = samples.witness(number, rule, counts, line, p_value, "mu bound")
    return Found(bounds=tuple(bounds), witnesses=(witness,))


def simultaneous_band(samples: Evidence, error: float) -> Found:
    """Lower bounds for all (epsilon, delta) at once (band.py)."""
    if not samples.views:
        return Found()
    delta, trials = samples.delta, samples.fresh_trials
    promised = [largest_bound(view.grids, delta, trials, error)[0] * view.weight for view in samples.views]
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


def densities(loss: Callable[[Floats], Floats]) -> Part:
    """A bound as true as the given log density ratio (likelihood.py): both orders, half of the error each."""

    def part(samples: Evidence, error: float) -> Found:
        forward = np.asarray(loss(samples.samples.dataset.rows), float).ravel()
        backward = -np.asarray(loss(samples.samples.neighbour.rows), float).ravel()
        value = max(likelihood.epsilon_lower(side, samples.delta, error / 2) for side in (forward, backward))
        return Found(bounds=(LowerBound("epsilon", value, samples.delta, error, "likelihood", "densities"),))

    return part


WARNING = (
    "the low-order bits of {mechanism}'s floating-point outputs tell neighbouring data sets apart, although the claim "
    "was not refuted by their values. Draw noise for a release with an exact sampler (dpcert.mechanisms.samplers); "
    "method='low-bits' makes this fail."
)


def rounding_warning(samples: Evidence, error: float) -> Found:
    """Tests the claim by the lowest set bit of the outputs alone."""
    mine, other = samples.explored()
    if samples.claim is None or min(len(mine), len(other)) < 16 or not _fractions(mine):
        return Found()
    score = LowBits().fit(mine, other, samples.question.seed)
    attack = most_violated(candidates(score(mine), score(other)), samples.claim)
    if attack is None or attack.promise <= 0:
        return Found()
    drawn = samples.samples.dataset, samples.samples.neighbour
    fresh = [side.part(cut, len(side)) for side, cut in zip(drawn, samples.cut, strict=True)]
    counts = attack.rule.counts(score(fresh[0]), score(fresh[1]))
    if attack.p_value(*counts, samples.fresh_trials, error) > error:
        return Found()
    return Found(warning=WARNING.format(mechanism=samples.question.mechanism))


def _fractions(outputs: Outputs) -> bool:
    """Whether there are numbers in them that are not whole."""
    finite = outputs.rows[np.isfinite(outputs.rows)]
    return bool(np.any(finite != np.round(finite)))
