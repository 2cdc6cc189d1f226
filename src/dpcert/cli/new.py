"""dpcert new: a commented claim file, from options, and by asking for what they leave open."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..mechanisms import InputError, Relation
from ..mechanisms.paths import place_for_new
from ..mechanisms.tables.kinds import KINDS
from ..mechanisms.tables.norms import NormedTable
from ..presentation.output import complain, say
from ..proofs_checks.claims.draft import TABLES, Answers, Draft, complete, drafted
from . import options
from .declared import with_fields
from .setting import as_option

OPTIONS = {
    "claim": ("title", "source", "epsilon", "delta", "unit", "neighbouring", "notion"),
    "mechanism": ("kind", "noise_multiplier", "releases", "norm", "dimension"),
    "sampling": ("scheme", "sampling_rate", "population", "cohort", "block", "bins"),
    "composition": ("rounds", "epochs"),
}
"""The keys that have an option of their own."""

LISTS = ("assumed",)
"""Keys with any number of sentences: --set adds one, or a whole list."""

CALLED = {"kind": "mechanism", "scheme": "sampling"}
"""Options that are not called as their keys are."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options, as texts for the file, in the order of --help."""

    title: Annotated[str | None, "Title of the claim, as tables show it."] = None
    source: Annotated[str | None, "Where a reader finds the claimed number."] = None
    unit: Annotated[str | None, "Whose data are protected: example, user, client, ..."] = None
    neighbouring: Annotated[str | None, "How neighbouring data sets differ: add-remove, replace-one, zero-out."] = None
    notion: Annotated[str | None, "Who the attacker is: dp, billboard or joint."] = None
    epsilon: Annotated[str | None, "The claimed epsilon, as printed."] = None
    delta: Annotated[str | None, "The claimed delta, as printed; 0 means pure DP."] = None
    mechanism: Annotated[str | None, "The kind of noise: gaussian, laplace, ..."] = None
    noise_multiplier: Annotated[str | None, "Noise on the sum, divided by the clipping bound."] = None
    sampling: Annotated[str | None, "How units are chosen: none, poisson, shuffle, ..."] = None
    sampling_rate: Annotated[str | None, "Poisson: each unit's probability per round."] = None
    population: Annotated[str | None, typer.Option("--population", "--dataset-size", help="Number of units.")] = None
    cohort: Annotated[str | None, typer.Option("--cohort", "--batch-size", help="Units per round.")] = None
    block: Annotated[str | None, "Random allocation: rounds per block."] = None
    bins: Annotated[str | None, "Balls in bins: rounds per pass."] = None
    norm: Annotated[str | None, "Norm that the clipping bound limits: number, l1, l2 or linf."] = None
    dimension: Annotated[str | None, "With --norm l2 or linf: number of coordinates."] = None
    releases: Annotated[str | None, "Releases per round that use one sample; default 1."] = None
    rounds: Annotated[str | None, "Number of rounds, composed adaptively."] = None
    epochs: Annotated[str | None, "Passes over the population, instead of --rounds."] = None
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[TABLE.]KEY=VALUE",
            help="Any other key of the claim file; of a key in two tables, say which: claim.source=...",
        ),
    ] = None

    def stated(self) -> dict[str, Answers]:
        """The file's tables, as far as they are told."""
        told = {table: {key: getattr(self, CALLED.get(key, key)) for key in keys} for table, keys in OPTIONS.items()}
        found = {table: {key: text for key, text in of.items() if text is not None} for table, of in told.items()}
        for table, key, text in _set(self.keys or []):
            found[table][key] = _listed(found[table].get(key), text) if key in LISTS else text
        return found


@with_fields(Asked)
def new_command(
    file: Annotated[Path | None, options.named("FILE", "The file to write; default: standard output.")] = None,
    *,
    asked: Asked,
) -> None:
    """Without a terminal, title, epsilon, the noise and what the named sampling scheme needs are required; everything
    else has a default.

    Example: dpcert new ours.toml --title Ours --epsilon 3 --noise-multiplier 1.1 --rounds 1000
    """
    if file is not None:
        place_for_new("FILE", file)
    found = _drafted(asked.stated())
    if file is None:
        typer.echo(str(found), nl=False)
    else:
        file.write_text(str(found), encoding="utf-8")
        say(f"{file} written; judge it with: dpcert verify {file}", err=True)


