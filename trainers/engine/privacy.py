"""What a run releases, as the mechanism description that the accountants consume, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ...accounting.bracket import Bracket
from ...accounting.epsilon import epsilon
from ...mechanisms import Gaussian, InputError, Mechanism, Neighbouring, Repeat, neighbouring_relation
from ...mechanisms.validate import open_probability, positive
from .cohort import CohortSampler
from .settings import Settings

Notion = Literal["dp", "billboard"]


@dataclass(frozen=True)
class PrivacyGoal:
    """How epsilon is stated, and an optional budget that training never exceeds."""

    delta: float = 1e-5
    neighbouring: Neighbouring = "replace-one"
    budget: float | None = None

    def __post_init__(self) -> None:
        open_probability("delta", self.delta)
        neighbouring_relation(self.neighbouring)
        if self.budget is not None:
            positive("budget", self.budget)


@dataclass(frozen=True)
class PrivacyCost:
    """One round's mechanism and the cost of many. round_mechanism: None where nothing private is released."""

    round_mechanism: Mechanism | None
    notion: Notion
    goal: PrivacyGoal
    releases: bool
    _known: dict[int, Bracket] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, settings: Settings, sampler: CohortSampler, notion: Notion, goal: PrivacyGoal, releases: bool
    ) -> PrivacyCost:
        """The cost of a run. releases: whether the algorithm publishes anything that depends on the data at all.

        Raises InputError for a budget that noiseless releases cannot keep.
        """
        mechanism = None
        if releases and settings.noise_multiplier > 0:
            mechanism = sampler.describe(Gaussian(settings.noise_multiplier))
        if releases and mechanism is None and goal.budget is not None:
            raise InputError("budget", goal.budget, "a noise multiplier above 0 with it")
        return cls(mechanism, notion, goal, releases)

    def mechanism(self, rounds: int) -> Mechanism | None:
        """What `rounds` rounds release; None where that has no finite cost (no noise) or no cost at all."""
        return Repeat(self.round_mechanism, rounds) if self.round_mechanism is not None and rounds else None

    def spent(self, rounds: int) -> Bracket | None:
        """The bracket of epsilon after this many rounds; None for a run without noise."""
        if not self.releases or (self.round_mechanism is not None and rounds == 0):
            return Bracket(0.0, 0.0, True, "nothing released")
        run = self.mechanism(rounds)
        if run is None:
            return None
        if rounds not in self._known:
            self._known[rounds] = epsilon(run, self.goal.delta, self.goal.neighbouring, notion=self.notion)
        return self._known[rounds]

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
