"""Manifests: which library, and for each of its mechanisms how to call it and its claim (docs/audit-libraries.md).

A manifest is code: `setup` and `call` are executed. Run only those that you would run as a script.
"""

from __future__ import annotations

import importlib
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from ...mechanisms import InputError, Relation
from ...mechanisms.paths import content
from ...mechanisms.validate import choice, count, nonnegative, open_probability, positive
from ..auditing.audit import SHARES
from ..auditing.curve import ClaimedCurve, stated_claim
from ..auditing.literals import read as literal
from ..auditing.target import Target
from ..worst_pairs import worst_pairs

TRIALS, ALPHA, MAX_SECONDS = 20_000, 1e-3, 120.0


@dataclass(frozen=True)
class Entry:
    """One mechanism. call: an expression of `data`, `rng` (a numpy Generator), `f` (what `imported` names), numpy as
    `np`, and what `setup` defines. claim: epsilon and delta, rho or mu. pair: written out, or None for the usual ones.
    """

    name: str
    call: str
    claim: Mapping[str, float]
    relation: str = Relation.ADD_REMOVE
    imported: str | None = None
    setup: str = ""
    pair: str | None = None
    trials: int = TRIALS
    max_seconds: float = MAX_SECONDS
    method: str = "best"

    @property
    def claimed(self) -> ClaimedCurve:
        stated = {name: value for name, value in self.claim.items() if name != "delta"}
        return stated_claim(stated, self.claim.get("delta", 0.0))

    def target(self) -> Target:
        """The mechanism with its pairs. Raises InputError for code that does not load."""
        mechanism = self._mechanism()
        if self.pair is None:
            return Target(self.name, mechanism, worst_pairs(mechanism, self.relation), True)
        found = literal(self.pair)
        return Target(self.name, mechanism, ((found[0], found[1]),), False)

    def _mechanism(self) -> Callable[[Any, Generator], Any]:
        names: dict[str, Any] = {"np": np, "math": math}
        try:
            code = compile(self.call, f"<call of {self.name}>", "eval")
            if self.imported is not None:
                module, _, name = self.imported.partition(":")
                names["f"] = attrgetter(name)(importlib.import_module(module))
            exec(compile(self.setup, f"<setup of {self.name}>", "exec"), names)
        except Exception as problem:
            reason = f"{type(problem).__name__}: {problem}"
            raise InputError(self.name, self.call, f"code that can be loaded ({reason})") from problem

        def mechanism(data: Any, rng: Generator) -> Any:
            return eval(code, {**names, "data": data, "rng": rng})

        mechanism.__qualname__ = self.name
        return mechanism


@dataclass(frozen=True)
class Manifest:
    """alpha: the probability that any of its audits refutes something true. written_for: the library's version."""

    file: Path
    library: str
    written_for: str | None
    alpha: float
    entries: tuple[Entry, ...]

    @property
    def installed(self) -> str:
        """The version that is installed. Raises InputError for none."""
        try:
            return version(self.library)
        except PackageNotFoundError:
            raise InputError("library", self.library, f"an installed package: pip install {self.library}") from None


def read(path: Path) -> Manifest:
    """The manifest in a TOML file. Raises InputError, naming the mechanism and the key, before anything is imported."""
    try:
        tables = tomllib.loads(content("manifest", path).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError("manifest", str(path), "valid TOML", f"{path} is not valid TOML: {problem}.") from None
    if not tables:
        told = (
            f"{path} is empty; it should contain a table [library] and tables [[mechanism]] (docs/audit-libraries.md)."
        )
        raise InputError("manifest", str(path), "a manifest", told)
    _known(tables, {"library", "defaults", "mechanism"}, "the manifest")
    library, mechanisms = tables.get("library"), tables.get("mechanism")
    if not isinstance(library, dict) or not isinstance(library.get("name"), str):
        raise InputError("library", library, "a table [library] with the name that pip knows, and a version")
    if not isinstance(mechanisms, list) or not mechanisms:
        raise InputError("mechanism", mechanisms, "at least one table [[mechanism]]")
    _known(library, {"name", "version", "alpha"}, "[library]")
    defaults = tables.get("defaults", {})
    _known(defaults, _OPTIONS, "[defaults]")
    entries = tuple(_entry(table, defaults) for table in mechanisms)
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        raise InputError("name", names, "another name for every mechanism")
    alpha = open_probability("alpha", library.get("alpha", ALPHA))
    return Manifest(path, library["name"], library.get("version"), alpha, entries)


_OPTIONS = {"trials", "max_seconds", "method", "relation", "setup"}
_CLAIM = {"epsilon", "delta", "rho", "mu"}


def _known(table: Mapping[str, Any], keys: set[str], where: str) -> None:
    unknown = sorted(set(table) - keys)
    if unknown:
        raise InputError(unknown[0], table[unknown[0]], f"one of the keys of {where}: {', '.join(sorted(keys))}")


def _entry(table: Any, defaults: Mapping[str, Any]) -> Entry:
    if not isinstance(table, dict) or not isinstance(table.get("name"), str) or not isinstance(table.get("call"), str):
        raise InputError("mechanism", table, "a table with at least name, call and a claim")
    name = table["name"]
    _known(table, {"name", "call", "import", "pair"} | _OPTIONS | _CLAIM, f"mechanism {name!r}")
    claim = {key: nonnegative(key, table[key]) for key in _CLAIM & set(table)}
    if len(set(claim) - {"delta"}) != 1 or ("delta" in claim and "epsilon" not in claim):
        raise InputError(f"{name}: claim", claim, "epsilon (with delta where it is not 0), or rho, or mu")
    given = {**defaults, **table}
    entry = Entry(
        name=name,
        call=table["call"],
        claim=claim,
        relation=Relation.named("relation", given.get("relation", Relation.ADD_REMOVE)),
        imported=table.get("import"),
        setup="\n".join(filter(None, [defaults.get("setup"), table.get("setup")])),
        pair=table.get("pair"),
        trials=count("trials", given.get("trials", TRIALS)),
        max_seconds=positive("max_seconds", given.get("max_seconds", MAX_SECONDS)),
        method=choice("method", given.get("method", "best"), SHARES),
    )
    _ = entry.claimed
    if entry.pair is not None:
        _read_pair(name, entry.pair)
    return entry


def _read_pair(name: str, text: str) -> None:
    try:
        found = literal(text)
    except ValueError as problem:
        raise InputError(f"{name}: pair", text, f"two data sets written out, '([0.0], [1.0])' ({problem})") from None
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise InputError(f"{name}: pair", text, "two data sets, '([0.0], [1.0])'")
