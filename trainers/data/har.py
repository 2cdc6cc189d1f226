"""Human Activity Recognition (MOCHA, section 5.1) as the UCI archive has it; one task a person, labels -1 and +1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice
from ..mocha.tasks import Tasks
from .task_files import bad, short, table_of

ACTIVITIES = ("walking", "walking-upstairs", "walking-downstairs", "sitting", "standing", "laying")
"""Activities 1 to 6 of the archive's activity_labels.txt."""


def load_har(path: str | Path, *, positive: str = "sitting") -> Tasks:
    """{train,test}/{X,y,subject}_{train,test}.txt, in the folder or in its "UCI HAR Dataset", as the archive unpacks.

    The label is +1 for the activity `positive` (the paper's: sitting). The archive's own train/test parts, which
    divide people, are put together. Raises InputError for missing, truncated or malformed files.
    """
    wanted = ACTIVITIES.index(choice("positive", positive, ACTIVITIES)) + 1
    inner = Path(path) / "UCI HAR Dataset"
    folder = inner if inner.is_dir() else Path(path)
    found = [part for part in ("train", "test") if (folder / part).is_dir()]
    if not found:
        raise bad(path, "the UCI HAR folder, with train/ or test/ in it")
    x = _joined([table_of(folder / part / f"X_{part}.txt") for part in found], path)
    y, person = (
        np.concatenate([_column(folder / part / f"{name}_{part}.txt") for part in found]) for name in ("y", "subject")
    )
    if not len(x) == len(y) == len(person):
        raise bad(path, f"as many lines in X ({len(x)}) as in y ({len(y)}), subject ({len(person)})")
    activity = _whole(y, "y", path)
    if not ((activity >= 1) & (activity <= len(ACTIVITIES))).all():
        raise InputError("y", int(activity[(activity < 1) | (activity > 6)][0]), "an activity from 1 to 6")
    people = _whole(person, "subject", path)
    labels = np.where(activity == wanted, 1.0, -1.0)
    chosen = [people == who for who in np.unique(people)]
    return Tasks(tuple(x[rows] for rows in chosen), tuple(labels[rows] for rows in chosen))


def _joined(tables: list[Floats], path: str | Path) -> Floats:
    """The tables below each other."""
    if len({table.shape[1] for table in tables}) > 1:
        raise bad(path, "as many features in train/ as in test/")
    return np.concatenate(tables)


def _column(file: Path) -> Floats:
    table = table_of(file)
    if table.shape[1] != 1:
        raise bad(file, "one number a line")
    return table[:, 0]


def _whole(values: Floats, field: str, path: str | Path) -> NDArray[np.int64]:
    if (values != np.floor(values)).any():
        raise InputError(field, short(path), "whole numbers")
    return values.astype(np.int64)
