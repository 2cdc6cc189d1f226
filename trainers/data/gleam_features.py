"""Samples out of recordings of the three sensors of Google Glass: windows, their features, and who was eating.

The paper (section 5.1) has 180 "statistical, spectral, and temporal features" of accelerometer, gyroscope and
magnetometer, and refers to Rahman et al. 2015, which was not at hand. 180 is 20 for each of the nine axes; which 20,
the windows, their rate and their labels are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats

RATE = 10.0
"""Readings a second that the irregular ones are interpolated to."""

PER_AXIS = 20

SLOW = 1.0
"""Hz; the last spectral feature is the share of the energy below it."""


@dataclass(frozen=True, eq=False)
class Recording:
    """One participant. streams: for each sensor (n, 4) of time in seconds, ascending, and the three axes.

    eating: (k, 2) start and end in seconds of each stretch of eating.
    """

    streams: tuple[Floats, ...]
    eating: Floats


def samples_of(recording: Recording, window: float) -> tuple[Floats, Floats]:
    """(features (n, 20 x axes), labels (n,)) of consecutive windows of `window` seconds, without overlap.

    Windows begin where all sensors have begun. One in which a sensor has less than two readings is left out. The
    label is +1 where at least half of the window was annotated as eating; all other time counts as not eating.
    """
    begin = max(stream[0, 0] for stream in recording.streams)
    end = min(stream[-1, 0] for stream in recording.streams)
    grid = np.arange(max(2, round(window * RATE))) / RATE
    features, labels = [], []
    for number in range(int(np.floor((end - begin) / window + 1e-9))):
        start = begin + number * window
        if any(_readings(stream, start, start + window) < 2 for stream in recording.streams):
            continue
        axes = [
            np.interp(start + grid, stream[:, 0], stream[:, axis]) for stream in recording.streams for axis in (1, 2, 3)
        ]
        features.append(np.concatenate([axis_features(axis) for axis in axes]))
        eaten = np.minimum(recording.eating[:, 1], start + window) - np.maximum(recording.eating[:, 0], start)
        labels.append(1.0 if np.maximum(eaten, 0.0).sum() >= window / 2 else -1.0)
    return np.array(features).reshape(len(labels), PER_AXIS * 3 * len(recording.streams)), np.array(labels)


def _readings(stream: Floats, start: float, end: float) -> int:
    first, last = np.searchsorted(stream[:, 0], (start, end))
    return int(last - first)


def axis_features(values: Floats) -> Floats:
    """(20,) features of one axis in one window: ten statistical, five temporal, five spectral."""
    return np.concatenate([_statistical(values), _temporal(values), _spectral(values)])


def _statistical(values: Floats) -> Floats:
    """Mean, deviation, least, largest, quartiles, skewness, kurtosis, root mean square."""
    mean, deviation = values.mean(), values.std()
    standard = (values - mean) / deviation if deviation > 0 else np.zeros_like(values)
    moments = (standard**3).mean(), (standard**4).mean()
    quartiles = np.quantile(values, (0.25, 0.5, 0.75))
    root = np.sqrt((values**2).mean())
    return np.array([mean, deviation, values.min(), values.max(), *quartiles, *moments, root])


def _temporal(values: Floats) -> Floats:
    """Mean and deviation of changes, crossings of the mean a second, slope a second, correlation with the next."""
    changes, centred = np.diff(values), values - values.mean()
    crossings = (np.diff(np.signbit(centred)) != 0).sum() * RATE / len(values)
    times = (np.arange(len(values)) - (len(values) - 1) / 2) / RATE
    slope = (times * centred).sum() / (times**2).sum()
    power = (centred**2).sum()
    following = (centred[1:] * centred[:-1]).sum() / power if power > 0 else 0.0
    return np.array([np.abs(changes).mean(), changes.std(), crossings, slope, following])


def _spectral(values: Floats) -> Floats:
    """Energy, entropy, dominant frequency, centroid and share of slow frequencies, of the spectrum without its mean."""
    frequencies = np.fft.rfftfreq(len(values), 1 / RATE)[1:]
    power = np.abs(np.fft.rfft(values - values.mean())[1:]) ** 2 / len(values) ** 2
    energy = power.sum()
    if energy <= 0:
        return np.zeros(5)
    share = power / energy
    entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum()
    slow = share[frequencies < SLOW].sum()
    return np.array([energy, entropy, frequencies[np.argmax(power)], (share * frequencies).sum(), slow])
