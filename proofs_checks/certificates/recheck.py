"""A certificate, of a claim or of a function, proved again by its independent checker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.notebook import InNotebook
from ...mechanisms.paths import content
from .checker import check

WRITERS = "Give a file that `dpcert verify --certificate` or `dpcert prove --certificate` wrote."
EVERY_SIZE, UP_TO = "proved", "proved up to N"
"""What `prove` calls its two verdicts that something is proved."""


@dataclass(frozen=True, slots=True)
class Rechecked(InNotebook):
    """What the checker says of one file, and why.

    Of a function: whether every number of entries is proved, else the largest that is (up_to), and whether the
    certificate does not say that no more was asked (only_up_to). assumes: what the proof takes for granted.
    """

    file: str
    proved: bool
    reason: str
    verdict: str | None = None
    every_size: bool | None = None
    up_to: int | None = None
    only_up_to: bool = False
    assumes: str = ""

    def __str__(self) -> str:
        proved = "proved" if self.up_to is None else f"proved up to N = {self.up_to}"
        assumed = f"\n  It assumes {self.assumes}." if self.assumes else ""
        return f"{proved if self.proved else 'NOT PROVED'}: {self.reason}{assumed}"

    def to_json(self) -> dict[str, Any]:
        """Plain data, as `dpcert check --json` prints it."""
        about = {"file": self.file, "proved": self.proved, "verdict": self.verdict, "reason": self.reason}
        if self.every_size is None:
            return about
        about |= {"every_size": self.every_size, "up_to": self.up_to, "only_up_to": self.only_up_to}
        return about | {"assumes": self.assumes}


@dataclass(frozen=True, slots=True)
class SeveralRechecked(InNotebook):
    """The same of several files."""

    files: tuple[Rechecked, ...]

    @property
    def proved(self) -> bool:
        """Whether all of them are."""
        return all(each.proved for each in self.files)

    @property
    def only_up_to(self) -> bool:
        """Whether something is proved for fewer entries than was asked."""
        return any(each.only_up_to for each in self.files)

    def __str__(self) -> str:
        return "\n".join(f"{each.file}: {each}" for each in self.files)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"certificates": [each.to_json() for each in self.files]}


def recheck(paths: Sequence[Path]) -> Rechecked | SeveralRechecked:
    """Prove the certificates of these files again, without what wrote them: claims in ball arithmetic, functions by
    interpreting them. Raises InputError, before any is checked, for a file that is no certificate, and where a
    function cannot be found.
    """
    found = [_rechecked(path, document) for path, document in [(path, _document(path)) for path in paths]]
    return found[0] if len(found) == 1 else SeveralRechecked(tuple(found))


def _rechecked(path: Path, document: dict[str, Any]) -> Rechecked:
    if str(document.get("format", "")).startswith(("dpcert proof", "dpcert enumeration")):
        return _of_function(str(path), document)
    found = check(path)
    return Rechecked(str(path), found.ok, found.reason, document.get("verdict") if found.ok else None)


def _document(path: Path) -> dict[str, Any]:
    """Anything but a JSON object with a format of dpcert's is bad input, not a rejected certificate."""
    read = content("certificate", path)
    try:
        document = json.loads(read.decode())
    except (ValueError, RecursionError) as problem:
        reason = " ".join(str(problem).split())[:160]
        raise InputError(
            "certificate", str(path), "valid JSON", f"{path} is not valid JSON: {reason}. {WRITERS}"
        ) from None
    if not isinstance(document, dict) or not str(document.get("format", "")).startswith("dpcert"):
        why = "its field `format` does not name one" if isinstance(document, dict) else "it holds no JSON object"
        raise InputError("certificate", str(path), "a certificate", f"{path} is not a certificate: {why}. {WRITERS}")
    return document


def _of_function(file: str, document: dict[str, Any]) -> Rechecked:
    """The function must be there to be run, and be the one that was proved."""
    from ..auditing.target import load
    from ..proving.checker.check import check_proof
    from ..proving.checker.finite import check_enumeration
    from ..proving.proof import ASSUMED
    from ..proving.question import source_digest

    name = str(document.get("function"))
    function = load(name, "([0.0], [1.0])", field="function").mechanism
    if source_digest(function) != document.get("source_sha256"):
        return Rechecked(file, False, f"the source of {name} is not the one that was proved")
    enumeration = str(document["format"]).startswith("dpcert enumeration")
    checked = (check_enumeration if enumeration else check_proof)(document, function)
    if not checked.ok:
        return Rechecked(file, False, checked.reason)
    up_to, asked = None if checked.every_size else max(checked.sizes), document.get("up_to")
    entries = "any number of entries" if checked.every_size else f"entries {sorted(checked.sizes)} only"
    return Rechecked(
        file,
        True,
        f"{name} is {_cost(document)} ({document.get('relation')}, {entries}): {checked.reason}",
        EVERY_SIZE if checked.every_size else UP_TO,
        checked.every_size,
        up_to,
        up_to is not None and not (type(asked) is int and asked <= up_to),
        ASSUMED,
    )


def _cost(document: dict[str, Any]) -> str:
    if "mu" in document:
        return f"{document['mu']}-GDP"
    if "rho" in document and "delta" not in document:
        return f"{document['rho']}-zCDP"
    delta = document.get("delta", "0")
    return f"{document.get('epsilon')}-DP" if delta == "0" else f"({document.get('epsilon')}, {delta})-DP"
