"""Adaptive quantile clipping and what it costs (Andrew, Thakkar, McMahan, Ramaswamy 2021, arXiv 1905.03871v5)."""

from __future__ import annotations

import math

from ...mechanisms import InputError
from .settings import Settings


def count_noise(settings: Settings, denominator: int) -> float:
    """The standard deviation of the noise on the count: as set, or cohort / 20 (section 3.1)."""
    return settings.adaptive.count_noise or denominator / 20


def update_noise_multiplier(settings: Settings, denominator: int) -> float:
    """The noise multiplier left for the updates, so that both releases together cost what `noise_multiplier` says.

    Theorem 1: z_update = (z^-2 - (2 sigma_b)^-2)^(-1/2). The counts are centred, b - 1/2, so one client moves them by
    1/2 when it is removed or zeroed out, and by 1 when it is replaced: in both cases by as many units of 1/2 as it
    moves the sum in units of the clip norm, so that one Gaussian of multiplier z describes the pair.
    Raises InputError where the count's noise alone is below what z allows.
    """
    multiplier = settings.noise_multiplier
    if settings.clipping != "adaptive" or multiplier == 0:
        return multiplier
    deviation = count_noise(settings, denominator)
    left = multiplier**-2 - (2 * deviation) ** -2
    if left <= 0:
        raise InputError("count_noise", deviation, f"more than half the noise multiplier, {multiplier / 2}")
    # The quotient is rounded up: noise that is too large by a rounding error costs nothing.
    return math.nextafter(1 / math.sqrt(left) * (1 + 2**-50), math.inf)


def next_clip_norm(settings: Settings, clip_norm: float, noisy_centred_count: float, denominator: int) -> float:
    """C exp(-learning_rate (b - quantile)), b the noisy share of clients below C (Algorithm 1)."""
    share = noisy_centred_count / denominator + 0.5
    return clip_norm * math.exp(-settings.adaptive.learning_rate * (share - settings.adaptive.quantile))
