"""What a run releases, as the mechanism description that the accountants consume, and what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ...accounting.answer import answer
from ...accounting.bracket import Bracket
from ...accounting.quantity import Quantity
from ...accounting.question import Question
from ...mechanisms import (
    DistributedGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Notion,
    Participation,
    Poisson,
    Relation,
    Repeat,
    VisibleParticipation,
    neighbouring_relation,
    relation_meant,
)
from ...mechanisms.validate import delta_below_one, positive
from .cohort import CohortSampler
from .settings import Settings

NoiseAt = Literal["server", "clients"]


@dataclass(frozen=True)
class PrivacyGoal:
    """How epsilon is stated, and an optional budget that training never exceeds.

    neighbouring: unless named, `mechanisms.default_relation` of the algorithm's notion.
    """

    delta: float = 1e-5
    neighbouring: Neighbouring | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        delta_below_one("delta", self.delta)
        if self.neighbouring is not None:
            neighbouring_relation(self.neighbouring)
        if self.budget is not None:
            positive("budget", self.budget)


@dataclass(frozen=True)
class PrivacyCost:
    """One round's mechanism and the cost of many. round_mechanism: None where nothing private is released.

    "Rounds" are the sampler's drawings below: an epoch where one drawing of cohorts covers it. bounded: whether
    contributions are clipped at all.
    """

    round_mechanism: Mechanism | None
    notion: Notion
    goal: PrivacyGoal
    releases: bool
    bounded: bool = True
    _known: dict[int, Bracket] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        settings: Settings,
        sampler: CohortSampler,
        notion: Notion,
        goal: PrivacyGoal,
        releases: bool,
        *,
        noise_at: NoiseAt = "server",
        bounded: bool = True,
    ) -> PrivacyCost:
        """The cost of a run. releases: whether the algorithm publishes anything that depends on the data at all.

        Raises InputError for a budget that releases without noise or without a bound cannot keep.
        """
        mechanism = None
        if releases and settings.noise_multiplier > 0:
            mechanism = one_round(sampler, settings.noise_multiplier, noise_at)
        if releases and mechanism is None and goal.budget is not None:
            raise InputError("budget", goal.budget, "a noise multiplier above 0 with it")
        if releases and not bounded and goal.budget is not None:
            raise InputError("budget", goal.budget, "no budget: contributions without a bound cost infinitely much")
        if mechanism is not None and noise_at == "clients" and goal.neighbouring == Relation.ADD_REMOVE:
            expected = "replace-one or zero-out: who took part is seen, so a client cannot be there or not be there"
            raise InputError("neighbouring", Relation.ADD_REMOVE, expected)
        cost = cls(mechanism, notion, goal, releases, bounded)
        if cost.mechanism(1) is not None:
            cost.question(1).pairs()  # which refuses relations that the cohorts cannot have
        return cost

    @property
    def participation(self) -> Participation | None:
        """ "visible" where every observer learns when a client took part; None where that follows from the notion."""
        return Participation.VISIBLE if isinstance(self.round_mechanism, VisibleParticipation) else None

    @property
    def relation(self) -> Relation:
        """The goal's relation, or the notion's default."""
        return relation_meant(self.goal.neighbouring, self.notion, self.participation)

    def mechanism(self, rounds: int) -> Mechanism | None:
        """What `rounds` releases come to; None where that has no finite cost (no noise, no bound) or no cost at all."""
        if self.round_mechanism is None or not self.bounded or not rounds:
            return None
        return Repeat(self.round_mechanism, rounds)

    def spent(self, rounds: int) -> Bracket | None:
        """The bracket of epsilon after this many rounds; None for a run without noise."""
        if not self.releases or (self.round_mechanism is not None and rounds == 0):
            return Bracket(0.0, 0.0, True, "nothing released")
        if self.round_mechanism is not None and not self.bounded:
            return Bracket(math.inf, math.inf, True, "contributions without a bound")
        run = self.mechanism(rounds)
        if run is None:
            return None
        if rounds not in self._known:
            self._known[rounds] = answer(self.question(rounds), self.goal.delta)
        return self._known[rounds]

    def question(self, rounds: int) -> Question:
        """What `rounds` releases cost, as the accountants are asked; there is noise, and at least one round."""
        run = self.mechanism(rounds)
        assert run is not None
        return Question.about(run, Quantity.EPSILON, self.relation, self.notion)

    def between(self, drawings: int, whole: int) -> Bracket | None:
        """What drawings cost of which only so many were released as a whole: the others may have told as much."""
        most = self.spent(drawings)
        if most is None or drawings == whole:
            return most
        least = self.spent(whole)
        assert least is not None  # as for `drawings`
        return replace(most, lower=min(least.lower, most.lower))

    @cached_property
    def affordable(self) -> int | None:
        """The most rounds within the budget; None without a budget. The certified upper bound decides."""
        if self.goal.budget is None or self.round_mechanism is None:
            return None
        least, most = 0, 1
        while most < 2**40 and self._fits(most):
            least, most = most, 2 * most
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if self._fits(middle) else (least, middle)
        return least

    def _fits(self, rounds: int) -> bool:
        bracket = self.spent(rounds)
        assert bracket is not None and self.goal.budget is not None  # noqa: PT018 - affordable has asked
        return bracket.certified and bracket.upper <= self.goal.budget


def one_round(sampler: CohortSampler, noise_multiplier: float, noise_at: NoiseAt) -> Mechanism:
    """What one round releases, so that its cost is right whatever else an accountant is told.

    noise_at "clients": the noise multiplier is that of one client's own noise, which is all that is left between a
    client and the coalition of the others: they subtract what they sent. What remains is exactly nothing when the
    client stayed away, so its participation is seen even under Poisson sampling. Raises InputError for cohorts of other
    kinds with it.
    """
    if noise_at == "server":
        return sampler.describe(Gaussian(noise_multiplier))
    described = sampler.describe(DistributedGaussian(noise_multiplier))
    if sampler.sampling == "full":
        described = FixedSize(described, sampler.population, sampler.population)
    if not isinstance(described, Poisson | FixedSize):
        raise InputError(
            "sampling", sampler.sampling, "poisson (uncut), fixed-size or full where clients add their own noise"
        )
    return VisibleParticipation(described)
