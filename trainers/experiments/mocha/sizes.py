"""The sizes n_t of the paper's data sets and of any data, whole, in training, and highly skewed as for Table 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...mocha.source import SIZES, highly_skewed, load_problem
from ..numbers import markdown
from ..runs import Experiment
from .studies import skewing


@dataclass(frozen=True, slots=True)
class SizeRow:
    """Tasks m, features d, and n_t over the tasks: its least, its most and its sum. known: where it is from."""

    data: str
    tasks: int
    features: int
    least: int
    most: int
    samples: int
    known: str

    @classmethod
    def of(cls, data: str, features: int, sizes: Sequence[int] | NDArray[np.int64], known: str) -> SizeRow:
        """sizes: n_t for each task."""
        return cls(data, len(sizes), features, int(min(sizes)), int(max(sizes)), int(sum(sizes)), known)


def sizes_of(data: str, split_file: Path | None, seed: int) -> list[SizeRow]:
    """The known data sets, and three rows of this one: whole, its training part, and that highly skewed.

    Raises InputError for data or a split that cannot be read.
    """
    problem = load_problem(data, split_file, seed)
    train, features = problem.train, problem.train.dimension
    skewed = highly_skewed(train, skewing(seed))
    kind = "made here" if data.startswith("synthetic") else "read"
    return [
        *(SizeRow.of(name, size.features, size.samples, size.known) for name, size in SIZES.items()),
        SizeRow.of(data, features, train.sizes + problem.test.sizes, kind),
        SizeRow.of("its training part", features, train.sizes, "split at random" if split_file is None else "read"),
        SizeRow.of("its training part, highly skewed", features, skewed.sizes, "ours: the paper's way is not at hand"),
    ]


def sizes_beside(name: str, data: str, split_file: Path | None, seed: int) -> Experiment:
    """The table, of this data set beside the paper's."""
    rows = sizes_of(data, split_file, seed)
    return Experiment(name, None, size_table(rows), told={"rows": [asdict(row) for row in rows]})


def size_table(rows: Sequence[SizeRow]) -> str:
    """In Markdown."""
    lines = []
    for row in rows:
        numbers = (row.tasks, row.features, row.least, row.most, row.samples)
        lines.append((row.data, *(f"{each:,}" for each in numbers), row.known))
    return markdown(("data", "tasks", "features", "least n_t", "most n_t", "samples", "where it is from"), lines)
