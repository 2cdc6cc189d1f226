"""Adaptive quantile clipping and what it costs (Andrew, Thakkar, McMahan, Ramaswamy 2021, arXiv 1905.03871v5)."""

from __future__ import annotations

import math

from ...mechanisms import adaptive_clipping
from .settings import Settings


def count_noise(settings: Settings, denominator: int) -> float:
    """The standard deviation of the noise on the count: as set, or cohort / 20 (section 3.1).

    In cohorts so small that this alone would cost as much as the whole round may, the noise multiplier itself, which
    leaves the updates 1.16 times the noise multiplier.
    """
    return settings.adaptive.count_noise or max(denominator / 20, settings.noise_multiplier)


def update_noise_multiplier(settings: Settings, denominator: int) -> float:
    """The noise multiplier left for the updates, so that both releases together cost what `noise_multiplier` says.

    Raises InputError where the count's noise alone is below what that allows.
    """
    multiplier = settings.noise_multiplier
    if settings.clipping != "adaptive" or multiplier == 0:
        return multiplier
    return adaptive_clipping.update_noise_multiplier(multiplier, count_noise(settings, denominator))


def next_clip_norm(settings: Settings, clip_norm: float, noisy_centred_count: float, denominator: int) -> float:
    """C exp(-learning_rate (b - quantile)), b the noisy share of clients below C (Algorithm 1)."""
    share = noisy_centred_count / denominator + 0.5
    return clip_norm * math.exp(-settings.adaptive.learning_rate * (share - settings.adaptive.quantile))
