"""GLEAM in the layouts that it comes in, on small files written here, and the features of its recordings."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from scipy.io import savemat

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.trainers.data.gleam import RATE, Recording, axis_features, load_gleam, samples_of

SENSORS = ("MPL Gyroscope", "MPL Accelerometer", "MPL Magnetic Field", "MPL Linear Acceleration", "MPL Gravity")
EPOCH = 1_400_000_000_000
"""Milliseconds of the first reading."""


def readings(seconds, seed):
    """Lines of a participant's CSV: each sensor at its own irregular instants; light has one value."""
    rng = np.random.default_rng(seed)
    rows = []
    for place, sensor in enumerate(SENSORS):
        times = np.cumsum(rng.integers(100, 400, 10 * seconds))
        for time in times[times < 1000 * seconds + 500]:
            values = np.sin(time / 1000 * (place + 1)) + 0.1 * rng.standard_normal(3)
            rows.append((time, f"{EPOCH + time},{sensor}," + ",".join(f"{value:.5f}" for value in values)))
    rows.append((0, f"{EPOCH},LTR-506ALS Light sensor,17,,"))
    lines = [line for _, line in sorted(rows)]
    return "Unix Time,Sensor,Value1,Value2,Value3\n" + "\n".join(lines) + "\n"


def annotations(*stretches):
    rows = [f"09:00,{EPOCH + 1000 * at},{activity}" for activity, *ends in stretches for at in ends]
    return "time,unix time,Activity\n" + "\n".join(rows) + "\n"


@pytest.fixture
def archive(tmp_path):
    """GLEAM.tar.gz unpacked: two participants, who eat from second 20 to 42 and from 0 to 30."""
    (tmp_path / "Demographics_Glass_data.csv").write_text("Id,Age,Gender\n501,19,F\n502,20,M\n")
    for number, (person, start, end) in enumerate((("0501", 20, 42), ("0502", 0, 30))):
        folder = tmp_path / person
        folder.mkdir()
        (folder / "sensorData.csv").write_text(readings(65, number))
        (folder / "annotate.csv").write_text(annotations(("walk", 2, 15), ("eat", start, end), ("talk", 50, 60)))
        (folder / "._annotate.csv").write_bytes(b"\x00\x05\x16\x07")
        (folder / "food.jpg").write_bytes(b"\xff\xd8")
        (folder / "notes.csv").write_text("anything\n")
    return tmp_path


def test_the_archive_makes_a_task_of_each_participant(archive):
    """Six windows of 10 s from the first instant with all sensors; eaten when at least half of it is annotated so."""
    tasks = load_gleam(archive)
    assert tasks.count == 2
    assert tasks.dimension == 180  # as many as in the paper
    assert tasks.sizes.tolist() == [6, 6]
    assert [y.tolist() for y in tasks.labels] == [[-1, -1, 1, 1, -1, -1], [1, 1, 1, -1, -1, -1]]
    assert load_gleam(archive, window=5.0).sizes.tolist() == [12, 12]


def test_it_trains_from_the_command_line(archive, capsys):
    options = ["--omega", "mean-regularised", "--lambda", "0.1", "--tolerance", "1e-3", "--seed", "0", "--quiet"]
    data = f"gleam:{archive},window=5,standardise=per-task"
    assert run(["mocha", "mocha", "--data", data, *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["tasks"], document["dimension"], document["samples"]) == (2, 180, 18)
    assert document["converged"]


def test_windows_without_readings_are_left_out(archive):
    file = archive / "0501" / "sensorData.csv"
    header, *lines = file.read_text().splitlines()
    gone = [line for line in lines if not ("Gyroscope" in line and 10_000 < int(line.split(",")[0]) - EPOCH < 25_000)]
    file.write_text("\n".join([header, *gone]) + "\n")
    assert load_gleam(archive).sizes.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("sensorData.csv", lambda text: text[: text.rindex(",")], "each of 5 columns"),
        ("sensorData.csv", lambda text: text.replace("Gyroscope", "Thermometer"), "gyroscope"),
        ("sensorData.csv", lambda text: text.replace("Accelerometer,", "Accelerometer,x", 1), "table of numbers"),
        ("sensorData.csv", lambda text: text + f"{EPOCH},MPL Gyroscope,1,,2\n", "table of numbers"),
        ("sensorData.csv", lambda text: text + f"{EPOCH},MPL Gyroscope,1,nan,2\n", "finite"),
        ("sensorData.csv", lambda text: "Unix Time,Sensor,Value1,Value2,Value3\n", "at least one line"),
        ("sensorData.csv", lambda text: text.replace("Sensor", "Instrument", 1), "one CSV of sensor readings"),
        ("sensorData.csv", None, "one CSV of sensor readings"),
        ("annotate.csv", None, "one CSV of sensor readings"),
        ("annotate.csv", lambda text: text[: text.rindex("09:00")], "pairs"),
        ("annotate.csv", lambda text: text.replace("eat", "walk", 1), "pairs of one activity"),
        ("annotate.csv", lambda text: annotations(("eat", 30, 20)), "before their starts"),
        ("annotate.csv", lambda text: text.replace(str(EPOCH + 20_000), "noon"), "table of numbers"),
    ],
)
def test_a_damaged_archive_is_named(archive, file, change, said):
    place = archive / "0501" / file
    place.unlink() if change is None else place.write_text(change(place.read_text()))
    with pytest.raises(InputError, match=said) as caught:
        load_gleam(archive)
    assert "0501" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cells_that_the_annotator_gave_up_are_left_out(archive):
    place = archive / "0501" / "annotate.csv"
    place.write_text(place.read_text().replace(str(EPOCH + 20_000), "w"))
    assert (load_gleam(archive).labels[0] == -1).all()


