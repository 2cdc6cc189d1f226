"""Attack on amplification by subsampling: the other m - 1 clients pool what they know, and guess client i's data.

One honest client i sends +u or -u (norm clip) whenever it takes part; the others' updates, and when each of them took
part, are known to the coalition. With cohorts of exactly q the coalition counts its own members in the cohort: q - 1
of them means that client i took part. It subtracts its own updates from the release and keeps what is left of the
rounds with client i in them: the best score is the sum of those. With independent Poisson participation the others'
coins say nothing, and the best score is the likelihood ratio of each round's residual under a hidden coin.

`coalition_attack` hands the scores to the auditors, whose statements hold with probability 1 - alpha (exact binomial
tests on trials that chose nothing). docs/theory/billboard.md, section "The coalition attack".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...accounting import Bracket
from ...accounting.billboard.guarantees import EVERYBODY_ELSE
from ...accounting.billboard.observers import observer_epsilon
from ...mechanisms import FixedSize, Gaussian, InputError, Mechanism, Poisson, Relation, Repeat
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, count, positive
from ..auditing import AuditResult, ClaimedCurve, audit

Scheme = Literal["fixed-size", "poisson"]

NEIGHBOURS = (1.0, -1.0)
"""Client i's update along u, in units of the clip bound: replace-one neighbours as far apart as they come."""


@dataclass(frozen=True, slots=True)
class Federation:
    """What runs: `rounds` releases of a noisy sum over a cohort; noise_multiplier = noise on the sum / clip_norm.

    scheme: "fixed-size" cohorts of exactly `cohort`, or "poisson" with rate cohort / population.
    """

    population: int
    cohort: int
    rounds: int
    noise_multiplier: float
    scheme: Scheme = "fixed-size"

    def __post_init__(self) -> None:
        for field in ("population", "cohort", "rounds"):
            object.__setattr__(self, field, count(field, getattr(self, field)))
        object.__setattr__(self, "noise_multiplier", positive("noise_multiplier", self.noise_multiplier))
        choice("scheme", self.scheme, ("fixed-size", "poisson"))
        if self.population < 2:
            raise InputError("population", self.population, "at least two clients: somebody has to attack")
        if self.cohort > self.population:
            raise InputError("cohort", self.cohort, f"at most the population, {self.population}")

    @property
    def rate(self) -> float:
        """The probability that client i takes part in a round."""
        return self.cohort / self.population

    def run(self) -> Mechanism:
        """The same as a mechanism description."""
        noise = Gaussian(self.noise_multiplier)
        if self.scheme == "poisson":
            return Repeat(Poisson(noise, self.rate), self.rounds)
        return Repeat(FixedSize(noise, self.population, self.cohort), self.rounds)

    def transcript(self, update: float, others: Floats, rng: np.random.Generator) -> Transcript:
        """One run, literally: client 0 sends `update`, client j > 0 sends others[j - 1], each at most 1 in size."""
        sent = np.concatenate([[update], others])
        members = np.zeros((self.rounds, self.population), dtype=bool)
        for t in range(self.rounds):
            if self.scheme == "poisson":
                members[t] = rng.random(self.population) < self.rate
            else:
                members[t, rng.choice(self.population, self.cohort, replace=False)] = True
        releases = members @ sent + rng.normal(0.0, self.noise_multiplier, self.rounds)
        return Transcript(members[:, 1:], releases, others)

    def score(self, transcript: Transcript) -> float:
        """The coalition's best score of what it saw: large when client 0 sent +1."""
        residual = transcript.releases - transcript.coalition_members @ transcript.coalition_updates
        if self.scheme == "poisson":
            return float(self._hidden_score(residual[None, :])[0])
        with_the_client = transcript.coalition_members.sum(axis=1) == self.cohort - 1
        return float(residual[with_the_client].sum())

    def scores(self, update: float, rng: np.random.Generator, size: int) -> Floats:
        """`size` independent scores, from their law: the coalition's own updates cancel, cohorts are fresh coins.

        Fixed size: K ~ Bin(rounds, rate) participations, and the sum of their residuals is N(K update, K z^2).
        """
        if self.scheme == "poisson":
            coins = rng.random((size, self.rounds)) < self.rate
            return self._hidden_score(coins * update + rng.normal(0.0, self.noise_multiplier, (size, self.rounds)))
        taken = rng.binomial(self.rounds, self.rate, size)
        return np.asarray(taken * update + np.sqrt(taken) * self.noise_multiplier * rng.standard_normal(size))

    def _hidden_score(self, residual: Floats) -> Floats:
        """log of (1 - p + p e^{(y - 1/2)/z^2}) / (1 - p + p e^{(-y - 1/2)/z^2}), summed over rounds: axis 1."""
        variance = self.noise_multiplier**2
        up, down = (np.exp((sign * residual - 0.5) / variance) for sign in (1.0, -1.0))
        ratio = np.log1p(self.rate * (up - 1.0)) - np.log1p(self.rate * (down - 1.0))
        return np.asarray(ratio.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Transcript:
    """What the coalition sees: its members' cohorts (rounds, population - 1), the releases, its own updates."""

    coalition_members: NDArray[np.bool_]
    releases: Floats
    coalition_updates: Floats


@dataclass(frozen=True, slots=True)
class CoalitionAttack:
    """audit: the auditors' report. exact: what the accountant says of the coalition at the attack's delta."""

    federation: Federation
    audit: AuditResult
    exact: Bracket


def coalition_attack(
    federation: Federation,
    *,
    delta: float,
    epsilon: float | None = None,
    claim: ClaimedCurve | None = None,
    trials: int = 100_000,
    alpha: float = 0.01,
    method: str = "best",
    seed: int = 0,
) -> CoalitionAttack:
    """Audit a claimed epsilon at delta, or a claimed curve, against the coalition of all other clients.

    trials: runs a side. alpha: the probability that anything in the audit's report is false. Raises InputError.
    """

    def mechanism(update: float, rng: np.random.Generator, size: int) -> Floats:
        return federation.scores(update, rng, size)

    pair: tuple[Any, Any] = NEIGHBOURS
    found = audit(
        mechanism, pair, epsilon=epsilon, delta=delta, claim=claim, trials=trials, alpha=alpha, method=method, seed=seed
    )
    exact = observer_epsilon(federation.run(), EVERYBODY_ELSE, delta, Relation.REPLACE_ONE).epsilon
    return CoalitionAttack(federation, found, exact)
