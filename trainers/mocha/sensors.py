"""The sensor data sets of MOCHA's section 5.1 as tasks: UCI HAR, Vehicle sensor, GLEAM. Labels are -1 and +1.

HAR is read in the layout of the UCI archive. The other two are read as feature tables, one file a task, since the
paper's features (50 acoustic and 50 seismic; 180 from the Glass sensors) are not in the archives of raw recordings;
the authors' own .mat files of all three have the layout that tasks.load_mat reads.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.validate import count
from .tasks import Tasks

Array = NDArray[np.float64]

HAR_ACTIVITIES = ("walking", "walking-upstairs", "walking-downstairs", "sitting", "standing", "laying")
"""Activities 1 to 6 of the UCI archive."""

EATING = ("eating", "eat")


def load_har(path: str | Path, *, positive: str = "sitting") -> Tasks:
    """The UCI HAR folder: {train,test}/{X,y,subject}_{train,test}.txt; one task a person.

    The label is +1 for the activity `positive` (the paper's: sitting). The archive's own train/test parts, which
    divide people, are put together. Raises InputError for missing, truncated or malformed files.
    """
    if positive not in HAR_ACTIVITIES:
        raise InputError("positive", positive, "one of " + ", ".join(HAR_ACTIVITIES))
    wanted = HAR_ACTIVITIES.index(positive) + 1
    found = [part for part in ("train", "test") if (Path(path) / part).is_dir()]
    if not found:
        raise InputError("path", str(path), "the UCI HAR folder, with train/ or test/ in it")
    x = _joined([_numbers(Path(path) / part / f"X_{part}.txt") for part in found], path)
    y, person = (
        np.concatenate([_column(Path(path) / part / f"{name}_{part}.txt") for part in found])
        for name in ("y", "subject")
    )
    if not len(x) == len(y) == len(person):
        raise InputError(
            "path", str(path), f"as many lines in X ({len(x)}) as in y ({len(y)}), subject ({len(person)})"
        )
    activity = _whole(y, "y", path)
    if not ((activity >= 1) & (activity <= len(HAR_ACTIVITIES))).all():
        raise InputError("y", int(activity[(activity < 1) | (activity > 6)][0]), "an activity from 1 to 6")
    people = _whole(person, "subject", path)
    labels = np.where(activity == wanted, 1.0, -1.0)
    chosen = [people == who for who in np.unique(people)]
    return Tasks(tuple(x[rows] for rows in chosen), tuple(labels[rows] for rows in chosen))


def load_vehicle(path: str | Path, *, positive: int = 1, negative: int = 2) -> Tasks:
    """A folder with one file a sensor (*.txt, *.dat, *.libsvm): lines `label 1:value 2:value ...` or `label value ...`.

    Features missing from a sparse line are 0. Classes `positive` (AAV) and `negative` (DW) are kept, others, such
    as noise, are left out, as the paper classifies AAV against DW.
    """
    positive, negative = count("positive", positive, least=0), count("negative", negative, least=0)
    files = _files(path, ("*.txt", "*.dat", "*.libsvm"))
    rows = {file: [_vehicle_line(file, place, line) for place, line in enumerate(_lines(file), 1)] for file in files}
    dimension = max((max(values, default=0) for read in rows.values() for _, values in read), default=0)
    if dimension == 0:
        raise InputError("path", str(path), "lines with a label and features")
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


def load_gleam(path: str | Path, *, label: str = "activity") -> Tasks:
    """A folder with one CSV a participant: a header, feature columns, and the column `label`, +1 where it is eating."""
    features, labels, header = [], [], None
    for file in _files(path, ("*.csv",)):
        try:
            with file.open(newline="") as handle:
                names, *rows = list(csv.reader(handle)) or [[]]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError("path", str(file), f"a readable CSV ({error})") from error
        header = header or names
        if names != header or label not in names:
            raise InputError("path", str(file), f"the same header in every file, with a column {label!r}")
        if not rows or any(len(row) != len(names) for row in rows):
            raise InputError("path", str(file), f"at least one line, each of {len(names)} columns")
        place = names.index(label)
        values = [row[:place] + row[place + 1 :] for row in rows]
        features.append(_parsed(file, lambda values=values: np.array(values, dtype=float)))  # type: ignore[misc]
        labels.append(np.array([1.0 if row[place].strip().lower() in EATING else -1.0 for row in rows]))
    return Tasks(tuple(features), tuple(labels))


def _files(path: str | Path, patterns: tuple[str, ...]) -> list[Path]:
    """The folder's files in order; a name without leading zeros sorts by its number."""
    found = [file for pattern in patterns for file in Path(path).glob(pattern)] if Path(path).is_dir() else []
    if not found:
        raise InputError("path", str(path), "a folder with one file a task (" + ", ".join(patterns) + ")")
    return sorted(found, key=lambda file: (len(file.stem), file.stem))


def _lines(file: Path) -> list[str]:
    try:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("path", str(file), f"a readable text file ({error})") from error
    if not lines:
        raise InputError("path", str(file), "at least one line")
    return lines


def _vehicle_line(file: Path, place: int, line: str) -> tuple[int, dict[int, float]]:
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


def _joined(tables: list[Array], path: str | Path) -> Array:
    """The tables below each other."""
    if len({table.shape[1] for table in tables}) > 1:
        raise InputError("path", str(path), "as many features in train/ as in test/")
    return np.concatenate(tables)


def _numbers(file: Path) -> Array:
    """A table of whitespace-separated numbers."""
    lines = _lines(file)
    return _parsed(file, lambda: np.array([line.split() for line in lines], dtype=float))


def _column(file: Path) -> Array:
    table = _numbers(file)
    if table.shape[1] != 1:
        raise InputError("path", str(file), "one number a line")
    return table[:, 0]


def _parsed(file: Path, parse: Callable[[], Array]) -> Array:
    try:
        table = parse()
    except ValueError as error:
        raise InputError("path", str(file), f"a table of numbers, all lines alike ({error})") from error
    if not np.isfinite(table).all():
        raise InputError("path", str(file), "finite numbers")
    return table


def _whole(values: Array, field: str, path: str | Path) -> NDArray[np.int64]:
    if (values != np.floor(values)).any():
        raise InputError(field, str(path), "whole numbers")
    return values.astype(np.int64)