def test_a_recording_too_short_for_a_window_is_named(archive):
    with pytest.raises(InputError, match="at least one window of 600 s"):
        load_gleam(archive, window=600)
    with pytest.raises(InputError, match="window"):
        load_gleam(archive, window=0)


def test_features_of_a_tone():
    """3 sin at 2 Hz about 5, against closed forms and scipy."""
    times = np.arange(100) / RATE
    values = 5 + 3 * np.sin(2 * np.pi * 2 * times + 0.3)
    features = axis_features(values)
    mean, deviation, least, most, low, median, high, skewness, kurtosis, root = features[:10]
    assert (mean, deviation, root) == pytest.approx((5, 3 / np.sqrt(2), np.sqrt(25 + 4.5)))
    assert (least, most) == (values.min(), values.max())
    assert (low, median, high) == pytest.approx(np.percentile(values, (25, 50, 75)))
    assert skewness == pytest.approx(stats.skew(values), abs=1e-12)
    assert kurtosis == pytest.approx(stats.kurtosis(values, fisher=False))
    change, spread, crossings, slope, following = features[10:15]
    assert change == pytest.approx(np.abs(np.diff(values)).mean())
    assert spread == pytest.approx(np.diff(values).std())
    assert crossings == pytest.approx(4, abs=0.2)  # twice a period
    assert slope == pytest.approx(np.polyfit(times, values, 1)[0])
    assert following == pytest.approx(np.cos(2 * np.pi * 0.2), abs=0.02)
    energy, entropy, dominant, centroid, slow = features[15:]
    assert energy == pytest.approx(9 / 4)
    assert (entropy, dominant, centroid, slow) == pytest.approx((0, 2, 2, 0), abs=1e-9)


def test_features_of_a_constant_are_finite():
    features = axis_features(np.full(50, 2.0))
    assert np.isfinite(features).all()
    assert features[15:].tolist() == [0] * 5


def test_windows_do_not_overlap_and_begin_with_the_last_sensor():
    """One sensor starts 3 s late: the first window is its first."""
    early, late = (np.arange(start, 30, 0.2) for start in (0.0, 3.0))
    streams = tuple(np.c_[times, times, times, times] for times in (early, late))
    features, labels = samples_of(Recording(streams, np.array([[3.0, 13.0]])), 10.0)
    assert labels.tolist() == [1, -1]
    assert features[:, 0] == pytest.approx([3 + 4.95, 13 + 4.95])  # means of the times


def test_the_authors_cells_are_read(tmp_path):
    """gleam.mat: 1 x 38 cells X of (n_t, 180) and Y of (n_t, 1), labels -1 and 1."""
    x, y = np.empty((1, 38), dtype=object), np.empty((1, 38), dtype=object)
    for task in range(38):
        x[0, task], y[0, task] = np.ones((4, 180)), np.array([[1], [-1], [1], [-1]], dtype=np.int16)
    savemat(tmp_path / "gleam.mat", {"X": x, "Y": y})
    tasks = load_gleam(tmp_path / "gleam.mat")
    assert (tasks.count, tasks.dimension) == (38, 180)


def test_feature_tables_make_a_task_each(tmp_path):
    for person, activity in enumerate(("Eating", "walking", "eat")):
        (tmp_path / f"{person}.csv").write_text(f"a,activity,b\n1,{activity},2\n3,talking,4\n")
    tasks = load_gleam(tmp_path)
    assert [y.tolist() for y in tasks.labels] == [[1, -1], [-1, -1], [1, -1]]
    assert tasks.features[0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,activity\n1,eating\n2\n", "columns"),
        ("a,activity\n", "at least one line"),
        ("", "header"),
        ("a,b\n1,2\n", "activity"),
        ("a,activity\nx,eating\n", "table of numbers"),
        ("a,activity\nnan,eating\n", "finite"),
        ("b,activity\n1,eating\n", "same header"),
    ],
)
def test_damaged_feature_tables_are_named(tmp_path, content, said):
    (tmp_path / "0.csv").write_text("a,activity\n1,eating\n")
    (tmp_path / "1.csv").write_text(content)
    with pytest.raises(InputError, match=said):
        load_gleam(tmp_path)


def test_what_is_not_a_folder_is_named(tmp_path):
    (tmp_path / "archive.zip").write_bytes(b"PK")
    for name in ("archive.zip", "absent"):
        with pytest.raises(InputError, match=r"unpacked GLEAM\.tar\.gz"):
            load_gleam(tmp_path / name)
