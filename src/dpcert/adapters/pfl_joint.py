"""Our accountant for several mechanisms at once in pfl-research (pfl 0.6): in the place of JointPrivacyAccountant.

    accountant = CertifiedJointAccountant(
        mechanisms=["gaussian", "laplace"], accountants=CertifiedAccountant, num_compositions=[1000, 10],
        sampling_probability=[0.01, 0.1], total_epsilon=2.0, total_delta=1e-6, budget_proportions=[0.75, 0.25],
    )
    accountant.noise_parameters

All mechanisms are composed exactly, whichever they are. As in pfl: a total budget gives the noise of each mechanism,
shared out by budget_proportions; budgets of the mechanisms give their noise, and the total; noise gives the total.
"""

from __future__ import annotations

from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pfl.privacy import JointPrivacyAccountant

from ..accounting import Bracket, delta, epsilon
from ..mechanisms import InputError, Mechanism, Neighbouring, Poisson, Relation, Repeat, Sequence, neighbouring_relation
from ..mechanisms.validate import choice, count, delta_below_one, positive, rate
from .pfl import NOISES, CertifiedAccountant

_NEAR = 1e-4
"""Relative distance of the shared-out epsilon from the largest one that keeps the budget."""

_LARGEST = 1e4


@dataclass
class CertifiedJointAccountant(JointPrivacyAccountant):
    """pfl's fields with certified bounds, and the relation of the neighbours.

    accountants: CertifiedAccountant, or one for each mechanism. Results are on the safe side: epsilon and delta are
    rounded up, and noise keeps the budget. Where everything is stated it is checked: InputError if it does not hold.
    """

    if TYPE_CHECKING:  # pfl's own fields
        mechanisms: list[str]
        accountants: Any
        num_compositions: Any
        sampling_probability: Any
        total_epsilon: Any
        total_delta: Any
        mechanism_epsilons: Any
        mechanism_deltas: Any
        budget_proportions: Any
        noise_parameters: Any
        noise_scale: float

    neighbouring: Neighbouring = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        self._check()
        if self.mechanism_epsilons is not None:
            needed = self._noises(self.mechanism_epsilons, self.mechanism_deltas)
            self.noise_parameters = self.noise_parameters or needed
            if any(given < least for given, least in zip(self.noise_parameters, needed, strict=True)):
                raise InputError("noise_parameters", self.noise_parameters, f"at least {needed}, by these budgets")
        if self.noise_parameters is None:
            self.noise_parameters = self._shared_out()
        elif self.total_epsilon is None:
            self.total_epsilon = self.bracket().upper
        elif self.total_delta is None:
            self.total_delta = delta(self.run(self.noise_parameters), self.total_epsilon, self.neighbouring).upper
        elif self.bracket().upper > self.total_epsilon:
            raise InputError("total_epsilon", self.total_epsilon, f"at least {self.bracket().upper} with this noise")

    def run(self, noise_parameters: Several[float]) -> Mechanism:
        """All mechanisms, with this much noise."""
        known = zip(self.mechanisms, noise_parameters, self.sampling_probability, self.num_compositions, strict=True)
        return Sequence(tuple(Repeat(Poisson(NOISES[kind](noise), share), n) for kind, noise, share, n in known))

    def bracket(self) -> Bracket:
        """The certified interval around the true epsilon of all of them, at total_delta."""
        return epsilon(self.run(self.noise_parameters), self.total_delta, self.neighbouring)

    def _noises(self, epsilons: Several[float], deltas: Several[float]) -> list[float]:
        """The noise that gives each mechanism its own budget."""
        known = zip(self.num_compositions, self.sampling_probability, self.mechanisms, epsilons, deltas, strict=True)
        return [
            CertifiedAccountant(n, share, kind, epsilon=e, delta=d, neighbouring=self.neighbouring).noise_parameter
            for n, share, kind, e, d in known
        ]

    def _shared_out(self) -> list[float]:
        """The noise where mechanism i has the budget (naive epsilon * p_i, total_delta * p_i), for the largest naive
        epsilon with which all of them together keep the total budget."""
        deltas = [self.total_delta * share for share in self.budget_proportions]

        def noises(naive: float) -> list[float]:
            return self._noises([naive * share for share in self.budget_proportions], deltas)

        def kept(found: list[float]) -> bool:
            return bool(epsilon(self.run(found), self.total_delta, self.neighbouring).upper <= self.total_epsilon)

        low, high = self.total_epsilon * (1 - _NEAR), 2 * self.total_epsilon
        best = noises(low)
        while kept(found := noises(high)) and high < _LARGEST:
            best, low, high = found, high, 2 * high
        while high - low > _NEAR * low:
            middle = 0.5 * (low + high)
            found = noises(middle)
            best, low, high = (found, middle, high) if kept(found) else (best, low, middle)
        if not kept(best):
            raise InputError("total_epsilon", self.total_epsilon, "a budget that these proportions can share out")
        self.naive_epsilon = low
        return best

    def _check(self) -> None:
        """Everything in range, before any work; pfl's own checks are assertions, which python -O removes."""
        self.mechanisms = [choice("mechanisms", str(kind).lower(), NOISES) for kind in self.mechanisms]
        self.accountants = self._each("accountants", self.accountants)
        for kind in self.accountants:
            if not (isinstance(kind, type) and issubclass(kind, CertifiedAccountant)):
                raise InputError("accountants", kind, "CertifiedAccountant of dpcert.adapters.pfl")
        self.num_compositions = [count("num_compositions", n) for n in self._each("", self.num_compositions)]
        self.sampling_probability = [
            rate("sampling_probability", share) for share in self._each("", self.sampling_probability)
        ]
        if (self.mechanism_epsilons is None) != (self.mechanism_deltas is None):
            raise InputError("mechanism_epsilons, mechanism_deltas", "one of them", "both, or neither")
        for field, check in _CHECKS.items():
            self._check_each(field, check)
        if self.budget_proportions is None:
            self.budget_proportions = [1 / len(self.mechanisms)] * len(self.mechanisms)
        if abs(sum(self.budget_proportions) - 1) > 1e-9:
            raise InputError("budget_proportions", self.budget_proportions, "shares that add up to 1")
        self.neighbouring = neighbouring_relation(self.neighbouring)
        rate("noise_scale", self.noise_scale)
        known = [self.total_epsilon, self.total_delta, self.noise_parameters or self.mechanism_epsilons]
        if known.count(None) > 1:
            raise InputError("total_epsilon, total_delta, noise_parameters", "one of them", "at least two of them")

    def _check_each(self, field: str, check: Any) -> None:
        value = getattr(self, field)
        if value is None:
            return
        if field.startswith("total"):
            check(field, value)
        else:
            for one in self._each(field, value):
                check(field, one)

    def _each(self, field: str, value: Any) -> list[Any]:
        """One for each mechanism."""
        several = list(value) if isinstance(value, list | tuple) else [value] * len(self.mechanisms)
        if len(several) != len(self.mechanisms):
            raise InputError(field or "mechanisms", value, f"one for each of the {len(self.mechanisms)} mechanisms")
        return several


_CHECKS = {
    "total_epsilon": positive,
    "total_delta": delta_below_one,
    "mechanism_epsilons": positive,
    "mechanism_deltas": delta_below_one,
    "budget_proportions": rate,
    "noise_parameters": positive,
}
