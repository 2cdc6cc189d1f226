"""Verdicts that were reached before: kept in a folder, so that a claim that did not change costs nothing again.

A file is named by the hash of the claim as written and of every line of code that could judge it otherwise (the rooms
mechanisms, accounting and proofs_checks, and the libraries they compute with). It is written beside and moved into
place, so that no reader sees half of it; a file that is damaged counts as missing. The folder is trusted as the
installed package is: who can write there can write verdicts.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ... import accounting, mechanisms
from ...accounting import Bracket
from ..claims.claim import Claim
from ..claims.findings import Finding
from ..claims.judged import judged
from ..claims.observers import ObservedInterval
from .verdict import Verification
from .witness import CurrencyWitness, SimulatedWitness, Witness

LIBRARIES = ("numpy", "scipy", "mpmath", "python-flint", "pydantic")
WITNESSES = {"epsilon": Witness, "currency": CurrencyWitness, "simulated": SimulatedWitness}


@cache
def code() -> str:
    """The hash of all that judges claims: another one whenever a verdict could be another."""
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    rooms = (Path(mechanisms.__path__[0]), Path(accounting.__path__[0]), Path(__file__).parents[1])
    for file in (file for room in rooms for file in sorted(room.rglob("*.py"))):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def key(written: bytes, rtol: float | None = None) -> str:
    """The name under which the verdict on a claim file of this content is kept. rtol: the width that was asked for."""
    return hashlib.sha256(f"{code()} {rtol!r} ".encode() + written).hexdigest()


def read(folder: Path, name: str, claim: Claim) -> Verification | None:
    """The verdict that is kept under the name, about the claim as read now; None where there is none."""
    try:
        document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        if document["checksum"] != _checksum(document["verdict"]):
            return None
        return _verification(claim, document["verdict"])
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError):
        return None


def write(folder: Path, name: str, found: Verification) -> None:
    """Keep a verdict that was reached without an audit; raises OSError where the folder cannot be written."""
    verdict = _document(found)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, suffix=".new", delete=False) as beside:
        json.dump({"checksum": _checksum(verdict), "verdict": verdict}, beside)
    os.replace(beside.name, folder / f"{name}.json")


def _checksum(verdict: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(verdict, sort_keys=True).encode()).hexdigest()


def _document(found: Verification) -> dict[str, Any]:
    """Everything but the claim; doubles are written so that they are read back exactly, infinities as Python's JSON."""
    shown = next((name for name, kind in WITNESSES.items() if type(found.witness) is kind), None)
    return {
        "verdict": found.verdict,
        "certified": asdict(found.certified),
        "reproduced_by": list(found.reproduced_by),
        "assumptions": list(found.assumptions),
        "not_checked": list(found.not_checked),
        "findings": [finding.to_json() for finding in found.findings],
        "witness": {"kind": shown, **found.witness.to_json()} if found.witness is not None and shown else None,
        "seconds": found.seconds,
        "date": found.judged.issued.date,
        "observers": [asdict(observer) for observer in found.observers],
    }


def _verification(claim: Claim, kept: dict[str, Any]) -> Verification:
    shown, about = kept["witness"], judged(claim)
    return Verification(
        claim=claim,
        verdict=kept["verdict"],
        certified=Bracket(**kept["certified"]),
        reproduced_by=tuple(kept["reproduced_by"]),
        assumptions=tuple(kept["assumptions"]),
        not_checked=tuple(kept["not_checked"]),
        findings=tuple(Finding(**finding) for finding in kept["findings"]),
        witness=WITNESSES[shown.pop("kind")](**shown) if shown else None,
        certificate=None,
        seconds=kept["seconds"],
        judged=replace(about, issued=replace(about.issued, date=kept["date"])),
        observers=tuple(
            ObservedInterval(seen["observer"], seen["clients"], Bracket(**seen["epsilon"]))
            for seen in kept["observers"]
        ),
    )
