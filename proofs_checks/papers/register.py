"""All rows, paper by paper: the folders beside this file, and those of installed packages (`dpcert.papers`)."""

from __future__ import annotations

import difflib
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from ...mechanisms import InputError
from ...mechanisms.validate import choice
from .folder import FILE, Paper, read_paper
from .row import Row

GROUP = "dpcert.papers"
"""Entry points: the name of a package that is a paper's folder."""

HERE = Path(__file__).parent


@cache
def papers(extra: Path | None = None) -> dict[str, Paper]:
    """Every paper by its key: those of this package, of installed ones, and the one in the folder `extra`.

    Raises InputError where two papers share a key or two rows an id, and for folders that are no papers.
    """
    found: dict[str, Paper] = {}
    rows: dict[str, Row] = {}

    def row_of(name: str) -> Row:
        if name not in rows:
            raise InputError("like", name, ids_like(name, tuple(rows.values())))
        return rows[name]

    for file, package in _folders(extra):
        paper = read_paper(file, package, row_of)
        if paper.key in found:
            raise InputError(str(file), paper.key, "a key that no other paper has")
        for row in paper.rows:
            if row.id in rows:
                raise InputError(str(file), row.id, "an id that no other row has")
            rows[row.id] = row
        found[paper.key] = paper
    return found


def _folders(extra: Path | None) -> Iterator[tuple[Path, str]]:
    """(paper.toml, package of its checks); a paper whose rows others begin with comes before them."""
    for file in sorted(HERE.glob(f"*/{FILE}")):
        yield file, f"{__package__}.{file.parent.name}"
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.value):
        package = import_module(point.value)
        yield Path(str(package.__file__)).parent / FILE, point.value
    if extra is not None:
        yield extra / FILE, _package_at(extra)


def _package_at(folder: Path) -> str:
    """The folder as a package of a name that nothing else has, so that its checks can be imported."""
    name = "dpcert_paper_" + "".join(c if c.isalnum() else "_" for c in str(folder.resolve()))
    if name not in sys.modules:
        spec = importlib.util.spec_from_loader(name, loader=None, is_package=True)
        assert spec is not None
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = importlib.util.module_from_spec(spec)
    return name


def register(paper: str | None = None, only: str | None = None, extra: Path | None = None) -> tuple[Row, ...]:
    """The rows of one paper, one row by its id (in any case), or all. Raises InputError for unknown names."""
    known = papers(extra)
    if paper is not None:
        choice("--paper", paper, known)
    rows = tuple(row for key, each in known.items() if paper in (None, key) for row in each.rows)
    if only is None:
        return rows
    found = tuple(row for row in rows if row.id.casefold() == only.casefold())
    if not found:
        raise InputError("--only", only, ids_like(only, rows))
    return found


def ids_like(asked: str, rows: tuple[Row, ...]) -> str:
    """What to ask for instead of an id that is unknown."""
    close = difflib.get_close_matches(asked.casefold(), [row.id.casefold() for row in rows], n=3, cutoff=0.4)
    ids = [row.id for row in rows if row.id.casefold() in close]
    return "an id of the register" + (", such as " + ", ".join(ids) if ids else "; `dpcert papers` lists them")
