"""A paper is one folder: `paper.toml` (its title, what it is about, and its rows), and modules of checks beside it.

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

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from ...mechanisms import InputError
from .row import Check, Kind, Row, Severity, Statement

FILE = "paper.toml"
OF_PAPER = {"key", "title", "about", "notation", "row"}
OF_STATEMENT = {"says", "claim", "domain", "tolerance"}
OF_ROW = {
    "id",
    "like",
    "place",
    "check",
    "repaired",
    "spoilt",
    "other",
    "missing",
    "kind",
    "formula",
    "note",
    "severity",
}
OF_ROW |= {"proof", "cost"} | OF_STATEMENT
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
