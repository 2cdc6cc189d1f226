"""How far the output of noise in a public range is from the truth, from its density, truth by truth, at 30 digits."""

from __future__ import annotations

from typing import Any

import mpmath as mp

from dpcert.mechanisms import BoundedLaplace, ClampedGaussian, Mechanism, TruncatedGaussian


def farther(noise: Mechanism, truth: Any, distance: float) -> Any:
    """P[|output - truth| > distance] of this truth in [0, width]: by the law's mass between two places."""
    assert isinstance(noise, BoundedLaplace | ClampedGaussian | TruncatedGaussian)
    width, most = mp.mpf(repr(noise.width)), mp.mpf(distance)
    low, high = max(mp.mpf(0), truth - most), min(width, truth + most)
    if isinstance(noise, ClampedGaussian):  # an end that is near enough holds what was beyond it
        left = _below(noise, low - truth) if low > 0 else mp.mpf(0)
        right = 1 - _below(noise, high - truth) if high < width else mp.mpf(0)
        return left + right
    inside = _below(noise, high - truth) - _below(noise, low - truth)
    return 1 - inside / (_below(noise, width - truth) - _below(noise, -truth))


def _below(noise: Mechanism, place: Any) -> Any:
    """Of the noise by itself."""
    if isinstance(noise, BoundedLaplace):
        half = mp.exp(-abs(place) / mp.mpf(repr(noise.scale))) / 2
        return half if place < 0 else 1 - half
    assert isinstance(noise, ClampedGaussian | TruncatedGaussian)
    return mp.ncdf(place / mp.mpf(repr(noise.sigma)))


def worst(noise: Mechanism, distance: float, truths: int = 400) -> Any:
    """The largest of truths over the whole range, its ends and its middle among them."""
    assert isinstance(noise, BoundedLaplace | ClampedGaussian | TruncatedGaussian)
    return max(farther(noise, mp.mpf(repr(noise.width)) * k / truths, distance) for k in range(truths + 1))
