"""How many samples the papers' data sets have, beside any data: DPFedMTL's Table 1 and MOCHA's n_t.

DPFedMTL's moments are over clients, of the whole population (divided by the number of clients), as LEAF's own
statistics are. MOCHA's n_t are shown whole, in training, and highly skewed as for Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew

from ..data import Federation, load_federation
from ..mocha.source import SIZES, highly_skewed, load_problem
from .mocha.studies import skewing
from .numbers import markdown
from .runs import Experiment

PER_CLIENT = 0.005
"""Half a unit of the last printed digit: further apart than that two means are not the same number."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a federation's samples: how many there are, and mean, deviation and skewness over clients."""

    samples: int
    mean: float
    deviation: float
    skewness: float

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> Part:
        """sizes: (m,). Clients that all have as many samples have skewness 0."""
        spread = float(sizes.std())
        return cls(int(sizes.sum()), float(sizes.mean()), spread, float(skew(sizes)) if spread else 0.0)


@dataclass(frozen=True, slots=True)
class Statistics:
    """A row of Table 1."""

    name: str
    clients: int
    train: Part
    test: Part

    @classmethod
    def of(cls, name: str, federation: Federation) -> Statistics:
        """Those of the federation's own train and test parts."""
        test = np.array([len(client.test) for client in federation.clients], dtype=np.int64)
        return cls(name, federation.population, Part.of(federation.train_sizes()), Part.of(test))


PRINTED = (
    Statistics("CelebA", 9343, Part(177_457, 18.99, 6.99, -0.49), Part(22_831, 2.44, 0.71, -0.85)),
    Statistics("FEMNIST", 174, Part(34_711, 199.83, 75.88, 0.89), Part(3_955, 22.73, 8.44, 0.88)),
)
"""Table 1 to the letter. FEMNIST's training mean is not its samples over its clients, 199.49."""


def dpfedmtl_sizes(name: str, data: str, seed: int) -> Experiment:
    """Table 1 with the data's row."""
    found = Statistics.of(data, load_federation(data, seed=seed))
    return Experiment(name, None, dpfedmtl_table([found]), told={"rows": [asdict(row) for row in (*PRINTED, found)]})


def dpfedmtl_table(found: Sequence[Statistics]) -> str:
    """In Markdown: the printed rows, then those found; and where a printed mean is not samples over clients."""
    heads = [f"{part} {column}" for part in ("train", "test") for column in ("samples", "mean", "std.", "skewness")]
    lines = [_row(f"{row.name}, as printed", row) for row in PRINTED] + [_row(row.name, row) for row in found]
    return "\n".join([markdown(("data", "clients", *heads), lines), "", *_contradictions()])


def _row(name: str, row: Statistics) -> list[str]:
    cells = [name, f"{row.clients:,}"]
    for part in (row.train, row.test):
        cells += [f"{part.samples:,}", f"{part.mean:.2f}", f"{part.deviation:.2f}", f"{part.skewness:.2f}"]
    return cells


def _contradictions() -> list[str]:
    found = []
    for row in PRINTED:
        for name, part in (("train", row.train), ("test", row.test)):
            if abs(part.samples / row.clients - part.mean) > PER_CLIENT:
                found.append(
                    f"The paper prints {part.mean:.2f} {name} samples per client for {row.name}; its own "
                    f"{part.samples:,} samples of {row.clients:,} clients are {part.samples / row.clients:.2f}."
                )
    return found


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


def _mocha_rows(data: str, split_file: Path | None, seed: int) -> list[SizeRow]:
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


def mocha_sizes(name: str, data: str, split_file: Path | None, seed: int) -> Experiment:
    """The table, of this data set beside the paper's."""
    rows = _mocha_rows(data, split_file, seed)
    return Experiment(name, None, _mocha_table(rows), told={"rows": [asdict(row) for row in rows]})


def _mocha_table(rows: Sequence[SizeRow]) -> str:
    """In Markdown."""
    lines = []
    for row in rows:
        numbers = (row.tasks, row.features, row.least, row.most, row.samples)
        lines.append((row.data, *(f"{each:,}" for each in numbers), row.known))
    return markdown(("data", "tasks", "features", "least n_t", "most n_t", "samples", "where it is from"), lines)
