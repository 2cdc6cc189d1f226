"""A commented claim file, from its keys as texts: what `dpcert new` writes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap

from ...mechanisms import InputError
from ...mechanisms.neighbours import RELATIONS
from ...mechanisms.tables.kinds import KINDS
from ...mechanisms.text_input import toml_value
from .claim import parse_claim
from .observers import priced
from .schema import ADDRESS
from .words import COMPOSITION, MECHANISM, SAMPLING, STATEMENT

NEEDED_BY_SCHEME = {
    "none": (),
    "poisson": ("sampling_rate",),
    "fixed-size": ("population", "cohort"),
    "shuffle": ("population", "cohort"),
    "cyclic": ("population", "cohort"),
    "random-allocation": ("block",),
    "cyclic-poisson": ("sampling_rate",),
    "balls-in-bins": ("bins",),
    "min-separated": ("sampling_rate",),
}
"""What each sampling scheme must be told."""

TABLES = {"claim": STATEMENT, "mechanism": MECHANISM, "sampling": SAMPLING, "composition": COMPOSITION}

TEXTS = ("title", "author", "link", "source", "unit", "convention", "implementation")
"""Texts also where they look like numbers."""

Answers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a claim file, which `dpcert verify` takes. neighbouring: the relation; chosen: nobody named it, and
    the first of RELATIONS has no meaning for what ran."""

    text: str
    neighbouring: str
    chosen: bool

    def __str__(self) -> str:
        return self.text


def drafted(stated: Mapping[str, Answers]) -> Draft:
    """The file of these keys of claim, mechanism, sampling and composition, as texts, with what each means above it.

    Neighbours that were not named are the first, in the order of RELATIONS, for which what ran has a meaning: a local
    report, or a shuffled batch, hides no unit's presence. Raises InputError for what `dpcert verify` would not take.
    """
    named = stated["claim"].get("neighbouring")
    refused: list[InputError] = []
    for relation in RELATIONS if named is None else (named,):
        text = _written({**stated, "claim": {**stated["claim"], "neighbouring": relation}})
        try:
            priced(parse_claim(tomllib.loads(text)))
        except InputError as problem:
            refused.append(problem)
        else:
            return Draft(text, relation, named is None and relation != RELATIONS[0])
    about_what_ran = [problem for problem in refused if not problem.field.endswith("neighbouring")]
    raise (about_what_ran or refused)[0]  # not about a relation that nobody named


def meaning(table: str, key: str, kind: str) -> str:
    """Of a key, in a line: as its mechanism's description has it, or as all tables do."""
    field = KINDS[kind].model_fields.get(key) if table == "mechanism" and kind in KINDS else None
    return (field.description if field is not None else None) or TABLES[table].get(key, "")


def _written(stated: Mapping[str, Answers]) -> str:
    """The TOML text: every key below what it means."""
    lines = [f"#:schema {ADDRESS}", "# Every key: docs/claims.md. Judge this file with: dpcert verify FILE"]
    for table, answers in stated.items():
        if not answers:
            continue
        lines += ["", f"[{table}]"]
        keys = [key for key in dict.fromkeys([*TABLES[table], *answers]) if key in answers]
        kind = stated["mechanism"].get("kind", "")
        for key in keys:
            lines += [f"# {line}" for line in wrap(meaning(table, key, kind), 78)]
            lines.append(f"{key} = {as_written(key, answers[key])}")
    return "\n".join(lines) + "\n"


def as_written(key: str, text: str) -> str:
    """As it stands where TOML reads it as a number, a list, a table or a truth value; else as a text."""
    if key in TEXTS or "\n" in text:
        return json.dumps(text, ensure_ascii=False)
    try:
        tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        pass
    else:
        return text
    try:
        tomllib.loads(f"value = {(written := toml_value(text))}")
    except tomllib.TOMLDecodeError:
        return json.dumps(text, ensure_ascii=False)
    return written
