"""All rows, paper by paper: the folders beside this file, and those of installed packages (`dpcert.papers`).

A paper is one folder: `paper.toml` (its title, what it is about, and its rows), and modules of checks beside it.

    key = "svt"
    title = "Lyu, Su, Li: ..."
    about = "Two sentences."
    notation = {epsilon = "the privacy parameter"}   # what the rows' symbols stand for

    [[row]]
    id = "SVT-1"
    place = "Section 3, Theorem 2"
    check = ".checks:budget"          # a function of checks.py in the folder
    says = "The statement, in our words."
    claim = {factor = 4}              # what is asserted
    domain = {epsilon = [0.1, 2.0]}   # for which parameters
    repaired = {says = "The true statement.", claim = {factor = 8}}

`repaired`, `spoilt` and `other` (a second reading) take over the claim and the domain of the printed statement, and
say what differs. `like = "ID"` begins with the row of that id, of this paper or of another one.
"""

from __future__ import annotations

import difflib
import importlib.util
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from ...mechanisms import InputError
from ...mechanisms.validate import choice
from .row import Check, Kind, Row, Severity, Statement

GROUP = "dpcert.papers"
"""Entry points: the name of a package that is a paper's folder."""

HERE = Path(__file__).parent
FILE = "paper.toml"
OF_PAPER = {"key", "title", "about", "notation", "row"}
OF_STATEMENT = {"says", "claim", "domain", "tolerance"}
OF_ROW = (
    OF_STATEMENT | {"like", "check", "other"} | {each.name for each in fields(Row)} - {"paper", "evidence", "printed"}
)
Table = Mapping[str, Any]
Name = TypeVar("Name", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Paper:
    """key: its name on the command line. about: in two sentences, Markdown. rows: in the paper's order.

    notation: what the symbols of its rows stand for.
    """

    key: str
    title: str
    about: str
    rows: tuple[Row, ...]
    notation: Mapping[str, str] = field(default_factory=dict)


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


def read_paper(file: Path, package: str, row_of: Callable[[str], Row]) -> Paper:
    """The paper of a `paper.toml`.

    package: that of its checks. row_of: the row of another paper by its id. Raises InputError for what is no such file.
    """
    try:
        table = tomllib.loads(file.read_text())
    except OSError as error:
        raise InputError("paper", str(file), f"a folder with a {FILE}") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(file), str(error), "TOML") from error
    _known(str(file), table, OF_PAPER, required={"key", "title", "about"})
    rows: dict[str, Row] = {}
    for place, each in enumerate(table.get("row", [])):
        name = f"{file}: row {each.get('id', place + 1)!r}"
        _known(name, each, OF_ROW, required={"id", "place"} if "like" in each else {"id", "place", "check", "says"})
        known = rows.get(each["like"]) or row_of(each["like"]) if "like" in each else None
        rows[each["id"]] = _row(name, each, table["key"], package, known)
    return Paper(table["key"], table["title"], table["about"], tuple(rows.values()), table.get("notation", {}))


def _known(name: str, table: Table, known: set[str], required: set[str]) -> None:
    for key in table:
        if key not in known:
            raise InputError(name, key, "a key out of " + ", ".join(sorted(known)))
    for key in sorted(required - set(table)):
        raise InputError(name, f"no {key}", f"the key {key!r}")


def _row(name: str, table: Table, paper: str, package: str, like: Row | None) -> Row:
    """like: the row from which everything is taken that the table does not say."""
    printed = _statement(name, table, like.readings[0] if like else None)
    readings: tuple[Statement, ...] = (printed,)
    if "other" in table:
        readings += (_statement(f"{name}, other", table["other"], printed),)
    elif like:
        readings += like.readings[1:]

    def told(key: str, otherwise: Any) -> Any:
        return table.get(key, getattr(like, key) if like else otherwise)

    def variant(which: str, known: Statement | None) -> Statement | None:
        return _statement(f"{name}, {which}", table[which], printed) if which in table else known

    return Row(
        id=table["id"],
        paper=paper,
        place=table["place"],
        evidence=_check(package, table["check"]) if "check" in table or like is None else like.evidence,
        printed=readings if len(readings) > 1 else printed,
        repaired=variant("repaired", like.repaired if like else None),
        spoilt=variant("spoilt", like.spoilt if like else None),
        missing=told("missing", ""),
        kind=_member(name, "kind", Kind, told("kind", Kind.PRINTED)),
        formula=told("formula", ""),
        note=told("note", ""),
        severity=None
        if told("severity", None) is None
        else _member(name, "severity", Severity, told("severity", None)),
        proof=told("proof", ""),
        cost=told("cost", "quick"),
    )


def _check(package: str, name: str) -> Check:
    """By its full name, so that the same function is the same check, whichever paper names it."""
    return Check("", Check(package, name).place)


def _member(name: str, key: str, kind: type[Name], value: str) -> Name:
    if value not in list(kind):
        raise InputError(f"{name}: {key}", value, "one of " + ", ".join(kind))
    return kind(value)


def _statement(name: str, table: Table, base: Statement | None) -> Statement:
    if name.endswith((", other", ", repaired", ", spoilt")):
        _known(name, table, OF_STATEMENT, required={"says"})
    text = table["says"] if base is None else table.get("says", base.text)
    claim, domain, tolerance = (base.claim, base.domain, base.tolerance) if base else ({}, {}, 0.0)
    return Statement(
        text,
        {**claim, **_frozen(table.get("claim", {}))},
        {**domain, **_frozen(table.get("domain", {}))},
        table.get("tolerance", tolerance),
    )


def _frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    if isinstance(value, dict):
        return {name: _frozen(each) for name, each in value.items()}
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value
