"""Two-sided bands of threshold curves: the whole curve inside, for continuous, discrete and mixed scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import threshold_curve as module
from dpcert.proofs_checks.auditing.threshold_curve import threshold_curve

RUNS, ERROR = 150, 0.2
ALLOWED = 52
"""Of 150 at error .2; 4.5 deviations: a sound band misses more often with probability below 1e-5."""
ALPHAS = np.linspace(0.0, 1.0, 401)


def gaussian(rng, count):
    return rng.normal(1.0, 1.0, count), rng.normal(0.0, 1.0, count)


def gaussian_curve(alphas):
    return special.ndtr(special.ndtri(1 - alphas) - 1.0)


def dice(rng, count):
    """Points 0, 1, 2 with chances (.2, .3, .5) and (.5, .3, .2): both monotone, with ties everywhere."""
    return rng.choice(3, count, p=[0.2, 0.3, 0.5]).astype(float), rng.choice(3, count, p=[0.5, 0.3, 0.2]).astype(float)


def dice_curve(alphas):
    return np.interp(alphas, [0.0, 0.2, 0.5, 1.0], [1.0, 0.5, 0.2, 0.0])


def missed(draw, curve, count: int) -> int:
    """Runs in which the curve leaves the band anywhere, or delta(epsilon) does."""
    truth, total = curve(ALPHAS), 0
    fine = np.linspace(0.0, 1.0, 20_001)
    deltas = {e: float((1 - curve(fine) - np.exp(e) * fine).max()) for e in (0.0, 0.5)}
    for run in range(RUNS):
        found = threshold_curve(*draw(np.random.default_rng(run), count), ERROR)
        low, high = found.tradeoff(ALPHAS)
        outside = np.any(low > truth + 1e-9) or np.any(high < truth - 1e-9)
        for epsilon, delta in deltas.items():
            below, above = found.delta(epsilon)
            outside = outside or below > delta + 1e-6 or above < delta - 1e-6
        total += bool(outside)
    return total


@pytest.mark.parametrize(("draw", "curve"), [(gaussian, gaussian_curve), (dice, dice_curve)], ids=["normal", "dice"])
@pytest.mark.parametrize("count", [20, 150])
def test_the_curve_is_inside(draw, curve, count) -> None:
    assert missed(draw, curve, count) <= ALLOWED


def test_a_band_without_its_width_is_seen(monkeypatch) -> None:
    """Planted: a quarter of the width that Massart's constant asks for, and no laws of order statistics."""

    def narrow(scores, thresholds, error):
        before = np.searchsorted(scores, thresholds) / len(scores)
        width = 0.25 * np.sqrt(np.log(2 / error) / (2 * len(scores)))
        return np.maximum(0.0, before - width), np.minimum(1.0, before + width)

    monkeypatch.setattr(module, "_below", narrow)
    assert missed(gaussian, gaussian_curve, 150) > ALLOWED


def test_ties_that_are_counted_as_passed_are_seen(monkeypatch) -> None:
    """Planted: scores at the threshold are taken for scores below it on one side, so that misses look more frequent."""
    honest = module._below

    def shifted(scores, thresholds, error):
        moved = np.append(thresholds[1:], np.inf) if scores.mean() > 1 else thresholds
        return honest(scores, moved, error)

    monkeypatch.setattr(module, "_below", shifted)
    assert missed(dice, dice_curve, 150) > ALLOWED


def test_the_tails_have_exact_laws() -> None:
    """The largest order statistic's Beta law, by scipy, is what bounds the chance beyond it."""
    scores = np.sort(np.random.default_rng(0).normal(size=1000))
    low, high = module._below(scores, np.array([scores[0], np.inf]), 0.05)
    each = 0.05 / 2 / (2 * len(module._ranks(1000)))
    assert high[0] == pytest.approx(stats.beta(1, 1000).ppf(1 - each), rel=1e-6)
    assert low[1] == pytest.approx(stats.beta(1000, 1).ppf(each), rel=1e-6)


def test_the_band_narrows_and_nests() -> None:
    rng = np.random.default_rng(3)
    wide, narrow = (threshold_curve(*gaussian(rng, n), 0.05).tradeoff(ALPHAS) for n in (500, 50_000))
    assert np.all(wide[0] <= wide[1] + 1e-12)
    assert (narrow[1] - narrow[0]).max() < 0.05 < (wide[1] - wide[0]).max()


def test_bad_input() -> None:
    with pytest.raises(InputError, match="neighbour"):
        threshold_curve([1.0], [])
    with pytest.raises(InputError, match="dataset"):
        threshold_curve([np.nan], [1.0])
    with pytest.raises(InputError, match="error"):
        threshold_curve([1.0], [1.0], 0.0)
