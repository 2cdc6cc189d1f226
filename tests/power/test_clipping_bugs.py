"""The exact norm check catches clipping that is right on paper and wrong in floating point, or wrong altogether."""

from __future__ import annotations

import numpy as np
import pytest
import torch


def exact_square(integers):
    return sum(int(value) ** 2 for value in integers.tolist() if value)


def rounded_to_nearest(update, clip_norm, unit):
    """No safety margin, nearest instead of towards zero."""
    scale = min(1.0, clip_norm / float(update.norm()))
    return torch.round(update.double() * scale / unit)


def clipped_by_coordinate(update, clip_norm, unit):
    return torch.trunc(update.double().clamp(-clip_norm, clip_norm) / unit)


def clipped_unless_it_overflows(update, clip_norm, unit):
    """A norm in single precision: inf for large updates, and clip_norm / inf = 0 times inf is NaN."""
    scale = min(1.0, clip_norm / float((update.float() ** 2).sum().sqrt()))
    return torch.nan_to_num(update.float() * scale / unit, nan=2.0**52)


@pytest.mark.parametrize("bug", [rounded_to_nearest, clipped_by_coordinate, clipped_unless_it_overflows])
def test_planted_clipping_bug_is_caught(bug):
    rng = np.random.default_rng(3)
    unit = 2.0**-30
    caught = 0
    for trial in range(500):
        update = torch.from_numpy(rng.standard_normal(17)).float() * 10.0 ** (trial % 30)
        if trial % 7 == 0:
            update[3] = np.inf
        if not bool(torch.isfinite(update).all()) and bug is not clipped_unless_it_overflows:
            continue
        caught += exact_square(bug(update, 1.0, unit)) > (1.0 / unit) ** 2
    assert caught > 0
