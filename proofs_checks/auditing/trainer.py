"""audit_trainer: attack a trainer end to end, by canaries whose presence its releases should hide.

A canary is a unit (a client, or a sample) that an adversary made as conspicuous as the claim's neighbouring relation
allows. Two attacks share alpha equally:

- repeated short runs with one canary, in or out, and the tests of audit.py on its score: the strongest;
- one run with many canaries, each in or out by a coin of its own (one_run.py): the cheapest.

What is refuted is the claim for these runs: the mechanism description that the trainer itself gives.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ...accounting import Bracket, epsilon
from ...mechanisms import InputError, Mechanism, Neighbouring, Notion, PrivacyNotion, Relation
from ...mechanisms.arrays import Floats
from ...mechanisms.digits import rounded_down, rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import count, delta_below_one, open_probability
from . import alike_canaries, confident_first, one_run
from .audit import audit
from .curve import ClaimedCurve, of_mechanism
from .guesses import Guesses
from .result import AuditResult, LowerBound

Coins = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TrainerClaim:
    """What a trainer says of its own runs: the mechanism, its notion and the relation between neighbours."""

    mechanism: Mechanism
    neighbouring: Neighbouring = Relation.ADD_REMOVE
    notion: Notion = PrivacyNotion.DP

    def epsilon(self, delta: float) -> Bracket:
        """What the accountants certify for it."""
        return epsilon(self.mechanism, delta, self.neighbouring, notion=self.notion)

    def curve(self) -> ClaimedCurve:
        """The whole certified profile, as the tests take it."""
        return of_mechanism(self.mechanism, self.neighbouring, self.notion)


class AuditableTrainer(Protocol):
    """What audit_trainer asks of a trainer: a claim, and runs with canaries in them."""

    @property
    def claim(self) -> TrainerClaim:
        """Of one run."""
        ...

    @property
    def canaries(self) -> int:
        """The most canaries that one run can hold."""
        ...

    def scores(self, included: Coins, seed: int) -> Floats:
        """Run once, with as many canaries as coins: canary i as it is where included[i], its neighbour where not.

        One score a canary, from what the observer of the claim sees: large where it seems to have been in. Runs of
        different seeds are independent; the score's rule may use neither the coins nor other runs.
        """
        ...


@dataclass(frozen=True, slots=True)
class OneRun:
    """One run with many canaries. p_value: of the claim, over all numbers of guesses tried. Bounds: false with `error`.

    mu_lower: the trainer is mu-GDP for no mu below it. if_alike: bounds on epsilon and mu of canaries that answer
    independently and alike (alike_canaries.py), which nobody has shown of these: in no verdict and in no other bound.
    unchecked: why nothing was checked, in a sentence; empty where something was.
    """

    guesses: Guesses
    p_value: float
    epsilon_lower: float
    mu_lower: float
    error: float
    if_alike: tuple[LowerBound, LowerBound]
    unchecked: str = ""

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted by this run alone."""
        return self.p_value <= self.error


@dataclass(frozen=True, slots=True)
class TrainerAudit(InNotebook):
    """certified: epsilon of the claim at delta. runs: repeated short runs. All holds with probability 1 - alpha.

    trainer: in words. told: what else is known of it, as plain data.
    """

    claim: TrainerClaim
    delta: float
    certified: Bracket
    runs: AuditResult
    single: OneRun
    alpha: float
    seconds: float
    trainer: str = "the trainer"
    told: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        seen, verdict = self.single.guesses, "REFUTED" if self.refuted else "not refuted"
        alike = (f"{bound.quantity} at least {rounded_down(bound.value, 4)}" for bound in self.single.if_alike)
        return "\n  ".join(
            [
                f"{self.trainer}: {verdict} (error probability {self.alpha:g})",
                f"certified epsilon <= {rounded_up(self.certified.upper, 6)} at delta = {self.delta:g} "
                f"({self.claim.notion}, {self.claim.neighbouring}); at least {rounded_down(self.epsilon_lower, 4)} by "
                f"attack, {self.share:.0%} of it",
                f"mu: certified {rounded_up(self.mu_claimed, 4)}, at least {rounded_down(self.runs.mu_lower, 4)} by "
                f"{self.runs.trials} short runs, at least {rounded_down(self.single.mu_lower, 4)} by one run",
                f"one run with {seen.canaries} canaries: {seen.correct} of {seen.made} guesses right, epsilon at least "
                f"{rounded_down(self.single.epsilon_lower, 4)}, p-value {self.single.p_value:.3g}",
                "if its canaries answered independently and alike, which is not shown and refutes nothing: "
                + " and ".join(alike),
                f"{self.seconds:.1f} s; p-value of the short runs {self.runs.p_value:.3g}",
                *([f"Nothing was checked: {self.unchecked}"] if self.unchecked else []),
            ]
        )

    @property
    def refuted(self) -> bool:
        """Whether the trainer is less private than it says."""
        return self.runs.refuted or self.single.refuted or self.epsilon_lower > self.certified.upper

    @property
    def unchecked(self) -> str:
        """Why neither attack checked anything, in a sentence; empty where one did."""
        return f"{self.runs.unchecked} {self.single.unchecked}" if self.runs.unchecked and self.single.unchecked else ""

    @property
    def epsilon_lower(self) -> float:
        """The best lower bound at delta."""
        return max(self.runs.epsilon_lower(self.delta), self.single.epsilon_lower)

    @property
    def share(self) -> float:
        """The part of the certified epsilon that the attack reached."""
        return self.epsilon_lower / self.certified.upper if self.certified.upper > 0 else 0.0

    @property
    def mu_claimed(self) -> float:
        """The mu whose Gaussian curve separates as much as the claim allows in all: what mu_lower is compared with."""
        curve = self.claim.curve()
        return 2 * float(ndtri((1 + curve.deltas[curve.epsilons.index(0.0)]) / 2))

    def to_json(self) -> dict[str, Any]:
        """Plain data; an infinite bound is the string "inf"."""

        def plain(value: float) -> float | str:
            return value if math.isfinite(value) else "inf"

        return self.told | {
            "refuted": self.refuted,
            "unchecked": self.unchecked,
            "alpha": self.alpha,
            "delta": self.delta,
            "neighbouring": self.claim.neighbouring,
            "notion": self.claim.notion,
            "certified": {"epsilon_lower": plain(self.certified.lower), "epsilon_upper": plain(self.certified.upper)},
            "epsilon_lower": plain(self.epsilon_lower),
            "share": self.share,
            "mu_lower": max(self.runs.mu_lower, self.single.mu_lower),
            "mu_claimed": plain(self.mu_claimed),
            "runs": self.runs.to_json(),
            "one_run": {
                "canaries": self.single.guesses.canaries,
                "guesses": self.single.guesses.made,
                "correct": self.single.guesses.correct,
                "p_value": self.single.p_value,
                "refuted": self.single.refuted,
                "epsilon_lower": self.single.epsilon_lower,
                "mu_lower": self.single.mu_lower,
                "bounds": [asdict(bound) for bound in self.single.if_alike],
            },
            "seconds": self.seconds,
        }


