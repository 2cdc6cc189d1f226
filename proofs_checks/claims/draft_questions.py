"""What a new claim must say, in the order of its file: the questions of `dpcert new`, and their usual answers."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping

from pydantic import TypeAdapter, ValidationError

from ...mechanisms import InputError
from ...mechanisms.neighbours import RELATIONS
from ...mechanisms.tables.cohort import SYNONYMS, CompositionTable, SamplingTable
from ...mechanisms.tables.fields import A_VALUE, MissingKeys, Table, choices_of
from ...mechanisms.tables.kinds import KINDS
from ...mechanisms.tables.problems import first_problem
from ...mechanisms.validate import choice
from .draft import NEEDED_BY_SCHEME, Answers, as_written, meaning
from .statement import Statement

MODELS: dict[str, type[Table]] = {"claim": Statement, "sampling": SamplingTable, "composition": CompositionTable}

SUGGESTED = {
    "neighbouring": RELATIONS[0],
    "unit": "example",
    "notion": "dp",
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
    scheme = choice("--sampling", given["scheme"], NEEDED_BY_SCHEME)
    if not (scheme == "poisson" and {"population", "cohort"} <= {SYNONYMS.get(key, key) for key in given}):
        yield from (("sampling", key) for key in NEEDED_BY_SCHEME[scheme])
    if "epochs" not in stated["composition"]:
        yield "composition", "rounds"


def _suggested(key: str, sampling: Answers) -> str | None:
    """A usual value; of rounds one, or where only whole epochs or blocks can be stated, one of those."""
    scheme = sampling.get("scheme")
    if key == "rounds" and scheme == "random-allocation":
        return sampling["block"]
    sizes = [sampling.get(name, sampling.get(other, "")) for other, name in SYNONYMS.items()]
    if key == "rounds" and scheme == "shuffle" and all(size.isdigit() and int(size) for size in sizes):
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
