"""A CSV or Parquet table: one sample a row, a client column, a label column, all other columns features."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, lacks
from .federation import Federation, Labels, Samples, Task, split_clients

Column = npt.NDArray[np.generic]
Form = Literal["csv", "parquet"]


def load_table(
    path: str | Path,
    *,
    client: str = "client",
    label: str = "label",
    task: Task = "classes",
    test_fraction: float = 0.2,
    seed: int = 0,
    form: Form | None = None,
) -> Federation:
    """A federation from a table. client, label: names of the columns. task: "classes" or "regression".
    form: "csv" or "parquet"; by default what the file's suffix says.

    Raises InputError for a missing column, rows of uneven length, rows without a client, and cells that are not
    numbers.
    """
    choice("task", task, ("classes", "regression"))
    if client == label:
        raise InputError("label", label, "another column than the client's")
    file = Path(path)
    if not file.is_file():
        raise InputError("path", str(path), "an existing file")
    form = form or ("parquet" if file.suffix == ".parquet" else "csv")
    columns = _parquet(file) if form == "parquet" else _csv(file)
    for name in (client, label):
        if name not in columns:
            raise InputError("column", name, "one of " + ", ".join(columns))
    owners = _owners(client, columns.pop(client))
    labels = _labels(label, _numbers(label, columns.pop(label)), task)
    if not columns:
        raise InputError("path", str(path), "at least one feature column")
    with np.errstate(over="ignore"):  # to infinity, which Federation refuses
        features = np.stack([_numbers(name, cells) for name, cells in columns.items()], axis=1).astype(np.float32)
    everything = Samples(features, labels)
    own = {str(owner): everything.take(np.flatnonzero(owners == owner)) for owner in dict.fromkeys(owners.tolist())}
    outputs = int(labels.max()) + 1 if task == "classes" else 1
    return Federation(f"table:{file.name}", split_clients(own, test_fraction, seed), task, outputs)


def _csv(file: Path) -> dict[str, Column]:
    try:
        with file.open(newline="", encoding="utf-8") as handle:
            rows = list(csv.reader(handle))
    except (csv.Error, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise InputError("path", str(file), f"a CSV file ({reason})") from error
    if len(rows) < 2:
        raise InputError("path", str(file), "a header and at least one row")
    header = rows[0]
    if len(set(header)) != len(header):
        raise InputError("header", header, "every column once")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InputError(f"line {line}", len(row), f"{len(header)} cells, as in the header")
    cells = np.asarray(rows[1:], dtype=str)
    return {name: cells[:, place] for place, name in enumerate(header)}


def _parquet(file: Path) -> dict[str, Column]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError as error:
        raise lacks("Reading Parquet", "pyarrow", "dpcert[data]") from error
    try:
        table = parquet.read_table(file)
    except (ArrowInvalid, OSError) as error:
        raise InputError("path", str(file), f"a complete Parquet file ({' '.join(str(error).split())})") from error
    if not table.num_rows:
        raise InputError("path", str(file), "at least one row")
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _owners(name: str, cells: Column) -> npt.NDArray[np.str_]:
    owners = cells.astype(str)
    nobody = np.array([cell is None or cell != cell for cell in cells.tolist()]) | (owners == "")
    if nobody.any():
        raise InputError(f"column {name}", f"row {int(np.argmax(nobody)) + 1} without a client", "one in every row")
    return owners


def _numbers(name: str, cells: Column) -> Floats:
    try:
        return cells.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"column {name}", str(error), "numbers") from error


def _labels(name: str, values: Floats, task: Task) -> Labels:
    if task == "regression":
        return values.astype(np.float32)[:, None]
    if not np.isfinite(values).all() or (values != np.floor(values)).any() or (values < 0).any():
        raise InputError(f"column {name}", "other values", "whole numbers from 0")
    return values.astype(np.int64)
