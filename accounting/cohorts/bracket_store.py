"""Brackets that were paid for once: kept in a folder that the user names, so that the same setting costs nothing again.

A file is named by the hash of the version and the whole setting, and holds that setting, the bracket and a checksum of
both. It is written beside and moved into place, so that no reader sees half of it; a file that is damaged, of another
version or of another setting counts as missing. The folder is trusted as the installed package is.

DPCERT_CACHE names the folder (`dpcert verify --cache DIR` keeps them beside its verdicts); without it nothing is kept,
so that an answer depends on the question alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..bracket import Bracket, EmptyBracket
from .grid_layout import Phase

CACHE = "DPCERT_CACHE"
"""The environment's name for the folder."""

FORMAT = "cohorts 1"
"""Changes whenever the recursion could give another bracket than before: then nothing stored is used."""


def folder() -> Path | None:
    """Where brackets are kept; None if nowhere."""
    named = os.environ.get(CACHE, "")
    return None if named in ("", "off") else Path(named)


@contextmanager
def kept_in(place: Path | None) -> Iterator[None]:
    """Keep brackets in this folder, if one is given: by the environment, for other processes too."""
    before = os.environ.get(CACHE)
    if place is not None:
        os.environ[CACHE] = str(place)
    try:
        yield
    finally:
        if before is not None:
            os.environ[CACHE] = before
        elif place is not None:
            del os.environ[CACHE]


def key(phases: tuple[Phase, ...], neighbouring: str, quantity: str, at: float) -> dict[str, object]:
    """Everything that the bracket depends on; doubles in hexadecimal, so exact."""
    rounds = [[phase.shift.hex(), phase.rate.hex(), phase.rounds] for phase in phases]
    return {"format": FORMAT, "phases": rounds, "neighbouring": neighbouring, "of": quantity, "at": at.hex()}


def read(setting: dict[str, object], known: Bracket) -> Bracket:
    """What is known, narrowed by what is stored for the setting; `known` if that is missing, damaged or contradicts."""
    place = _file(setting)
    if place is None:
        return known
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        if found["setting"] != setting or found["checksum"] != _checksum(setting, found["lower"], found["upper"]):
            return known
        lower, upper = float.fromhex(found["lower"]), float.fromhex(found["upper"])
        return Bracket(max(lower, known.lower), min(upper, known.upper), True, known.method)
    except (OSError, ValueError, KeyError, TypeError, EmptyBracket):
        return known


def write(setting: dict[str, object], bracket: Bracket) -> None:
    """Keep the bracket; silently not, where the folder cannot be written."""
    place = _file(setting)
    if place is None:
        return
    lower, upper = bracket.lower.hex(), bracket.upper.hex()
    content = {"setting": setting, "lower": lower, "upper": upper, "checksum": _checksum(setting, lower, upper)}
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=place.parent, delete=False) as beside:
            json.dump(content, beside)
        os.replace(beside.name, place)
    except OSError:
        return


def _file(setting: dict[str, object]) -> Path | None:
    place = folder()
    return None if place is None else place / f"{_hash(setting)}.json"


def _checksum(setting: dict[str, object], lower: str, upper: str) -> str:
    return _hash({"setting": setting, "lower": lower, "upper": upper})


def _hash(value: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
