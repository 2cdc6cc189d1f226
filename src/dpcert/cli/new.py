"""dpcert new: a commented claim file, from options, and by asking for what they leave open."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from ..mechanisms import InputError
from ..mechanisms.neighbours import RELATIONS
from ..mechanisms.tables.cohort import CompositionTable, SamplingTable
from ..mechanisms.tables.fields import A_VALUE, MissingKeys, Table, choices_of
from ..mechanisms.tables.kinds import KINDS
from ..mechanisms.tables.norms import NormedTable
from ..mechanisms.tables.problems import first_problem
from ..mechanisms.validate import choice
from ..presentation.output import complain
from ..proofs_checks.claims.draft import NEEDED_BY_SCHEME, TABLES, Answers, as_written, drafted, meaning
from ..proofs_checks.claims.statement import Statement
from . import options
from .setting import as_option

MODELS: dict[str, type[Table]] = {"claim": Statement, "sampling": SamplingTable, "composition": CompositionTable}

SUGGESTED = {
    "unit": "example",
    "notion": "dp",
    "delta": "1e-5",
    "kind": "gaussian",
    "scheme": "none",
    "rounds": "1",
}
"""Taken where nobody is asked, offered where somebody is."""

OTHER_NAMES = {"dataset_size": "population", "batch_size": "cohort"}


def new_command(
    file: Annotated[Path | None, options.named("[FILE]", "The file to write; default: standard output.")] = None,
    title: Annotated[str | None, "Title of the claim, as tables show it."] = None,
    source: Annotated[str | None, "Where a reader finds the claimed number."] = None,
    unit: Annotated[str | None, "Whose data are protected: example, user, client, ..."] = None,
    neighbouring: Annotated[str | None, "How neighbouring data sets differ: add-remove, replace-one, zero-out."] = None,
    notion: Annotated[str | None, "Who the attacker is: dp, billboard or joint."] = None,
    epsilon: Annotated[str | None, "The claimed epsilon, as printed."] = None,
    delta: Annotated[str | None, "The claimed delta, as printed; 0 means pure DP."] = None,
    mechanism: Annotated[str | None, "The kind of noise: gaussian, laplace, ..."] = None,
    noise_multiplier: Annotated[str | None, "Noise on the sum, divided by the clipping bound."] = None,
    sampling: Annotated[str | None, "How units are chosen: none, poisson, shuffle, ..."] = None,
    sampling_rate: Annotated[str | None, "Poisson: each unit's probability per round."] = None,
    population: Annotated[str | None, typer.Option("--population", "--dataset-size", help="Number of units.")] = None,
    cohort: Annotated[str | None, typer.Option("--cohort", "--batch-size", help="Units per round.")] = None,
    block: Annotated[str | None, "Random allocation: rounds per block."] = None,
    bins: Annotated[str | None, "Balls in bins: rounds per pass."] = None,
    norm: Annotated[str | None, "Norm that the clipping bound limits: number, l1, l2 or linf."] = None,
    dimension: Annotated[str | None, "With --norm l2 or linf: number of coordinates."] = None,
    releases: Annotated[str | None, "Releases per round that use one sample; default 1."] = None,
    rounds: Annotated[str | None, "Number of rounds, composed adaptively."] = None,
    epochs: Annotated[str | None, "Passes over the population, instead of --rounds."] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="[TABLE.]KEY=VALUE", help="Any other key of the claim file; without TABLE, of [mechanism]."
        ),
    ] = None,
) -> None:
    """Without a terminal, title, epsilon, the noise and what the named sampling scheme needs are required; everything
    else has a default.

    Example: dpcert new ours.toml --title Ours --epsilon 3 --noise-multiplier 1.1 --rounds 1000
    """
    if file is not None and (file.exists() or not file.parent.is_dir()):
        raise InputError("FILE", str(file), "a new file name in an existing folder")
    given = {
        "claim": {"title": title, "source": source, "epsilon": epsilon, "delta": delta, "unit": unit}
        | {"neighbouring": neighbouring, "notion": notion},
        "mechanism": {"kind": mechanism, "noise_multiplier": noise_multiplier, "releases": releases}
        | {"norm": norm, "dimension": dimension},
        "sampling": {"scheme": sampling, "sampling_rate": sampling_rate, "population": population}
        | {"cohort": cohort, "block": block, "bins": bins},
        "composition": {"rounds": rounds, "epochs": epochs},
    }
    stated = {table: {key: text for key, text in keys_.items() if text is not None} for table, keys_ in given.items()}
    for table, key, text in _set(keys or []):
        stated[table][key] = text
    if "sampling_rate" in stated["sampling"] and "scheme" not in stated["sampling"]:
        stated["sampling"]["scheme"] = "poisson"
        typer.echo("note: --sampling poisson, as there is a --sampling-rate", err=True)
    _complete(stated)
    kind = KINDS[stated["mechanism"]["kind"]]
    if issubclass(kind, NormedTable) and kind.asks_norm() and not {"norm", "dimension"} & stated["mechanism"].keys():
        typer.echo("note: no --norm: the noise is taken for that of one number (docs/claims.md)", err=True)
    try:
        found = drafted(stated)
    except InputError as problem:
        raise as_option(problem) from None
    if found.chosen:
        typer.echo(f"note: neighbouring = {found.neighbouring}, as {RELATIONS[0]} has no meaning here", err=True)
    if file is None:
        typer.echo(str(found), nl=False)
    else:
        file.write_text(str(found), encoding="utf-8")
        typer.echo(f"{file} written; judge it with: dpcert verify {file}", err=True)


def _set(entries: list[str]) -> Iterator[tuple[str, str, str]]:
    """(table, key, value) of every --set."""
    for entry in entries:
        name, equals, value = entry.partition("=")
        table, _, key = name.strip().replace("-", "_").rpartition(".")
        table = table or "mechanism"
        of_kinds = {key for kind in KINDS.values() for key in kind.model_fields} if table == "mechanism" else set()
        if not equals or key not in {*TABLES.get(table, {}), *of_kinds}:
            raise InputError("--set", entry, _as_set(key))
        yield table, key, value.strip()


def _as_set(key: str) -> str:
    """What --set should say: the key of another table needs that table's name."""
    others = [f"{table}.{key}=VALUE" for table, keys in TABLES.items() if key in keys and table != "mechanism"]
    if others:
        return f"{' or '.join(others)}: without a table, a key is of [mechanism]"
    return f"[TABLE.]KEY=VALUE, such as sigma=3, with a table of {', '.join(TABLES)}, and a key of that table"


