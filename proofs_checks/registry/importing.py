"""An entry of the registry as claim files, with every gap named: what the entry does not say, nobody makes up."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...mechanisms import InputError, Relation
from ...mechanisms import sensitivity as clip_sensitivity
from ...mechanisms.paths import content, files_below
from ...mechanisms.tables.file import MAXIMUM_BYTES
from ...mechanisms.validate import lacks
from ..claims.claim import parse_claim
from ..claims.toml import as_toml
from .schema import VERSION, problems
from .told import CLOSE, contradictions, numbers

CLAIM_BLOCK = re.compile(r"```toml\n# dpcert claim\n(.*?)```", re.DOTALL)
"""A claim file inside implementation.mechanisms: what `export` writes there, so that nothing is lost on the way."""

Tables = dict[str, Any]


@dataclass(slots=True)
class Imported:
    """What one entry gave. claims: tables of claim files by name, each of which loads; drafts: those without a run.

    gaps: what is missing, contradictions: numbers that exclude each other, problems: fields off the schema; in words.
    """

    claims: dict[str, Tables] = field(default_factory=dict)
    drafts: dict[str, Tables] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)

    def __str__(self) -> str:
        gaps = (f"missing: {gap}" for gap in self.gaps)
        against = (f"contradiction: {said}" for said in self.contradictions)
        return "\n  ".join([f"{len(self.claims)} claims, {len(self.drafts)} drafts", *gaps, *against])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "claims": list(self.claims),
            "drafts": list(self.drafts),
            "gaps": self.gaps,
            "contradictions": self.contradictions,
            "problems": [problem.to_json() for problem in self.problems],
        }

    def write(self, into: Path) -> None:
        """A file for each claim, and for each draft."""
        for name, tables in self.claims.items():
            (into / f"{name}.toml").write_text(as_toml(tables), encoding="utf-8")
        for name, tables in self.drafts.items():
            told = "".join(f"# missing: {gap}\n" for gap in self.gaps)
            (into / f"{name}.toml.draft").write_text(told + as_toml(tables), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class ImportedFiles:
    """What each file's entry gave."""

    entries: dict[str, Imported]

    def __str__(self) -> str:
        return "\n".join(f"{file}: {each}" for file, each in self.entries.items())

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"entries": [{"file": file, **each.to_json()} for file, each in self.entries.items()]}

    def write(self, into: Path) -> None:
        """All claim files and drafts. Raises InputError for a folder that cannot be written to."""
        try:
            into.mkdir(parents=True, exist_ok=True)
            for each in self.entries.values():
                each.write(into)
        except OSError as problem:
            raise InputError("--into", str(into), f"a folder to write to ({problem})") from None


def imported_files(paths: Sequence[Path]) -> ImportedFiles:
    """The entries of these files, and of those in these folders; a file that cannot be read is a problem of its own.

    Raises InputError for folders without entries.
    """
    files = [file for path in paths for file in _files(path)]
    if not files:
        raise InputError("FILE.yaml", str(paths[0]), "a folder with entries (*.yaml) in it")
    return ImportedFiles({str(file): _imported(file) for file in files})


def _files(path: Path) -> list[Path]:
    return sorted(files_below("FILE.yaml", path, (".yaml",))) if os.path.isdir(path) else [path]


def _imported(file: Path) -> Imported:
    try:
        return imported(load_entry(file), file.stem)
    except InputError as problem:
        return Imported(problems=[problem])


def load_yaml() -> Any:
    """PyYAML, which is an extra."""
    try:
        import yaml
    except ImportError:
        raise lacks("`dpcert registry`", "PyYAML", "dpcert[registry]") from None
    return yaml


def load_entry(path: Path) -> Any:
    """The YAML document of a file. Raises InputError for what is none, and where PyYAML is not installed."""
    yaml = load_yaml()
    read = content("file", path, MAXIMUM_BYTES)
    try:
        return yaml.safe_load(read)
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise InputError("file", str(path), f"a YAML file ({' '.join(str(problem).split())[:160]})") from None


def imported(document: Any, name: str) -> Imported:
    """The claims of an entry; name: the stem of the files. Fields that cannot be read leave the others as they are.

    What ran is taken from the entry where it is a number there: a noise scale with its sensitivity, a rho beside the
    epsilon that was computed from it, or a claim file written by `export`. Budgets alone are no run: a claim whose
    mechanism is its own conclusion would always hold.
    """
    found = Imported(problems=list(problems(document)))
    entry = document.get("deployment") if isinstance(document, dict) else None
    if not isinstance(entry, dict):
        return found
    entry = {key: value for key, value in entry.items() if isinstance(value, dict)}
    found.contradictions += contradictions(_numbers_only(entry))
    mechanisms = str((entry.get("implementation") or {}).get("mechanisms") or "")
    block = CLAIM_BLOCK.search(mechanisms)
    if block is not None:
        _keep(found, name, _parsed(found, block[1]))
        return found
    head = _head(entry, name, found)
    amounts = _amounts(entry, found)
    if not amounts:
        found.gaps.append("privacy_loss.privacy_parameters: no epsilon and no rho is stated: there is nothing to judge")
    for suffix, amount in amounts.items():
        run = _run(entry, amount, mechanisms, head["neighbouring"])
        tables: Tables = {"claim": {**head, **amount}} | ({"mechanism": run} if run else {})
        if run:
            _keep(found, name + suffix, tables)
        else:
            found.drafts[name + suffix] = tables
    if found.drafts:
        found.gaps.append(
            "implementation.mechanisms: the noise of what ran is not stated as a number: [mechanism] is missing"
        )
        if len(amounts) and not (entry.get("accounting") or {}).get("composition"):
            found.gaps.append("accounting.composition: how often and on what the mechanism ran is not stated")
    return found


