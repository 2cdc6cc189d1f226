"""How adaptive quantile clipping divides one budget of noise between the updates and the count that steers the clip.

Andrew, Thakkar, McMahan, Ramaswamy 2021 (arXiv 1905.03871v5), Theorem 1: with z_u on the updates and Gaussian noise of
standard deviation sigma_b on the centred count (b - 1/2, so one unit moves it by 1/2 when removed or zeroed out, by 1
when replaced: as many halves as it moves the updates in units of the clip norm), both releases together cost what one
Gaussian release with z = (z_u^-2 + (2 sigma_b)^-2)^(-1/2) does.
"""

from __future__ import annotations

import math

from .validate import InputError, positive


def update_noise_multiplier(noise_multiplier: float, count_noise: float) -> float:
    """z_u, rounded up: what is left for the updates so that both together cost what `noise_multiplier` says.

    count_noise: sigma_b. Raises InputError where the count's noise alone is below what noise_multiplier allows.
    """
    positive("noise_multiplier", noise_multiplier)
    left = noise_multiplier**-2 - (2 * positive("count_noise", count_noise)) ** -2
    if left <= 0:
        raise InputError("count_noise", count_noise, f"more than half the noise multiplier, {noise_multiplier / 2}")
    # Noise that is too large by a rounding error costs nothing.
    return math.nextafter(1 / math.sqrt(left) * (1 + 2**-50 / (left * noise_multiplier**2)), math.inf)