def _complete(stated: dict[str, Answers]) -> None:
    """Asks for what is missing; without a terminal takes the suggestions, and all that has none is one error."""
    lacking: dict[str, str] = {}
    for table, key in _questions(stated):
        if key in stated[table]:
            continue
        suggested = _suggested(key, stated["sampling"])
        if sys.stdin.isatty():
            stated[table][key] = _answer(table, key, suggested, stated["mechanism"].get("kind", ""))
        elif suggested is not None:
            stated[table][key] = suggested
        else:
            lacking[key] = choices_of(Statement.model_fields[key].annotation) if table == "claim" else A_VALUE
    if lacking:
        raise as_option(MissingKeys(lacking))


def _suggested(key: str, sampling: Answers) -> str | None:
    """A usual value; of rounds one, or where only whole epochs or blocks can be stated, one of those."""
    scheme = sampling.get("scheme")
    if key == "rounds" and scheme == "random-allocation":
        return sampling["block"]
    sizes = [sampling.get(name, sampling.get(other, "")) for other, name in OTHER_NAMES.items()]
    if key == "rounds" and scheme == "shuffle" and all(size.isdigit() and int(size) for size in sizes):
        return str(-(-int(sizes[0]) // int(sizes[1])))
    return RELATIONS[0] if key == "neighbouring" else SUGGESTED.get(key)


def _answer(table: str, key: str, suggested: str | None, kind: str) -> str:
    """Asked until it is one that the key may have."""
    words = f"[{table}] {key}: {meaning(table, key, kind)}" + (f" ({', '.join(KINDS)})" if key == "kind" else "")
    while True:
        given = str(typer.prompt(words, default=suggested, err=True))
        try:
            if key == "kind":
                return choice("kind", given, KINDS)
            field = (KINDS[kind] if table == "mechanism" else MODELS[table]).model_fields[key]
            read = tomllib.loads(f"value = {as_written(key, given)}")["value"]
            TypeAdapter(field.rebuild_annotation()).validate_python(read)
            return given
        except ValidationError as problem:
            found = first_problem(problem)
            complain(str(InputError(key, found.value, found.expected)))
        except InputError as problem:
            complain(str(problem))


def _questions(stated: Mapping[str, Answers]) -> Iterator[tuple[str, str]]:
    """What a claim must say, in the order of the file; what follows from an answer comes after it."""
    yield from (("claim", key) for key in ("title", "epsilon", "delta", "unit"))
    if sys.stdin.isatty():  # without one they are chosen at the end, by what ran
        yield "claim", "neighbouring"
    yield "claim", "notion"
    yield "mechanism", "kind"
    kind = KINDS[choice("--mechanism", stated["mechanism"]["kind"], KINDS)]
    for key, field in kind.model_fields.items():
        if field.is_required() and key != "kind":
            yield "mechanism", key
    yield "sampling", "scheme"
    given = stated["sampling"]
    scheme = choice("--sampling", given["scheme"], NEEDED_BY_SCHEME)
    if not (scheme == "poisson" and {"population", "cohort"} <= {OTHER_NAMES.get(key, key) for key in given}):
        yield from (("sampling", key) for key in NEEDED_BY_SCHEME[scheme])
    if "epochs" not in stated["composition"]:
        yield "composition", "rounds"