def _drafted(stated: dict[str, Answers]) -> Draft:
    """With a note on what was taken for granted."""
    if "sampling_rate" in stated["sampling"] and "scheme" not in stated["sampling"]:
        stated["sampling"]["scheme"] = "poisson"
        say("note: --sampling poisson, as there is a --sampling-rate", err=True)
    _how_cohorts_are_drawn(stated["sampling"])
    try:
        complete(stated, _answer if sys.stdin.isatty() else None)
        noise = stated["mechanism"]
        kind = KINDS[noise["kind"]]
        if issubclass(kind, NormedTable) and kind.asks_norm() and not {"norm", "dimension"} & noise.keys():
            say("note: no --norm: the noise is taken for that of one number (docs/claims.md)", err=True)
        found = drafted(stated)
    except InputError as problem:
        raise as_option(problem) from None
    if found.chosen:
        say(f"note: neighbouring = {found.neighbouring}, as {Relation.ADD_REMOVE} has no meaning here", err=True)
    return found


def _how_cohorts_are_drawn(sampling: Answers) -> None:
    """Without a terminal nobody is asked: sizes of cohorts say nothing without a scheme. InputError for a cohort."""
    if "scheme" in sampling or sys.stdin.isatty():
        return
    if "cohort" in sampling:
        told = (
            "--cohort needs --sampling, which says how cohorts are drawn: poisson, fixed-size or shuffle, for example."
        )
        raise InputError("--cohort", sampling["cohort"], "--sampling beside it", told)
    if "population" in sampling:
        say("note: --sampling none: every unit takes part in every round, and --population changes nothing", err=True)


def _answer(question: str, offered: str | None, read: Callable[[str], str]) -> str:
    """Asked for until it can be."""
    while True:
        try:
            return read(str(typer.prompt(question, default=offered, err=True)))
        except InputError as problem:
            complain(str(problem))


def _set(entries: list[str]) -> Iterator[tuple[str, str, str]]:
    """(table, key, value) of every --set; without a table, the key says in which it is."""
    for entry in entries:
        name, equals, value = entry.partition("=")
        table, _, key = name.strip().replace("-", "_").rpartition(".")
        homes = [table] if table else [each for each in _keys() if key in _keys()[each]]
        table = "mechanism" if "mechanism" in homes else homes[0] if len(homes) == 1 else ""
        if not equals or key not in _keys().get(table, ()):
            raise InputError("--set", entry, _as_set(key, homes))
        if not value.strip():
            told = f"--set {name.strip()}= is empty. Give a value, {name.strip()}=VALUE, or leave it out."
            raise InputError("--set", entry, "a value", told)
        yield table, key, value.strip()


def _keys() -> dict[str, set[str]]:
    """The keys of each table of a claim file."""
    of_kinds = {key for kind in KINDS.values() for key in kind.model_fields}
    return {table: {*keys, *(of_kinds if table == "mechanism" else ())} for table, keys in TABLES.items()}


def _as_set(key: str, homes: list[str]) -> str:
    """What --set should say: of a key in several tables, in which."""
    if len(homes) > 1:
        return " or ".join(f"{table}.{key}=VALUE" for table in homes)
    return f"[TABLE.]KEY=VALUE, such as sigma=3, with a table of {', '.join(TABLES)}, and a key of that table"


def _listed(known: str | None, text: str) -> str:
    """A TOML list of what is known and one more sentence, or several."""
    try:
        more = tomllib.loads(f"value = {text}")["value"] if text.startswith("[") else [text]
    except tomllib.TOMLDecodeError:
        raise InputError("--set", text, """a sentence, or a list of sentences: '["one", "two"]'""") from None
    return json.dumps([*(json.loads(known) if known else []), *more], ensure_ascii=False)
