"""The settings on which the accountants are compared: two tables, and random ones."""

from __future__ import annotations

import random
from dataclasses import dataclass

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat


@dataclass(frozen=True)
class Setting:
    """A subsampled Gaussian run: Poisson with a rate, or fixed-size with population and cohort."""

    noise_multiplier: float
    rate: float
    rounds: int
    delta: float
    population: int = 0
    cohort: int = 0

    @property
    def name(self) -> str:
        sampling = f"{self.cohort} of {self.population}" if self.population else f"{self.rate:g}"
        return f"{self.noise_multiplier:g}, {sampling}, {self.rounds:g}, {self.delta:g}"


POISSON = [
    Setting(1, 0.01, 10_000, 1e-5),
    Setting(0.6, 0.001, 10_000, 1e-5),
    Setting(4, 0.5, 1000, 1e-6),
    Setting(0.8, 0.001, 100_000, 1e-10),
    Setting(1, 0.001, 10, 1e-5),
    Setting(0.2, 0.001, 100, 1e-5),
    Setting(0.8, 0.001, 100, 1e-5),
    Setting(0.5, 0.001, 100, 1e-30),
    Setting(2, 0.001, 100, 1e-6),
    Setting(100, 0.5, 1_000_000, 1e-10),
    Setting(1, 1e-6, 1_000_000, 1e-10),
    Setting(1, 0.01, 10_000, 1e-15),
    Setting(1, 0.001, 1_000_000, 1e-15),
    Setting(0.5, 0.01, 100_000, 1e-5),
    Setting(8, 100 / 205, 1000, 1e-5),
    Setting(1, 0.01, 10_000, 1e-10),
    Setting(1, 0.01, 10_000, 1e-13),
    Setting(50, 1.0, 1000, 1e-30),
    Setting(1000, 1.0, 1_000_000, 1e-10),
]
FIXED_SIZE = [
    Setting(16, 100 / 205, 1000, 1e-5, 205, 100),
    Setting(8, 100 / 515, 1000, 1e-5, 515, 100),
    Setting(8, 100 / 400, 600, 1e-5, 400, 100),
]
"""Noise multipliers relative to clip_norm: a replacement moves the sum by 2 of these units."""


def bracket(setting: Setting) -> Bracket:
    """dpcert's answer, as a user would ask for it."""
    gaussian = Gaussian(setting.noise_multiplier)
    if setting.population:
        run = Repeat(FixedSize(gaussian, setting.population, setting.cohort), setting.rounds)
        return epsilon(run, setting.delta, "replace-one")
    return epsilon(Repeat(Poisson(gaussian, setting.rate), setting.rounds), setting.delta)


def random_settings(number: int, seed: int = 3) -> list[Setting]:
    """Of the DP-SGD range, log-uniform: rate .001 to 1, noise multiplier .5 to 50, 100 to 1e6 rounds, delta 1e-3 to
    1e-10 (below, the peers refuse, return infinity or under-report); those whose epsilon is between 0 and 1000."""
    generator, found = random.Random(seed), []
    while len(found) < number:
        noise, rate = 10.0 ** generator.uniform(-0.3, 1.7), 10.0 ** generator.uniform(-3.0, 0.0)
        rounds, delta = int(10.0 ** generator.uniform(2.0, 6.0)), 10.0 ** -generator.uniform(3.0, 10.0)
        setting = Setting(float(f"{noise:.3g}"), float(f"{rate:.3g}"), rounds, float(f"{delta:.1e}"))
        if 0.0 < bracket(setting).upper < 1000.0:
            found.append(setting)
    return found


WARM_UP = Setting(1, 0.01, 10, 1e-5)
