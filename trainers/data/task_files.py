"""Files as numbers, with one clear error that names the file; relationships of tasks, or clients, among them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats

LONGEST = 76
"""Characters of a path that an error message shows; longer values are cut at the end, where a path's name is."""


def short(path: str | Path) -> str:
    """The path, or of a long one the end."""
    text = str(path)
    return text if len(text) <= LONGEST else "..." + text[3 - LONGEST :]


def bad(path: str | Path, expected: str) -> InputError:
    """A file, or folder, is not what is expected."""
    return InputError("path", short(path), expected)


def lines_of(file: Path) -> list[str]:
    """The lines that are not blank, at least one."""
    try:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise bad(file, f"a readable text file ({error})") from error
    if not lines:
        raise bad(file, "at least one line")
    return lines


def table_of(file: Path) -> Floats:
    """Whitespace-separated numbers, as many in each line."""
    lines = lines_of(file)
    return parsed(file, lambda: np.array([line.split() for line in lines], dtype=float))


def parsed(file: Path, parse: Callable[[], Floats]) -> Floats:
    """What `parse` makes of the file: finite numbers."""
    try:
        table = parse()
    except ValueError as error:
        raise bad(file, f"a table of numbers, all lines alike ({error})") from error
    if not np.isfinite(table).all():
        raise bad(file, "finite numbers")
    return table


def csv_of(file: Path) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of a CSV with at least one row, each as long as the header."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as handle:
            header, *rows = [row for row in csv.reader(handle) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise bad(file, f"a readable CSV ({error})") from error
    if not header:
        raise bad(file, "a CSV with a header")
    if not rows or any(len(row) != len(header) for row in rows):
        raise bad(file, f"at least one line below the header, each of {len(header)} columns")
    return header, rows


def files_in(path: str | Path, patterns: tuple[str, ...]) -> list[Path]:
    """The folder's files of these patterns; a name without leading zeros sorts by its number."""
    found = [file for pattern in patterns for file in Path(path).glob(pattern)] if Path(path).is_dir() else []
    if not found:
        raise bad(path, "a folder with one file a task (" + ", ".join(patterns) + ")")
    return sorted(found, key=lambda file: (len(file.stem), file.stem))


MATRICES = (".npy", ".csv")


def read_covariance(path: str | Path, tasks: int, field: str = "covariance") -> Floats:
    """(m, m) from a .npy or .csv file, symmetric. Raises InputError for anything else."""
    return _matrix(Path(path), tasks, field)


def read_graph(path: str | Path, tasks: int) -> Floats:
    """(m, m) symmetric weights of at least 0: an adjacency matrix (.npy, .csv), or any other file as a list of edges.

    A line of the list is `task task` or `task task weight`, tasks numbered from 0, weight 1 without one; what
    follows a # is left out. Each edge is undirected and listed once. Raises InputError, naming the line, for a task
    that does not exist, a loop, an edge twice, a negative weight and anything malformed.
    """
    file = Path(path)
    if file.suffix not in MATRICES:
        return _edges(file, tasks)
    weights = _matrix(file, tasks, "graph")
    if (weights < 0).any():
        raise InputError("graph", short(file), "weights of at least 0")
    if np.diag(weights).any():
        raise InputError("graph", short(file), "no loops: zeros on the diagonal")
    return weights


def read_clusters(text: str, tasks: int, owners: str = "tasks") -> list[int]:
    """The cluster of each task, or client: for a number N that of task t is t mod N; else as a JSON file lists them.

    Raises InputError for anything else.
    """
    if text.isdigit():
        if not 1 <= int(text) <= tasks:
            raise InputError("clusters", text, f"1 to the number of {owners}, {tasks}")
        return [task % int(text) for task in range(tasks)]
    try:
        found = json.loads(Path(text).read_text())
    except (OSError, ValueError) as error:
        raise InputError("clusters", text, f"a number, or a JSON file of cluster numbers ({error})") from error
    whole = isinstance(found, list) and all(type(number) is int for number in found)
    if not whole or len(found) != tasks:
        raise InputError("clusters", text, f"a list of whole numbers, one for each of {tasks} {owners}")
    return list(found)


def _matrix(file: Path, tasks: int, field: str) -> Floats:
    if file.suffix not in MATRICES:
        raise InputError(field, short(file), "a .npy or .csv file of a matrix")
    try:
        read = np.load(file, allow_pickle=False) if file.suffix == ".npy" else np.loadtxt(file, delimiter=",", ndmin=2)
        matrix = np.asarray(read, dtype=float)
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise InputError(field, short(file), f"a readable matrix ({error})") from error
    if matrix.shape != (tasks, tasks):
        raise InputError(field, short(file), f"a ({tasks}, {tasks}) matrix, one row a task, not {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(field, short(file), "finite numbers")
    if not np.allclose(matrix, matrix.T):
        raise InputError(field, short(file), "a symmetric matrix")
    symmetric: Floats = (matrix + matrix.T) / 2
    return symmetric


def _edges(file: Path, tasks: int) -> Floats:
    weights = np.zeros((tasks, tasks))
    seen: set[frozenset[int]] = set()
    for place, line in enumerate(lines_of(file), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        one, other, weight = _edge(f"{file} line {place}", words, tasks)
        if frozenset((one, other)) in seen:
            raise InputError(f"{file} line {place}", line.strip(), "each edge once")
        seen.add(frozenset((one, other)))
        weights[one, other] = weights[other, one] = weight
    return weights


def _edge(place: str, words: list[str], tasks: int) -> tuple[int, int, float]:
    shown = " ".join(words)
    if len(words) not in (2, 3):
        raise InputError(place, shown, "two tasks, and a weight or none")
    try:
        one, other = int(words[0]), int(words[1])
        weight = float(words[2]) if len(words) == 3 else 1.0
    except ValueError as error:
        raise InputError(place, shown, f"whole numbers of tasks and a weight ({error})") from error
    if not (0 <= one < tasks and 0 <= other < tasks):
        raise InputError(place, shown, f"tasks from 0 to {tasks - 1}")
    if one == other:
        raise InputError(place, shown, "two different tasks")
    if not 0 <= weight < np.inf:
        raise InputError(place, shown, "a finite weight of at least 0")
    return one, other, weight