def _numbers_only(entry: Tables) -> Tables:
    """The entry with parameters that are numbers: others are told as problems already."""
    loss = dict(entry.get("privacy_loss") or {})
    stated = loss.get("privacy_parameters")
    kept = stated.items() if isinstance(stated, dict) else ()
    loss["privacy_parameters"] = {k: v for k, v in kept if isinstance(v, int | float) and not isinstance(v, bool)}
    return entry | {"privacy_loss": loss}


def _parsed(found: Imported, text: str) -> Tables:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        found.problems.append(InputError("implementation.mechanisms", "```toml", f"a claim file ({problem})"))
        return {}


def _keep(found: Imported, name: str, tables: Tables) -> None:
    try:
        parse_claim(tables)
    except InputError as problem:
        found.problems.append(problem)
        return
    found.claims[name] = tables


def _head(entry: Tables, name: str, found: Imported) -> Tables:
    """[claim] but for the amount."""
    basic, loss = entry.get("basic") or {}, entry.get("privacy_loss") or {}
    curators = basic.get("data_curators")
    head: Tables = {"title": str(basic.get("name") or name)}
    if isinstance(curators, list) and curators:
        head["author"] = ", ".join(map(str, curators))
    date = re.match(r"(\d{4})-", str(basic.get("publication_date") or ""))
    if date:
        head["year"] = int(date[1])
    head["source"] = f"OpenDP deployments registry (schema {VERSION}), {name}"
    unit = " ".join(str(loss.get("privacy_unit") or "").split())
    if unit:
        head["unit"] = unit.removesuffix("-level").lower()
    else:
        found.gaps.append("privacy_loss.privacy_unit: whose data change is not stated")
    details = str(loss.get("privacy_unit_details") or "").lower()
    model = (entry.get("deployment_model") or {}).get("model_name")
    assumed = []
    if model == "Local" or re.search(r"change-one|bounded neighbo|replac|modification", details):
        head["neighbouring"] = Relation.REPLACE_ONE
    else:
        head["neighbouring"] = Relation.ADD_REMOVE
        if not re.search(r"addition|adding|remov|deletion|symmetric distance", details):
            found.gaps.append("privacy_loss.privacy_unit_details: the neighbours are not stated; add-remove is assumed")
            assumed.append("neighbours differ by adding or removing one unit: the entry does not say")
    head["convention"] = "as registered"
    return head | ({"assumed": assumed} if assumed else {})


def _amounts(entry: Tables, found: Imported) -> dict[str, Tables]:
    """What is claimed, by the suffix of the claim's file: one amount for each currency that the entry states."""
    loss = entry.get("privacy_loss") or {}
    stated = loss.get("privacy_parameters")
    stated = stated if isinstance(stated, dict) else {}
    epsilon, rho, delta = stated.get("epsilon"), stated.get("rho"), _delta(stated.get("delta"), found)
    amounts: dict[str, Tables] = {}
    if isinstance(epsilon, int | float) and not isinstance(epsilon, bool):
        pure = (entry.get("dp_variant") or {}).get("variant_name") == "Pure DP"
        if delta is None and not pure:
            found.gaps.append(
                "privacy_loss.privacy_parameters.delta: an epsilon without a delta says something for pure DP only"
            )
        else:
            if pure and delta:
                found.contradictions.append(f"dp_variant says Pure DP, and privacy_parameters a delta of {delta:g}")
            amounts[""] = {"epsilon": float(epsilon), "delta": delta or 0.0}
    if isinstance(rho, int | float) and not isinstance(rho, bool) and rho > 0:
        amounts["-rho" if amounts else ""] = {"rho": float(rho)}
    return amounts


def _delta(stated: Any, found: Imported) -> float | None:
    if stated is None or isinstance(stated, bool):
        return None
    try:
        delta = float(stated)
    except (TypeError, ValueError):
        found.gaps.append(f"privacy_loss.privacy_parameters.delta: {str(stated)[:40]!r} is a formula, not a number")
        return None
    if not 0 <= delta < 1:
        found.problems.append(InputError("privacy_loss.privacy_parameters.delta", stated, "a number from 0 to below 1"))
        return None
    return delta


def _run(entry: Tables, amount: Tables, mechanisms: str, relation: Relation) -> Tables | None:
    """[mechanism], from numbers that the entry states; None where it does not."""
    loss = entry.get("privacy_loss") or {}
    rho = (loss.get("privacy_parameters") or {}).get("rho")
    if amount.get("delta") and isinstance(rho, int | float) and rho > 0:
        return {"kind": "zcdp", "rho": float(rho)}
    text = f"{mechanisms} {loss.get('privacy_parameters_details') or ''}"
    scales, moves = set(numbers(text, "scale")), set(numbers(text, "sensitivity"))
    if "aplace" in text and len(scales) == len(moves) == 1 and amount.get("delta") == 0.0:
        (scale,), (sensitivity,) = scales, moves
        # one release that costs less than the stated epsilon is not all that ran; alone, it would make any claim hold
        if scale > 0 and sensitivity / scale >= amount["epsilon"] * (1 - CLOSE):
            # an entry's sensitivity is between its own neighbours; a replaced unit moves twice a claim's bound
            return {"kind": "laplace", "noise_multiplier": scale / sensitivity * clip_sensitivity(relation)}
    return None
