"""A commented claim file, from its keys as texts: what `dpcert new` writes, and what it asks for."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap

from pydantic import TypeAdapter, ValidationError

from ...mechanisms import InputError, PrivacyNotion, Relation
from ...mechanisms.tables.cohort import SYNONYMS, CompositionTable, SamplingTable
from ...mechanisms.tables.fields import A_VALUE, MissingKeys, Table, choices_of, described_keys
from ...mechanisms.tables.kinds import KINDS
from ...mechanisms.tables.problems import first_problem
from ...mechanisms.tables.scheme import Scheme
from ...mechanisms.text_input import toml_value
from ...mechanisms.validate import choice
from .claim import parse_claim
from .observers import priced
from .schema import ADDRESS
from .statement import Statement
from .words import COMPOSITION, MECHANISM, SAMPLING, STATEMENT

NEEDED_BY_SCHEME = {
    Scheme.NONE: (),
    Scheme.POISSON: ("sampling_rate",),
    Scheme.FIXED_SIZE: ("population", "cohort"),
    Scheme.SHUFFLE: ("population", "cohort"),
    Scheme.CYCLIC: ("population", "cohort"),
    Scheme.RANDOM_ALLOCATION: ("block",),
    Scheme.CYCLIC_POISSON: ("sampling_rate",),
    Scheme.BALLS_IN_BINS: ("bins",),
    Scheme.MIN_SEPARATED: ("sampling_rate",),
}
"""What each sampling scheme must be told."""

TABLES = {"claim": STATEMENT, "mechanism": MECHANISM, "sampling": SAMPLING, "composition": COMPOSITION}

LAST = ("norm", "dimension")
"""Keys of [mechanism] that come after those which are the kind's own."""

TEXTS = ("title", "author", "link", "source", "unit", "convention", "implementation")
"""Texts also where they look like numbers."""

Answers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a claim file, which `dpcert verify` takes. neighbouring: the relation; chosen: nobody named it, and
    the first Relation has no meaning for what ran."""

    text: str
    neighbouring: str
    chosen: bool

    def __str__(self) -> str:
        return self.text


def drafted(stated: Mapping[str, Answers]) -> Draft:
    """The file of these keys of claim, mechanism, sampling and composition, as texts, with what each means above it.

    Neighbours that were not named are the first, in the order of Relation, for which what ran has a meaning: a local
    report, or a shuffled batch, hides no unit's presence. Raises InputError for what `dpcert verify` would not take.
    """
    named = stated["claim"].get("neighbouring")
    refused: list[InputError] = []
    for relation in Relation if named is None else (named,):
        text = _written({**stated, "claim": {**stated["claim"], "neighbouring": relation}})
        try:
            priced(parse_claim(tomllib.loads(text)))
        except InputError as problem:
            refused.append(problem)
        else:
            return Draft(text, relation, named is None and relation != Relation.ADD_REMOVE)
    about_what_ran = [problem for problem in refused if not problem.field.endswith("neighbouring")]
    raise (about_what_ran or refused)[0]  # not about a relation that nobody named


def meaning(table: str, key: str, kind: str) -> str:
    """Of a key, in a line: as its mechanism's description has it, or as all tables do."""
    known = described_keys(KINDS[kind]) if table == "mechanism" and kind in KINDS else {}
    return known[key].meaning if key in known else TABLES[table].get(key, "")


def _written(stated: Mapping[str, Answers]) -> str:
    """The TOML text: every key below what it means."""
    lines = [f"#:schema {ADDRESS}", "# Every key: docs/claims.md. Judge this file with: dpcert verify FILE"]
    for table, answers in stated.items():
        if not answers:
            continue
        lines += ["", f"[{table}]"]
        kind = stated["mechanism"].get("kind", "")
        order = sorted(KINDS[kind].model_fields, key=LAST.__contains__) if table == "mechanism" else TABLES[table]
        keys = [key for key in dict.fromkeys([*order, *answers]) if key in answers]
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