def audit_trainer(
    trainer: AuditableTrainer,
    *,
    single: AuditableTrainer | None = None,
    delta: float = 1e-5,
    runs: int = 1000,
    canaries: int | None = None,
    alpha: float = 0.01,
    seed: int = 0,
    max_seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrainerAudit:
    """Attack a trainer's own claim: runs a side with one canary, then one run with `canaries` (None: all it holds).

    single: what runs once, the same trainer on more units perhaps; by default the same. max_seconds: for the short
    runs. alpha: the probability that anything reported is false. progress(done, all).
    Raises InputError for values that cannot be worked with, before any run, and a claim of no finite epsilon.

    trainer: what is attacked. runs: short runs on each side, at least 1. canaries: how many units are put in or left
    out at random in the one long run.

    >>> import numpy as np
    >>> from dpcert.mechanisms import Gaussian
    >>> class NoisySum:  # which adds a tenth of the noise that it claims
    ...     claim, canaries = TrainerClaim(Gaussian(2.0), "zero-out"), 100
    ...     def scores(self, included, seed):
    ...         return included + np.random.default_rng(seed).normal(0.0, 0.2, len(included))
    >>> audit_trainer(NoisySum(), runs=200).refuted
    True
    """
    began = time.perf_counter()
    delta_below_one("delta", delta)
    error = open_probability("alpha", alpha) / 2
    once = trainer if single is None else single
    most = count("canaries", once.canaries if canaries is None else canaries)
    if most > once.canaries:
        raise InputError("canaries", most, f"at most {once.canaries}, which one run of this trainer holds")
    certified = trainer.claim.epsilon(delta)
    if not math.isfinite(certified.upper):
        raise InputError("trainer", "an infinite epsilon", "a claim that an attack could contradict")
    claim = trainer.claim.curve()

    def score(included: bool, rng: np.random.Generator) -> float:
        return float(trainer.scores(np.array([included]), int(rng.integers(2**63)))[0])

    repeated = audit(
        score,
        (True, False),
        claim=claim,
        delta=delta,
        trials=count("runs", runs),
        alpha=error,
        seed=seed,
        max_seconds=max_seconds,
        progress=progress,
        replay=f"audit_trainer(trainer, runs={runs}, seed={seed})",
    )
    found = _one_run(once, most, delta, error, seed)
    return TrainerAudit(trainer.claim, delta, certified, repeated, found, alpha, time.perf_counter() - began)


def _one_run(trainer: AuditableTrainer, canaries: int, delta: float, error: float, seed: int) -> OneRun:
    """The claim's test and both bounds, a third of the error each."""
    # The coins are not to be those of the run, whose seed is another.
    included = one_run.coins(canaries, seed)
    scores = trainer.scores(included, seed + 1)
    part = error / 3
    claim = trainer.claim.curve()
    p_value, seen = one_run.best_p_value(scores, included, claim)
    below, _ = confident_first.epsilon_lower(scores, included, delta, part)
    mu, _ = one_run.best_mu_lower(scores, included, part)
    alike = alike_canaries.bounds(scores, included, delta, error)
    unchecked = "" if p_value <= part else _unchecked(scores, claim, part)
    return OneRun(seen, min(1.0, 3 * p_value), below, mu, error, alike, unchecked)


def _unchecked(scores: Floats, claim: ClaimedCurve, error: float) -> str:
    """Why one run could not have refuted the claim; empty where it could, if all guesses had been right."""
    if np.all(scores == scores[0]):
        return f"In the one run all canaries had the score {scores[0]:.6g}."
    right = scores > np.median(scores)
    if one_run.best_p_value(right.astype(float), right, claim)[0] <= error:
        return ""
    return f"One run of {len(scores)} canaries cannot refute the claim at error probability {error:.1g}."
