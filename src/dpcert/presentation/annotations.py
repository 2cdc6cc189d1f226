"""What CI services show beside the lines of a change: SARIF 2.1.0 (OASIS 2020) and GitHub's workflow commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from ..version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
Level = Literal["error", "warning", "note"]
GITHUB: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """One sentence at one place. line and column count from 1; None: the file as a whole."""

    rule: str
    level: Level
    text: str
    file: str
    line: int | None = None
    column: int | None = None


def sarif(annotations: Iterable[Annotation], rules: Mapping[str, str], helps: Mapping[str, str] | None = None) -> str:
    """One run of dpcert; `rules` says what each rule is about, `helps`, where there is more to say, at length."""
    results, helps = list(annotations), helps or {}
    named = {result.rule: rules.get(result.rule, result.rule.replace("-", " ")) for result in results}
    driver = {
        "name": "dpcert",
        "version": __version__,
        "informationUri": "https://github.com/dpcert/dpcert",
        "rules": [_rule(rule, text, helps.get(rule)) for rule, text in sorted(named.items())],
    }
    run = {"tool": {"driver": driver}, "results": [_result(result) for result in results]}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(name: str, text: str, more: str | None) -> dict[str, Any]:
    about: dict[str, Any] = {"id": name, "shortDescription": {"text": text}}
    return about if more is None else about | {"help": {"text": more}}


def _result(annotation: Annotation) -> dict[str, Any]:
    path = Path(annotation.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if annotation.line is not None:
        place["region"] = {"startLine": annotation.line}
        if annotation.column is not None:
            place["region"]["startColumn"] = annotation.column
    return {
        "ruleId": annotation.rule,
        "level": annotation.level,
        "message": {"text": annotation.text},
        "locations": [{"physicalLocation": place}],
    }


def github(annotations: Iterable[Annotation]) -> str:
    """A line each, which GitHub Actions shows beside the file's line.

    >>> print(github([Annotation("refuted", "error", "100% wrong", "a,b.toml", 3)]), end="")
    ::error file=a%2Cb.toml,line=3,title=dpcert%3A refuted::100%25 wrong
    """
    return "".join(_command(annotation) for annotation in annotations)


def _command(annotation: Annotation) -> str:
    where = {"file": annotation.file, "line": annotation.line, "col": annotation.column}
    known = {name: str(value) for name, value in where.items() if value is not None}
    known["title"] = f"dpcert: {annotation.rule}"
    properties = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in known.items())
    return f"::{GITHUB[annotation.level]} {properties}::{_escaped(annotation.text, '')}\n"


def _escaped(text: str, more: str) -> str:
    """GitHub's own escapes; the percent sign first."""
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