MODELS: dict[str, type[Table]] = {"claim": Statement, "sampling": SamplingTable, "composition": CompositionTable}

SUGGESTED = {
    "neighbouring": Relation.ADD_REMOVE.value,
    "unit": "example",
    "notion": PrivacyNotion.DP.value,
    "delta": "1e-5",
    "kind": "gaussian",
    "scheme": "none",
    "rounds": "1",
}
"""Taken where nobody is asked, offered where somebody is."""

Ask = Callable[[str, str | None, Callable[[str], str]], str]
"""Somebody who is asked: the question, what is offered, and how an answer is read, which raises InputError."""


def complete(stated: dict[str, Answers], ask: Ask | None) -> None:
    """Add what is missing: as asked; without anybody to ask, as suggested, and all that has no usual answer is one
    InputError. A relation is asked for only: without anybody to ask, what ran chooses it (`drafted`)."""
    lacking: dict[str, str] = {}
    for table, key in _questions(stated):
        if key in stated[table] or (key == "neighbouring" and ask is None):
            continue
        suggested, kind = _suggested(key, stated["sampling"]), stated["mechanism"].get("kind", "")
        if ask is not None:
            known = f" ({', '.join(KINDS)})" if key == "kind" else ""
            question = f"[{table}] {key}: {meaning(table, key, kind)}{known}"
            stated[table][key] = ask(question, suggested, _reader(table, key, kind))
        elif suggested is not None:
            stated[table][key] = suggested
        else:
            lacking[key] = choices_of(Statement.model_fields[key].annotation) if table == "claim" else A_VALUE
    if lacking:
        raise MissingKeys(lacking)


def _questions(stated: Mapping[str, Answers]) -> Iterator[tuple[str, str]]:
    """(table, key), in the order of the file; what follows from an answer comes after it."""
    yield from (("claim", key) for key in ("title", "epsilon", "delta", "unit", "neighbouring", "notion"))
    yield "mechanism", "kind"
    kind = KINDS[choice("--mechanism", stated["mechanism"]["kind"], KINDS)]
    yield from (("mechanism", key) for key, field in kind.model_fields.items() if field.is_required() and key != "kind")
    yield "sampling", "scheme"
    given = stated["sampling"]
    scheme = Scheme.named("--sampling", given["scheme"])
    if not (scheme == Scheme.POISSON and {"population", "cohort"} <= {SYNONYMS.get(key, key) for key in given}):
        yield from (("sampling", key) for key in NEEDED_BY_SCHEME[scheme])
    if "epochs" not in stated["composition"]:
        yield "composition", "rounds"


def _suggested(key: str, sampling: Answers) -> str | None:
    """A usual value; of rounds one, or where only whole epochs or blocks can be stated, one of those."""
    scheme = sampling.get("scheme")
    if key == "rounds" and scheme == Scheme.RANDOM_ALLOCATION:
        return sampling["block"]
    sizes = [sampling.get(name, sampling.get(other, "")) for other, name in SYNONYMS.items()]
    if key == "rounds" and scheme == Scheme.SHUFFLE and all(size.isdigit() and int(size) for size in sizes):
        return str(-(-int(sizes[0]) // int(sizes[1])))
    return SUGGESTED.get(key)


def _reader(table: str, key: str, kind: str) -> Callable[[str], str]:
    """The answer, or InputError for one that the key may not have."""

    def read(given: str) -> str:
        if key == "kind":
            return choice("kind", given, KINDS)
        field = (KINDS[kind] if table == "mechanism" else MODELS[table]).model_fields[key]
        value = tomllib.loads(f"value = {as_written(key, given)}")["value"]
        try:
            TypeAdapter(field.rebuild_annotation()).validate_python(value)
        except ValidationError as problem:
            found = first_problem(problem)
            raise InputError(key, found.value, found.expected) from None
        return given

    return read
