"""Vehicle Sensor (MOCHA, section 5.1; Duarte, Hu 2004): one task a sensor, +1 for AAV, -1 for DW.

Three layouts are read:

- the distributed archive, event.zip: events/runs/RUN/NODE/, RUN naming the vehicle (aav3, dw11) and NODE the sensor,
  a letter and its number; in each NODE two files with "feat" in their names, acoustic and seismic, of
  space-separated numbers whose first 50 columns are the spectral features. No description of the archive was at hand:
  this is the layout that published readers take for granted, such as that of the VIRTUAL package for federated
  multi-task learning (its vehicle_sensor_preprocess), and like them the columns after the 50th are not read;
- vehicle.mat, the cells that the authors' own code loads, as it was passed on by later work (the data folder of
  github.com/litian96/fair_flearn says where): tasks.load_mat;
- one file a sensor in the format of LIBSVM's SensIT Vehicle files, for own splits of those, which do not tell sensors
  apart.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count
from ..mocha.tasks import Tasks, load_mat
from .task_files import bad, files_in, lines_of, table_of

FEATURES = 50
"""Spectral features of each of the two sensors at a node."""

VEHICLES = {"aav": 1.0, "dw": -1.0}
"""Labels by what the name of a run begins with: an assault amphibian vehicle, a Dragon wagon."""


def load_vehicle(path: str | Path, *, positive: int = 1, negative: int = 2) -> Tasks:
    """Any of the three layouts: a .mat file, a folder with the archive's runs, or one with LIBSVM files.

    positive, negative: the classes of LIBSVM files that stand for AAV and DW; the others, such as noise, are left
    out, as the paper classifies AAV against DW. Raises InputError for what is missing, truncated or malformed.
    """
    if Path(path).suffix == ".mat":
        return load_mat(path)
    if not Path(path).is_dir():
        raise bad(path, "a .mat file, the folder of the unpacked event.zip or one of LIBSVM files")
    for folder in (Path(path) / "events" / "runs", Path(path) / "runs", Path(path)):
        runs = [run for run in sorted(folder.glob("*")) if run.is_dir() and _vehicle_of(run)]
        if runs:
            return _archive(runs)
    return _libsvm_folder(path, count("positive", positive, least=0), count("negative", negative, least=0))


def _vehicle_of(run: Path) -> float | None:
    return next((label for name, label in VEHICLES.items() if run.name.lower().startswith(name)), None)


def _archive(runs: list[Path]) -> Tasks:
    """All runs of each node below each other; nodes in the order of their numbers."""
    by_node: dict[int, list[tuple[Floats, Floats]]] = {}
    for run in runs:
        for node in sorted(folder for folder in run.glob("*") if folder.is_dir()):
            number = re.fullmatch(r"[A-Za-z]+(\d+)", node.name)
            files = sorted(file for file in node.glob("*feat*") if file.is_file())
            if number is None or not files:
                continue  # time series, notes, and nodes that no vehicle passed
            x = _features(node, files)
            by_node.setdefault(int(number[1]), []).append((x, np.full(len(x), _vehicle_of(run))))
    if not by_node:
        raise bad(runs[0].parent, "runs with folders of nodes, two files of features in each")
    parts = [by_node[number] for number in sorted(by_node)]
    features, labels = (tuple(np.concatenate([part[place] for part in node]) for node in parts) for place in range(2))
    return Tasks(features, labels)


def _features(node: Path, files: list[Path]) -> Floats:
    """(n, 100): the acoustic and the seismic features of one node in one run, in the order of the files' names."""
    if len(files) != 2:
        raise bad(node, f"two files of features, acoustic and seismic, not {len(files)}")
    tables = [table_of(file) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.shape[1] < FEATURES:
            raise bad(file, f"at least {FEATURES} numbers a line, not {table.shape[1]}")
    if len(tables[0]) != len(tables[1]):
        raise bad(node, f"as many acoustic lines ({len(tables[0])}) as seismic ({len(tables[1])})")
    return np.hstack([table[:, :FEATURES] for table in tables])


def _libsvm_folder(path: str | Path, positive: int, negative: int) -> Tasks:
    """Lines `label 1:value 2:value ...` or `label value ...`; features missing from a sparse line are 0."""
    files = files_in(path, ("*.txt", "*.dat", "*.libsvm"))
    rows = {file: [_libsvm_line(file, place, line) for place, line in enumerate(lines_of(file), 1)] for file in files}
    dimension = max((max(values, default=0) for read in rows.values() for _, values in read), default=0)
    if dimension == 0:
        raise bad(path, "lines with a label and features")
    features, labels = [], []
    for file, read in rows.items():
        kept = [(label, values) for label, values in read if label in (positive, negative)]
        if not kept:
            raise InputError(str(file), "no sample", f"at least one of class {positive} or {negative}")
        x = np.zeros((len(kept), dimension))
        for row, (_, values) in zip(x, kept, strict=True):
            row[np.array(list(values), dtype=int) - 1] = list(values.values())
        features.append(x)
        labels.append(np.array([1.0 if label == positive else -1.0 for label, _ in kept]))
    return Tasks(tuple(features), tuple(labels))


def _libsvm_line(file: Path, place: int, line: str) -> tuple[int, dict[int, float]]:
    """(class, {feature number from 1: value}) of one line."""
    try:
        first, *rest = line.split()
        label = int(float(first))
        if rest and ":" not in rest[0]:
            return label, {index: float(value) for index, value in enumerate(rest, 1)}
        pairs = [entry.split(":") for entry in rest]
        values = {int(index): float(value) for index, value in pairs}
    except (ValueError, OverflowError) as error:
        raise InputError(f"{file} line {place}", line[:40], f"a label and features ({error})") from error
    if not values or min(values) < 1 or max(values) > 2**20:
        raise InputError(f"{file} line {place}", line[:40], "features numbered from 1")
    return label, values
