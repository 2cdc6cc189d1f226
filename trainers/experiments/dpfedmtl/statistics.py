"""DPFedMTL's Table 1: how many samples clients have, as printed and of any federation.

Moments are over clients, of the whole population (divided by the number of clients), as LEAF's own statistics are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew

from ...data import Federation, load_federation
from ..numbers import markdown
from ..runs import Experiment

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


def sizes_beside(name: str, data: str, seed: int) -> Experiment:
    """Table 1 with the data's row."""
    found = Statistics.of(data, load_federation(data, seed=seed))
    return Experiment(name, None, table([found]), told={"rows": [asdict(row) for row in (*PRINTED, found)]})


def table(found: Sequence[Statistics]) -> str:
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
