"""Our accountant for pfl-research (pfl 0.6): a PrivacyAccountant for GaussianMechanism.from_privacy_accountant.

    accountant = CertifiedAccountant(
        num_compositions=1000, sampling_probability=0.01, mechanism="gaussian", epsilon=2.0, delta=1e-6
    )
    mechanism = GaussianMechanism.from_privacy_accountant(accountant=accountant, clipping_bound=1.0)

As in pfl-research, two of epsilon, delta and noise_parameter give the third; every result is on the safe side. The
accounting is of Poisson sampling: that each user takes part by a coin of its own is for the deployment to ensure
(pfl's simulated samplers draw a fixed number of users).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from sys import float_info
from typing import TYPE_CHECKING, Any

from pfl.privacy.privacy_accountant import PrivacyAccountant

from ..accounting import Bracket, calibrate, delta, epsilon
from ..mechanisms import (
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Neighbouring,
    Poisson,
    Relation,
    Repeat,
    neighbouring_relation,
)
from ..mechanisms.validate import choice, count, delta_below_one, nonnegative, positive, rate

NOISES: dict[str, type[Gaussian] | type[Laplace]] = {"gaussian": Gaussian, "laplace": Laplace}


@dataclass
class CertifiedAccountant(PrivacyAccountant):
    """pfl's fields with certified bounds, and the relation of the neighbours.

    noise_parameter: standard deviation (Laplace: scale) of the noise on the cohort's sum over the clipping bound.
    noise_scale: as in pfl, cohort_noise_parameter = noise_parameter * noise_scale is what a small simulated cohort
    is given; epsilon and delta are those of a deployment with noise_parameter itself.
    With all three of epsilon, delta and noise_parameter the claim is checked: InputError where it does not hold.
    delta = 0 is pure DP: exact for Laplace noise, and no epsilon serves for Gaussian noise.
    """

    if TYPE_CHECKING:  # pfl's own fields
        num_compositions: int
        sampling_probability: float
        mechanism: str
        epsilon: Any
        delta: Any
        noise_parameter: Any
        min_bound_noise_parameter: Any
        max_bound_noise_parameter: Any

    neighbouring: Neighbouring = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        low, high = self.min_bound_noise_parameter, self.max_bound_noise_parameter
        self._check()
        stated = self.delta
        if stated == 0.0:  # pure DP; pfl's own check wants a delta above 0
            self.delta = float_info.min
        super().__post_init__()
        self.delta = stated
        if self.noise_parameter is None:
            self.noise_parameter = self._calibrated()
            if not (low or 0.0) <= self.noise_parameter <= (inf if high is None else high):
                raise InputError("noise_parameter", self.noise_parameter, f"a value from {low} to {high}, as asked")
        elif self.epsilon is None:
            self.epsilon = self.bracket().upper
        elif self.delta is None:
            self.delta = delta(self.run(self.noise_parameter), self.epsilon, self.neighbouring).upper
        elif self.bracket().upper > self.epsilon:
            raise InputError("epsilon", self.epsilon, f"at least {self.bracket().upper}, what this noise costs")

    def run(self, noise_parameter: float) -> Mechanism:
        """What is accounted for, with this much noise."""
        noise = NOISES[self.mechanism](noise_parameter)
        return Repeat(Poisson(noise, self.sampling_probability), self.num_compositions)

    def bracket(self) -> Bracket:
        """The certified interval around the true epsilon, at delta."""
        return epsilon(self.run(self.noise_parameter), self.delta, self.neighbouring)

    def _calibrated(self) -> float:
        found = calibrate(
            self.run,
            solve_for="noise_multiplier",
            epsilon=self.epsilon,
            delta=self.delta,
            neighbouring=self.neighbouring,
        )
        return found.value

    def _check(self) -> None:
        """Everything in range, before any work; pfl's own checks are assertions, which python -O removes."""
        unknown = [self.epsilon, self.delta, self.noise_parameter].count(None)
        if unknown > 1:
            raise InputError("epsilon, delta, noise_parameter", f"{3 - unknown} given", "at least two of them")
        self.num_compositions = count("num_compositions", self.num_compositions)
        self.sampling_probability = rate("sampling_probability", self.sampling_probability)
        self.mechanism = choice("mechanism", str(self.mechanism).lower(), NOISES)
        self.neighbouring = neighbouring_relation(self.neighbouring)
        if self.epsilon is not None:
            nonnegative("epsilon", self.epsilon)
        if self.delta is not None:
            delta_below_one("delta", self.delta)
        if self.noise_parameter is not None:
            positive("noise_parameter", self.noise_parameter)
