"""Google Glass, GLEAM (MOCHA, section 5.1; Rahman et al. 2015): one task a participant, +1 for eating.

Three layouts are read:

- the distributed archive of recordings, GLEAM.tar.gz: a folder a participant, in each a CSV of sensor readings with
  columns "Unix Time" (ms), "Sensor", "Value1" to "Value3", and a CSV of annotations with columns "unix time" (ms) and
  "Activity", two rows, start and end, for each stretch; "w" marks a cell that the annotator gave up. No description
  was at hand: this is the layout that a published reader takes for granted (github.com/vaseline555/
  Federated-Learning-in-PyTorch, src/datasets/gleam.py, at 6c07b19);
- gleam.mat, the cells that the authors' own code loads, as it was passed on by later work
  (github.com/kenziyuliu/private-cross-silo-fl, README): tasks.load_mat;
- feature tables of one's own: a CSV a participant.

The paper has 180 "statistical, spectral, and temporal features" of accelerometer, gyroscope and magnetometer, and
refers to Rahman et al. for them. 180 is 20 for each of nine axes; which 20, the windows, their rate and their labels
are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import positive
from ..mocha.tasks import Tasks, load_mat
from .task_files import bad, csv_of, files_in, parsed

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


EATING = ("eating", "eat")
GIVEN_UP = ("", "w")

WINDOW = 10.0
"""Seconds of one sample; ours, as the paper at hand does not say."""

SENSORS = ("accelerometer", "gyroscope", "magnetic")
"""The paper's three, as they begin a word of a sensor's name."""

READINGS = ("unix time", "sensor", "value1", "value2", "value3")
ANNOTATIONS = ("unix time", "activity")


def load_gleam(path: str | Path, *, window: float = WINDOW, label: str = "activity") -> Tasks:
    """Any of the three layouts: a .mat file, a folder with CSVs of features, or the archive's folder.

    window: seconds of a sample, for recordings. label: the column of the activity, for feature tables.
    Raises InputError for what is missing, truncated or malformed.
    """
    if Path(path).suffix == ".mat":
        return load_mat(path)
    if not Path(path).is_dir():
        raise bad(path, "a .mat file, the folder of the unpacked GLEAM.tar.gz or one of CSVs")
    seconds = positive("window", window)
    found = sorted(_recordings(Path(path)).items())
    if found:
        parts = [samples_of(_recording(*files), seconds) for _, files in found]
        for (folder, _), (_, labels) in zip(found, parts, strict=True):
            if not len(labels):
                raise bad(folder, f"at least one window of {seconds:g} s with all three sensors")
        return Tasks(tuple(x for x, _ in parts), tuple(y for _, y in parts))
    return _feature_tables(path, label)


def _recordings(path: Path) -> dict[Path, tuple[Path, Path]]:
    """(readings, annotations) by participant's folder, recognised by their headers."""
    found = {}
    for folder in sorted(inside for inside in path.rglob("*") if inside.is_dir()):
        kinds: dict[tuple[str, ...], list[Path]] = {READINGS: [], ANNOTATIONS: []}
        for file in sorted(folder.glob("*.csv")):
            kind = None if file.name.startswith("._") else _kind_of(file)
            if kind is not None:
                kinds[kind].append(file)
        if any(kinds.values()):
            if any(len(files) != 1 for files in kinds.values()):
                raise bad(folder, "one CSV of sensor readings and one of annotations")
            found[folder] = (kinds[READINGS][0], kinds[ANNOTATIONS][0])
    return found


def _kind_of(file: Path) -> tuple[str, ...] | None:
    try:
        with file.open(encoding="utf-8-sig") as handle:
            names = [name.strip().casefold() for name in handle.readline().split(",")]
    except (OSError, UnicodeDecodeError) as error:
        raise bad(file, f"a readable CSV ({error})") from error
    return next((kind for kind in (READINGS, ANNOTATIONS) if set(kind) <= set(names)), None)


def _recording(readings: Path, annotations: Path) -> Recording:
    rows = _columns(readings, READINGS)
    streams = []
    for sensor in SENSORS:
        own = [row for row in rows if any(word.startswith(sensor) for word in row[1].casefold().split())]
        if not own:
            raise bad(readings, f"readings of the {sensor} sensor")
        table = parsed(readings, lambda own=own: np.array([[row[0], *row[2:]] for row in own], dtype=float))  # type: ignore[misc]
        _, first = np.unique(table[:, 0], return_index=True)  # in the order of time, each instant once
        streams.append(table[first] / [1000.0, 1.0, 1.0, 1.0])
    return Recording(tuple(streams), _eating(annotations))


def _eating(annotations: Path) -> Floats:
    """(k, 2) start and end in seconds of each stretch of eating."""
    rows = _columns(annotations, ANNOTATIONS)
    if len(rows) % 2:
        raise bad(annotations, f"rows in pairs, a start and an end, not {len(rows)} rows")
    times = []
    for (start, begun), (end, ended) in zip(rows[::2], rows[1::2], strict=True):
        eats = [activity.casefold() in EATING for activity in (begun, ended) if activity not in GIVEN_UP]
        if len(set(eats)) > 1:
            raise bad(annotations, f"pairs of one activity, not {begun} and {ended}")
        if any(eats) and start not in GIVEN_UP and end not in GIVEN_UP:
            times.append((start, end))
    if not times:
        return np.zeros((0, 2))
    stretches = parsed(annotations, lambda: np.array(times, dtype=float)) / 1000.0
    if (stretches[:, 1] < stretches[:, 0]).any():
        raise bad(annotations, "ends that do not come before their starts")
    return stretches


def _columns(file: Path, names: tuple[str, ...]) -> list[list[str]]:
    """The cells of these columns, in this order, stripped."""
    header, rows = csv_of(file)
    known = [name.strip().casefold() for name in header]
    places = [known.index(name) for name in names]
    return [[row[place].strip() for place in places] for row in rows]


def _feature_tables(path: str | Path, label: str) -> Tasks:
    """A header, feature columns, and the column `label`: +1 where it is eating."""
    features, labels, header = [], [], None
    for file in files_in(path, ("*.csv",)):
        names, rows = csv_of(file)
        header = header or names
        if names != header or label not in names:
            raise bad(file, f"the same header in every file, with a column {label!r}")
        place = names.index(label)
        values = [row[:place] + row[place + 1 :] for row in rows]
        features.append(parsed(file, lambda values=values: np.array(values, dtype=float)))  # type: ignore[misc]
        labels.append(np.array([1.0 if row[place].strip().lower() in EATING else -1.0 for row in rows]))
    return Tasks(tuple(features), tuple(labels))
