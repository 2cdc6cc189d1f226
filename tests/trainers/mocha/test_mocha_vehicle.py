"""The Vehicle Sensor data in the layouts that they come in, on small files written here."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import savemat

from dpcert.mechanisms import InputError
from dpcert.trainers.data.vehicle import load_vehicle
from dpcert.trainers.mocha.source import load_problem

LINES = {("aav3", "s1"): 3, ("aav3", "s2"): 2, ("dw4", "s1"): 2, ("dw4", "s10"): 4}
"""Samples of each node in each run."""


def written(table):
    """As the archive's files have it: numbers padded with spaces, and columns after the 50th."""
    return "\n".join(" ".join(f"{value:14.7e}" for value in row) + "  " for row in table) + "\n"


@pytest.fixture
def archive(tmp_path):
    """event.zip unpacked: two runs, three nodes, time series beside the features."""
    rng = np.random.default_rng(0)
    tables = {}
    for (run, node), samples in LINES.items():
        folder = tmp_path / "events" / "runs" / run / node
        for sensor in ("acoustic", "seismic"):
            (folder / sensor).mkdir(parents=True)
            (folder / sensor / f"{run}.txt").write_text("0.1 0.2\n")
            tables[run, node, sensor] = rng.standard_normal((samples, 52))
            (folder / f"{run}_{sensor}.feat").write_text(written(tables[run, node, sensor]))
    (tmp_path / "events" / "runs" / "dw4" / "notes").mkdir()
    (tmp_path / "events" / "runs" / "dw4" / "s3").mkdir()
    return tmp_path, tables


def test_the_archive_makes_a_task_of_each_node(archive):
    folder, tables = archive
    tasks = load_vehicle(folder)
    assert tasks.sizes.tolist() == [5, 2, 4]  # s1, s2, s10
    assert [y.tolist() for y in tasks.labels] == [[1, 1, 1, -1, -1], [1, 1], [-1] * 4]
    assert tasks.dimension == 100
    node = np.hstack([tables["dw4", "s10", sensor][:, :50] for sensor in ("acoustic", "seismic")])
    assert tasks.features[2] == pytest.approx(node, rel=1e-6)


@pytest.mark.parametrize("inside", ["events", "events/runs"])
def test_the_archive_is_found_from_any_of_its_folders(archive, inside):
    assert load_problem(f"vehicle:{archive[0] / inside}").train.count == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "two files of features, acoustic and seismic, not 1"),
        ("1 2 3\n" * 2, "at least 50 numbers a line, not 3"),
        (" ".join(["1"] * 50) + "\n" + " ".join(["1"] * 20), "all lines alike"),
        ((" ".join(["1"] * 50) + "\n") * 3, "as many acoustic lines"),
        ((" ".join(["1"] * 49) + " nan\n") * 2, "finite"),
        ((" ".join(["1"] * 49) + " x\n") * 2, "table of numbers"),
        ("", "at least one line"),
    ],
)
def test_a_damaged_archive_is_named(archive, content, said):
    """Truncated, empty, unequal or malformed files of one node."""
    file = archive[0] / "events" / "runs" / "dw4" / "s1" / "dw4_acoustic.feat"
    file.unlink() if content is None else file.write_text(content)
    with pytest.raises(InputError, match=said) as caught:
        load_vehicle(archive[0])
    assert "dw4" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_runs_without_nodes_are_named(tmp_path):
    (tmp_path / "aav3" / "data").mkdir(parents=True)
    with pytest.raises(InputError, match="folders of nodes"):
        load_vehicle(tmp_path)


def test_the_authors_cells_are_read(tmp_path):
    """vehicle.mat: 23 x 1 cells X of (n_t, 100) and Y of (n_t, 1), labels -1 and 1."""
    x, y = np.empty((23, 1), dtype=object), np.empty((23, 1), dtype=object)
    for task in range(23):
        x[task, 0] = np.full((task + 2, 100), float(task))
        y[task, 0] = np.where(np.arange(task + 2) % 2, 1, -1).astype(np.int16)[:, None]
    savemat(tmp_path / "vehicle.mat", {"X": x, "Y": y})
    for source in (f"vehicle:{tmp_path / 'vehicle.mat'}", f"mat:{tmp_path / 'vehicle.mat'}"):
        problem = load_problem(source)
        assert problem.train.count == 23
        assert (problem.train.sizes + problem.test.sizes).tolist() == list(range(2, 25))
    (tmp_path / "vehicle.mat").write_bytes((tmp_path / "vehicle.mat").read_bytes()[:900])
    with pytest.raises(InputError, match="cells X and Y"):
        load_vehicle(tmp_path / "vehicle.mat")


@pytest.mark.parametrize("sparse", [True, False])
def test_libsvm_files_make_a_task_each_without_noise(tmp_path, sparse):
    rows = [(1, [0.5, 0.0, 2.0]), (2, [1.0, -1.0, 0.0]), (3, [9.0, 9.0, 9.0])]
    for sensor in (2, 10):
        lines = [
            f"{label} " + " ".join(f"{place}:{value}" if sparse else str(value) for place, value in enumerate(row, 1))
            for label, row in rows
        ]
        (tmp_path / f"{sensor}.txt").write_text("\n".join(lines[: sensor // 2 + 1]) + "\n")
    tasks = load_vehicle(tmp_path)
    assert tasks.sizes.tolist() == [2, 2]
    assert tasks.labels[0].tolist() == [1.0, -1.0]
    assert tasks.features[1].tolist() == [[0.5, 0.0, 2.0], [1.0, -1.0, 0.0]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1 1:0.5\n2 1:x\n", "line 2"),
        ("1 1:0.5\n2 0:1\n", "line 2"),
        ("1 1:0.5\nAAV 1:1\n", "line 2"),
        ("1 1:0.5:3\n", "line 1"),
        ("3 1:1\n", "at least one of class"),
        ("", "at least one line"),
        ("1 1:nan\n", "task 0"),
        ("1\n", "line 1"),
    ],
)
def test_damaged_libsvm_files_are_named(tmp_path, content, said):
    (tmp_path / "1.txt").write_text(content)
    with pytest.raises(InputError, match=said):
        load_vehicle(tmp_path)


def test_what_is_not_a_folder_is_named(tmp_path):
    (tmp_path / "archive.zip").write_bytes(b"PK")
    for name in ("archive.zip", "absent"):
        with pytest.raises(InputError, match=r"unpacked event\.zip"):
            load_vehicle(tmp_path / name)
